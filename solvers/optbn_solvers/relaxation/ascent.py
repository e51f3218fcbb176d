"""Bounds without an LP: dual ascent on the cluster inequalities, in integers.

Problem. One row (v, P) per variable, acyclic, largest sum of units. For every set C some v in C has P disjoint from C.
Take the reduced cost of a row, r = (best of its child) - (its units) >= 0; the bound starts at B = sum of the bests.
Run the acyclicity checker on the rows with r = 0 alone: grow a prefix, placing any variable that has such a row
inside it. If it gets through, those rows hold a DAG, and no cluster is left to raise. What it gets stuck at is a
cluster C all of whose rows (v in C, P disjoint from C) cost something; their least cost y is paid by every DAG, so
    B -= y   and   r -= y for exactly those rows
keeps "every DAG that uses a row scores at most B - r" true. Small clusters are better: C is first made minimal, in
a random order of tries, which matters; hence several orders. (van Beek and Hoffmann 2015 for the clusters;
Troesser, de Givry and Katsirelos, IJCAI 2021, for the ascent and the checker.)

The clusters with their y are evidence as they stand: see `optbn_solvers.base.solution`. Cost: .1-10 ms an ascent.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from optbn_solvers.relaxation.kernels.clusters import ascend

FIRST_SLICE = 16  # clusters per call of the kernel, so that a clock can be looked at in between; doubles while quick
SLICE_SECONDS = 0.1


@dataclass(frozen=True, eq=False)
class Ascent:
    """What one ascent found: every DAG scores at most (sum of the bests) - `raised` units.

    clusters     uint64[k, W]
    multipliers  int64[k], y of each cluster
    costs        int64[m], the reduced costs left over
    complete     the rows of cost 0 hold a DAG: nothing is left to raise
    feasible     False: the last cluster has no disjoint row, so the rows hold no DAG at all
    """

    raised: int
    clusters: NDArray[np.uint64]
    multipliers: NDArray[np.int64]
    costs: NDArray[np.int64]
    complete: bool
    feasible: bool


def reduced_costs(offsets: NDArray[np.int64], units: NDArray[np.int64]) -> NDArray[np.int64]:
    """int64[m]: (best units of the child) - units."""
    best = np.maximum.reduceat(units, offsets[:-1])
    costs: NDArray[np.int64] = np.repeat(best, np.diff(offsets)) - units
    return costs


def dual_ascent(
    offsets: NDArray[np.int64],
    masks: NDArray[np.uint64],
    costs: NDArray[np.int64],
    order: NDArray[np.int64],
    limit: int = 20_000,
    stop: Callable[[], bool] = lambda: False,
) -> Ascent:
    """One ascent from the given reduced costs (>= 0, a 0 per child; not changed); `order` is the order of tries.

    Stops after `limit` clusters, or when `stop` says so: the result is then a valid bound that could still be raised.
    """
    offsets, masks = np.array(offsets), np.array(masks)  # writable copies: one compiled signature
    costs = np.array(costs)
    order = np.array(order, dtype=np.int64)
    clusters, multipliers, raised, found, state = [], [], 0, 0, 1
    size = FIRST_SLICE
    while state == 1 and found < limit and not stop():
        start = time.monotonic()
        some = np.zeros((min(size, limit - found), masks.shape[1]), dtype=np.uint64)
        steps = np.zeros(len(some), dtype=np.int64)
        count, more, state = ascend(offsets, masks, costs, order, some, steps)
        clusters.append(some[:count])
        multipliers.append(steps[:count])
        raised += int(more)
        found += int(count)
        size = 2 * size if time.monotonic() - start < SLICE_SECONDS / 2 else max(8, size // 2)
    none = np.zeros((0, masks.shape[1]), dtype=np.uint64)
    return Ascent(
        raised,
        np.concatenate([none, *clusters]),
        np.concatenate([np.zeros(0, dtype=np.int64), *multipliers]),
        costs,
        state == 0,
        state >= 0,
    )
