"""What is left to predict with: soft networks, and trees and counted networks in the same places, each with a share.

They are one member of their classifier, so that where values lie is found, and kept, once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from optbn.classifiers.combine import rows_of
from optbn.classifiers.soft.kernels.scores import Design, Rows, add_up
from optbn.classifiers.soft.places import Places
from optbn.classifiers.soft.structure import Structure
from optbn.classifiers.trees.tree import Tree
from optbn.data.discretise.table import Table
from optbn.data.discretise.transformer import Column

CHUNK = 8192
"""Rows whose cells are held at a time."""


class Part(Protocol):
    def at(self, places: NDArray[np.float64]) -> NDArray[np.float64]:
        """float64[n, C]: P(y | x) at places, float64[a, n]."""


@dataclass(frozen=True, eq=False)
class SoftNetwork:
    """scores  float64[groups, cells, lanes], see `kernels.scores`"""

    structure: Structure
    scores: NDArray[np.float64]
    n_classes: int

    def at(self, places: NDArray[np.float64]) -> NDArray[np.float64]:
        design, n = self.structure.design, places.shape[1]
        answer = np.empty((n, self.n_classes))
        for first in range(0, n, CHUNK):
            many = min(CHUNK, n - first)
            rows = self.structure.rows(places, first, many)
            answer[first : first + many] = posterior(rows, design, self.scores, self.n_classes)
        return answer


@dataclass(frozen=True, eq=False)
class PlacedTree:
    """probabilities  float64[nodes, C]"""

    tree: Tree
    probabilities: NDArray[np.float64]

    def at(self, places: NDArray[np.float64]) -> NDArray[np.float64]:
        return self.tree.predict(places, self.probabilities)


@dataclass(frozen=True, eq=False)
class Mixture:
    """shares  float64[parts], what each counts for"""

    places: Places
    parts: tuple[Part, ...]
    shares: NDArray[np.float64]

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.places.columns

    def posterior(self, table: Table) -> NDArray[np.float64]:
        """float64[n, C]: P(y | x)."""
        return mean(self.parts, self.shares, self.places(table))

    def contributions(self, table: Table) -> NDArray[np.float64]:
        """float64[n, a, C]: those of the soft networks; of a pair each has half."""
        from optbn.classifiers.soft.explain import contributions

        return contributions(self, self.places(table))

    def networks(self, target: str, classes: Sequence[str]) -> list[Any]:
        raise AttributeError("the scores of a soft network are no probabilities of a network")


def mean(parts: Sequence[Part], shares: NDArray[np.float64], places: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean of the parts' predictions, weighted by their shares."""
    total = shares[0] * parts[0].at(places)
    for part, share in zip(parts[1:], shares[1:], strict=True):
        total += share * part.at(places)
    return rows_of(np.array(total.T, order="C"))


def posterior(rows: Rows, design: Design, scores: NDArray[np.float64], n_classes: int) -> NDArray[np.float64]:
    """float64[n, C]."""
    n = len(rows.low)
    if n_classes == 1:
        return np.ones((n, 1))
    z = np.zeros((1 if n_classes == 2 else 8 * len(scores), n))
    add_up(rows, design, 0, n, scores, z)
    z = np.stack([np.zeros(n), z[0]]) if n_classes == 2 else z[:n_classes]
    p = np.exp(z - z.max(axis=0))
    return np.asarray((p / p.sum(axis=0)).T)
