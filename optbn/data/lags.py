"""Series as rows: each row gets the values of the rows before it, so that a network of one step is learned from pairs.

X is the value now, X[-1] that of the row before in the same series, X[-2] the one before that. The parameters of a step
are the same at all times (they are *tied*), because every row is one more observation of the same step. The first rows
of a series have no past and serve as past only.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import DataError, UnsupportedError
from optbn.data.dataset import Categorical, Dataset
from optbn_solvers.base.constraints import Constraints


def past(name: str, lag: int) -> str:
    """What the variable is called that many steps ago."""
    return f"{name}[-{lag}]"


def now(name: str) -> tuple[str, int]:
    """The variable and how many steps ago a name means."""
    head, bracket, tail = name.rpartition("[-")
    return (head, int(tail[:-1])) if bracket and tail[:-1].isdigit() and tail.endswith("]") else (name, 0)


def lagged(data: Dataset, lags: int, time: str | None = None, series: str | None = None) -> Dataset:
    """The rows with `lags` rows of past each, in the order of the column `time` within each level of `series`.

    Without `time` the rows are in order as they are; without `series` there is one. Both columns are left out.
    """
    if lags < 1:
        raise UnsupportedError(f"lags is {lags}, expected at least 1")
    for column in (time, series):
        if column is not None and column not in data.names:
            raise DataError(f"there is no column {column!r} to put the rows in order by")
    group = np.zeros(data.n_rows, dtype=np.int64) if series is None else _codes(data, series)
    moment = np.arange(data.n_rows, dtype=np.float64) if time is None else _moments(data, time)
    order = np.lexsort((moment, group))
    group, moment = group[order], moment[order]
    twice = np.flatnonzero((np.diff(group) == 0) & (np.diff(moment) == 0))
    if len(twice):
        rows = sorted(order[twice[0] : twice[0] + 2] + 1)
        raise DataError(
            f"column {time!r}: rows {rows[0]} and {rows[1]} have the same time"
            + ("" if series else "; if they belong to different series, name the column that tells these apart")
        )
    at = np.arange(lags, len(order))
    at = at[group[at] == group[at - lags]] if len(at) else at
    if not len(at):
        longest = int(np.bincount(group).max(initial=0))
        raise DataError(f"lags = {lags}, but the longest series has {longest} rows: at least {lags + 1} are needed")
    variables = [name for name in data.names if name not in (time, series)]
    names, domains, columns = [], [], []
    for lag in range(lags + 1):
        for name in variables:
            names.append(past(name, lag) if lag else name)
            domains.append(data.domain(name))
            columns.append(data.column(name)[order[at - lag]])
    weights = None if data.weights is None else data.weights.take(order[at])  # of the present
    return Dataset(tuple(names), tuple(domains), tuple(columns), weights)


def forwards(constraints: Constraints | None, names: tuple[str, ...], past_only: bool) -> Constraints:
    """The constraints, and that nothing causes the past: only the present has parents; `past_only`: none in it."""
    earlier = tuple(name for name in names if now(name)[1])
    present = tuple(name for name in names if not now(name)[1])
    made = constraints or Constraints()
    instant = tuple((u, v) for u in present for v in present if u != v) if past_only else ()
    return replace(made, roots=(*made.roots, *earlier), forbidden=(*made.forbidden, *instant))


def _codes(data: Dataset, column: str) -> NDArray[np.int64]:
    """A number per series."""
    return np.unique(data.column(column), return_inverse=True)[1].astype(np.int64)


def _moments(data: Dataset, column: str) -> NDArray[np.float64]:
    """A number per row that ascends with time; levels are compared as numbers where they are, else as texts."""
    domain = data.domain(column)
    values = data.column(column)
    if not isinstance(domain, Categorical):
        return np.asarray(values, dtype=np.float64)
    levels = [str(level) for level in domain.levels]
    try:
        keys = np.array([float(level) for level in levels])
    except ValueError:
        ranks = {level: rank for rank, level in enumerate(sorted(levels))}
        keys = np.array([float(ranks[level]) for level in levels])
    return np.asarray(keys[values])
