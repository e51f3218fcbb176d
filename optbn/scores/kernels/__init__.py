"""Compiled kernels of Phase I."""
