"""The classifier read off a globally optimal network.

`optimal="blanket"`: the best network for all columns together, the class being one of them; what it predicts depends on
the Markov blanket of the class alone, so attributes are selected on the way. `optimal="augmented"`: the best among the
networks in which the class is a parent of every attribute, an optimal augmented naive Bayes without a bound but
`max_parents` on what TAN and KDB choose greedily; the arcs are required of the solver, so the optimum is as proved as
any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import LimitError, UnsupportedError
from optbn.classifiers.estimator import NetworkClassifier
from optbn.classifiers.source import Source
from optbn.data.arrays import code_dtype
from optbn.data.dataset import Categorical, Dataset
from optbn.data.discretise.table import Table
from optbn.data.discretise.transformer import Column, Discretizer
from optbn.learning.learn import learn
from optbn.network.inference import query
from optbn.smoothing.protocol import Smoother

if TYPE_CHECKING:
    from optbn.learning.learn import Learned
    from optbn.network.network import BayesianNetwork

KINDS = ("blanket", "augmented")
LARGEST = 1 << 28
"""Codes held at once, rows times columns."""


@dataclass(frozen=True, eq=False)
class Optimum:
    """A network over the class and the coded attributes."""

    columns: tuple[Column, ...]
    target: str
    bayesian_network: BayesianNetwork

    def posterior(self, table: Table) -> NDArray[np.float64]:
        """float64[n, C]; in rows where something in the blanket is unknown, it is summed out."""
        codes = Discretizer.encode(self, table)  # type: ignore[arg-type]
        blanket = set(self.bayesian_network.markov_blanket(self.target))
        inside = [j for j, column in enumerate(self.columns) if column.name in blanket]
        incomplete = (codes[:, inside] < 0).any(axis=1)
        data = dataset(self.columns, np.maximum(codes, 0))
        answer = self.bayesian_network.predict_proba(self.target, data)
        if incomplete.any():
            rows, where = np.unique(codes[incomplete][:, inside], axis=0, return_inverse=True)
            found = np.empty((len(rows), answer.shape[1]))
            for r, row in enumerate(rows):
                evidence = {
                    self.columns[j].name: self.columns[j].labels[code]
                    for j, code in zip(inside, row, strict=True)
                    if code >= 0
                }
                found[r] = query(self.bayesian_network, [self.target], evidence).probabilities
            answer[incomplete] = found[where.ravel()]
        return answer

    @property
    def columns_(self) -> tuple[Column, ...]:
        """The name under which a discretiser knows them."""
        return self.columns

    def networks(self, target: str, classes: Sequence[str]) -> list[Any]:
        """The one network."""
        return [self.bayesian_network]


class OptimalBN(NetworkClassifier):
    """optimal      "blanket" or "augmented"
    criterion    the score of the networks: "bdeu" or another name of optbn.scores, or a score
    max_parents, time_limit   of `optbn.learn`; max_parents counts the class
    Weights must be whole numbers: they stand for repeated rows.

    After fitting: `learned_`, with the proof and the report of the network.
    """

    def __init__(
        self,
        optimal: str = "blanket",
        criterion: Any = "bdeu",
        max_parents: int | None = None,
        time_limit: float | None = None,
        smoother: Any = "m_estimate",
        discretizer: Any = "mdlp",
        random_state: Any = 0,
    ) -> None:
        self.optimal = optimal
        self.criterion = criterion
        self.max_parents = max_parents
        self.time_limit = time_limit
        self.smoother = smoother
        self.discretizer = discretizer
        self.random_state = random_state

    learned_: Learned

    def _learn(
        self, source: Source, smoother: Smoother, seed: np.random.SeedSequence
    ) -> tuple[list[Any], NDArray[np.float64]]:
        if self.optimal not in KINDS:
            raise UnsupportedError(f"optimal={self.optimal!r}: expected one of {', '.join(KINDS)}")
        discretizer = self._discretized(source)
        columns = discretizer.columns_
        parts, classes = [], []
        for codes, y, weights in source.once(discretizer):
            if (weights != np.rint(weights)).any():
                raise UnsupportedError("OptimalBN counts rows, so sample_weight must be whole numbers")
            if (weights != 1).any():
                repeated = np.repeat(np.arange(len(y)), weights.astype(np.int64))
                codes, y = codes[repeated], y[repeated]
            parts.append(codes)
            classes.append(y)
            if sum(map(len, parts)) * len(columns) > LARGEST:
                raise LimitError("the rows do not fit into memory; learn from a sample of them")
        labels = Categorical(tuple(str(c) for c in self.classes_))
        codes = np.concatenate(parts)
        complete = (codes >= 0).all(axis=1)
        attributes = dataset(columns, codes[complete])
        y = np.concatenate(classes)[complete].astype(code_dtype(len(labels.levels)))
        data = Dataset(
            (self.target_, *attributes.names), (labels, *attributes.domains), (y, *attributes.columns)
        )  # fmt: skip
        required = [(self.target_, name) for name in attributes.names] if self.optimal == "augmented" else []
        self.learned_ = learn(
            data,
            score=self.criterion,
            max_parents=self.max_parents,
            smoother=smoother,
            time_limit=self.time_limit,
            constraints={"required": required},
            seed=int(seed.generate_state(1)[0]),
            jobs=1,
        )
        return [Optimum(columns, self.target_, self.learned_.network)], np.ones(1)


def dataset(columns: Sequence[Column], codes: NDArray[np.int32]) -> Dataset:
    """Codes as a Dataset of categorical columns."""
    domains = tuple(Categorical(column.labels) for column in columns)
    arrays = tuple(codes[:, j].astype(code_dtype(len(domain.levels))) for j, domain in enumerate(domains))
    return Dataset(tuple(column.name for column in columns), domains, arrays)
