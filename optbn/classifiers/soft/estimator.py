"""Soft networks as classifiers of scikit-learn: one, and an ensemble of twenty."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from optbn.base.settings import check_whole
from optbn.classifiers.calibrate import curves_if_better
from optbn.classifiers.combine import raised
from optbn.classifiers.discriminative.rows import Rows
from optbn.classifiers.estimator import BayesianClassifier
from optbn.classifiers.single import check_k
from optbn.classifiers.soft.ensemble import FINER, MANY, Fitted, fit_ensemble, fit_single, prepared
from optbn.classifiers.soft.places import Places
from optbn.classifiers.soft.structure import Resolution
from optbn.classifiers.soft.training import Data, Strengths
from optbn.classifiers.soft.whole import Whole
from optbn.classifiers.source import OnDisk, Source


class Soft(BayesianClassifier):
    """What soft classifiers share: the rows as places, and no network to show."""

    k: int
    strengths_: Strengths

    def _fit_source(self, source: Source) -> None:
        self._check()
        table, classes, weights = source.sample()
        places, whole = Places.of(table, weights), None
        if isinstance(source, OnDisk) and len(classes) < source.n_rows:
            table, classes, weights = source.drawn()
            whole = Whole(Rows.of(source.blocks(), places.words))
        data = prepared(places, (table, classes, weights), source.n_classes)
        found = self._fitted(places, data, np.random.SeedSequence(self._seed()), whole)
        self.members_ = [found.mixture]  # type: ignore[list-item]
        self.weights_ = np.ones(1)
        self.power_, self.strengths_ = found.power, found.strengths
        classes, weights = data.classes[found.rows], data.weights[found.rows]
        self.curves_ = curves_if_better(raised(found.left_out, found.power), classes, weights)

    @abstractmethod
    def _fitted(self, places: Places, data: Data, seed: np.random.SeedSequence, whole: Whole | None) -> Fitted:
        """Learned from the rows; `whole` are all, where `data` are a sample of them."""

    def _check(self) -> None:
        check_k(self.k)

    @property
    def networks_(self) -> list[Any]:
        raise AttributeError("the scores of a soft network are no probabilities of a network")


class SoftKDB(Soft):
    """k        attributes that each has a pair with, at most;  n_knots  of a number, at equal steps of rank
    n_jobs   threads

    After fitting: `strengths_`, the penalty and the losses of those that were tried.
    """

    def __init__(self, k: int = 2, n_knots: int = 5, random_state: Any = 0, n_jobs: int | None = None) -> None:
        self.k = k
        self.n_knots = n_knots
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _check(self) -> None:
        super()._check()
        check_whole(self, "n_knots", 2)

    def _fitted(self, places: Places, data: Data, seed: np.random.SeedSequence, whole: Whole | None) -> Fitted:
        return fit_single(places, data, self.k, self.n_knots, seed, self.n_jobs, whole)


class SoftESKDB(Soft):
    """n_members, k  how many, and attributes that each has a pair with, at most
    n_knots      the most of a number; None: 10, or what rows left out favour where there are many
    n_jobs       threads

    After fitting: `strengths_`, the penalty and the losses of those that were tried.
    """

    def __init__(
        self,
        n_members: int = 20,
        k: int = 4,
        n_knots: int | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_members = n_members
        self.k = k
        self.n_knots = n_knots
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _check(self) -> None:
        super()._check()
        check_whole(self, "n_members", 1)
        if self.n_knots is not None:
            check_whole(self, "n_knots", 2)

    def _fitted(self, places: Places, data: Data, seed: np.random.SeedSequence, whole: Whole | None) -> Fitted:
        resolutions = FINER if len(data.classes) > MANY else (Resolution(),)
        if self.n_knots is not None:
            resolutions = (Resolution(self.n_knots),)
        return fit_ensemble(places, data, self.n_members, self.k, resolutions, seed, self.n_jobs, whole)
