"""The solvers, one room each; no room imports another."""
