"""Proofs of optimality in files, and their checkers; see README.md in this folder."""

from solvers.proofs.fast import check_proof

__all__ = ["check_proof"]
