"""The structure of one member: knots of its numbers, and the pairs of attributes that have scores of their own.

Knots are at random ranks between the least and the greatest, each of which is one too, or at the rank of a random
value, so that rare values beside a frequent one are not forgotten. Attributes are taken up one after the other in
proportion to I(X; Y), each with those of the ones before it that tell most about it given the class: pairs of a
k-dependence network. How many is bounded by ENTRIES scores that a row touches (fewer where there are many classes), so
that a fit takes about as long whatever the number of attributes.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn.classifiers.eskdb import drawn
from optbn.classifiers.forest import Parents
from optbn.classifiers.pairs import PairCounts
from optbn.classifiers.single import by_information, k_parents
from optbn.classifiers.soft.kernels.scores import Design, Rows, empty_rows, spread
from optbn.classifiers.soft.places import Scale
from optbn.data.discretise.mdlp import chosen_cuts

ENTRIES = 400
PAIRED = 128
"""Attributes that may be in pairs: the first of the order."""

STEEP = 6
"""Places at which the classes change, per attribute, at most."""


@dataclass(frozen=True, eq=False)
class Structure:
    """knots  of each attribute, ranks in ascending order, none for texts;  parents  of those in pairs"""

    scales: tuple[Scale, ...]
    knots: tuple[NDArray[np.float64], ...]
    parents: Parents

    @functools.cached_property
    def mains(self) -> list[int]:
        """Cells of each attribute by itself."""
        return [len(k) + 1 if len(k) else s.n_cells for k, s in zip(self.knots, self.scales, strict=True)]

    @functools.cached_property
    def in_pairs(self) -> list[int]:
        """Cells of each attribute in pairs."""
        return [len(k) + 1 if len(k) else int(s.coarse.max()) + 1 for k, s in zip(self.knots, self.scales, strict=True)]

    @functools.cached_property
    def design(self) -> Design:
        """Where its scores stand."""
        mains, sizes = self.mains, self.in_pairs
        pairs = [(i, p) for i, parents in self.parents.items() for p in parents]
        main_at = 1 + np.cumsum([0, *mains])
        pair_at = main_at[-1] + np.cumsum([0, *(sizes[i] * sizes[p] for i, p in pairs)])
        child, parent = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        return Design(
            np.array([len(k) > 1 for k in self.knots]), main_at[:-1].astype(np.int64), child.copy(), parent.copy(),
            pair_at[:-1].astype(np.int64), np.array([sizes[p] for _, p in pairs], dtype=np.int64),
        )  # fmt: skip

    @functools.cached_property
    def cells(self) -> int:
        """Scores of a class, with room for the cell after the last one's row, which a share of 0 touches."""
        sizes = self.in_pairs
        pairs = sum(sizes[i] * sizes[p] for i, parents in self.parents.items() for p in parents)
        return 1 + sum(self.mains) + pairs + max(sizes, default=0) + 1

    def rows(self, places: NDArray[np.float64], first: int = 0, n: int | None = None) -> Rows:
        """Cells of n rows of places from the first on."""
        rows = empty_rows(places.shape[1] - first if n is None else n, len(places))
        spread(places, first, *self._end_to_end, rows)
        return rows

    @functools.cached_property
    def _end_to_end(self) -> tuple[NDArray[Any], ...]:
        """All knots and where each attribute's begin, and likewise what the cells are in pairs."""
        knot_at = np.cumsum([0, *map(len, self.knots)])
        coarse_at = np.cumsum([0, *(len(s.coarse) for s in self.scales)])
        knots, coarse = np.concatenate([np.zeros(0), *self.knots]), np.concatenate([s.coarse for s in self.scales])
        return knots, knot_at.astype(np.int64), coarse, coarse_at.astype(np.int64)


@dataclass(frozen=True)
class Resolution:
    """knots  the most of an attribute;  steep  whether there are also knots on both sides of where classes change"""

    knots: int = 10
    steep: bool = False
    entries: int = ENTRIES


