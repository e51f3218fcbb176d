"""Proofs of optimality, in files or carried in a solution, and their checkers; see README.md in this folder."""

from optbn_solvers.proofs.fast import check_carried, check_proof

__all__ = ["check_carried", "check_proof"]
