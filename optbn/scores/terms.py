"""Functions of a count, of which scores of contingency tables are sums, and the book of those that a score uses."""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from optbn.scores.kernels.terms import LOG_GAMMA, N_LOG_N, N_LOG_REGRET, tabulate

TABULATED_COUNTS = 1 << 16  # terms of larger counts are computed where they occur
TABULATED_BYTES = 64 << 20


class Term(NamedTuple):
    """A function of a count; `kind` is one of kernels/terms.py."""

    kind: int
    parameter: float = 0.0


def log_gamma(a: float) -> Term:
    """n -> lgamma(n + a) - lgamma(a)"""
    return Term(LOG_GAMMA, a)


def n_log_n() -> Term:
    """n -> n log n"""
    return Term(N_LOG_N)


def n_log_regret(levels: int) -> Term:
    """n -> n log n + log C(levels, n)"""
    return Term(N_LOG_REGRET, float(levels))


class TermBook:
    """The terms in use, each a row: its kind, its parameter, and (for the first ones) its values at small counts."""

    def __init__(self, units: int, unit: float, tabulating: bool) -> None:
        self._length, self._unit = min(units + 1, TABULATED_COUNTS), unit
        self._tabulated = TABULATED_BYTES // (8 * self._length) if tabulating else 0
        self._rows: dict[Term, int] = {}
        self._values: list[NDArray[np.float64]] = []
        self._arrays: tuple[NDArray[Any], NDArray[Any], NDArray[Any]] | None = None
        self._lock = threading.Lock()

    def row(self, term: Term) -> int:
        """The row of a term, added when it is new."""
        with self._lock:
            if term not in self._rows:
                if len(self._values) < self._tabulated:
                    self._values.append(tabulate(term.kind, term.parameter, self._length, self._unit))
                self._rows[term] = len(self._rows)
                self._arrays = None
            return self._rows[term]

    def arrays(self) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.float64]]:
        """(tables, kinds, parameters) of all rows so far."""
        with self._lock:
            if self._arrays is None:
                tables = np.array(self._values).reshape(len(self._values), self._length)
                kinds = np.array([term.kind for term in self._rows], dtype=np.int64)
                self._arrays = tables, kinds, np.array([term.parameter for term in self._rows], dtype=np.float64)
            return self._arrays
