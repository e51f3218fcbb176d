"""Bayesian networks: structure, local distributions, sampling, likelihood, file formats, the bundled catalogue."""
