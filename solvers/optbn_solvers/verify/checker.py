"""The independent checker. It believes no solver: it reads the table and the answer, and nothing else.

Plain numpy on exact integers, obviously right before fast. It shares no code with any solver (only the data types),
and every answer passes through it before anyone sees it. The mathematics of the evidence is in `base.solution`;
what is used here, in one line each:

    part      cut the variables into parts and let each part ignore arcs from outside: a relaxation, so the parts'
              bounds add up to a bound, and rows whose members lie in the part remain valid for it
    cluster   a set of variables in an acyclic graph has a member without parents in the set
    subset    sum of a[v, P & C] <= r for every DAG: re-proved by maximising the left side over the DAGs on C, by
              f(U) = max over v in U of f(U - v) + max { a[v, T] : T within U - v }
    clause, limit   what the constraints say of every graph, in the checker's own words (optbn_solvers.verify.rules)
    filter    a family that cannot be in a graph better than the one in hand is dropped before the next stage

    search    where a solver only claims something, the checker looks for a better graph by itself: layer by layer
              through the sets of placed variables (optbn_solvers.verify.layers), under constraints case by case
              (optbn_solvers.verify.obeying)

Table and graph are read in optbn_solvers.verify.reading; evidence is followed part by part in `bounds`, its rows and
stages in `stages`. A check that is not to take longer than somebody wants to wait can be given up (`out_of_time`): then
the evidence counts as claimed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from optbn_solvers.base.errors import CheckFailed, OutOfTime
from optbn_solvers.base.memory import half_of_memory
from optbn_solvers.base.solution import Solution, Status
from optbn_solvers.base.table import ScoreTable
from optbn_solvers.verify.bounds import Bounds, ProofChecker
from optbn_solvers.verify.layers import MANY, Work
from optbn_solvers.verify.reading import Reading

WORK = MANY


@dataclass(frozen=True)
class Verdict:
    """What was checked. `bound` is what is proved; `proved` and `claimed` are sentences for people.

    ended   False: there was no time to check the evidence
    """

    score: float | None
    bound: float
    proved: tuple[str, ...]
    claimed: tuple[str, ...]
    ended: bool = True

    @property
    def optimal(self) -> bool:
        """The graph is proved to be optimal (not only claimed)."""
        return self.score is not None and self.bound == self.score


def verify(
    table: ScoreTable,
    solution: Solution,
    proof_checker: ProofChecker | None = None,
    out_of_time: Callable[[], bool] = lambda: False,
    work: float = WORK,
) -> Verdict:
    """Check every statement of a solution; CheckFailed names the first that is false.

    The graph is always checked; once `out_of_time` says so, the evidence for the bound is not gone on with. What is
    only claimed is checked by searches of the checker's own, which do at most this much `work` (STEPS of it a second).
    """
    if solution.table_digest != table.digest:
        raise CheckFailed(
            f"the solution belongs to another score table (digest {solution.table_digest[:12]}, "
            f"this table has {table.digest[:12]})"
        )
    reading = Reading(table, solution.constraints)
    if math.isnan(solution.bound):
        raise CheckFailed("the bound is not a number")
    stated = reading.units(solution.bound)
    check = Bounds(reading, solution.choice, stated, proof_checker, Work(work, half_of_memory(), out_of_time))
    proved: list[str] = []
    total = None
    if solution.choice is not None:
        total = reading.graph(solution.choice, solution.score)
        proved.append(f"the graph is acyclic, its families exist and add up to {solution.score!r}")
        if solution.constraints:
            proved.append(f"it obeys the constraints ({', '.join(solution.constraints.stated())})")
    if solution.status is Status.OPTIMAL and solution.bound != solution.score:
        raise CheckFailed(f"the status is optimal, but the bound {solution.bound!r} is not the score")
    if solution.status is not Status.UNKNOWN and solution.choice is None:
        raise CheckFailed(f"the status is {solution.status}, but there is no graph")

    try:
        found = check.bound(solution.evidence)
    except OutOfTime:
        found = check.unchecked()
    if total is not None and found.proved < total:
        raise CheckFailed(
            f"the evidence 'proves' a bound of {reading.score(found.proved)!r}, below the score of the graph: "
            "it is wrong"
        )
    if stated < found.accepted:
        source = "the sum of the best scores" if solution.evidence is None else "its evidence gives"
        raise CheckFailed(f"the bound {solution.bound!r} is lower than {source}, {reading.score(found.accepted)!r}")
    obeying = " that obeys the constraints" if solution.constraints else ""
    proved.append(f"no acyclic graph of these families{obeying} scores more than {reading.score(found.proved)!r}")
    claimed = found.claims if stated < found.proved else ()
    return Verdict(solution.score, reading.score(found.proved), tuple(proved), claimed, found.ended or not claimed)
