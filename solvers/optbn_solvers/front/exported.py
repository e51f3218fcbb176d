"""The proof of an optimum for VeriPB, whatever its evidence and constraints are.

A claim is searched once more, for a tree: the checker's own recursion over sets has no short form as sums of rows.
Under constraints the problem has all families of the table but those that are allowed and that an allowed subset of
theirs beats, where no constraint can ask for them: no optimum needs them, and evidence does not speak of them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TextIO

import numpy as np

from optbn_solvers.base.errors import NoProofError
from optbn_solvers.base.protocol import Budget
from optbn_solvers.base.solution import Solution
from optbn_solvers.base.table import ScoreTable
from optbn_solvers.front.completion import completed
from optbn_solvers.front.filtering import allowed_families
from optbn_solvers.proofs.veripb import write_problem_and_proof

LONG = 300.0  # CPU seconds for such a tree


def export(table: ScoreTable, solution: Solution, problem: TextIO, proof: TextIO, seconds: float = LONG) -> None:
    """The OPB file and the proof; NoProofError where the evidence has none, and a tree takes more seconds."""
    solution = completed(table, solution, Budget(cpu=seconds).started(), 0)
    if solution.constraints is None or solution.choice is None:
        write_problem_and_proof(table, solution, problem, proof)
        return
    needed = allowed_families(table, solution.constraints).rows
    allowed = allowed_families(table, solution.constraints, keep_dominated=True).rows
    listed = np.setdiff1d(np.arange(len(table)), np.setdiff1d(allowed, needed))
    if not np.isin(solution.choice, listed).all():
        raise NoProofError("the graph has a family that one of its subsets beats, this answer cannot be exported")
    choice = tuple(int(at) for at in np.searchsorted(listed, solution.choice))
    usable = np.isin(listed, needed)
    write_problem_and_proof(table.restricted(listed), replace(solution, choice=choice), problem, proof, usable)
