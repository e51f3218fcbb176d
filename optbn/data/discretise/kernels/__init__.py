"""Compiled parts of the discretisers."""
