"""The linear relaxation:  min sum c x,  one family per child, the rows found so far; columns and rows come and go.

HiGHS keeps a factored basis between calls, so a round after a few changes costs milliseconds (dual simplex after new
rows, primal after new columns). Costs in units are divided by `scale`, a power of two chosen so that they are neither
huge nor tiny whatever the scores are. The incumbent's families always stay, so the relaxation is never infeasible.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import highspy
import numpy as np
from numpy.typing import NDArray

from optbn_solvers.base.protocol import Budget
from optbn_solvers.relaxation.families import Families
from optbn_solvers.relaxation.rows import Entries, Row

PATIENCE = 4  # rounds a slack row stays
SLACK = 1e-6
DUAL, PRIMAL = 1, 4  # simplex strategies
FEWEST_STEPS, MANY_STEPS = 4000, 2**31 - 1
LOOK_EVERY = 20  # steps between looks at the budget: of the largest LPs a step takes a few milliseconds


class Relaxation:
    """The LP over some columns (positions in `families`) and rows.

    `costs` int64[families] are in units, and `typical` is a number of units that should come out near 1000.
    After `solve`: `value` in units, `point` (one number per column) and `duals` (units per row, >= 0 where the row is
    an inequality).
    """

    def __init__(
        self, families: Families, columns: NDArray[np.int64], costs: NDArray[np.int64], typical: float
    ) -> None:
        self.families = families
        self.rows: list[Row] = []
        self.entries: list[Entries] = []
        self.idle: list[int] = []
        self.columns = columns
        self.point = np.zeros(0)
        self.duals = np.zeros(0)
        self.value = 0.0
        self.scale = 2.0 ** max(0, math.frexp(max(typical, 1.0))[1] - 10)
        self._cost = costs / self.scale
        self._position = np.full(len(families), -1, dtype=np.int64)
        self._position[columns] = np.arange(len(columns))
        self._lp = highspy.Highs()
        self._lp.setOptionValue("output_flag", False)
        self._lp.setOptionValue("threads", 1)
        self._lp.setOptionValue("parallel", "off")
        self._lp.setOptionValue("presolve", "off")
        self._lp.setOptionValue("solver", "simplex")
        self._lp.setOptionValue("simplex_strategy", DUAL)
        count = len(columns)
        self._lp.addVars(count, np.zeros(count), np.full(count, highspy.kHighsInf))
        self._lp.changeColsCost(count, np.arange(count, dtype=np.int32), self._cost[columns])
        children = families.children[columns]
        for child in range(families.n):
            own = np.flatnonzero(children == child).astype(np.int32)
            self._lp.addRow(1.0, 1.0, len(own), own, np.ones(len(own)))

    def has(self, families: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which of the families are columns."""
        return self._position[families] >= 0

    def add_rows(
        self, rows: Sequence[Row], entries: Sequence[Entries] | None = None, prices: NDArray[np.float64] | None = None
    ) -> None:
        """Add rows (nothing happens for none). The slack of a row with a price above 0 costs that many units
        for each that it has; after such rows no columns may come or go."""
        if not rows:
            return
        entries = [row.entries(self.families) for row in rows] if entries is None else entries
        rhs = np.array([row.rhs for row in rows], dtype=np.float64)
        priced = np.zeros(len(rows), dtype=np.bool_) if prices is None else prices > 0
        starts, index, value = [], [], []
        filled = 0
        for which, coefficient in entries:
            at = self._position[which]
            present = at >= 0
            starts.append(filled)
            index.append(at[present])
            value.append(coefficient[present])
            filled += len(index[-1])
        self._lp.addRows(
            len(rows),
            np.where(priced, rhs, -highspy.kHighsInf),
            rhs,
            filled,
            np.array(starts, dtype=np.int32),
            np.concatenate(index).astype(np.int32),
            np.concatenate(value).astype(np.float64),
        )
        if prices is not None:
            count = int(priced.sum())
            self._lp.addCols(
                count,
                prices[priced] / self.scale,
                np.zeros(count),
                np.full(count, highspy.kHighsInf),
                count,
                np.arange(count, dtype=np.int32),
                (self.families.n + len(self.rows) + np.flatnonzero(priced)).astype(np.int32),
                np.ones(count),
            )
        self.rows += rows
        self.entries += entries
        self.idle += [0] * len(rows)

    def add_columns(self, families: NDArray[np.int64]) -> None:
        """Add families that are not columns yet."""
        if not len(families):
            return
        order = np.full(len(self.families), -1, dtype=np.int64)
        order[families] = np.arange(len(families))
        rows = [self.families.children[families]]
        columns = [np.arange(len(families))]
        values = [np.ones(len(families))]
        for r, (which, coefficient) in enumerate(self.entries):
            at = order[which]
            present = at >= 0
            if present.any():
                rows.append(np.full(int(present.sum()), self.families.n + r))
                columns.append(at[present])
                values.append(coefficient[present].astype(np.float64))
        row, column, value = np.concatenate(rows), np.concatenate(columns), np.concatenate(values)
        by_column = np.argsort(column, kind="stable")
        self._lp.addCols(
            len(families),
            self._cost[families],
            np.zeros(len(families)),
            np.full(len(families), highspy.kHighsInf),
            len(row),
            np.searchsorted(column[by_column], np.arange(len(families))).astype(np.int32),
            row[by_column].astype(np.int32),
            value[by_column],
        )
        self._position[families] = len(self.columns) + np.arange(len(families))
        self.columns = np.concatenate([self.columns, families])

    def delete_columns(self, dead: NDArray[np.bool_]) -> None:
        """Delete the columns marked in bool[families]."""
        gone = np.flatnonzero(dead[self.columns]).astype(np.int32)
        if len(gone):
            self._lp.deleteCols(len(gone), gone)
            self._position[self.columns[gone]] = -1
            self.columns = np.delete(self.columns, gone)
            self._position[self.columns] = np.arange(len(self.columns))

    def drop_idle_rows(self, least: int = 20) -> None:
        """Drop the rows that were slack for PATIENCE solves running, when there are at least `least` of them."""
        old = [r for r, idle in enumerate(self.idle) if idle > PATIENCE]
        if len(old) >= least:
            self._lp.deleteRows(len(old), np.array(old, dtype=np.int32) + self.families.n)
            gone = set(old)
            keep = [r for r in range(len(self.rows)) if r not in gone]
            self.rows = [self.rows[r] for r in keep]
            self.entries = [self.entries[r] for r in keep]
            self.idle = [self.idle[r] for r in keep]
            self.duals = self.duals[keep]

    def restrict(self, open_: NDArray[np.bool_], free: NDArray[np.int64], penalty: float) -> None:
        """Only the families marked in `open_` may be used; those of `free` that are not may, for `penalty` units."""
        self.add_columns(free[~self.has(free)])
        count = len(self.columns)
        allowed = open_[self.columns]
        price = self._cost[self.columns].copy()
        held = np.zeros(len(open_), dtype=np.bool_)
        held[free] = True
        extra = held[self.columns] & ~allowed
        price[extra] += penalty / self.scale
        every = np.arange(count, dtype=np.int32)
        upper = np.where(allowed | extra, highspy.kHighsInf, 0.0)
        self._lp.changeColsBounds(count, every, np.zeros(count), upper)
        self._lp.changeColsCost(count, every, price)

    def probe(self, iterations: int) -> None:
        """A few steps of the dual simplex method from the present basis, which is put back; sets `duals`."""
        basis = self._lp.getBasis()
        self._lp.setOptionValue("simplex_iteration_limit", iterations)
        self._lp.run()
        solution = self._lp.getSolution()
        self.duals = -self.scale * np.array(solution.row_dual)[self.families.n :]
        self._lp.setOptionValue("simplex_iteration_limit", MANY_STEPS)
        self._lp.setBasis(basis)

    def compact(self, families: Families, keep: NDArray[np.bool_]) -> None:
        """Go on with `families`, those of the present ones that are marked in `keep`; rows and basis stay."""
        self.delete_columns(~keep)
        place = np.cumsum(keep) - 1
        self.columns = place[self.columns]
        self.families, self._cost = families, self._cost[keep]
        self._position = np.full(len(families), -1, dtype=np.int64)
        self._position[self.columns] = np.arange(len(self.columns))
        self.entries = [(place[index[keep[index]]], value[keep[index]]) for index, value in self.entries]

    def above(self, rows: NDArray[np.int64]) -> float:
        """By how many units the graph with these rows of the table costs more than the solved LP."""
        return float(self._cost[self.families.positions(rows)].sum()) * self.scale - self.value

    def solve(self, budget: Budget) -> bool:
        """Solve to optimality; False when the budget ran out or HiGHS gave up (the last point stays).

        The dual simplex method can take tens of thousands of degenerate steps without an end: after `most` it is the
        primal's turn, from the basis reached; what is left then is numerical trouble, and begun anew.
        """
        most = FEWEST_STEPS + 4 * len(self.rows)
        for strategy, steps in ((DUAL, most), (PRIMAL, 2 * most), (DUAL, MANY_STEPS)):
            if steps == MANY_STEPS:
                self._lp.clearSolver()
            self._lp.setOptionValue("simplex_strategy", strategy)
            self._lp.setOptionValue("simplex_iteration_limit", steps)
            solved = self._run(budget)
            if solved or budget.exhausted():
                break
        self._lp.setOptionValue("simplex_strategy", DUAL)
        self._lp.setOptionValue("simplex_iteration_limit", MANY_STEPS)
        if not solved:
            return False
        solution = self._lp.getSolution()
        self.point = np.array(solution.col_value)[: len(self.columns)]
        n = self.families.n
        self.duals = -self.scale * np.array(solution.row_dual)[n:]
        self.value = self._lp.getObjectiveValue() * self.scale
        slack = np.array([row.rhs for row in self.rows]) - np.array(solution.row_value)[n:]
        self.idle = [idle + 1 if s > SLACK else 0 for idle, s in zip(self.idle, slack.tolist(), strict=True)]
        return True

    def _run(self, budget: Budget) -> bool:
        """Run HiGHS, which looks at the budget every few steps; whether it ended with an optimum."""
        calls = 0

        def look(event: Any) -> None:
            nonlocal calls
            calls += 1
            if calls % LOOK_EVERY == 0 and budget.exhausted():
                event.interrupt()

        if budget.exhausted():
            return False
        self._lp.cbSimplexInterrupt += look
        self._lp.run()
        self._lp.cbSimplexInterrupt -= look
        return bool(self._lp.getModelStatus() == highspy.HighsModelStatus.kOptimal)

    def support(self, least: float = 1e-7) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The families above `least` in the point, and their values."""
        on = np.flatnonzero(self.point > least)
        return self.columns[on], self.point[on]
