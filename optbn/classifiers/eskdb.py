"""Ensembles of selective KDBs that differ by their cut points and the order of their attributes (Zhang 2020, ch. 4).

Each member has random numbers of its own, from seeds that are independent of each other, for

    cut points   of a randomised discretiser (`random_mdlp` is the published one)
    order        attributes drawn one after the other without replacement, in proportion to I(X; Y); those that tell
                 nothing come last, each once
    parents      (option) drawn without replacement in proportion to I(X_i; X_j | Y) instead of the best
    rows         (option) a bootstrap sample

and selects its attributes and parents by leave-one-out like SKDB. Predicted probabilities are averaged, or weighted
(`weights="stacking"`), and calibrated, by what members predict for rows they leave out (see `combine`); with bootstrap
samples those are the rows that were not drawn. Members are independent, so they are trained in parallel threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import UnsupportedError
from optbn.base.settings import check_whole
from optbn.classifiers.calibrate import curves_if_better
from optbn.classifiers.combine import ROWS, best_power, raised, stacked
from optbn.classifiers.estimator import NetworkClassifier
from optbn.classifiers.forest import Parents, smoothed
from optbn.classifiers.member import Member, class_prior, normalised
from optbn.classifiers.pairs import PairCounts
from optbn.classifiers.single import by_information, check_k, k_parents
from optbn.classifiers.skdb import Selected
from optbn.classifiers.source import InMemory, Source
from optbn.data.discretise import load_discretizer
from optbn.smoothing.protocol import Smoother

WEIGHTS = ("uniform", "stacking")
LARGEST = 1 << 24
"""Predictions of members for rows left out that are held at once, 128 MB."""


@dataclass(frozen=True, eq=False)
class Grown:
    """left_out  float64[rows, C], the weighted members' predictions for the rows numbered `rows` that they leave out
    classes, row_weights  of these rows
    """

    members: list[Member]
    weights: NDArray[np.float64]
    left_out: NDArray[np.float64]
    rows: NDArray[np.int64]
    classes: NDArray[np.int64]
    row_weights: NDArray[np.float64]


class ESKDB(NetworkClassifier):
    """n_members, k  how many, and parents besides the class at most
    sample_order     whether orders are drawn, or all are KDB's; cuts are the same with a `discretizer` such as "mdlp"
    sample_parents, bootstrap  whether parents and rows are drawn as well
    weights          "stacking" or "uniform"
    calibrate        whether predictions are raised to the power that suits the rows left out, and then go through
                     curves where these rows show that this helps; not with bootstrap: few members leave a row out, and
                     their average is not that of all
    n_jobs           threads
    """

    def __init__(
        self,
        n_members: int = 10,
        k: int = 5,
        sample_order: bool = True,
        sample_parents: bool = False,
        bootstrap: bool = False,
        weights: str = "stacking",
        calibrate: bool = True,
        smoother: Any = "m_estimate",
        discretizer: Any = "random_cuts",
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_members = n_members
        self.k = k
        self.sample_order = sample_order
        self.sample_parents = sample_parents
        self.bootstrap = bootstrap
        self.weights = weights
        self.calibrate = calibrate
        self.smoother = smoother
        self.discretizer = discretizer
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _learn(
        self, source: Source, smoother: Smoother, seed: np.random.SeedSequence
    ) -> tuple[list[Any], NDArray[np.float64]]:
        found = self.grown(source, smoother, seed)
        self.power_, self.curves_ = 1.0, None
        if self.calibrate and not self.bootstrap:
            self.power_ = best_power(found.left_out, found.classes, found.row_weights)
            self.curves_ = curves_if_better(raised(found.left_out, self.power_), found.classes, found.row_weights)
        return found.members, found.weights

    def grown(self, source: Source, smoother: Smoother, seed: np.random.SeedSequence) -> Grown:
        """The members and their weights, before they are calibrated."""
        from joblib import Parallel, delayed

        self._check(source)
        sample = source.sample()
        rows = np.zeros(0, dtype=np.int64)
        if self.calibrate or self.weights == "stacking":
            some = min(ROWS, LARGEST // (source.n_classes * self.n_members) + 1, source.n_rows)
            rows = np.sort(np.random.default_rng(seed.spawn(1)[0]).choice(source.n_rows, some, replace=False))
        made = Parallel(n_jobs=self.n_jobs, prefer="threads")(
            delayed(self._one)(source, sample, rows, smoother, stream) for stream in seed.spawn(self.n_members)
        )
        members = [member for member, _, _, _ in made]
        weights = np.full(len(members), 1.0 / len(members))
        _, _, classes, row_weights = made[0]
        left_out = np.stack([predictions for _, predictions, _, _ in made])
        if self.weights == "stacking" and len(rows):
            weights = stacked(left_out[:, np.arange(len(rows)), classes].T, row_weights)
        return Grown(members, weights, np.tensordot(weights, left_out, 1), rows, classes, row_weights)

    def _check(self, source: Source) -> None:
        check_k(self.k)
        if self.weights not in WEIGHTS:
            raise UnsupportedError(f"weights={self.weights!r}: expected one of {', '.join(WEIGHTS)}")
        check_whole(self, "n_members", 1)
        for name in ("sample_order", "sample_parents", "bootstrap", "calibrate"):
            if not isinstance(getattr(self, name), bool | np.bool_):
                raise UnsupportedError(f"{name}={getattr(self, name)!r}: expected True or False")
        if self.bootstrap and not isinstance(source, InMemory):
            raise UnsupportedError("bootstrap=True needs the rows in memory: use fit, not fit_file")

    def _one(
        self, whole: Any, sample: Any, rows: NDArray[np.int64], smoother: Smoother, seed: np.random.SeedSequence
    ) -> tuple[Member, NDArray[np.float64], NDArray[np.int64], NDArray[np.float64]]:
        """A member, what it predicts for some rows when they are left out (float64[rows, classes], NaN where it cannot
        leave a row out), and the classes and weights of these rows."""
        random = np.random.default_rng(seed)
        source, drawn_rows = whole, None
        if self.bootstrap:
            drawn_rows = np.sort(random.integers(0, whole.n_rows, whole.n_rows))
            source = whole.take(drawn_rows)
            sample = source.sample()
        discretizer = load_discretizer(self.discretizer)
        if "random_state" in discretizer.get_params():
            discretizer.set_params(random_state=int(random.integers(1 << 31)))
        table, classes, row_weights = sample
        discretizer.fit_table(table, classes, source.n_classes, row_weights)
        batches = source.batches(discretizer)
        names = [column.name for column in discretizer.columns_]
        counts = PairCounts.of(batches(), discretizer.sizes, source.n_classes, names)
        information, conditional = counts.information(), counts.conditional_information()
        order = drawn(information, random) if self.sample_order else by_information(information)
        if self.sample_parents:
            parents = _drawn_parents(order, conditional, self.k, random)
        else:
            parents = k_parents(order, conditional, self.k)
        chosen = Selected.of(parents, discretizer.sizes, counts.classes, batches, rows)
        forest = smoothed(chosen.parents, chosen.trees, smoother, seed.spawn(1)[0])
        member = Member(discretizer.columns_, class_prior(counts.classes), chosen.parents, forest)
        if drawn_rows is None:
            aside = chosen.full.aside
            predictions = chosen.full.predictions(chosen.choice)
        else:
            codes, classes, weights = next(whole.once(discretizer))  # rows in memory are one batch
            aside = [(codes[rows], classes[rows], weights[rows])]
            predictions = normalised(member.log_joint(aside[0][0]))
            predictions[np.isin(rows, drawn_rows)] = np.nan
        _, row_classes, weights = (np.concatenate(parts) for parts in zip(*aside, strict=True))
        return member, predictions, row_classes, weights


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
