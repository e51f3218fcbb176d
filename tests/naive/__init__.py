"""Slow, obvious twins of the compiled kernels, one module per room."""
