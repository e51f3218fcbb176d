"""Columns that only pandas has, read as what other tables have; the caller's frame stays as it is."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import optbn
from optbn.base.errors import DataError

ROWS = 120
X = np.random.default_rng(0).normal(size=ROWS)


def read(column: object, **how: str) -> tuple[object, np.ndarray]:
    frame = pd.DataFrame({"a": column, "b": np.arange(ROWS) % 3})
    before = frame.copy()
    data = optbn.Dataset.from_frame(frame, missing="value", **how)
    pd.testing.assert_frame_equal(frame, before)
    return data.domain("a"), np.asarray(data.column("a"))


def test_cut_makes_ordered_levels() -> None:
    cut = pd.Series(pd.cut(X, [-9, -1, 0, 9]))
    domain, codes = read(cut)
    assert domain == optbn.Categorical(("(-9, -1]", "(-1, 0]", "(0, 9]"), ordered=True)
    np.testing.assert_array_equal(codes, cut.cat.codes)
    assert read(cut.astype(cut.cat.categories.dtype))[0] == domain
    assert read(cut.where(X > -1))[0] == optbn.Categorical((*domain.levels, "missing"), ordered=True)  # type: ignore[attr-defined]


def test_periods_are_dates_and_durations_days() -> None:
    domain, values = read(pd.period_range("2001-03", periods=ROWS, freq="M"))
    assert isinstance(domain, optbn.Real) and domain.unit == "days" and values[0] == 11382
    minutes = np.arange(ROWS) * 90
    domain, values = read(pd.to_timedelta(minutes, unit="min"))
    np.testing.assert_allclose(values, minutes / 1440, rtol=1e-15)
    table = pa.table({"a": pa.array(minutes, pa.duration("s")), "b": pa.array(X)})
    np.testing.assert_allclose(optbn.Dataset.from_frame(table).column("a"), minutes / 86_400, rtol=1e-15)


def test_sparse_columns_are_dense() -> None:
    dense = np.where(X > 1, X, 0.0)
    np.testing.assert_array_equal(read(pd.arrays.SparseArray(dense))[1], dense)


def test_objects_of_several_kinds_are_texts() -> None:
    domain, _ = read(pd.Series([1, "low", True, None] * (ROWS // 4), dtype=object))
    assert domain == optbn.Categorical(("1", "True", "low", "missing"))


def test_objects_that_are_no_values_are_refused() -> None:
    with pytest.raises(DataError, match=r"'a'.*convert it or declare it"):
        read([[1, 2]] * ROWS)
