"""Violated cluster inequalities of a fractional point.

    sum over (v in C, P meets C) of x(v, P)  <=  |C| - 1

Finding the most violated C is NP-hard; here sets grow from short cycles of the point and from pairs of variables
with an arc between them (each with its closest neighbour), by a tabu climb over single flips. Cost: a millisecond.
Integral points are no heuristic's business: the support of a cyclic choice has a cycle of length 0, and that seed is
violated by 1 before any climb.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from optbn_solvers.base.table import mask_members
from optbn_solvers.relaxation.families import Families
from optbn_solvers.relaxation.kernels.clusters import grow_prefix
from optbn_solvers.relaxation.kernels.separation import arc_weights, climb_clusters, cycle_seeds
from optbn_solvers.relaxation.rows import Cluster

STEPS = 60


@dataclass(frozen=True, eq=False)
class Point:
    """A fractional point: `which` families (positions) with `x` > 0."""

    families: Families
    which: NDArray[np.int64]
    x: NDArray[np.float64]

    @cached_property
    def dense(self) -> NDArray[np.float64]:
        """float64[families]."""
        dense = np.zeros(len(self.families))
        dense[self.which] = self.x
        return dense

    @cached_property
    def support(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """children, starts, parents, x of the families that have parents."""
        some = self.families.sizes[self.which] > 0
        which = self.which[some]
        starts, parents = self.families.lists(which)
        return self.families.children[which], starts, parents, self.x[some]

    @cached_property
    def arcs(self) -> NDArray[np.float64]:
        """float64[n, n]: how much u is a parent of v, at [u, v]."""
        weights: NDArray[np.float64] = arc_weights(self.families.n, *self.support)
        return weights

    @property
    def integral(self) -> bool:
        """Every child takes one family whole."""
        return len(self.x) == self.families.n and bool((self.x > 1.0 - 1e-6).all())


def stuck_cluster(point: Point) -> Cluster | None:
    """The variables that an integral point (one whole family per child) cannot order; None: it is acyclic."""
    families = point.families
    n, words = families.n, families.masks.shape[1]
    which = point.which[np.argsort(families.children[point.which], kind="stable")]
    left = np.zeros(words, dtype=np.uint64)
    for v in range(n):
        left[v >> 6] |= np.uint64(1 << (v & 63))
    each = np.arange(n)
    size = grow_prefix(
        np.arange(n + 1), families.masks[which], each, np.ones(n, dtype=np.int64), np.zeros_like(left), left
    )
    return Cluster(mask_members(left)) if size else None


def violated_clusters(
    point: Point, rng: np.random.Generator, least: float = 0.01, most_seeds: int = 400
) -> dict[Cluster, float]:
    """Clusters with their violations, at least `least`."""
    n = point.families.n
    if n < 2:
        return {}
    weight = point.arcs
    cycles = np.zeros((4 * n, n), dtype=np.bool_)
    cycles = cycles[: cycle_seeds(weight, cycles)]
    both = weight + weight.T
    first, second = np.nonzero(np.triu(both, 1) > 0.15)
    pairs = np.zeros((len(first), n), dtype=np.bool_)
    rows = np.arange(len(first))
    if n > 2:
        near = both[first] + both[second] + 0.01 * rng.random((len(first), n))
        near[rows, first] = near[rows, second] = -1.0
        pairs[rows, near.argmax(axis=1)] = True
    pairs[rows, first] = pairs[rows, second] = True
    seeds = np.unique(np.concatenate([cycles, pairs]), axis=0)
    if len(seeds) > most_seeds:
        seeds = seeds[rng.permutation(len(seeds))[:most_seeds]]
    seeds = np.ascontiguousarray(seeds)
    violation = np.empty(len(seeds))
    climb_clusters(seeds, *point.support, least, STEPS, violation)
    return {
        Cluster(tuple(np.flatnonzero(seed).tolist())): float(by)
        for seed, by in zip(seeds, violation, strict=True)
        if by > 0
    }
