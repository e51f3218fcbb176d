"""Compiled parts of the front: sums and k-best lists over subsets."""
