"""Compiled parts of soft cells."""
