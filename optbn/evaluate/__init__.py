"""Evaluation: how far a learned network is from another, from the data, and from chance."""
