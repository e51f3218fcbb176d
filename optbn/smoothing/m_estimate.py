"""The m-estimate with back-off: m imagined rows, uniform over the levels, in every context that was seen.

A context without rows is answered by its deepest ancestor with some. m = "cv" holds out min(N/10, 5000) rows, drawn
without replacement from the leaves' counts, and takes the m of CANDIDATES under which they are most likely, then
estimates from all rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import UnsupportedError
from optbn.smoothing.protocol import Estimate
from optbn.smoothing.tree import CountTree

CANDIDATES = (0.05, 0.2, 1.0, 5.0, 20.0)
"""Without 0: that held-out rows avoid the empty cells is no reason to call them impossible."""

FEWEST_HELD_OUT = 2
"""With fewer rows to hold out than this, there is nothing to choose by, and m is 1."""


@dataclass(frozen=True)
class MEstimate:
    """(n_k + m/K) / (N + m), m >= 0 or "cv"."""

    m: float | str = 1.0

    def __post_init__(self) -> None:
        if self.m != "cv" and not (isinstance(self.m, int | float) and np.isfinite(self.m) and self.m >= 0):
            raise UnsupportedError(f"m_estimate: m is {self.m!r}, expected a number of at least 0 or 'cv'")

    def fit(self, tree: CountTree, generator: np.random.Generator) -> Estimate:
        m = _held_out_choice(tree, generator) if self.m == "cv" else float(self.m)
        p = _smooth(tree.counts, m)
        rows = tree.totals + m if m > 0 else None
        return Estimate(p, p, diagnostics={"m": m} if self.m == "cv" else {}, precision=rows, unseen_precision=rows)


def _smooth(counts: NDArray[np.float64], m: float) -> NDArray[np.float64]:
    """The estimate at nodes with rows; uniform where there are none (an empty root)."""
    totals = counts.sum(axis=1, keepdims=True)
    K = counts.shape[1]
    return np.asarray(np.where(totals > 0, (counts + m / K) / np.where(totals > 0, totals + m, 1.0), 1.0 / K))


def _held_out_choice(tree: CountTree, generator: np.random.Generator) -> float:
    """The m under which held-out rows are most likely; whole counts only."""
    leaves = np.flatnonzero(tree.is_leaf)
    counts = whole_counts(tree, "m_estimate(m='cv')")[leaves]
    held = min(int(counts.sum()) // 10, 5000)
    if held < FEWEST_HELD_OUT:
        return 1.0
    rows = generator.choice(int(counts.sum()), held, replace=False, shuffle=False)
    cells = np.searchsorted(np.cumsum(counts), rows, side="right")
    out = np.bincount(cells, minlength=counts.size).reshape(counts.shape)
    kept = np.zeros_like(tree.counts)
    kept[leaves] = counts - out
    rest = tree.reweighted(kept)
    node = np.array(leaves)
    while (empty := (rest.totals[node] == 0) & (node != 0)).any():
        node[empty] = tree.parent[node[empty]]
    best, choice = -np.inf, 1.0
    for m in CANDIDATES:
        p = _smooth(rest.counts[node], m)
        with np.errstate(divide="ignore"):
            likelihood = float(np.where(out > 0, out * np.log(p, where=out > 0, out=np.zeros_like(p)), 0.0).sum())
        if likelihood > best:
            best, choice = likelihood, m
    return choice


def whole_counts(tree: CountTree, who: str) -> NDArray[np.int64]:
    """The counts as integers; fractional weights are refused by the method's name."""
    counts = np.rint(tree.counts).astype(np.int64)
    if not np.array_equal(counts, tree.counts):
        raise UnsupportedError(f"{who} needs whole counts, but the weights make fractions; use bdeu or m_estimate")
    return counts
