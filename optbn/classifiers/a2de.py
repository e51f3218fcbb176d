"""Averaged two-dependence estimators: every pair of attributes in turn is a parent of all others (Webb et al. 2012).

    P(y, x) = sum over p < q of w_pq  P(y) P(x_p | y) P(x_q | y, x_p) prod over the others of P(x_j | y, x_p, x_q)

over those pairs whose values were seen together in at least `min_rows` rows; AODE where there are none. Weights are
equal, or I(X_p, X_q; Y), what the pair tells about the class.

Subsumption resolution (Zheng and Webb 2006): if every row with x_j has x_i, and there are enough such rows, x_i adds
nothing to x_j, and with both the same evidence counts twice; so x_i is left out where x_j is present. Of two values
that always come together the one of the second attribute is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import LimitError, UnsupportedError
from optbn.classifiers.aode import AODE, SuperParents
from optbn.classifiers.estimator import NetworkClassifier
from optbn.classifiers.forest import Parents, count_trees, smoothed
from optbn.classifiers.member import Member, class_prior, normalised
from optbn.classifiers.pairs import PairCounts
from optbn.classifiers.single import pairs_of
from optbn.classifiers.source import Source
from optbn.data.discretise.table import Table
from optbn.data.discretise.transformer import Column
from optbn.smoothing.protocol import Smoother

LARGEST = 1 << 26
"""Cells of all networks' tables, at most 512 MB."""


@dataclass(frozen=True, eq=False)
class PairParents:
    """single    for rows without a frequent pair;  pairs, members, weights  a network for each pair
    frequent  per pair bool[levels, levels]: values seen together in enough rows
    general   int64[m, 4]: (i, x_i, j, x_j) where x_i is left out beside x_j
    """

    single: SuperParents
    pairs: tuple[tuple[int, int], ...]
    members: tuple[Member, ...]
    weights: NDArray[np.float64]
    frequent: tuple[NDArray[np.bool_], ...]
    general: NDArray[np.int64]

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.single.columns

    def posterior(self, table: Table) -> NDArray[np.float64]:
        """float64[n, C]: P(y | x)."""
        return normalised(self.log_joint(self._resolved(self.single.naive.codes(table))))

    def _resolved(self, codes: NDArray[np.int32]) -> NDArray[np.int32]:
        """Without values that others subsume."""
        found = codes.copy()
        for i, x, j, z in self.general:
            found[(codes[:, i] == x) & (codes[:, j] == z), i] = -1
        return found

    def log_joint(self, codes: NDArray[np.int32]) -> NDArray[np.float64]:
        """float64[n, C]: log P(y, x) up to a constant of the row."""
        total = np.full((len(codes), len(self.single.prior)), -np.inf)
        for (p, q), member, weight, frequent in zip(self.pairs, self.members, self.weights, self.frequent, strict=True):
            known = (codes[:, p] >= 0) & (codes[:, q] >= 0)
            rows = np.flatnonzero(known & frequent[codes[:, p], codes[:, q]])
            if len(rows) and weight > 0:
                logs = member.log_joint(np.ascontiguousarray(codes[rows])) + np.log(weight)
                total[rows] = np.logaddexp(total[rows], logs)
        none = np.flatnonzero(np.isneginf(total).all(axis=1))
        if len(none):
            total[none] = self.single.log_joint(np.ascontiguousarray(codes[none]))
        return total

    def contributions(self, table: Table) -> NDArray[np.float64]:
        """float64[n, a, C]: the weighted mean of the networks'."""
        if not self.members:
            return self.single.contributions(table)
        each = [weight * member.contributions(table) for member, weight in zip(self.members, self.weights, strict=True)]
        return np.asarray(sum(each) / self.weights.sum())

    def networks(self, target: str, classes: Sequence[str]) -> list[Any]:
        """One per pair."""
        return [member.network(target, classes) for member in self.members]


