"""Compiled leaves: module-level `@njit` functions, arrays in, arrays out, each with a slow twin in tests/naive."""
