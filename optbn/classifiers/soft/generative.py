"""Selective k-dependence networks with random cuts, in the places that soft networks see.

Where rows are few, what is counted is steadier than what is optimised, and a mixture may lean on it. Of texts alone,
every network counts all rows and leaves them out one at a time. Where there are numbers that would flatter: the cuts
have seen the row that is left out. Then every network leaves a fold out, like the trees of `woods`, and is not fitted
again.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from optbn.classifiers.eskdb import ESKDB
from optbn.classifiers.member import Member, normalised
from optbn.classifiers.soft.ensemble import left_out
from optbn.classifiers.soft.kernels.cutting import cut
from optbn.classifiers.soft.places import Scale
from optbn.classifiers.soft.training import Data
from optbn.classifiers.source import InMemory
from optbn.data.discretise.table import Values
from optbn.smoothing.m_estimate import MEstimate

SMOOTHER = MEstimate(1.0)


@dataclass(frozen=True, eq=False)
class CodedNetwork:
    """A network whose columns are places: numbers are cut at ranks, cells of texts are levels."""

    member: Member
    scales: tuple[Scale, ...]

    def at(self, places: NDArray[np.float64]) -> NDArray[np.float64]:
        """float64[n, C]: P(y | x) at places, float64[a, n]; only the attributes that were selected are coded."""
        codes = np.full((places.shape[1], len(places)), -1, dtype=np.int32)
        cut(places, *self._cuts, codes)
        for i in self.member.parents:
            if not len(self.scales[i].points):
                codes[:, i] = self.member.columns[i].encode(as_column(self.scales[i], places[i]))
        return normalised(self.member.log_joint(codes))

    @functools.cached_property
    def _cuts(self) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int32]]:
        """Those of the selected numbers, see `kernels.cutting`."""
        cuts: list[NDArray[np.float64]] = [np.zeros(0)] * len(self.scales)
        missing = np.full(len(self.scales), -2, dtype=np.int32)
        for i in self.member.parents:
            column = self.member.columns[i]
            if len(self.scales[i].points):
                assert column.cuts is not None
                cuts[i], missing[i] = column.cuts, -1 if column.missing is None else column.missing
        return np.concatenate(cuts), np.cumsum([0, *map(len, cuts)]), missing


def as_column(scale: Scale, place: NDArray[np.float64]) -> Values:
    """The places of an attribute as a column."""
    if len(scale.points):
        return Values("place", place)
    return Values("place", place.astype(np.int64), tuple(str(cell) for cell in range(scale.n_cells)))


@dataclass(frozen=True, eq=False)
class Counted:
    """shares    float64[networks]
    left_out  float64[rows, C], the networks' prediction for rows that they leave out; NaN where there is none
    """

    networks: list[CodedNetwork]
    shares: NDArray[np.float64]
    left_out: NDArray[np.float64]

    @classmethod
    def of(
        cls, scales: tuple[Scale, ...], data: Data, inside: Sequence[NDArray[np.float64]], n_networks: int,
        seed: np.random.SeedSequence, n_jobs: int | None,
    ) -> Counted:  # fmt: skip
        """inside  the weights that those learn from which leave a fold out: network t has those of number t modulo 5"""
        table = [as_column(scale, place) for scale, place in zip(scales, data.places, strict=True)]
        if any(len(scale.points) for scale in scales):
            return _by_folds(scales, data, table, inside, n_networks, seed, n_jobs)
        source = InMemory(table, data.classes, data.weights, data.n_classes)
        grown = ESKDB(n_networks, n_jobs=n_jobs).grown(source, SMOOTHER, seed)
        left_out = np.full((len(data.classes), data.n_classes), np.nan)
        left_out[grown.rows] = grown.left_out
        return cls([CodedNetwork(member, scales) for member in grown.members], grown.weights, left_out)


def _by_folds(
    scales: tuple[Scale, ...], data: Data, table: list[Values], inside: Sequence[NDArray[np.float64]], n_networks: int,
    seed: np.random.SeedSequence, n_jobs: int | None,
) -> Counted:  # fmt: skip
    found: list[list[Member]] = []
    for fold, (weights, stream) in enumerate(zip(inside, seed.spawn(len(inside)), strict=True)):
        members = len(range(fold, n_networks, len(inside)))
        rows = np.flatnonzero(weights > 0)
        source = InMemory(table, data.classes, weights, data.n_classes).take(rows)
        ensemble = ESKDB(max(1, members), weights="uniform", calibrate=False, n_jobs=n_jobs)
        found.append(ensemble.grown(source, SMOOTHER, stream).members[:members])
    networks = [CodedNetwork(found[t % len(inside)][t // len(inside)], scales) for t in range(n_networks)]
    return Counted(networks, np.full(n_networks, 1.0 / n_networks), left_out(networks, data, inside))
