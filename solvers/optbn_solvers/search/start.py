"""Rows that are known before the search begins: what they leave of the table, and their place in the proof.

`apply` replays stages of rows (`base.solution.RowBound`) in exact integers: each stage drops the families that no
better graph needs; the last one's multipliers stay, and the search moves them. Rows with a coefficient too large for
the search are left out: multipliers that cannot follow what the tree decides do more harm than good. Multipliers in
fractions of a unit are rounded down, which any multiplier survives.
"""

from __future__ import annotations

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
class Start:
    """What a search begins with.

    rows     the rows of the table that are left
    units    their adjusted units
    bound    no graph of them scores more
    moving   the rows whose multipliers go on, with their numbers in the proof, `names`
    records  the beginning of the proof; it defines `defined` rows and has `filters` nodes
    """

    rows: NDArray[np.int64]
    units: NDArray[np.int64]
    bound: int
    moving: tuple[Row, ...]
    names: tuple[int, ...]
    records: NDArray[np.int64]
    defined: int
    filters: int


def apply(table: ScoreTable, evidence: RowBound, target: int) -> Start:
    """What a search for a graph of more than `target` units has to look at.

    A stage that leaves a variable without families, or a bound of at most the target, is left out with those after it:
    the search closes its first node instead.
    """
    alive, units = np.arange(len(table)), table.units
    bound = int(table.units[table.offsets[:-1]].sum())
    records = Records()
    rows: tuple[Row, ...] = ()
    for stage in evidence.stages:
        whole = (replace(row, multiplier=row.multiplier // evidence.denominator) for row in stage if _small(row))
        new = tuple(row for row in whole if row.multiplier)
        adjusted, constant = _adjust(table, alive, new)
        children = table.children[alive]
        tops = np.maximum.reduceat(adjusted, np.searchsorted(children, np.arange(table.n)))
        reached = int(tops.sum()) + constant
        keep = reached - (tops[children] - adjusted) > target
        if reached <= target or len(np.unique(children[keep])) < table.n:
            break
        records.filter(new)
        alive, units, bound, rows = alive[keep], adjusted[keep], reached, new
    return Start(
        alive,
        units,
        bound,
        rows,
        tuple(records.number(row) for row in rows),
        records.numbers(),
        records.defined,
        records.nodes,
    )


def coefficients_of(row: SubsetRow, table: ScoreTable, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """The coefficients of a subset row for some rows of the table, ascending."""
    children = table.children[rows]
    within = pack_sets([list(row.members)], table.n)[0]
    coefficients = np.zeros(len(rows), dtype=np.int64)
    for child in {child for child, _, _ in row.coefficients}:
        first, last = np.searchsorted(children, [child, child + 1])
        common = table.masks[rows[first:last]] & within
        for other, parents, coefficient in row.coefficients:
            if other == child:
                pattern = pack_sets([list(parents)], table.n)[0]
                coefficients[first:last][(common == pattern).all(axis=1)] = coefficient
    return coefficients


def _small(row: BoundRow) -> TypeGuard[Row]:
    if isinstance(row, SubsetRow):
        return all(coefficient < CLASSES for _, _, coefficient in row.coefficients)
    return isinstance(row, ClusterRow)


def _adjust(table: ScoreTable, alive: NDArray[np.int64], rows: tuple[Row, ...]) -> tuple[NDArray[np.int64], int]:
    """The adjusted units of some rows of the table, and what the inequalities add to the bound."""
    units, children = table.units[alive].copy(), table.children[alive]
    constant = 0
    for row in rows:
        if isinstance(row, ClusterRow):
            inside = pack_sets([list(row.members)], table.n)[0]
            for child in row.members:
                first, last = np.searchsorted(children, [child, child + 1])
                outside = ~(table.masks[alive[first:last]] & inside).any(axis=1)
                units[first:last][outside] += row.multiplier
            constant -= row.multiplier
        else:
            units -= row.multiplier * coefficients_of(row, table, alive)
            constant += row.rhs * row.multiplier
    return units, constant
