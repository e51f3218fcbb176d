"""Missing values by the model: fill the gaps from the best network so far, find the best network of that, and again.

A round draws every incomplete row several times from P(missing | observed) under the network of the round before,
exactly (`optbn.network.completion`), gives each copy its share of the row's weight, and finds the best network of these
rows, proved as ever, and its parameters. This is structural EM with draws in place of expectations (Friedman 1998). The
first round fills gaps with the column's own observed values at random, which weakens arcs but favours no level.

The network that fills gaps is richer than the one in question: rows drawn from a network confirm the independences
that it has, so what fills gaps should believe in few. It is the optimum of AIC (categorical data) or of PCART without a
prior on trees. Results: results/missing.

What is reported of a round is the log-likelihood of what the data do have, which is comparable between rounds as the
scores of completed rows are not. It holds for values missing at random: whether a cell is missing may depend on what
is observed in its row, not on the value that it would have.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import DataError, UnsupportedError
from optbn.base.numbers import counted
from optbn.data.arrays import code_dtype
from optbn.data.dataset import Categorical, Dataset, Domain, Real
from optbn.data.policies import LEVEL
from optbn.learning.constraints import all_families, demanding
from optbn.learning.local import with_local_models
from optbn.learning.structure import Stopwatch, best_structure
from optbn.network.completion import complete
from optbn.network.network import BayesianNetwork
from optbn.network.sampling import covering_dataset
from optbn.scores.aic import AIC
from optbn.scores.pcart import PCART
from optbn.scores.pipeline import table_of_sets
from optbn.scores.protocol import LocalScore
from optbn.scores.scoring import Scoring
from optbn.smoothing.fitting import fit
from optbn_solvers.base.constraints import Constraints
from optbn_solvers.base.standing import Standing, standing

COPIES, ROUNDS = 5, 10


@dataclass(frozen=True, eq=False)
class Incomplete:
    """Rows with gaps: data in which a gap holds anything, and per variable with gaps where they are."""

    data: Dataset
    missing: Mapping[str, NDArray[np.bool_]]

    @classmethod
    def of(cls, data: Dataset) -> Incomplete:
        """Data read with missing = "value": their level "missing", and NaN, become gaps."""
        domains: list[Domain] = []
        columns, missing = [], {}
        for name, domain, column in zip(data.names, data.domains, data.columns, strict=True):
            if isinstance(domain, Categorical) and LEVEL in domain.levels:
                code = domain.levels.index(LEVEL)
                gap = column == code
                left = tuple(level for level in domain.levels if level != LEVEL)
                codes = column - (column > code).astype(column.dtype)
                column = np.where(gap, 0, codes).astype(code_dtype(len(left)))
                domain = Categorical(left, domain.ordered)
            elif isinstance(domain, Real) and domain.absent:
                gap = np.isnan(column)
                column = np.where(gap, domain.low, column)
                domain = replace(domain, absent=False)
            else:
                gap = np.zeros(0, np.bool_)
            if gap.any():
                missing[name] = gap
                if gap.all():
                    raise DataError(f"column {name!r} has no values at all; leave it out (--ignore)")
            domains.append(domain)
            columns.append(column)
        return cls(Dataset(data.names, tuple(domains), tuple(columns), data.weights), missing)

    @property
    def cells(self) -> int:
        """How many values are missing."""
        return int(sum(gap.sum() for gap in self.missing.values()))

    @property
    def rows(self) -> NDArray[np.bool_]:
        """The rows with gaps."""
        return np.logical_or.reduce([*self.missing.values(), np.zeros(self.data.n_rows, np.bool_)])

    def filled(self, columns: Mapping[str, NDArray[np.generic]]) -> Dataset:
        """The whole rows once, the others in copies (columns [copies, rows with gaps]) that share their weight."""
        gaps, data = self.rows, self.data
        copies = len(next(iter(columns.values()))) if columns else 1
        joined = [
            np.concatenate([column[~gaps], columns[name].ravel()])
            for name, column in zip(data.names, data.columns, strict=True)
        ]
        each = np.ones(data.n_rows) if data.weights is None else data.weights.values
        weights = np.concatenate([each[~gaps], np.tile(each[gaps] / copies, copies)])
        return covering_dataset(data.names, data.domains, joined).weighted(weights)

    def at_random(self, copies: int, generator: np.random.Generator) -> Dataset:
        """Gaps filled with observed values of the column."""
        gaps = self.rows
        columns = {}
        for name, column in zip(self.data.names, self.data.columns, strict=True):
            drawn = np.repeat(column[gaps][None], copies, axis=0)
            if name in self.missing:
                gap = self.missing[name]
                drawn[:, gap[gaps]] = generator.choice(column[~gap], (copies, int(gap.sum())))
            columns[name] = drawn
        return self.filled(columns)

    def by(self, network: BayesianNetwork, copies: int, generator: np.random.Generator) -> tuple[Dataset, float]:
        """Gaps filled from a network, and the log-likelihood of what is observed."""
        gaps, data = self.rows, self.data
        columns = {name: column[gaps] for name, column in zip(data.names, data.columns, strict=True)}
        found = complete(network, columns, {name: gap[gaps] for name, gap in self.missing.items()}, copies, generator)
        each = np.ones(data.n_rows) if data.weights is None else data.weights.values
        observed = float(found.log_likelihood @ each[gaps])
        observed += float(network.log_likelihood_rows(data.take(~gaps)) @ each[~gaps])
        return self.filled(found.columns), observed


@dataclass(frozen=True)
class Round:
    """What a round found: the optimum of the completed rows, and the log-likelihood of what is observed under it.

    changed   adjacencies that the round before had not, or that it had
    """

    score: float
    arcs: int
    changed: int
    log_likelihood: float
    proved: bool


@dataclass(frozen=True, eq=False)
class Completing:
    """The rows as the last network completes them, that network, and the rounds."""

    data: Dataset
    network: BayesianNetwork
    rounds: tuple[Round, ...]

    def note(self, incomplete: Incomplete, copies: int) -> str:
        """What was done, in a line."""
        cells = f"{counted(incomplete.cells, 'missing cell')} of {counted(len(incomplete.missing), 'column')}"
        course = ", ".join(f"{each.log_likelihood:.1f}" for each in self.rounds)
        return (
            f"{cells}: each incomplete row is drawn {copies} times from the network of the round before "
            f"({len(self.rounds)} rounds); log-likelihood of what is observed, by round: {course}"
        )


@dataclass(frozen=True)
class Search:
    """How the networks that fill gaps are found; `score` None: see the module's header."""

    max_parents: int | Mapping[str, int] = 3
    score: LocalScore | None = None
    constraints: Constraints | None = None
    candidates: int | None = None
    jobs: int | None = None
    memory: int | str | None = None

    def best(self, data: Dataset, score: LocalScore) -> tuple[BayesianNetwork, float, bool]:
        """The best network of the rows with its parameters, its score, and whether it is proved."""
        scoring = Scoring.of(data, score, self.max_parents, self.constraints, self.candidates, self.memory)
        table = (
            all_families(scoring, self.jobs) if demanding(self.constraints) else table_of_sets(scoring, jobs=self.jobs)
        )
        learned = best_structure(table, 0, Stopwatch(), constraints=self.constraints)
        assert learned.solution.score is not None
        network = fit(with_local_models(learned.structure, data, scoring.bound), data, "m_estimate")
        return network, learned.solution.score, standing(learned.solution) is Standing.PROVED


