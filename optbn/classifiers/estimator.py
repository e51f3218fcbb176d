"""The scikit-learn face of every classifier: checks at the boundary, then members learned and averaged.

A subclass says how its members are learned from a source of rows (`_learn`); everything else is here. X may be a frame
of pandas, polars or pyarrow, with texts, categories, numbers and missing values as they are, an array, or a Dataset.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_consistent_length, check_random_state, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from optbn.base.errors import UnsupportedError
from optbn.classifiers.boundary import Unseen, free_name, refuse_missing, tell, warned_of
from optbn.classifiers.calibrate import Curves
from optbn.classifiers.combine import logit_intervals, raised
from optbn.classifiers.member import Member
from optbn.classifiers.source import InMemory, OnDisk, Source, tables
from optbn.data.discretise import load_discretizer
from optbn.data.discretise.table import Table
from optbn.data.discretise.transformer import Discretizer, checked_table
from optbn.data.discretise.weights import in_rows
from optbn.smoothing import SMOOTHERS, load_smoother
from optbn.smoothing.protocol import Smoother

SAMPLE = 100_000
"""Rows of a file from which cut points are found."""


class BayesianClassifier(ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """smoother      for the probabilities: a name of optbn.smoothing or an object
    discretizer   for numeric columns: a name of optbn.data.discretise or an object
    random_state  for whatever is random, smoothers that sample included; the default always gives the same

    After fitting: `members_`, `weights_`, `power_` and `curves_` (1 and None where nothing is calibrated), `classes_`,
    `n_features_in_`, `feature_names_in_`, and `networks_`.
    """

    members_: list[Member]
    weights_: NDArray[np.float64]
    power_ = 1.0
    curves_: Curves | None = None
    classes_: NDArray[Any]
    target_: str

    def fit(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, weight_scale: str = "auto"
    ) -> BayesianClassifier:
        """Learn from rows in memory.

        weight_scale  "counts": a weight of w is w rows; "relative": weights only say how rows compare, and add up to
                      the number of rows; "auto": whole numbers are counts, others relative
        """
        table, codes, weights = self._checked(X, y, sample_weight, weight_scale=weight_scale)
        kept = np.flatnonzero(weights > 0)
        source = InMemory(table, codes, weights, len(self.classes_))
        warned_of.pop(self, None)
        self._fit_source(source if len(kept) == len(weights) else source.take(kept))
        return self

    def fit_file(
        self,
        path: Any,
        target: str,
        *,
        schema: Any = None,
        weights: str | None = None,
        sample_size: int = SAMPLE,
        progress: Callable[[int], None] | None = None,
        **how: Any,
    ) -> BayesianClassifier:
        """Learn from a csv, parquet, Arrow or ARFF file that need not fit into memory, in a few passes.

        schema       what is known about columns (see `optbn.read`); the rest is found in a first pass
        weights      the column that says how many rows each row counts for; it is no attribute
        sample_size  rows, drawn uniformly, from which cut points of numeric columns are found
        progress     called with the number of rows read so far in each pass
        how          format, header, delimiter, encoding, missing_tokens
        """
        source = OnDisk(path, target, schema, sample_size, self._seed(), progress, how, weights)
        self.classes_ = np.array(source.classes, dtype=object)
        self.feature_names_in_ = np.array(source.names, dtype=object)
        self.n_features_in_ = len(source.names)
        self.target_ = target
        self._fit_source(source)
        return self

    @abstractmethod
    def _fit_source(self, source: Source) -> None:
        """Learn `members_` and `weights_`, and whatever else there is."""

    def _discretized(self, source: Source) -> Discretizer:
        """The discretiser, fitted to the sample of the source."""
        table, classes, weights = source.sample()
        chosen = load_discretizer(self.discretizer)
        return chosen.fit_table(table, classes, source.n_classes, weights)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """float64[n, classes]: probabilities that sum to 1, the classes in the order of `classes_`."""
        check_is_fitted(self)
        table = checked_table(self, X, reset=False)
        tell(self, self._unseen(table))
        return self._posterior(table)

    def predict_interval(self, X: Any, interval: float = 0.9) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The ends of central posterior intervals of `predict_proba`, each float64[n, classes].

        By linear propagation on the logit scale: the classes' log P(y, x) have independent parameters, and their
        variances are sums over the factors. Single networks (nb, tan, kdb, skdb) whose smoother has a posterior have
        them; they hold given the structure and the cut points.
        """
        p = self.predict_proba(X)
        if not 0.0 < interval < 1.0:
            raise UnsupportedError(f"interval is {interval!r}, expected a share of the posterior between 0 and 1")
        member = self.members_[0]
        variance = None
        if len(self.members_) == 1 and isinstance(member, Member):
            variance = member.variances(member.codes(checked_table(self, X, reset=False)))
        if variance is None:
            raise UnsupportedError(
                f"{type(self).__name__} has no intervals here: fit nb, tan, kdb or skdb with m_estimate, bdeu, laplace "
                "or hierarchical; a model that was read from a file has lost them"
            )
        return logit_intervals(p, variance, interval)

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row."""
        probabilities = self.predict_proba(X)
        return np.asarray(self.classes_[probabilities.argmax(axis=1)])

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """The logarithms of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    def predict_file(self, path: Any, **how: Any) -> Iterator[NDArray[np.float64]]:
        """`predict_proba` for the rows of a file, in blocks, never held together; `how` as for `fit_file`."""
        check_is_fitted(self)
        unseen: Unseen = {}
        rows = 0
        for table in tables(path, self.members_[0].columns, how):
            for name, (n, row, text) in self._unseen(table, rows).items():
                before, first, what = unseen.get(name, (0, row, text))
                unseen[name] = (before + n, first, what)
            rows += len(table[0])
            yield self._posterior(table)
        tell(self, unseen)

    def _posterior(self, table: Table) -> NDArray[np.float64]:
        total = np.zeros((len(table[0]), len(self.classes_)))
        for member, weight in zip(self.members_, self.weights_, strict=True):
            total += weight * member.posterior(table)
        p = raised(total / total.sum(axis=1, keepdims=True), self.power_)
        return p if self.curves_ is None else self.curves_(p)

    def contributions(self, X: Any) -> NDArray[np.float64]:
        """float64[n, a, C]: by how many nats each attribute raises each class above the (geometric) mean of all, in the
        columns' order. Those of several networks are averaged; with the classes' own they add up to one network's
        logarithms. Trees have none."""
        check_is_fitted(self)
        table = checked_table(self, X, reset=False)
        total: Any = 0.0
        for member, weight in zip(self.members_, self.weights_, strict=True):
            if not hasattr(member, "contributions"):
                raise AttributeError(f"{type(self).__name__} does not add up attributes, so they have no contributions")
            total = total + weight * member.contributions(table)
        return np.asarray(total / self.weights_.sum())

    def importances(self, X: Any) -> dict[str, float]:
        """By column the mean of its contributions' sizes in some rows, in nats; the most important first."""
        size = np.abs(self.contributions(X)).mean(axis=(0, 2))
        names = [column.name for column in self.members_[0].columns]
        return {names[i]: float(size[i]) for i in np.argsort(-size, kind="stable")}

    def _unseen(self, table: Table, first_row: int = 0) -> Unseen:
        """Per column how many values were not there at fitting, the row of the first one, and its text."""
        found: Unseen = {}
        for column, values in zip(self.members_[0].columns, table, strict=True):
            rows = column.unseen(values)
            if len(rows):
                text = values.levels[values.data[rows[0]]] if values.levels else f"{values.data[rows[0]]:g}"
                found[column.name] = (len(rows), int(rows[0]) + first_row + 1, text)
        return found

    @property
    def networks_(self) -> list[Any]:
        """The members as BayesianNetworks over the class and the coded attributes."""
        check_is_fitted(self)
        classes = [str(c) for c in self.classes_]
        return [network for member in self.members_ for network in member.networks(self.target_, classes)]

    @property
    def network_(self) -> Any:
        """The classifier as a BayesianNetwork, when it is one."""
        check_is_fitted(self)
        networks = self.networks_
        if len(networks) != 1:
            raise AttributeError(f"{type(self).__name__} is an average of {len(networks)} networks: see networks_")
        return networks[0]

    def to_json(self) -> bytes:
        """The fitted classifier; `optbn.classifiers.saved.from_json` reads it."""
        from optbn.classifiers.saved import to_json

        return to_json(self)

    def _seed(self) -> int:
        return int(check_random_state(self.random_state).randint(2**31))

    def _checked(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        reset: bool = True,
        classes_known: bool = False,
        weight_scale: str = "auto",
    ) -> tuple[Table, NDArray[np.int64], NDArray[np.float64]]:
        """Columns, class codes and weights; sets what is known of classes and features."""
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        table = checked_table(self, X, reset=reset)
        name = getattr(y, "name", None)
        self.target_ = free_name(str(name) if name is not None else "class", [values.name for values in table])
        target: NDArray[Any] = column_or_1d(np.asarray(y), warn=True)
        check_consistent_length(table[0].data, target)
        refuse_missing(target, self.target_)
        check_classification_targets(target)
        if not classes_known:
            self.classes_ = np.unique(target)
        codes = np.searchsorted(self.classes_, target)
        weights = np.ones(len(target))
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, np.empty((len(target), 1)), dtype=np.float64)
            if (weights < 0).any():
                row = int(np.argmax(weights < 0))
                raise ValueError(f"sample_weight, row {row + 1}: {weights[row]:g} is negative")
            if not weights.any():  # scikit-learn says so itself since 1.9
                raise ValueError("sample_weight must contain at least one non-zero number")
        weights = in_rows(weights, weight_scale)
        return table, codes.astype(np.int64), weights

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


class NetworkClassifier(BayesianClassifier):
    """Classifiers whose members are networks, with probabilities by `smoother`."""

    smoother: str | Smoother

    def _fit_source(self, source: Source) -> None:
        smoother = self._chosen_smoother()
        seed = np.random.SeedSequence(self._seed())
        self.members_, self.weights_ = self._learn(source, smoother, seed)

    @abstractmethod
    def _learn(
        self, source: Source, smoother: Smoother, seed: np.random.SeedSequence
    ) -> tuple[list[Member], NDArray[np.float64]]:
        """The members and what each counts for."""

    def _chosen_smoother(self) -> Smoother:
        chosen = load_smoother(self.smoother)
        if isinstance(chosen, type) or not hasattr(chosen, "fit"):
            known = ", ".join(SMOOTHERS)
            raise UnsupportedError(f"smoother={self.smoother!r}: expected one of {known}, or one of these as an object")
        return chosen
