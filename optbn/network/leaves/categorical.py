"""A categorical distribution per cell, the levels of a run equally likely where a model says so.

Drawing spends one 64-bit word per row, so that a sample is a prefix of a longer one, and has the same bits on every
machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import NetworkError
from optbn.data.dataset import Categorical, Domain
from optbn.network.kernels import draw
from optbn.network.leaves.columns import frozen

SUM_TOLERANCE = 1e-5
"""How far a row may be from one. Programs print six or seven digits: three times .333333 is off by 1e-6, the worst row
of the published networks by 3e-7, twenty levels of six digits by at most 1e-5. Rows are kept as they are; `log_density`
uses them unchanged, sampling divides by their sum."""


@dataclass(frozen=True, eq=False)
class CategoricalLeaves:
    """float64[cells, r], each row a distribution over the child's r levels.

    runs    int[cells, r], ascending from 0: the run each level is in, where neighbours in a run are equally likely by
            the model; None where the model says nothing of the kind
    """

    probabilities: NDArray[np.float64]
    runs: NDArray[np.int32] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "probabilities", frozen(self.probabilities, 2, "probabilities"))
        bad = self.invalid_row(self.probabilities)
        if bad is not None:
            raise NetworkError(f"row {bad[0]}: {bad[1]}")
        if self.runs is not None:
            runs = np.array(self.runs, np.int32)
            steps = np.diff(runs, axis=1) if runs.shape == self.probabilities.shape else np.full((1, 1), 2)
            if runs.size and (runs[:, 0].any() or ((steps != 0) & (steps != 1)).any()):
                raise NetworkError(
                    "runs need a number for every level of every cell: 0, then as the level before or one more"
                )
            runs.setflags(write=False)
            object.__setattr__(self, "runs", runs)

    @classmethod
    def pooled(cls, rows: NDArray[np.float64], runs: NDArray[np.int32]) -> CategoricalLeaves:
        """These distributions, made equal within each run."""
        cells, r = rows.shape
        place = np.arange(cells)[:, None] * r + runs
        total, length = np.bincount(place.ravel(), rows.ravel()), np.bincount(place.ravel())
        return cls(total[place] / length[place], runs)

    @staticmethod
    def invalid_row(rows: NDArray[np.float64]) -> tuple[int, str] | None:
        """The first row of float64[cells, r] that is no distribution, and why; None when all are."""
        outside = ~((rows >= 0.0) & (rows <= 1.0 + SUM_TOLERANCE))  # also true of nan
        totals = rows.sum(axis=1)
        off = outside.any(axis=1) | ~(np.abs(totals - 1.0) <= SUM_TOLERANCE)
        if not off.any():
            return None
        row = int(np.argmax(off))
        if outside[row].any():
            return row, f"{rows[row][np.argmax(outside[row])]} is not a probability"
        return row, f"probabilities sum to {totals[row]:.10g}, not 1"

    @property
    def cells(self) -> int:
        return len(self.probabilities)

    @property
    def n_parameters(self) -> int:
        """Free parameters."""
        if self.runs is not None:
            return int(self.runs[:, -1].sum())
        cells, r = self.probabilities.shape
        return int(cells * (r - 1))

    def check_child(self, domain: Domain) -> None:
        """Refuse a child these leaves cannot describe."""
        if not isinstance(domain, Categorical):
            raise NetworkError("categorical leaves but the variable is real")
        if self.probabilities.shape[1] != len(domain.levels):
            raise NetworkError(
                f"{self.probabilities.shape[1]} probabilities per row but the variable has {len(domain.levels)} levels"
            )

    @cached_property
    def _log(self) -> NDArray[np.float64]:
        with np.errstate(divide="ignore"):
            logarithms: NDArray[np.float64] = np.log(self.probabilities)
        return logarithms

    @cached_property
    def _cumulative(self) -> NDArray[np.float64]:
        """Running sums over the total, and 2 from the last level with any probability on: the kernel always stops."""
        sums: NDArray[np.float64] = np.cumsum(self.probabilities, axis=1)
        sums /= sums[:, -1:]
        r = self.probabilities.shape[1]
        last = r - 1 - np.argmax(self.probabilities[:, ::-1] > 0.0, axis=1)
        sums[np.arange(r) >= last[:, None]] = 2.0
        return sums

    def log_density(self, cells: NDArray[np.int64], values: NDArray[Any]) -> NDArray[np.float64]:
        """float64[N]: log probability of the codes `values`; -inf where it is zero."""
        density: NDArray[np.float64] = self._log[cells, values]
        return density

    def sample(self, cells: NDArray[np.int64], generator: np.random.Generator) -> NDArray[np.int64]:
        """int64[N]: a level code per row."""
        out = np.empty(len(cells), dtype=np.int64)
        draw(cells, self._cumulative, generator.bit_generator.random_raw(len(cells)), out)
        return out

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CategoricalLeaves) or (self.runs is None) != (other.runs is None):
            return False
        same = self.runs is None or other.runs is None or np.array_equal(self.runs, other.runs)
        return same and np.array_equal(self.probabilities, other.probabilities)

    def __hash__(self) -> int:
        return hash(self.probabilities.tobytes())
