"""HMD: the evidence of the hierarchical multinomial-Dirichlet model, its strength learned with everything else.

The distributions of v in the configurations (contexts) of P lie around a common one, and how near is not known:

    beta ~ Dir(alpha0, ..., alpha0),   log s ~ Normal(log K, spread^2),   theta_y | beta, s ~ Dir(s beta)

score(v, P) = log p(v | P) with theta integrated out in closed form and (beta, s) by Laplace's method (the kernel,
kernels/evidence.py; within .25 nats of exact integration in the tests). Without parents, or where the parents have one
configuration in the data, theta is beta: the Dirichlet-multinomial with alpha0. Contexts without rows neither take nor
give. A parent that tells nothing makes s large, and what that costs beforehand is the price of an arc. Graphs that are
Markov-equivalent do not score the same.

Sound pruning: all rows are at most as likely as any choice of one row from each context, and these are independent
draws from beta, so

    score(v, P) <= log Dirichlet-multinomial(levels of the chosen rows; alpha0).

Chosen is the level that the data have least of. What Laplace's method finds above that bound is cut to it, so families
are left out by the score as it is defined. Model: Azzimonti, Corani, Zaffalon (2019), Hierarchical estimation of
parameters in Bayesian networks; its evidence as a score of structures is ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import LimitError, UnsupportedError
from optbn.base.settings import check_positive
from optbn.data.dataset import Dataset
from optbn.scores.count_table import CountTable, categorical_levels, count_table
from optbn.scores.kernels.evidence import score_sets
from optbn.scores.protocol import Floats

MOST_KEYS = 1 << 30
"""Rows times levels of a column: the size of a table that tells contexts apart."""


@dataclass(frozen=True)
class HMD:
    """alpha0  prior of the common distribution, per level
    spread  how uncertain log s is beforehand, around the logarithm of the number of levels
    """

    paper: ClassVar[str] = (
        "HMD: Azzimonti, Corani, Zaffalon (2019), Hierarchical estimation of parameters in Bayesian networks,"
        " Computational Statistics and Data Analysis 137 (the model; its evidence as a score is ours)."
    )

    alpha0: float = 1.0
    spread: float = 1.5

    def __post_init__(self) -> None:
        check_positive(self, "alpha0")
        check_positive(self, "spread")

    def bind(self, data: Dataset) -> BoundHMD:
        levels = np.array(categorical_levels("HMD", data), dtype=np.int64)
        if data.weights is not None:
            raise UnsupportedError("HMD scores rows that count alike: leave the weights away, or use bdeu or bic")
        widest = int(levels.argmax())
        if int(levels[widest]) * data.n_rows > MOST_KEYS:
            raise LimitError(
                f"HMD: column {data.names[widest]!r} has {levels[widest]:,} levels, too many for {data.n_rows:,} rows; "
                "merge levels, or leave the column out"
            )
        orders = np.zeros((len(levels), int(levels.max())), dtype=np.int64)
        for v, column in enumerate(data.columns):
            orders[v, : levels[v]] = np.argsort(np.bincount(column, minlength=int(levels[v])), kind="stable")
        return BoundHMD(self, data, np.array(data.columns, dtype=np.uint16), levels, orders)


@dataclass(frozen=True, eq=False)
class BoundHMD:
    """HMD tied to data; see the kernel for the arrays. It keeps nothing else, so threads may share it."""

    score: HMD
    data: Dataset
    codes: NDArray[np.uint16]
    levels: NDArray[np.int64]
    orders: NDArray[np.int64]

    def block(self, sets: NDArray[np.int32], wanted: NDArray[np.bool_], floor: Floats | None = None) -> Floats:
        """See optbn.scores.protocol.BoundScore."""
        out = np.full(wanted.shape, -np.inf)
        known = np.full(wanted.shape, -np.inf) if floor is None else np.ascontiguousarray(floor)
        score_sets(
            np.ascontiguousarray(sets, dtype=np.int32), np.ascontiguousarray(wanted), self.codes, self.levels,
            self.orders, float(self.score.alpha0), float(self.score.spread), known, out,
        )  # fmt: skip
        return out

    def fitted(self, child: int, parents: tuple[int, ...]) -> CountTable:
        """The counts behind one score."""
        return count_table(self.data, child, parents)
