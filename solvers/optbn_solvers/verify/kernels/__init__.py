"""Compiled code of the checker; its twins are in tests/naive."""
