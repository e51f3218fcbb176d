"""The independent checker every answer passes; it shares base's data types with the solvers and nothing else."""

from optbn_solvers.verify.checker import LARGEST_SUBSET, Verdict, verify

__all__ = ["LARGEST_SUBSET", "Verdict", "verify"]
