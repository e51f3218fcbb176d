"""The independent checker every answer passes; it shares base's data types with the solvers and nothing else."""

from optbn_solvers.verify.checker import Verdict, verify
from optbn_solvers.verify.stages import LARGEST_SUBSET

__all__ = ["LARGEST_SUBSET", "Verdict", "verify"]
