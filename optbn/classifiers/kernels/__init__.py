"""Compiled parts of the classifiers."""
