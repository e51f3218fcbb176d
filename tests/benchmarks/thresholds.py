"""Trees that may cut real columns between any two values (max_splits="all"): boxes by their numbers, and as a plan.

Rows of mixed12 (see phase1), a categorical and a real child, one to three real parents: CPU seconds of a family's
score, how many of the cuts of all boxes were looked at, and the seconds of the plan that lists every split
(kernels/sparse.py), where that is small enough to wait for.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from optbn.scores.pcart import PCART, BoundTrees
from optbn.scores.trees.large import Sites
from optbn.scores.trees.thresholds import Boxes
from tests.benchmarks import Figure
from tests.benchmarks.phase1 import load

ROWS = [(100, 1), (400, 1), (1600, 1), (60, 2), (80, 2), (20, 3)]  # rows, real parents
PLANNED = 2e7
"""The most splits that a plan is made of here."""


def measure() -> Iterator[Figure]:
    for rows, size in ROWS:
        data = load("mixed12", rows)
        bound = PCART(max_splits="all").bind(data)
        real = np.flatnonzero(bound.leaves.is_real)
        members = real[:size].astype(np.int32)
        parents = "real parent" if size == 1 else "real parents"
        for kind, child in (("categorical", int(np.flatnonzero(~bound.leaves.is_real)[0])), ("real", int(real[-1]))):
            boxes(bound, members, child)
            seconds, looked_at = min(boxes(bound, members, child) for _ in range(3))
            every = float(bound.costs.extent(members[None, :])[1][0])
            work = f"mixed12, N = {rows:,}, {kind} child, {size} {parents} cut anywhere"
            note = f"{looked_at:,} of {every:,.0f} cuts looked at"
            if every < PLANNED:
                note += f"; as a plan {min(planned(bound, members, child) for _ in range(3)):.3g} s"
            yield Figure(work, seconds, note=note)


def boxes(bound: BoundTrees, members: np.ndarray, child: int) -> tuple[float, int]:
    """CPU seconds of one family by the numbers of its boxes, and the cuts looked at."""
    priors = bound._priors(members[None, :])
    start = time.process_time()
    sites = Sites.of(bound.leaves, members)
    found = Boxes.of(bound.leaves, sites, members, child, float(priors.leaf_cost[0]), int(priors.leaf_rows[0]))
    return time.process_time() - start, found.looked_at


def planned(bound: BoundTrees, members: np.ndarray, child: int) -> float:
    """The same by a plan of all splits of the boxes that hold rows."""
    priors = bound._priors(members[None, :])
    wanted = np.arange(bound.columns.data.n_variables) == child
    start = time.process_time()
    plan = bound._sparse(members, wanted, int(priors.leaf_rows[0]))
    list(plan.climb(bound.leaves, wanted, float(priors.leaf_cost[0])))
    return time.process_time() - start
