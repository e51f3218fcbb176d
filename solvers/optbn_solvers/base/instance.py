"""The table to solve, from whatever a program has: a table, a file, names with scores, or arrays."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np

from optbn_solvers.base.errors import TableError
from optbn_solvers.base.files import read_rows, read_table
from optbn_solvers.base.files.rows import Rows
from optbn_solvers.base.kernels.masks import pack_sets
from optbn_solvers.base.table import ScoreTable

Instance = ScoreTable | str | PathLike[str] | Mapping[str, Mapping[Iterable[str], float]] | Sequence[Any]


def table_from(source: Instance, keep_dominated: bool = False) -> ScoreTable:
    """The table of a source: a ScoreTable; the path of a score file; {child: {parents: score}} by names; or the arrays
    (names, children, masks, scores) that `ScoreTable.build` takes.

    With `keep_dominated` it has the rows that one of their subsets beats, which constraints may need. A ScoreTable is
    taken as it is.
    """
    if isinstance(source, ScoreTable):
        return source
    if isinstance(source, str | PathLike):
        path = os.fspath(source)
        if not keep_dominated:
            return read_table(path)
        try:
            return read_rows(path).table(keep_dominated=True)
        except TableError as error:
            raise TableError(f"{path}: {error}") from None
    if isinstance(source, Mapping):
        return _named(source).table(keep_dominated)
    if isinstance(source, tuple | list) and len(source) == 4:
        names, children, masks, scores = source
        return ScoreTable.build(names, children, masks, scores, keep_dominated)
    raise TableError(
        f"a {type(source).__name__} is no score table: expected a ScoreTable, the path of a score file, "
        "{child: {parents: score}}, or the arrays (names, children, masks, scores)"
    )


def _named(families: Mapping[str, Mapping[Iterable[str], float]]) -> Rows:
    """The rows of {child: {parents: score}}."""
    at = {name: v for v, name in enumerate(families)}
    children, sets, scores = [], [], []
    for child, rows in families.items():
        for parents, score in rows.items():
            members = [parents] if isinstance(parents, str) else list(parents)
            for name in members:
                if name not in at:
                    raise TableError(f"{child!r} has an unknown parent {name!r}")
            children.append(at[child])
            sets.append([at[name] for name in members])
            scores.append(score)
    masks = pack_sets(sets, len(at))
    return Rows(tuple(at), np.array(children, np.int64), masks, np.array(scores, np.float64))