def random_structure(
    scales: Sequence[Scale], places: NDArray[np.float64], classes: NDArray[np.int64], weights: NDArray[np.float64],
    n_classes: int, k: int, resolution: Resolution, random: np.random.Generator,
) -> Structure:  # fmt: skip
    """A member of an ensemble, by the rows of positive weight."""
    knots = []
    for i, scale in enumerate(scales):
        found = np.zeros(0)
        if len(scale.points):
            many = int(random.integers(2, resolution.knots + 1))
            inner = random.uniform(scale.ranks[0], scale.ranks[-1], many - 2)
            inner = np.where(random.random(many - 2) < 0.5, inner, random.choice(scale.ranks, many - 2))
            found = _with_ends(scale.ranks, inner, resolution.knots)
            if resolution.steep:
                found = np.union1d(found, _changes(scale.ranks, places[i], classes, weights, n_classes, random))
        knots.append(found)
    return _with_pairs(scales, knots, places, classes, weights, n_classes, k, resolution.entries, random)


def even_structure(
    scales: Sequence[Scale], places: NDArray[np.float64], classes: NDArray[np.int64], weights: NDArray[np.float64],
    n_classes: int, k: int, n_knots: int,
) -> Structure:  # fmt: skip
    """Knots at equal steps of rank, attributes in the order of their information."""
    inner = np.linspace(0.0, 1.0, n_knots)[1:-1]
    knots = [_with_ends(s.ranks, inner, n_knots) if len(s.points) else np.zeros(0) for s in scales]
    return _with_pairs(scales, knots, places, classes, weights, n_classes, k, ENTRIES, None)


def _with_ends(ranks: NDArray[np.float64], inner: NDArray[np.float64], most: int) -> NDArray[np.float64]:
    """Knots inside, on the ranks that occur where these are few, and at both ends."""
    if len(ranks) <= 2 * most and len(inner):
        inner = ranks[np.abs(ranks[None, :] - inner[:, None]).argmin(axis=1)]
    inside = inner[(inner > ranks[0]) & (inner < ranks[-1])]
    return np.unique(np.concatenate([ranks[:1], inside, ranks[-1:]]))


def _changes(
    ranks: NDArray[np.float64], place: NDArray[np.float64], classes: NDArray[np.int64], weights: NDArray[np.float64],
    n_classes: int, random: np.random.Generator,
) -> NDArray[np.float64]:  # fmt: skip
    """Ranks below and above the places at which the randomised MDLP cuts."""
    rows = (weights > 0) & ~np.isnan(place)
    if not rows.any():
        return np.zeros(0)
    cuts = chosen_cuts(place[rows], classes[rows], n_classes, weights[rows], "values", random)
    if len(cuts) > STEEP:
        cuts = random.choice(cuts, STEEP, replace=False)
    above = np.minimum(np.searchsorted(ranks, cuts, side="right"), len(ranks) - 1)
    return np.union1d(ranks[above], ranks[np.maximum(above - 1, 0)])


def _with_pairs(
    scales: Sequence[Scale], knots: Sequence[NDArray[np.float64]], places: NDArray[np.float64],
    classes: NDArray[np.int64], weights: NDArray[np.float64], n_classes: int, k: int, entries: int,
    random: np.random.Generator | None,
) -> Structure:  # fmt: skip
    alone = Structure(tuple(scales), tuple(knots), {})
    rows = alone.rows(places)
    nearest = (rows.coarse + (rows.share > 0.5)).astype(np.int32)
    names = [f"attribute {i + 1}" for i in range(len(scales))]
    single = PairCounts(alone.in_pairs, n_classes, names, pairs=False)
    single.add((nearest, classes, weights))
    information = single.information()
    order = by_information(information) if random is None else drawn(information, random)
    some = order[:PAIRED]
    touched = sum(4 if len(knots[i]) > 1 else 1 for i in range(len(scales)))
    most = min(k, max(1, entries // (touched * -(-n_classes // 4))))
    if most == 0 or len(some) < 2:
        return alone
    sizes = [alone.in_pairs[i] for i in some]
    counts = PairCounts(sizes, n_classes, [names[i] for i in some])
    counts.add((np.ascontiguousarray(nearest[:, some]), classes, weights))
    parents = k_parents(range(len(some)), counts.conditional_information(), most)
    return Structure(
        alone.scales, alone.knots, {some[i]: tuple(some[p] for p in chosen) for i, chosen in parents.items()}
    )
