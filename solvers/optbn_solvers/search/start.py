"""Rows that are known before the search begins: what they leave of the table, and their place in the proof.

`Known.of` works stages of rows (`base.solution.RowBound`) out on a table, once; `Known.narrow` has the same for a part
of the table, at the price of indexing, so that many variations of one table cost little. `apply` replays the stages in
exact integers: each drops the families that no better graph needs; the last one's multipliers stay, and the search
moves them. Rows with a coefficient too large for the search are left out: multipliers that cannot follow what the tree
decides do more harm than good. Multipliers in fractions of a unit are rounded down, which any multiplier survives.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeGuard

import numpy as np
from numpy.typing import NDArray

from optbn_solvers.base.kernels.masks import pack_sets
from optbn_solvers.base.solution import BoundRow, ClusterRow, RowBound, SubsetRow
from optbn_solvers.base.table import ScoreTable
from optbn_solvers.proofs.writer import Records
from optbn_solvers.search.kernels.subsets import CLASSES

Row = ClusterRow | SubsetRow


@dataclass(frozen=True, eq=False)
class Stage:
    """Rows with multipliers on a table: int64[m] adjusted units of its families, and what they add to the bound."""

    rows: tuple[Row, ...]
    units: NDArray[np.int64]
    constant: int


@dataclass(frozen=True, eq=False)
class Known:
    """Stages of rows on a table of `children`.

    patterns   int16[m], the coefficients of each subset row (with multiplier 1) for the table's families
    """

    children: NDArray[np.int64]
    units: NDArray[np.int64]
    stages: tuple[Stage, ...]
    patterns: Mapping[SubsetRow, NDArray[np.int16]]

    @classmethod
    def of(cls, table: ScoreTable, evidence: RowBound) -> Known:
        """The stages of some evidence on a table."""
        patterns: dict[SubsetRow, NDArray[np.int16]] = {}
        outside: dict[tuple[int, ...], NDArray[np.int64]] = {}
        stages = []
        for stage in evidence.stages:
            whole = (replace(row, multiplier=row.multiplier // evidence.denominator) for row in stage if _small(row))
            rows = tuple(row for row in whole if row.multiplier)
            units, constant = table.units.copy(), 0
            for row in rows:
                if isinstance(row, ClusterRow):
                    if row.members not in outside:
                        outside[row.members] = _families_outside(row, table)
                    units[outside[row.members]] += row.multiplier
                    constant -= row.multiplier
                else:
                    statement = replace(row, multiplier=1)
                    if statement not in patterns:
                        patterns[statement] = _coefficients_of(row, table)
                    units -= row.multiplier * patterns[statement].astype(np.int64)
                    constant += row.rhs * row.multiplier
            stages.append(Stage(rows, units, constant))
        return cls(table.children, table.units, tuple(stages), patterns)

    def narrow(self, rows: NDArray[np.int64]) -> Known:
        """The same rows on the table of some of the families (ascending)."""
        return Known(
            self.children[rows],
            self.units[rows],
            tuple(replace(stage, units=stage.units[rows]) for stage in self.stages),
            {row: column[rows] for row, column in self.patterns.items()},
        )


@dataclass(frozen=True, eq=False)
class Start:
    """What a search begins with.

    rows     the rows of the table that are left
    units    their adjusted units
    bound    no graph of them scores more
    moving   the rows whose multipliers go on, with their numbers in the proof, `names`
    coefficients  int16[len(moving), len(rows)], of the subset rows among them
    records  the beginning of the proof; it defines `defined` rows and has `filters` nodes
    """

    rows: NDArray[np.int64]
    units: NDArray[np.int64]
    bound: int
    moving: tuple[Row, ...]
    names: tuple[int, ...]
    coefficients: NDArray[np.int16]
    records: NDArray[np.int64]
    defined: int
    filters: int


def apply(known: Known, target: int) -> Start:
    """What a search for a graph of more than `target` units has to look at.

    A stage that leaves a variable without families, or a bound of at most the target, is left out with those after it:
    the search closes its first node instead.
    """
    n = int(known.children[-1]) + 1
    alive, units = np.arange(len(known.units)), known.units
    bound = int(np.maximum.reduceat(units, np.searchsorted(known.children, np.arange(n))).sum())
    records = Records()
    rows: tuple[Row, ...] = ()
    for stage in known.stages:
        adjusted, children = stage.units[alive], known.children[alive]
        tops = np.maximum.reduceat(adjusted, np.searchsorted(children, np.arange(n)))
        reached = int(tops.sum()) + stage.constant
        keep = reached - (tops[children] - adjusted) > target
        if reached <= target or np.bincount(children[keep], minlength=n).min() == 0:
            break
        records.filter(stage.rows)
        alive, units, bound, rows = alive[keep], adjusted[keep], reached, stage.rows
    coefficients = np.zeros((max(1, len(rows)), len(alive)), dtype=np.int16)
    for number, row in enumerate(rows):
        if isinstance(row, SubsetRow):
            coefficients[number] = known.patterns[replace(row, multiplier=1)][alive]
    return Start(
        alive,
        units,
        bound,
        rows,
        tuple(records.number(row) for row in rows),
        coefficients,
        records.numbers(),
        records.defined,
        records.nodes,
    )


def _coefficients_of(row: SubsetRow, table: ScoreTable) -> NDArray[np.int16]:
    """int16[m]: the coefficients of a subset row for the families of a table."""
    within = pack_sets([list(row.members)], table.n)[0]
    coefficients = np.zeros(len(table), dtype=np.int16)
    for child in {child for child, _, _ in row.coefficients}:
        first, last = table.offsets[child], table.offsets[child + 1]
        common = table.masks[first:last] & within
        for other, parents, coefficient in row.coefficients:
            if other == child:
                pattern = pack_sets([list(parents)], table.n)[0]
                coefficients[first:last][(common == pattern).all(axis=1)] = coefficient
    return coefficients


def _families_outside(row: ClusterRow, table: ScoreTable) -> NDArray[np.int64]:
    """The families of a cluster's members without a parent in it."""
    inside = pack_sets([list(row.members)], table.n)[0]
    found = []
    for child in row.members:
        first, last = table.offsets[child], table.offsets[child + 1]
        found.append(first + np.flatnonzero(~(table.masks[first:last] & inside).any(axis=1)))
    return np.concatenate(found)


def _small(row: BoundRow) -> TypeGuard[Row]:
    if isinstance(row, SubsetRow):
        return all(coefficient < CLASSES for _, _, coefficient in row.coefficients)
    return isinstance(row, ClusterRow)
