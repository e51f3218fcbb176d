"""The graph a solver begins with: in rows or by names, checked before compiled code reads it.

Rows are numbers into the table, one per child. By names a start is {child: parents}, the arcs (parent, child), or any
object that has its arcs as `edges`. A set of parents that is not in the table, be it dominated or of an older table,
gives way to the best of its subsets there, which leaves the graph acyclic. A Solution of another table is no start:
its rows mean something else there.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn_solvers.base.errors import StartError
from optbn_solvers.base.kernels.masks import pack_sets
from optbn_solvers.base.solution import Solution
from optbn_solvers.base.table import ScoreTable

Rows = NDArray[np.int64]
Start = Sequence[int] | Rows | Mapping[str, Iterable[str]] | Iterable[tuple[str, str]] | Solution | Any


def rows_of_start(table: ScoreTable, start: Start | None) -> tuple[list[int] | None, str]:
    """The rows of a start in whatever form, and a note on what could not be kept of it ("" for nothing).

    StartError for a start that is wrong; None for none, or one of another table.
    """
    if start is None:
        return None, ""
    if isinstance(start, Solution):
        if start.choice is not None and start.table_digest != table.digest:
            return None, "left out: it is the solution of another table"
        return (None if start.choice is None else checked_rows(table, start.choice)), ""
    if isinstance(start, Mapping):
        return _named(table, {child: set(parents) for child, parents in start.items()})
    items = list(getattr(start, "edges", start))
    if hasattr(start, "edges") or not all(isinstance(item, Integral) for item in items) or not items:
        return _named(table, _families(items))
    return checked_rows(table, items), ""


def checked_rows(table: ScoreTable, rows: Sequence[int] | Rows) -> list[int]:
    """The rows as a list; StartError unless they are one row per child, in order, of an acyclic graph."""
    whole = np.asarray(rows)
    if whole.shape != (table.n,) or not (whole.dtype.kind in "iu" or all(isinstance(row, Integral) for row in rows)):
        raise StartError(
            f"the start has {len(whole) if whole.ndim else 'no'} rows for the {table.n} variables of the table; "
            "it needs one row number for each, in their order"
        )
    odd = np.flatnonzero((whole < table.offsets[:-1]) | (whole >= table.offsets[1:]))
    if len(odd):
        v = int(odd[0])
        own = table.rows(v)
        raise StartError(
            f"row {whole[v]} of the start is no parent set of {table.names[v]!r}, which has the rows {own[0]} to "
            f"{own[-1]}"
        )
    checked: list[int] = whole.tolist()
    _refuse_cycle({v: table.parents(row) for v, row in enumerate(checked)}, table.names)
    return checked


def _families(arcs: Iterable[Any]) -> dict[str, set[str]]:
    """{child: parents} of arcs (parent, child)."""
    families: dict[str, set[str]] = {}
    for arc in arcs:
        if not isinstance(arc, Sequence) or isinstance(arc, str) or len(arc) != 2:
            raise StartError(
                f"{arc!r} is no arc: a start is a row number for each variable, {{child: parents}}, or arcs "
                "(parent, child) by name"
            )
        families.setdefault(arc[1], set()).add(arc[0])
    return families


def _named(table: ScoreTable, families: Mapping[str, set[str]]) -> tuple[list[int] | None, str]:
    """The rows of {child: parents}; who is not mentioned has no parents."""
    at = {name: v for v, name in enumerate(table.names)}
    for name in [*families, *(parent for parents in families.values() for parent in sorted(parents, key=str))]:
        if name not in at:
            near = difflib.get_close_matches(str(name), table.names, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise StartError(f"the start names {name!r}, which is not a variable of the table{hint}")
    parents = {v: tuple(sorted(at[name] for name in families.get(child, ()))) for child, v in at.items()}
    _refuse_cycle(parents, table.names)
    rows, smaller = [], []
    for v in range(table.n):
        own = slice(int(table.offsets[v]), int(table.offsets[v + 1]))
        inside = pack_sets([parents[v]], table.n)[0]
        fits = np.flatnonzero((table.masks[own] & ~inside == 0).all(axis=1))
        if not len(fits):
            return None, f"left out: the table has no parent set of {table.names[v]!r} within that of the start"
        rows.append(own.start + int(fits[0]))
        if table.parents(rows[-1]) != parents[v]:
            smaller.append(table.names[v])
    note = f"subsets of the parents of {', '.join(smaller)}, which the table lacks or scores lower" if smaller else ""
    return rows, note


def _refuse_cycle(parents: Mapping[int, Sequence[int]], names: Sequence[str]) -> None:
    """Raise StartError, naming a cycle, unless the graph {child: parents} is acyclic."""
    left = {v: set(above) for v, above in parents.items()}
    while free := [v for v, above in left.items() if not above & left.keys()]:
        for v in free:
            del left[v]
    if left:
        walk = [next(iter(left))]  # from child to parent
        while (above := min(left[walk[-1]] & left.keys())) not in walk:
            walk.append(above)
        cycle = [above, *reversed(walk[walk.index(above) :])]
        raise StartError(f"the graph to start from has a cycle: {' -> '.join(names[v] for v in cycle)}")
