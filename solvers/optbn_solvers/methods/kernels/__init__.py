"""Compiled parts of the methods."""
