"""The compiled parts of branch and cut: arrays in, arrays out. Twins: tests/naive/ilp.py."""
