"""Better graphs from fractional points: read an order off the point, then climb from it by local search."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from optbn_solvers.relaxation.kernels.polish import sink_order
from optbn_solvers.relaxation.ledger import Ledger
from optbn_solvers.relaxation.orders import FamilyIndex, climb_order
from optbn_solvers.relaxation.separate import Point

NOISE = 0.3


def polish(ledger: Ledger, index: FamilyIndex, point: Point, rng: np.random.Generator, tries: int = 3) -> bool:
    """Offer the graphs that climbs from `tries` orders of the point end at; returns whether one was better.

    The first order puts last, again and again, the variable with the least arc weight into those that are left: of an
    integral acyclic point that is a topological order. The others follow the families (`sink_order`), with noise.
    """
    families = point.families
    better = False
    for attempt in range(tries):
        if attempt == 0:
            order = least_out_order(point.arcs)
        else:
            order = np.empty(families.n, dtype=np.int64)
            noise = NOISE * rng.random((families.n, families.n))
            sink_order(families.offsets, families.starts, families.parents, point.dense, noise, order)
        rows = climb_order(index, order)
        if (rows >= 0).all():
            better |= ledger.offer(rows)
    return better


def least_out_order(weight: NDArray[np.float64]) -> NDArray[np.int64]:
    """An order of the variables; `weight[u, v]` is how much u should come before v."""
    n = len(weight)
    out = weight.sum(axis=1)
    order = np.empty(n, dtype=np.int64)
    for place in range(n - 1, -1, -1):
        sink = int(out.argmin())
        order[place] = sink
        out -= weight[:, sink]
        out[sink] = np.inf
    return order
