"""Incomplete rows: their missing cells drawn from P(missing | observed), exactly, and log P(observed) of every row.

Variable elimination (`inference`) for many rows at once: every table has an axis for the rows in front, so the order is
found once and each step is a product of arrays. A variable that some row of a block misses is an axis of the tables,
and rows that know it allow one state; variables that all rows of a block know are looked up. Going back through the
elimination draws the states of all rows, each from its own posterior. Rows are sorted by what they miss, so that those
of a block miss much the same.

Cost: per row the sum over eliminated variables of the size of their table. Twin: `query` and `sample_given` in tests.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import NetworkError
from optbn.data.dataset import Categorical
from optbn.network.elimination import min_fill
from optbn.network.moments import draw_inside
from optbn.network.network import BayesianNetwork
from optbn.network.states import Factor, States

Floats = NDArray[np.float64]
Columns = Mapping[str, NDArray[Any]]
BLOCK_ENTRIES = 1 << 21  # of the largest table of a block of rows
BLOCK_ROWS = 256


@dataclass(frozen=True, eq=False)
class Completed:
    """columns        per variable an array [copies, rows], codes or numbers; what is observed is the same in all
    log_likelihood float64[rows]: log P(what the row has)
    """

    columns: dict[str, NDArray[Any]]
    log_likelihood: Floats


def complete(
    network: BayesianNetwork,
    columns: Columns,
    missing: Mapping[str, NDArray[np.bool_]],
    copies: int,
    generator: np.random.Generator,
) -> Completed:
    """Rows with gaps, each completed this many times, independently.

    columns   all variables, by name: codes of the network's levels, or numbers; anything where a value is missing
    missing   of the variables that are missing in some row, in which
    """
    n = len(columns[network.names[0]])
    gaps = np.column_stack([missing.get(name, np.zeros(n, np.bool_)) for name in network.names])
    order = np.lexsort(gaps.T[::-1])
    tables = _Tables(network)
    filled = {name: np.repeat(column[None], copies, axis=0) for name, column in columns.items()}
    log_likelihood = np.zeros(n)
    at = 0
    while at < n:
        rows, plan = tables.block(gaps, order[at:])
        block = _Block(tables, {name: column[rows] for name, column in columns.items()}, gaps[rows], plan)
        log_likelihood[rows] = block.eliminate()
        if not np.isfinite(log_likelihood[rows]).all():
            row = rows[np.argmin(np.isfinite(log_likelihood[rows]))] + 1
            raise NetworkError(f"row {row} is impossible under the network; smooth the parameters")
        for name, values in block.draw(copies, generator).items():
            filled[name][:, rows] = values
        at += len(rows)
    return Completed(filled, log_likelihood)


@dataclass(frozen=True)
class _Tables:
    """What all blocks of a network share."""

    network: BayesianNetwork

    @cached_property
    def states(self) -> States:
        return States(self.network, {})

    @cached_property
    def whole(self) -> dict[str, NDArray[Any]]:
        """Per variable the table of its family: probabilities of a categorical one, the cells of a real one."""
        found: dict[str, NDArray[Any]] = {}
        for name, domain in zip(self.network.names, self.network.domains, strict=True):
            if isinstance(domain, Categorical):
                found[name] = self.states.factor(name).table
            else:
                free, cells = self.states.cells(name)
                found[name] = cells.reshape([self.states.size(p) for p in free])
        return found

    def block(self, gaps: NDArray[np.bool_], order: NDArray[np.intp]) -> tuple[NDArray[np.intp], list[str]]:
        """The next rows, as many as there is room for their tables, and the order of elimination."""
        count = min(BLOCK_ROWS, len(order))
        while True:
            plan, largest = self._plan(np.asarray(gaps[order[:count]].any(axis=0)))
            if count == 1 or count * largest <= BLOCK_ENTRIES:
                return order[:count], plan
            count = max(1, min(count // 2, BLOCK_ENTRIES // largest))

    def _plan(self, missing: NDArray[np.bool_]) -> tuple[list[str], int]:
        """The order in which the variables missing somewhere are summed out, and the entries of its largest table."""
        axes = {name for name, gap in zip(self.network.names, missing, strict=True) if gap}
        scopes = [tuple(v for v in (*self.network.cpd(name).parents, name) if v in axes) for name in self.network.names]
        scopes = [scope for scope in scopes if scope]
        order = min_fill(self.states, [Factor(scope, np.zeros(0)) for scope in scopes], axes)
        largest = 1
        for name in order:
            together = {v for scope in scopes if name in scope for v in scope}
            largest = max(largest, math.prod(self.states.size(v) for v in together))
            scopes = [scope for scope in scopes if name not in scope] + [tuple(together - {name})]
        return order, largest


class _Block:
    """Some rows: tables are float64[rows, states of the scope...]."""

    def __init__(self, tables: _Tables, columns: Columns, gaps: NDArray[np.bool_], plan: list[str]) -> None:
        self.tables, self.columns, self.plan = tables, columns, plan
        self.network, self.states = tables.network, tables.states
        self.n = len(gaps)
        self.gap = dict(zip(self.network.names, gaps.T, strict=True))
        self.axes = set(plan)
        self.state = {name: self._state(name) for name in self.network.names}
        self.buckets: list[tuple[str, tuple[str, ...], Floats]] = []

    def _state(self, name: str) -> NDArray[np.int64]:
        """int64[rows]: the state of a variable where it is known."""
        column = self.columns[name]
        if isinstance(self.network.domain(name), Categorical):
            return np.where(self.gap[name], 0, column).astype(np.int64)
        return np.searchsorted(self.states.cuts(name), np.where(self.gap[name], 0.0, column), side="right")

    def eliminate(self) -> Floats:
        """log P(observed) of every row; keeps the tables that `draw` goes back through."""
        log_scale = np.zeros(self.n)
        factors = []
        for name in self.network.names:
            scope, table, scale = self._factor(name)
            log_scale += scale
            factors.append((scope, table))
        for name in self.plan:
            inside = [factor for factor in factors if name in factor[0]]
            factors = [factor for factor in factors if name not in factor[0]]
            rest = tuple(dict.fromkeys(v for scope, _ in inside for v in scope if v != name))
            table = _product(inside, (*rest, name))
            self.buckets.append((name, rest, table))
            summed = table.sum(axis=-1)
            top = _top(summed)
            log_scale += np.log(top)
            factors.append((rest, summed / top.reshape(-1, *(1,) * len(rest))))
        with np.errstate(divide="ignore"):
            for _, last in factors:
                log_scale += np.log(last)
        return log_scale

    def draw(self, copies: int, generator: np.random.Generator) -> dict[str, NDArray[Any]]:
        """[copies, rows] of each variable that some row misses."""
        state = {name: np.broadcast_to(known, (copies, self.n)) for name, known in self.state.items()}
        rows = np.arange(self.n)[None, :]
        for name, rest, table in reversed(self.buckets):
            sums = np.cumsum(table[(rows, *(state[v] for v in rest))], axis=-1)
            level = generator.random((copies, self.n)) * sums[..., -1]
            state[name] = (level[..., None] >= sums[..., :-1]).sum(axis=-1)
        return {name: self._values(name, state, generator) for name in self.plan}

    def _values(
        self, name: str, state: Mapping[str, NDArray[np.int64]], generator: np.random.Generator
    ) -> NDArray[Any]:
        """What is observed, and values of the drawn states elsewhere."""
        gap, column, drawn = self.gap[name], self.columns[name], state[name]
        values = np.broadcast_to(column, drawn.shape).copy()
        if isinstance(self.network.domain(name), Categorical):
            values[:, gap] = drawn[:, gap]
            return values
        cpd = self.network.cpd(name)
        cells = self.tables.whole[name][tuple(state[p][:, gap] for p in cpd.parents)]
        cells = np.broadcast_to(cells, drawn[:, gap].shape).ravel()
        inside = draw_inside(cpd.leaves, self.states.cuts(name), cells, drawn[:, gap].ravel(), generator)
        values[:, gap] = inside.reshape(drawn[:, gap].shape)
        return values

    def _factor(self, name: str) -> tuple[tuple[str, ...], Floats, Floats | float]:
        """P(name | parents) over what some row misses of them, and the logarithm of what it was divided by, per row."""
        cpd, gap = self.network.cpd(name), self.gap[name]
        if isinstance(self.network.domain(name), Categorical):
            scope, table = self._looked_up((*cpd.parents, name))
            return scope, self._seen(name, table) if name in self.axes else table, 0.0
        scope, cells = self._looked_up(cpd.parents, name)
        thin = (-1, *(1,) * (cells.ndim - 1))
        value = np.broadcast_to(np.where(gap, 0.0, self.columns[name]).reshape(thin), cells.shape)
        logs = cpd.leaves.log_density(cells.ravel(), value.ravel()).reshape(cells.shape)
        top = logs.reshape(self.n, -1).max(axis=1)
        top = np.where(np.isfinite(top), top, 0.0)
        density = np.exp(logs - top.reshape(thin))
        if name not in self.axes:
            return scope, density, top
        shares = self.states.intervals(name)[cells]
        known = self._seen(name, np.broadcast_to(density[..., None], shares.shape))
        return (*scope, name), np.where(gap.reshape(*thin, 1), shares, known), np.where(gap, 0.0, top)

    def _seen(self, name: str, table: Floats) -> Floats:
        """The table without the states of its last variable that a row knows it not to have."""
        allowed = self.gap[name][:, None] | (self.state[name][:, None] == np.arange(table.shape[-1]))
        return table * allowed.reshape(self.n, *(1,) * (table.ndim - 2), -1)

    def _looked_up(self, family: Sequence[str], name: str | None = None) -> tuple[tuple[str, ...], NDArray[Any]]:
        """[rows, states of those of the family that some row misses]: the whole table (of `name`, or of the last of the
        family) at what all rows know of the others."""
        scope = tuple(v for v in family if v in self.axes)
        index: list[NDArray[np.int64]] = []
        for v in family:
            if v in self.axes:
                place = [1] * (1 + len(scope))
                place[1 + scope.index(v)] = -1
                index.append(np.arange(self.states.size(v)).reshape(place))
            else:
                index.append(self.state[v].reshape(-1, *(1,) * len(scope)))
        table = self.tables.whole[name or family[-1]][tuple(index)]
        return scope, np.broadcast_to(table, (self.n, *(self.states.size(v) for v in scope)))


def _top(table: Floats) -> Floats:
    """float64[rows]: the largest entry, 1 where all are 0."""
    top = table.reshape(len(table), -1).max(axis=1)
    return np.where(top > 0.0, top, 1.0)


def _product(factors: Sequence[tuple[tuple[str, ...], Floats]], scope: tuple[str, ...]) -> Floats:
    """The product of tables over subsets of the scope, its variables in that order."""
    found: Floats | float = 1.0
    for names, table in factors:
        there = [v for v in scope if v in names]
        moved = np.transpose(table, [0, *(1 + names.index(v) for v in there)])
        sizes = iter(moved.shape[1:])
        found = found * moved.reshape(len(table), *(next(sizes) if v in names else 1 for v in scope))
    return np.asarray(found)
