"""Selective k-dependence networks with random cuts, in the places that soft networks see.

Where rows are few, what is counted is steadier than what is optimised, and a mixture may lean on it. Every network
leaves a fold out, like the trees of `woods`, and is not fitted again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from optbn.classifiers.eskdb import ESKDB
from optbn.classifiers.member import Member, normalised
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
        """float64[n, C]: P(y | x) at places, float64[a, n]."""
        return normalised(self.member.log_joint(self.member.codes(as_table(self.scales, places))))


def as_table(scales: Sequence[Scale], places: NDArray[np.float64]) -> list[Values]:
    """Places as columns."""
    return [
        Values(f"place {i + 1}", place)
        if len(scale.points)
        else Values(f"place {i + 1}", place.astype(np.int64), tuple(str(cell) for cell in range(scale.n_cells)))
        for i, (scale, place) in enumerate(zip(scales, places, strict=True))
    ]


def selective(
    scales: tuple[Scale, ...], data: Data, inside: Sequence[NDArray[np.float64]], n_networks: int,
    seed: np.random.SeedSequence, n_jobs: int | None,
) -> list[CodedNetwork]:  # fmt: skip
    """The networks; network t learns from the weights of `inside` number t modulo 5."""
    table = as_table(scales, data.places)
    found: list[list[Member]] = []
    for fold, (weights, stream) in enumerate(zip(inside, seed.spawn(len(inside)), strict=True)):
        members = len(range(fold, n_networks, len(inside)))
        rows = np.flatnonzero(weights > 0)
        source = InMemory(table, data.classes, weights, data.n_classes).take(rows)
        ensemble = ESKDB(max(1, members), weights="uniform", calibrate=False, n_jobs=n_jobs)
        found.append(ensemble._learn(source, SMOOTHER, stream)[0][:members])
    return [CodedNetwork(found[t % len(inside)][t // len(inside)], scales) for t in range(n_networks)]
