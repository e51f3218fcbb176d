"""Hyper-parameters of leaves by evidence: alpha="auto", and nu, lambda_ and a likewise, for all columns or by name.

Each such column has, for each of its families, the value of a stated grid (GRIDS) whose score is highest:

    score(v, P) = max over the grid of score(v, P; value)

A network has one family of each column, so its best score is the maximum over graphs and over every column's value
together: the marginal likelihood of the whole network is maximised, over the grid exactly. Columns of real numbers have
all combinations of the grids of nu, lambda_ and a that are "auto". Cost: a scoring for each value or combination.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn.data.dataset import Dataset
from optbn.scores.left_out import too_dear
from optbn.scores.parent_priors import BoundWithPrior
from optbn.scores.protocol import BoundScore, one_family
from optbn.scores.trees.leaves import AUTO, GRIDS, LeafPrior

Floats = NDArray[np.float64]
MOST_NAMES = 6
"""Of columns that are listed, not counted."""


def bound_by_evidence(score: LeafPrior, data: Dataset, bind: Callable[[Any, Dataset], BoundScore]) -> BoundScore:
    """The score tied to data; `bind` ties one whose hyper-parameters are numbers."""
    names = [name for name in GRIDS if _is_auto(getattr(score, name))]
    real = np.array([not r for r in data.cardinalities], np.bool_)
    absent = np.array([name in data.with_absent for name in data.names], np.bool_)
    parts, values, concerned = [], [], []
    for kind in (~real, real & ~absent, real & absent):  # columns that the same hyper-parameters are about
        if not kind.any():
            continue
        about = ["alpha"] if kind[~real].any() else ["nu", "lambda_", "a"] if kind[~absent].any() else list(GRIDS)
        mine = [name for name in names if name in about]
        for chosen in itertools.product(*(GRIDS[name] for name in mine)):
            value = dict(zip(mine, chosen, strict=True))
            parts.append(bind(_resolved(score, value), data))
            values.append(value)
            concerned.append(kind)
    return BoundByEvidence(tuple(parts), tuple(values), np.array(concerned))


@dataclass(frozen=True, eq=False)
class BoundByEvidence:
    """See above. `values` says of each part what its hyper-parameters are, `concerned` bool[parts, n] whose."""

    parts: tuple[BoundScore, ...]
    values: tuple[Mapping[str, float], ...]
    concerned: NDArray[np.bool_]

    def block(self, sets: NDArray[np.int32], wanted: NDArray[np.bool_], floor: Floats | None = None) -> Floats:
        """See optbn.scores.protocol.BoundScore. What one part discards as not above the floor, others may keep."""
        out = np.full(wanted.shape, -np.inf)
        for part, columns in zip(self.parts, self.concerned, strict=True):
            some = wanted & columns
            if some.any():
                np.maximum(out, part.block(sets, some, floor), out=out)
        return out

    def best(self, child: int, parents: tuple[int, ...]) -> tuple[BoundScore, Mapping[str, float]]:
        """The part whose values a family has, and these; of equals the first."""
        sets, wanted = one_family(child, parents, self.concerned.shape[1])
        mine = np.flatnonzero(self.concerned[:, child])
        scores = [float(self.parts[i].block(sets, wanted)[0, child]) for i in mine]
        first = int(mine[int(np.argmax(scores))])
        return self.parts[first], self.values[first]

    def fitted(self, child: int, parents: tuple[int, ...]) -> Any:
        """The local structure behind one score."""
        return self.best(child, parents)[0].fitted(child, parents)

    def too_dear(self, sets: NDArray[np.int32]) -> NDArray[np.bool_]:
        """See optbn.scores.protocol."""
        return too_dear(self.parts[0], sets)

    def seconds(self, sets: NDArray[np.int32]) -> Floats:
        """See optbn.scores.protocol."""
        first = self.parts[0]
        each = first.seconds(sets) if hasattr(first, "seconds") else np.zeros(len(sets))
        return np.asarray(len(self.parts) * each)

    def limit_memory(self, size: int) -> None:
        """See optbn.scores.protocol."""
        for part in self.parts:
            if hasattr(part, "limit_memory"):
                part.limit_memory(size // len(self.parts))

    @property
    def columns(self) -> Any:
        """The data as predictors, where the score has such."""
        return getattr(self.parts[0], "columns", None)


def chosen_values(bound: BoundScore, data: Dataset, parent_sets: Sequence[tuple[int, ...]]) -> list[str]:
    """What the columns of a network have, a line per hyper-parameter: "alpha by evidence: 0.1 (A, B), 2 (C)"."""
    bound = bound.bound if isinstance(bound, BoundWithPrior) else bound
    if not isinstance(bound, BoundByEvidence):
        return []
    columns: dict[str, dict[float, list[str]]] = {}
    for child, parents in enumerate(parent_sets):
        for name, number in bound.best(child, parents)[1].items():
            columns.setdefault(name.rstrip("_"), {}).setdefault(number, []).append(data.names[child])
    listed = {name: ", ".join(f"{x:g} ({_listed(of[x])})" for x in sorted(of)) for name, of in columns.items()}
    return [f"{name} by evidence: {values}" for name, values in listed.items()]


def _listed(names: list[str]) -> str:
    return ", ".join(names) if len(names) <= MOST_NAMES else f"{len(names)} columns"


def _is_auto(value: Any) -> bool:
    return AUTO in value.values() if isinstance(value, Mapping) else value == AUTO


def _resolved(score: LeafPrior, value: Mapping[str, float]) -> LeafPrior:
    """The score with numbers for what is "auto"; what the columns in question do not have gets any."""
    fields: dict[str, Any] = {}
    for name, grid in GRIDS.items():
        now, number = getattr(score, name), value.get(name, grid[0])
        if isinstance(now, Mapping):
            fields[name] = {column: number if one == AUTO else one for column, one in now.items()}
        else:
            fields[name] = number if now == AUTO else now
    return replace(score, **fields)
