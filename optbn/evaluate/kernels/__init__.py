"""Compiled leaves of evaluation: arrays in, arrays out, each with a slow twin in tests/naive/evaluate.py."""