class A2DE(NetworkClassifier):
    """min_rows     that two values must have been seen in together to be parents
    weighted     pairs by what they tell about the class, or all alike
    subsumption  how many rows a value needs before it can make another one superfluous; None: never
    """

    def __init__(
        self,
        min_rows: float = 1.0,
        weighted: bool = True,
        subsumption: float | None = 100.0,
        smoother: Any = "m_estimate",
        discretizer: Any = "mdlp",
        random_state: Any = 0,
    ) -> None:
        self.min_rows = min_rows
        self.weighted = weighted
        self.subsumption = subsumption
        self.smoother = smoother
        self.discretizer = discretizer
        self.random_state = random_state

    def _learn(
        self, source: Source, smoother: Smoother, seed: np.random.SeedSequence
    ) -> tuple[list[Any], NDArray[np.float64]]:
        if self.subsumption is not None and not self.subsumption > 0:
            raise UnsupportedError(f"subsumption={self.subsumption!r}: expected a number of rows above 0, or None")
        discretizer = self._discretized(source)
        columns, sizes = discretizer.columns_, discretizer.sizes
        batches, counts = pairs_of(source, discretizer)
        a, pairs = len(columns), tuple(combinations(range(len(columns)), 2))
        cells = sum(sizes[p] * sizes[q] * (sum(sizes) - sizes[p] - sizes[q]) for p, q in pairs) * source.n_classes
        if cells > LARGEST:
            raise LimitError(
                f"A2DE would have {cells:,} probabilities for {a} attributes, more than {LARGEST:,}; "
                "leave columns out, use fewer intervals, or use AODE"
            )
        one, *streams = seed.spawn(1 + len(pairs))
        members = []
        for (p, q), stream in zip(pairs, streams, strict=True):
            parents: Parents = {p: (), q: (p,), **{j: (p, q) for j in range(a) if j not in (p, q)}}
            trees = count_trees(batches(), parents, sizes, source.n_classes)
            members.append(
                Member(columns, class_prior(counts.classes), parents, smoothed(parents, trees, smoother, stream))
            )
        weights = np.array([information(counts.pair(p, q)) for p, q in pairs]) if self.weighted else np.ones(len(pairs))
        if not weights.any():
            weights = np.ones(len(pairs))
        frequent = tuple(counts.pair(p, q).sum(axis=2) >= self.min_rows for p, q in pairs)
        single = AODE(self.min_rows)._member(counts, columns, smoother, one)
        return [
            PairParents(single, pairs, tuple(members), weights, frequent, generalisations(counts, self.subsumption))
        ], np.ones(1)


def information(table: NDArray[np.float64]) -> float:
    """I(X_p, X_q; Y) in nats from counts[x_p, x_q, y]."""
    joint = table.reshape(-1, table.shape[2])
    total = joint.sum()
    if not total > 0:
        return 0.0
    expected = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0) / total
    some = joint > 0
    found = float((joint[some] * np.log(joint[some] / expected[some])).sum() / total)
    return found if found > 1e-9 else 0.0


def generalisations(counts: PairCounts, rows: float | None) -> NDArray[np.int64]:
    """int64[m, 4]: (i, x_i, j, x_j) such that at least `rows` rows have x_j, all of these x_i, and, where the reverse
    holds as well, i is after j."""
    found: list[tuple[int, int, int, int]] = []
    for i in range(len(counts.sizes) if rows is not None else 0):
        for j in range(len(counts.sizes)):
            if i == j:
                continue
            both = counts.pair(i, j).sum(axis=2)
            of_i, of_j = counts.single(i).sum(axis=1), counts.single(j).sum(axis=1)
            always = (both >= of_j - 1e-9) & (of_j >= rows)
            alike = always & (both >= of_i[:, None] - 1e-9)
            for x, z in np.argwhere(always & ~alike if i < j else always):
                found.append((i, int(x), j, int(z)))
    return np.array(found, dtype=np.int64).reshape(-1, 4)
