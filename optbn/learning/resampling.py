"""How a resample is made: its rows are drawn, or all rows get random weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import DataError, UnsupportedError
from optbn.data.dataset import Categorical, Dataset

Kind = Literal["rows", "blocks", "subsample", "bayesian"]
KINDS: tuple[str, ...] = get_args(Kind)


@dataclass(frozen=True)
class Resampling:
    """How rows are drawn.

    kind       "rows": as many as there are, with replacement; "blocks": runs of `block` consecutive rows, for series;
               "subsample": `fraction` of the rows, without replacement; "bayesian": every row, with a weight, the
               weights uniform among those that sum to the number of rows (Rubin 1981), so no level dies out
    stratify   a column whose levels keep their numbers of rows (not with blocks)
    """

    kind: Kind = "rows"
    block: int | None = None
    fraction: float = 0.5
    stratify: str | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise UnsupportedError(f"resampling by {self.kind!r}; there are: {', '.join(KINDS)}")
        if self.kind == "blocks" and (self.block is None or self.block < 1):
            raise UnsupportedError("resampling by blocks needs their length: block=10, say")
        if not 0 < self.fraction <= 1:
            raise UnsupportedError(f"a fraction of {self.fraction!r} of the rows, expected a number above 0, at most 1")
        if self.stratify is not None and self.kind == "blocks":
            raise UnsupportedError("blocks of consecutive rows cannot be stratified")

    def resample(self, data: Dataset, generator: np.random.Generator) -> Dataset:
        """One resample."""
        if self.kind != "bayesian":
            return data.take(self.draw(data, generator))
        weights = np.empty(data.n_rows)
        for rows in self._groups(data):
            weights[rows] = len(rows) * generator.dirichlet(np.ones(len(rows)))
        return data.weighted(weights)

    def draw(self, data: Dataset, generator: np.random.Generator) -> NDArray[np.int64]:
        """The numbers of the rows of one resample."""
        n = data.n_rows
        if self.kind == "blocks":
            assert self.block is not None
            block = min(self.block, n)
            starts = generator.integers(0, n - block + 1, -(-n // block))
            return np.asarray((starts[:, None] + np.arange(block)).ravel()[:n])
        return np.concatenate([self._draw(group, generator) for group in self._groups(data)])

    def _groups(self, data: Dataset) -> list[NDArray[np.int64]]:
        """The rows of each stratum."""
        if self.stratify is None:
            return [np.arange(data.n_rows)]
        domain = data.domain(self.stratify)
        if not isinstance(domain, Categorical):
            raise DataError(f"column {self.stratify!r} is real; rows are stratified by the levels of a column")
        column = data.column(self.stratify)
        return [rows for level in range(len(domain.levels)) if len(rows := np.flatnonzero(column == level))]

    def _draw(self, rows: NDArray[np.int64], generator: np.random.Generator) -> NDArray[np.int64]:
        if self.kind == "rows":
            return generator.choice(rows, len(rows))
        return generator.choice(rows, max(1, round(self.fraction * len(rows))), replace=False)
