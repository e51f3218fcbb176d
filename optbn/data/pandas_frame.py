"""What only pandas has in a column, as what other tables have: intervals (as pandas.cut makes them) as ordered levels,
periods as dates, sparse columns as dense ones, objects of several kinds as texts."""

from __future__ import annotations

from typing import Any

import numpy as np

SCALARS = (str, bool, int, float, np.generic)


def plain(frame: Any) -> Any:
    """The frame, its columns of such kinds replaced; itself where there are none."""
    import pandas

    changed = {name: new for name, column in frame.items() if (new := _plain(pandas, column)) is not column}
    if not changed:
        return frame
    copy = frame.copy(deep=False)
    for name, column in changed.items():
        copy[name] = column
    return copy


def _plain(pandas: Any, column: Any) -> Any:
    kind = column.dtype
    if isinstance(kind, pandas.CategoricalDtype) and isinstance(kind.categories.dtype, pandas.IntervalDtype):
        return column.cat.rename_categories(list(map(str, kind.categories)))
    if isinstance(kind, pandas.IntervalDtype):
        levels = pandas.CategoricalDtype(sorted(column.dropna().unique()), ordered=True)
        return _plain(pandas, column.astype(levels))
    if isinstance(kind, pandas.PeriodDtype):
        return column.dt.to_timestamp()
    if isinstance(kind, pandas.SparseDtype):
        return column.sparse.to_dense()
    if pandas.api.types.is_object_dtype(kind) and pandas.api.types.infer_dtype(column, skipna=True).startswith("mixed"):
        there = column.notna()
        if all(isinstance(value, SCALARS) for value in column[there]):
            return column.where(~there, column.map(str))
    return column
