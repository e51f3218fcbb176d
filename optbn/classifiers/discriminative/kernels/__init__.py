"""Compiled parts of discriminative training."""
