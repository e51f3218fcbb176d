"""A network of one step in time, run forwards: simulated series, and forecasts from a past."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import NetworkError
from optbn.base.settings import check_seed
from optbn.data.dataset import Categorical, Dataset
from optbn.data.lags import now, past
from optbn.network.network import BayesianNetwork
from optbn.network.sampling import covering_dataset
from optbn.network.structure import Structure


@dataclass(frozen=True)
class DynamicNetwork:
    """`step` has variables X (now) and X[-1], X[-2], ... (one step ago, two, ...), as `learn(lags=...)` makes it."""

    step: BayesianNetwork

    def __post_init__(self) -> None:
        for name in self.step.names:
            if now(name)[1] and self.step.parents(name):
                raise NetworkError(
                    f"{name!r} lies in the past and has parents; a step gives parents to the present only"
                )
            if now(name)[0] not in self.step.names:
                raise NetworkError(f"{name!r} lies in the past, and there is no {now(name)[0]!r}")

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The variables of the present."""
        return tuple(name for name in self.step.names if not now(name)[1])

    @cached_property
    def lags(self) -> int:
        """How many steps of past a step looks at."""
        return max(now(name)[1] for name in self.step.names)

    def arcs(self) -> tuple[tuple[str, str, int], ...]:
        """(parent, child, how many steps the parent is before the child)."""
        found = []
        for parent, child in self.step.structure.arcs:
            name, lag = now(parent)
            found.append((name, child, lag))
        return tuple(found)

    def slice(self) -> Structure:
        """The arcs within one step."""
        return Structure.from_parents(
            {name: [p for p in self.step.parents(name) if not now(p)[1]] for name in self.variables}
        )

    def sample(self, steps: int, seed: int = 0, history: Dataset | None = None) -> Dataset:
        """The next steps after a history (its last rows, in order), or after a past drawn by its frequencies; another
        seed gives others."""
        return self._run(steps, 1, seed, history)

    def forecast(self, history: Dataset, steps: int = 1, draws: int = 1000, seed: int = 0) -> list[dict[str, Any]]:
        """Per step ahead of the history, for `steps` steps, the distribution of each variable over the draws (which the
        seed decides): {level: share}, or (mean, sd)."""
        drawn = self._run(steps, draws, seed, history)
        answers = []
        for step in range(steps):
            rows = slice(step * draws, (step + 1) * draws)
            answer: dict[str, Any] = {}
            for name, domain, column in zip(drawn.names, drawn.domains, drawn.columns, strict=True):
                values = column[rows]
                if isinstance(domain, Categorical):
                    shares = np.bincount(values, minlength=len(domain.levels)) / draws
                    answer[name] = dict(zip(domain.levels, shares.tolist(), strict=True))
                else:
                    answer[name] = (float(values.mean()), float(values.std()))
            answers.append(answer)
        return answers

    def _run(self, steps: int, draws: int, seed: int, history: Dataset | None) -> Dataset:
        """The steps one after another, `draws` rows each."""
        check_seed(seed)
        if steps < 1 or draws < 1:
            raise NetworkError(f"{steps} steps of {draws} draws; expected at least 1 of each")
        generator, network = np.random.default_rng(seed), self.step
        window = self._window(draws, generator, history)
        made: dict[str, list[NDArray[Any]]] = {name: [] for name in self.variables}
        for _ in range(steps):
            values = {past(name, lag): column for (name, lag), column in window.items()}
            for v in network.structure.order:
                name = network.names[v]
                if not now(name)[1]:
                    parents = [values[network.names[u]] for u in network.structure.parent_sets[v]]
                    values[name] = network.cpds[v].sample(parents, draws, generator)
            for name in self.variables:
                for lag in range(self.lags, 1, -1):
                    window[name, lag] = window[name, lag - 1]
                window[name, 1] = values[name]
                made[name].append(values[name])
        columns = [np.concatenate(made[name]) for name in self.variables]
        return covering_dataset(self.variables, [self.step.domain(name) for name in self.variables], columns)

    def _window(
        self, draws: int, generator: np.random.Generator, history: Dataset | None
    ) -> dict[tuple[str, int], NDArray[Any]]:
        """(variable, lag): the values of the past, `draws` times the history's last rows, or drawn one by one."""
        if history is None:
            return {
                (name, lag): self.step.cpd(past(name, lag)).sample([], draws, generator)
                for name in self.variables
                for lag in range(1, self.lags + 1)
            }
        if history.n_rows < self.lags:
            raise NetworkError(f"the history has {history.n_rows} rows, and a step looks {self.lags} rows back")
        known = self.step.conform(history, self.variables)
        return {
            (name, lag): np.repeat(known.column(name)[-lag], draws)
            for name in self.variables
            for lag in range(1, self.lags + 1)
        }
