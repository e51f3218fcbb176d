"""Averaged one-dependence estimators: every attribute in turn is a parent of all others, and the joints are averaged.

    P(y, x) = mean over i of  P(y) P(x_i | y) prod_{j != i} P(x_j | y, x_i)

over those i whose value was seen in at least `min_rows` rows; naive Bayes where there is none (Webb, Boughton and Wang
2005). One pass over the rows, and more rows can be added later.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn.classifiers.forest import Parents, smoothed
from optbn.classifiers.incremental import Incremental, pair_tree, single_tree
from optbn.classifiers.member import Member, class_prior, normalised
from optbn.classifiers.pairs import PairCounts
from optbn.data.discretise.table import Table
from optbn.data.discretise.transformer import Column
from optbn.smoothing.protocol import Smoother


@dataclass(frozen=True, eq=False)
class SuperParents:
    """One network per attribute, and naive Bayes.

    frequent  per attribute bool[levels]: values seen in enough rows to be a parent
    """

    columns: tuple[Column, ...]
    prior: NDArray[np.float64]
    naive: Member
    members: tuple[Member, ...]
    frequent: tuple[NDArray[np.bool_], ...]

    def posterior(self, table: Table) -> NDArray[np.float64]:
        """float64[n, C]: P(y | x)."""
        codes = self.naive.codes(table)
        return normalised(self.log_joint(codes))

    def log_joint(self, codes: NDArray[np.int32]) -> NDArray[np.float64]:
        """float64[n, C]: log P(y, x) up to a constant of the row."""
        total = np.full((len(codes), len(self.prior)), -np.inf)
        for i, (member, frequent) in enumerate(zip(self.members, self.frequent, strict=True)):
            rows = np.flatnonzero((codes[:, i] >= 0) & np.append(frequent, False)[codes[:, i]])
            if len(rows):
                total[rows] = np.logaddexp(total[rows], member.log_joint(np.ascontiguousarray(codes[rows])))
        none = np.flatnonzero(np.isneginf(total).all(axis=1))
        if len(none):
            total[none] = self.naive.log_joint(np.ascontiguousarray(codes[none]))
        return total

    def contributions(self, table: Table) -> NDArray[np.float64]:
        """float64[n, a, C]: the mean of the networks'."""
        return np.asarray(np.mean([member.contributions(table) for member in self.members], axis=0))

    def networks(self, target: str, classes: Sequence[str]) -> list[Any]:
        """One per attribute."""
        return [member.network(target, classes) for member in self.members]


class AODE(Incremental):
    """min_rows  that a value must have been seen in to be a parent"""

    def __init__(
        self, min_rows: float = 1.0, smoother: Any = "m_estimate", discretizer: Any = "mdlp", random_state: Any = 0
    ) -> None:
        self.min_rows = min_rows
        self.smoother = smoother
        self.discretizer = discretizer
        self.random_state = random_state

    def _member(
        self, counts: PairCounts, columns: tuple[Column, ...], smoother: Smoother, seed: np.random.SeedSequence
    ) -> SuperParents:
        a, prior = len(columns), class_prior(counts.classes)
        alone: Parents = {i: () for i in range(a)}
        streams = seed.spawn(a + 1)
        single = [single_tree(counts, i) for i in range(a)]
        naive = Member(columns, prior, alone, smoothed(alone, single, smoother, streams[a]))
        members = []
        for p in range(a):
            sizes = (counts.n_classes, int(counts.sizes[p]))
            cells = np.indices(sizes).reshape(2, -1).T
            parents: Parents = {p: (), **{j: (p,) for j in range(a) if j != p}}
            trees = [single[p], *(pair_tree(counts, j, p, cells) for j in parents if j != p)]
            members.append(Member(columns, prior, parents, smoothed(parents, trees, smoother, streams[p])))
        frequent = tuple(counts.single(i).sum(axis=1) >= self.min_rows for i in range(a))
        return SuperParents(columns, prior, naive, tuple(members), frequent)
