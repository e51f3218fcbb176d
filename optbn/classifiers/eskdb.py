"""Ensembles of selective KDBs that differ by their cut points and the order of their attributes (Zhang 2020, ch. 4).

Each member has random numbers of its own, from seeds that are independent of each other, for

    cut points   of the randomised MDLP discretiser
    order        attributes drawn one after the other without replacement, in proportion to I(X; Y); those that tell
                 nothing come last, each once
    parents      (option) drawn without replacement in proportion to I(X_i; X_j | Y) instead of the best
    rows         (option) a bootstrap sample

and selects its attributes and parents by leave-one-out like SKDB. Predicted probabilities are averaged, or weighted so
that the mixture of the members' leave-one-out predictions makes the training classes most likely (`weights="stacking"`,
by EM: the problem is convex). Members are independent, so they are trained in parallel threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn.classifiers.estimator import BayesianClassifier
from optbn.classifiers.forest import Parents, smoothed
from optbn.classifiers.member import Member, class_prior
from optbn.classifiers.pairs import PairCounts
from optbn.classifiers.single import check_k, k_parents
from optbn.classifiers.skdb import Selected
from optbn.classifiers.source import InMemory, Source
from optbn.errors import UnsupportedError
from optbn.smoothing.protocol import Smoother

WEIGHTS = ("uniform", "stacking")


class ESKDB(BayesianClassifier):
    """n_members, k  how many, and parents besides the class at most
    sample_parents, bootstrap  whether parents and rows are drawn as well
    weights          "uniform" or "stacking"
    n_jobs           threads
    """

    def __init__(
        self,
        n_members: int = 10,
        k: int = 5,
        sample_parents: bool = False,
        bootstrap: bool = False,
        weights: str = "uniform",
        smoother: Any = "m_estimate",
        discretizer: Any = "random_mdlp",
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_members = n_members
        self.k = k
        self.sample_parents = sample_parents
        self.bootstrap = bootstrap
        self.weights = weights
        self.smoother = smoother
        self.discretizer = discretizer
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _learn(
        self, source: Source, smoother: Smoother, seed: np.random.SeedSequence
    ) -> tuple[list[Any], NDArray[np.float64]]:
        from joblib import Parallel, delayed

        check_k(self.k)
        if self.weights not in WEIGHTS:
            raise UnsupportedError(f"weights={self.weights!r}: expected one of {', '.join(WEIGHTS)}")
        if self.n_members < 1:
            raise UnsupportedError(f"n_members={self.n_members}: expected at least 1")
        if self.weights == "stacking" and self.bootstrap:
            raise UnsupportedError(
                "weights='stacking' needs every member to see every row, which bootstrap=True denies"
            )
        if self.bootstrap and not isinstance(source, InMemory):
            raise UnsupportedError("bootstrap=True needs the rows in memory: use fit, not fit_file")
        sample = source.sample()
        made = Parallel(n_jobs=self.n_jobs, prefer="threads")(
            delayed(self._one)(source, sample, smoother, stream) for stream in seed.spawn(self.n_members)
        )
        members = [member for member, _ in made]
        if self.weights == "uniform":
            return members, np.full(len(members), 1.0 / len(members))
        return members, stacked([own for _, own in made])

    def _one(
        self, source: Any, sample: Any, smoother: Smoother, seed: np.random.SeedSequence
    ) -> tuple[Member, NDArray[np.float64] | None]:
        """A member, and when stacking what it predicts for the class of each row without the row."""
        from optbn.data.discretise import load_discretizer

        random = np.random.default_rng(seed)
        if self.bootstrap:
            source = source.take(np.sort(random.integers(0, len(source.classes), len(source.classes))))
            sample = source.sample()
        discretizer = load_discretizer(self.discretizer)
        if "random_state" in discretizer.get_params():
            discretizer.set_params(random_state=int(random.integers(1 << 31)))
        table, classes, row_weights = sample
        discretizer.fit_table(table, classes, source.n_classes, row_weights)
        batches = source.batches(discretizer)
        names = [column.name for column in discretizer.columns_]
        counts = PairCounts.of(batches(), discretizer.sizes, source.n_classes, names)
        order, conditional = drawn(counts.information(), random), counts.conditional_information()
        if self.sample_parents:
            parents = _drawn_parents(order, conditional, self.k, random)
        else:
            parents = k_parents(order, conditional, self.k)
        chosen = Selected.of(parents, discretizer.sizes, counts.classes, batches)
        forest = smoothed(chosen.parents, chosen.trees, smoother, seed.spawn(1)[0])
        member = Member(discretizer.columns_, class_prior(counts.classes), chosen.parents, forest)
        if self.weights == "uniform":
            return member, None
        left_out = chosen.full.predictions(batches(), chosen.choice)
        classes = np.concatenate([batch[1] for batch in batches()])
        return member, left_out[np.arange(len(classes)), classes]


def drawn(weights: NDArray[np.float64], random: np.random.Generator) -> list[int]:
    """All indices, one after the other in proportion to the weights of those left; zeros come last, in random order.

    The first of independent exponential clocks with these rates to ring is i in proportion to its rate, and the others
    go on as if nothing had happened.
    """
    clock = random.exponential(size=len(weights))
    with np.errstate(divide="ignore"):
        times = np.where(weights > 0, clock / weights, np.inf)
    return [int(i) for i in np.lexsort((clock, times))]


def _drawn_parents(
    order: Sequence[int], conditional: NDArray[np.float64], k: int, random: np.random.Generator
) -> Parents:
    """Like `k_parents`, with the k parents drawn instead of the best; best first all the same."""
    parents: Parents = {}
    for place, i in enumerate(order):
        before = np.array(order[:place], dtype=np.int64)
        some = before[drawn(conditional[i, before], random)[:k]]
        parents[i] = tuple(sorted((int(j) for j in some), key=lambda j: -conditional[i, j]))
    return parents


def stacked(predictions: Sequence[NDArray[np.float64] | None], sweeps: int = 200) -> NDArray[np.float64]:
    """Weights w >= 0, summing to 1, that maximise sum over rows of log sum_m w_m p_m, p_m each member's prediction."""
    p = np.stack([part for part in predictions if part is not None], axis=1) + 1e-300
    w = np.full(p.shape[1], 1.0 / p.shape[1])
    for _ in range(sweeps):
        shares = p * w
        fresh = (shares / shares.sum(axis=1, keepdims=True)).mean(axis=0)
        done = np.abs(fresh - w).max() < 1e-8
        w = fresh
        if done:
            break
    return np.asarray(w / w.sum())
