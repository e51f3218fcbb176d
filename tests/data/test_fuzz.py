"""Readers under random input: nothing but an OptbnError comes out, and what was written comes back."""

from __future__ import annotations

import csv
import io
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import optbn
from optbn.base.errors import OptbnError
from optbn.data import delimited
from optbn.data.arrays import code_dtype
from optbn.data.dataset import Categorical, Dataset, Real
from optbn.data.describe import describe
from optbn.data.write import write
from tests.naive.data import Column, Refused, column

few = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\ufeff"), max_size=6)
cells = st.one_of(
    st.sampled_from(
        [
            "",
            "?",
            "NA",
            "nan",
            "inf",
            "0",
            "1",
            "2",
            "007",
            "1.0",
            "1e3",
            ".5",
            "-3",
            "+4",
            "a",
            "<5",
            " a",
            " 2",
            "7.5  ",
            "1,5",
            ",5",
            "-1,500.5",
        ]
    ),
    st.integers(-30, 30).map(str),
    st.floats(width=32).map(repr),
    texts,
)


@st.composite
def datasets(draw: st.DrawFn) -> Dataset:
    n = draw(st.integers(1, 12))
    names = draw(st.lists(texts.filter(bool), min_size=1, max_size=4, unique=True))
    domains: list[Any] = []
    columns: list[Any] = []
    for _ in names:
        if draw(st.booleans()):
            levels = draw(st.lists(texts, min_size=1, max_size=5, unique=True))
            domains.append(Categorical(tuple(levels), draw(st.booleans())))
            codes = draw(st.lists(st.integers(0, len(levels) - 1), min_size=n, max_size=n))
            columns.append(np.array(codes, code_dtype(len(levels))))
        else:
            finite = st.floats(allow_nan=False, allow_infinity=False)
            values = np.array(draw(st.lists(finite, min_size=n, max_size=n)))
            domains.append(Real(values.min(), values.max()))
            columns.append(values)
    return Dataset(tuple(names), tuple(domains), tuple(columns))


LINE_END_AS_NAME = Dataset(("\n", "00", "0"), (Real(0, 0),) * 3, (np.zeros(4),) * 3)
NOTHING_AS_LEVEL = Dataset(("0", "1"), (Categorical(("",)),) * 2, (np.zeros(4, np.uint8),) * 2)


@few
@given(datasets(), st.sampled_from(["csv", "tsv", "parquet", "arrow"]))
@example(LINE_END_AS_NAME, "csv")
@example(NOTHING_AS_LEVEL, "csv")
def test_every_dataset_comes_back(data: Dataset, format: str) -> None:
    file = io.BytesIO()
    write(data, file, format)
    file.seek(0)
    if format in ("parquet", "arrow"):
        assert optbn.read(file, format=format) == data
        return
    delimiter = {"csv": ",", "tsv": "\t"}[format]
    assert optbn.read(file, data.schema, header=True, delimiter=delimiter) == data


@few
@given(st.lists(st.lists(cells, min_size=1, max_size=40), min_size=1, max_size=3), st.integers(20, 400))
def test_columns_of_any_text_are_read_as_the_rule_says(columns: list[list[str]], block: int) -> None:
    n = min(map(len, columns))
    columns = [[*texts[:n]] for texts in columns]
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writerow([f"c{i}" for i in range(len(columns))])
    writer.writerows(zip(*columns, strict=True))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(delimited, "BLOCK_BYTES", max(block, 300))
        patch.setattr(delimited, "BLOCK_ROWS", 1)
        for i, plain in enumerate(columns):
            try:
                expected: Column | None = column(plain)
            except Refused:
                expected = None
            name = f"c{i}"
            stream = io.BytesIO(file.getvalue().encode())
            how: dict[str, Any] = {"columns": [name], "header": True, "delimiter": ","}
            if any(
                one.grade != "note"
                for one in describe(io.BytesIO(stream.getvalue()), delimiter=",", header=True).findings
            ):
                continue  # another rule, see test_ugly.py
            if expected is None:
                with pytest.raises(OptbnError):
                    optbn.read(stream, **how)
                continue
            if None in expected.values:
                if expected.levels is None or not expected.levels or "missing" in expected.levels:
                    continue
                expected.values = ["missing" if value is None else value for value in expected.values]
                expected.levels = [*expected.levels, "missing"]
            data = optbn.read(stream, missing="as_level", **how)
            domain, values = data.domain(name), data.column(name)
            if isinstance(domain, Categorical):
                assert list(domain.levels) == expected.levels
                assert [domain.levels[code] for code in values] == expected.values
            else:
                assert expected.levels is None and values.tolist() == expected.values


@few
@given(st.binary(max_size=200), st.sampled_from(["csv", "arff", "parquet", "arrow"]))
@example(b"@relation x\n@attribute a {x}\n@data\n'x", "arff")
@example(b'"', "csv")
@example(b"\n\r\n", "csv")
@example(b"a\r\rb", "csv")
@example(b"\xef\xbb\xbf", "csv")
def test_any_bytes_are_read_or_refused(content: bytes, format: str) -> None:
    try:
        optbn.read(io.BytesIO(content), format=format, missing="as_level")
    except OptbnError as error:
        assert "\n" not in str(error)


@few
@given(st.lists(st.sampled_from(list('ab01.,;\t|\n\r" ?-e\x00é{}%@')), max_size=60).map("".join))
def test_any_text_is_read_or_refused(content: str) -> None:
    for header in (True, False, None):
        try:
            optbn.read(io.BytesIO(content.encode()), header=header, missing="impute")
        except OptbnError as error:
            assert "\n" not in str(error)


pieces = [
    "@relation r\n",
    "@attribute",
    " a",
    " 'b c'",
    " real",
    " {x, 'y z'}",
    "\n",
    "@data\n",
    "1",
    ",",
    "x",
    "'y z'",
]


@few
@given(st.lists(st.sampled_from([*pieces, "?", "%c\n", "{", "'", "\\"]), max_size=30).map("".join))
def test_any_arff_is_read_or_refused(content: str) -> None:
    try:
        optbn.read(io.BytesIO(content.encode()), format="arff", missing="drop")
    except OptbnError as error:
        assert "\n" not in str(error)
