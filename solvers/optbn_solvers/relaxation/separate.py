"""Violated cluster inequalities of a fractional point.

    sum over (v in C, P meets C) of x(v, P)  <=  |C| - 1

Finding the most violated C is NP-hard; here sets grow from short cycles of the point and from pairs of variables
with an arc between them (each with its closest neighbour), by a tabu climb over single flips. Cost: a millisecond.
Those are small. What says that somebody must come first among all variables, or most of them, no pair grows to: such
clusters begin with what is stuck when the variables, or a random part of them, are placed one after the other. Where
nothing of that is violated much, minimum cuts find what no single flips lead to (kernels.cuts).
Integral points are no heuristic's business: the support of a cyclic choice has a cycle of length 0, and that seed is
violated by 1 before any climb.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn_solvers.base.table import mask_members
from optbn_solvers.relaxation.families import Families
from optbn_solvers.relaxation.kernels.clusters import grow_prefix
from optbn_solvers.relaxation.kernels.cuts import cut_clusters
from optbn_solvers.relaxation.kernels.separation import arc_weights, climb_clusters, cycle_seeds, stuck_sets
from optbn_solvers.relaxation.rows import Cluster

STEPS = 60  # of a climb from a small seed
LEAST, LEAST_SMOOTHED = 0.01, 0.003  # violation
SUPPORT = 1e-5  # of a smoothed point: smaller values are forgotten
FEW = 5  # rows
SMALL = 8  # variables: pairs and cycles grow to any cluster of so few
STUCK = 48  # orders
WEAK = 0.2  # violation: when climbs find none above that, minimum cuts are next
MANY = 50  # variables: of fewer, climbs find what there is (alarm)
SPEAKERS, MOST_CUTS = 3, 400
NOISE = (0.02, 0.1, 0.3, 1.0)  # of the orders, in turns


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


def distinct(sets: NDArray[Any]) -> NDArray[Any]:
    """The different rows of bool[k, n] or of masks, in the order of their bytes."""
    packed = np.packbits(sets, axis=1) if sets.dtype == np.bool_ else sets
    whole = np.ascontiguousarray(packed).view(f"V{packed.shape[1] * packed.itemsize}").ravel()
    return sets[np.unique(whole, return_index=True)[1]]


def violated_clusters(
    point: Point, rng: np.random.Generator, least: float = LEAST, most_seeds: int = 400
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
    seeds = distinct(np.concatenate([cycles, pairs]))
    if len(seeds) > most_seeds:
        seeds = seeds[rng.permutation(len(seeds))[:most_seeds]]
    return _climbed(point, seeds, np.full(len(seeds), -1), least, STEPS)


def large_clusters(point: Point, rng: np.random.Generator, least: float = LEAST) -> dict[Cluster, float]:
    """Clusters of any size from orders that get stuck, and one around each variable from these."""
    n = point.families.n
    begin = np.ones((STUCK, n), dtype=np.bool_)
    noise = np.zeros((STUCK, n))
    for k in range(1, STUCK):
        if k % 2:
            begin[k, rng.random(n) < rng.uniform(0.05, 0.8)] = False
        noise[k] = NOISE[k % len(NOISE)] * rng.random(n)
    most, last = np.empty_like(begin), np.empty_like(begin)
    stuck_sets(begin, noise, *point.support, least, most, last)
    seeds = distinct(np.concatenate([most, last]))
    seeds = seeds[seeds.sum(axis=1) > 1]
    if not len(seeds):
        return {}
    held = np.arange(n)
    around = seeds[rng.integers(len(seeds), size=n)]
    around[held, held] = True
    found = _climbed(point, seeds, np.full(len(seeds), -1), least, 2 * n)
    return found | _climbed(point, around, held, least, n)


def clusters_of_cuts(point: Point, rng: np.random.Generator, least: float = LEAST) -> dict[Cluster, float]:
    """Clusters of any size from minimum cuts, and what climbs make of them."""
    n = point.families.n
    seeds = np.zeros((MOST_CUTS, n), dtype=np.bool_)
    count = cut_clusters(rng.random((SPEAKERS, n)), n, *point.support, least, seeds)
    seeds = distinct(seeds[:count])
    return _climbed(point, seeds, np.full(len(seeds), -1), least, STEPS)


@dataclass(eq=False)
class Separator:
    """Clusters for the points of a root, one after the other.

    With `smooth` above 0 it is not the LP's corner x that is separated but a point that moves towards it slowly,
        bar = smooth bar + (1 - smooth) x,
    as the corners of one round and the next lie far apart and rows for the way between them say more. Rows that x does
    not violate are of no use now; when few are left, x is separated and bar begins anew there.
    """

    rng: np.random.Generator
    large: bool = False
    smooth: float = 0.0
    _bar: NDArray[np.float64] | None = None

    def clusters(self, point: Point) -> dict[Cluster, float]:
        """Violated clusters with their violations."""
        useful = self._smoothed(point) if self.smooth else {}
        if len(useful) < FEW:
            if self.smooth:
                self._bar = point.dense.copy()
            useful |= self._found(point, LEAST)
        if self.large and point.families.n >= MANY and max(useful.values(), default=0.0) < WEAK:
            useful |= clusters_of_cuts(point, self.rng)
        return useful

    def _smoothed(self, point: Point) -> dict[Cluster, float]:
        """Those of the smoothed point that the point violates, too."""
        bar = point.dense if self._bar is None else self.smooth * self._bar + (1.0 - self.smooth) * point.dense
        bar[bar < SUPPORT] = 0.0
        self._bar = bar
        which = np.flatnonzero(bar)
        clusters = list(self._found(Point(point.families, which, bar[which]), LEAST_SMOOTHED))
        sets = np.zeros((len(clusters), point.families.n), dtype=np.bool_)
        for seed, cluster in zip(sets, clusters, strict=True):
            seed[list(cluster.members)] = True
        return _climbed(point, sets, np.full(len(sets), -1), LEAST, 0) if clusters else {}

    def _found(self, point: Point, least: float) -> dict[Cluster, float]:
        found = violated_clusters(point, self.rng, least)
        return found | large_clusters(point, self.rng, least) if self.large and point.families.n > SMALL else found

    def compact(self, keep: NDArray[np.bool_]) -> None:
        """Families that are not marked in `keep` are forgotten."""
        if self._bar is not None:
            self._bar = self._bar[keep]


def _climbed(
    point: Point, seeds: NDArray[np.bool_], held: NDArray[np.int64], least: float, steps: int
) -> dict[Cluster, float]:
    """The clusters that climbs from the seeds end at."""
    seeds = np.ascontiguousarray(seeds)
    violation = np.empty(len(seeds))
    climb_clusters(seeds, held, *point.support, least, steps, violation)
    return {
        Cluster(tuple(np.flatnonzero(seed).tolist())): float(by)
        for seed, by in zip(seeds, violation, strict=True)
        if by > 0
    }
