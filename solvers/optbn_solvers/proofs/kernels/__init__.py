"""The compiled part of proofs: numbers as bytes, and the tree checker."""