def completed(
    incomplete: Incomplete,
    search: Search = Search(),
    *,
    copies: int = COPIES,
    rounds: int = ROUNDS,
    seed: int = 0,
    until: float | None = None,
) -> Completing:
    """Rounds until the class of the network comes back, or there have been enough.

    until   of time.monotonic: no round begins that would end later, if it takes as long as the last
    """
    if copies < 1 or rounds < 1:
        raise UnsupportedError(f"{copies} copies, {rounds} rounds; expected at least 1 of each")
    method = search.score or (PCART(gamma=None) if 0 in incomplete.data.cardinalities else AIC())
    generator = np.random.default_rng(seed)
    data, done = incomplete.at_random(copies, generator), []
    classes: list[object] = []
    begun = time.monotonic()
    while True:
        network, score, proved = search.best(data, method)
        data, observed = incomplete.by(network, copies, generator)
        essential = network.to_cpdag()
        before = classes[-1].skeleton if classes else frozenset()  # type: ignore[attr-defined]
        done.append(Round(score, network.n_arcs, len(essential.skeleton ^ before), observed, proved))
        seen = essential in classes
        classes.append(essential)
        took = (time.monotonic() - begun) / len(done)
        late = until is not None and time.monotonic() + took > until
        if seen or late or len(done) == rounds:
            return Completing(data, network, tuple(done))
