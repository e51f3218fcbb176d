"""The local structure of a full table: the counts behind one score of categorical data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import DataError, UnsupportedError
from optbn.data.dataset import Categorical, Dataset

MAX_LEVELS = 1 << 16


@dataclass(frozen=True, eq=False)
class CountTable:
    """Counts of the child's levels (last axis) per parents' levels."""

    child: int
    parents: tuple[int, ...]
    counts: NDArray[np.int64] | NDArray[np.float64]


def count_table(data: Dataset, child: int, parents: tuple[int, ...]) -> CountTable:
    """The counts of one family; one too large to be written down is refused."""
    shape = [data.cardinalities[u] for u in (*parents, child)]
    if math.prod(shape) > 1 << 30:
        names = ", ".join(data.names[u] for u in parents)
        raise UnsupportedError(
            f"the table of {data.names[child]!r} given {{{names}}} has {math.prod(shape):,} cells, "
            f"expected at most {1 << 30:,}; allow fewer parents or merge rare levels"
        )
    cell = np.ravel_multi_index([data.columns[u].astype(np.int64) for u in (*parents, child)], shape)
    weights = None if data.weights is None else data.weights.values
    return CountTable(child, parents, np.bincount(cell, weights, minlength=math.prod(shape)).reshape(shape))


def categorical_levels(name: str, data: Dataset) -> Sequence[int]:
    """The declared levels of every column; one that the score of that name cannot serve is refused."""
    if data.n_rows == 0:
        raise DataError("the data have no rows, there is nothing to score")
    for column, domain in zip(data.names, data.domains, strict=True):
        if not isinstance(domain, Categorical):
            raise UnsupportedError(
                f"column {column!r} is real, {name} needs categorical data: discretise it, or use a score for mixed "
                "data (pcart, ft) or for real data (bge, bic)"
            )
        if len(domain.levels) > MAX_LEVELS:
            raise UnsupportedError(
                f"column {column!r} has {len(domain.levels)} levels, {name} takes at most {MAX_LEVELS}: merge levels, "
                "or leave the column out"
            )
    return data.cardinalities
