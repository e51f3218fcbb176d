"""Better graphs from fractional points: read an order off the point, then climb from it by local search."""

from __future__ import annotations

import numpy as np

from solvers.greedy import FamilyIndex, climb_order
from solvers.ilp.kernels.polish import sink_order
from solvers.ilp.ledger import Ledger
from solvers.ilp.separate import Point

NOISE = 0.3


def polish(ledger: Ledger, index: FamilyIndex, point: Point, rng: np.random.Generator, tries: int = 3) -> bool:
    """Offer the graphs that climbs from `tries` orders of the point end at; returns whether one was better."""
    families = point.families
    n = families.n
    better = False
    order = np.empty(n, dtype=np.int64)
    for attempt in range(tries):
        noise = NOISE * rng.random((n, n)) if attempt else np.zeros((n, n))
        sink_order(families.offsets, families.starts, families.parents, point.dense, noise, order)
        rows = climb_order(index, order)
        if (rows >= 0).all():
            better |= ledger.offer(rows)
    return better
