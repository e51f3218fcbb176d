"""A forest of k-dependence classifiers, one for each attribute as the root (Duan and Wang 2017, Algorithms 6 and 7).

A member begins with its root and adds, one after the other, the attribute that tells most about those it has: the one
with the greatest sum of I(X; X_j | Y) over them. The first parent of an attribute is the one that tells most about it,
and its other parents are the best of the first one's ancestors, so that they all lie on one way down from the root.
Predicted probabilities are averaged. All members share one discretisation and one pass of pair counts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn.base.settings import check_whole
from optbn.classifiers.estimator import NetworkClassifier
from optbn.classifiers.forest import Parents, count_trees, smoothed
from optbn.classifiers.member import Member, class_prior
from optbn.classifiers.single import by_information, check_k, pairs_of
from optbn.classifiers.source import Source
from optbn.smoothing.protocol import Smoother


class KDF(NetworkClassifier):
    """k          parents besides the class
    n_members  how many members: their roots are the attributes that tell most about the class; None: one for each
    """

    def __init__(
        self,
        k: int = 2,
        n_members: int | None = None,
        smoother: Any = "m_estimate",
        discretizer: Any = "mdlp",
        random_state: Any = 0,
    ) -> None:
        self.k = k
        self.n_members = n_members
        self.smoother = smoother
        self.discretizer = discretizer
        self.random_state = random_state

    def _learn(
        self, source: Source, smoother: Smoother, seed: np.random.SeedSequence
    ) -> tuple[list[Any], NDArray[np.float64]]:
        check_k(self.k)
        if self.n_members is not None:
            check_whole(self, "n_members", 1)
        discretizer = self._discretized(source)
        batches, counts = pairs_of(source, discretizer)
        conditional = counts.conditional_information()
        roots = by_information(counts.information())[: self.n_members]
        members = []
        for root, stream in zip(roots, seed.spawn(len(roots)), strict=True):
            parents = grown_from(root, conditional, self.k)
            trees = count_trees(batches(), parents, discretizer.sizes, source.n_classes)
            forest = smoothed(parents, trees, smoother, stream)
            members.append(Member(discretizer.columns_, class_prior(counts.classes), parents, forest))
        return members, np.full(len(members), 1.0 / len(members))


def grown_from(root: int, conditional: NDArray[np.float64], k: int) -> Parents:
    """The order and parents of one member; of equal attributes and parents the first comes first."""
    parents: Parents = {root: ()}
    ancestors: dict[int, set[int]] = {root: set()}
    gain = conditional[root].copy()  # by each attribute about those taken up; these themselves are out
    gain[root] = -np.inf
    while len(parents) < len(conditional):
        i = int(gain.argmax())
        best = sorted(parents, key=lambda j: (-conditional[i, j], j))[: min(k, 1)]
        others = sorted(ancestors[best[0]], key=lambda j: (-conditional[i, j], j))[: k - 1] if best else []
        parents[i] = (*best, *others)
        ancestors[i] = {*best, *(ancestors[best[0]] if best else ())}
        gain += conditional[i]
        gain[i] = -np.inf
    return parents
