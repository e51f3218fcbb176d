"""Compiled loops of certificates over rows and boxes; each has a slow twin in tests/certify."""
