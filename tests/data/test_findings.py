"""What `read` says about tables that are allowed and probably not meant."""

from __future__ import annotations

import io
import logging

import pytest

import optbn
from optbn.data.read import reading


def said(caplog, columns, schema=None, **how):
    """What is said about a table with these columns."""
    rows = [",".join(columns), *(",".join(row) for row in zip(*columns.values(), strict=True))]
    caplog.clear()
    with caplog.at_level(logging.WARNING, "optbn.data"):
        optbn.read(io.BytesIO("\n".join(rows).encode()), schema, **how)
    return [record.getMessage().removeprefix("the stream: ") for record in caplog.records]


N = range(60)
CASES = {
    "the name of a row": (
        ["u" + str(i) for i in N],
        "column 'x': 60 different texts in 60 rows, like 'u0', name the rows, so it",
    ),
    "rare levels": (["u" + str(i % 50) for i in N], "fewer than two rows a level: 'x' (50 levels); leave out what"),
    "percentages": ([f"{i}%" for i in N], "column 'x', row 1: '0%' read as 0 (in %); --column x=categorical for"),
    "amounts": ([f"$ {i}.20" for i in N], "column 'x', row 1: '$ 0.20' read as 0.2 (in $); --column x=categorical"),
    "dates": (
        [f"2023-01-{i % 28 + 1:02d}" for i in N],
        "column 'x', row 1: '2023-01-01' read as days since 1970-01-01",
    ),
    "capitals": (
        ["East" if i % 2 else "EAST" for i in N],
        "levels that differ in capitals or blanks only: 'x' ('EAST'",
    ),
    "blanks": (["East" if i % 2 else "East " for i in N], "levels that differ in capitals or blanks only: 'x' ('East'"),
}
CLEAN = {
    "words": ["East" if i % 2 else "West" for i in N],
    "single letters": ["a" if i % 2 else "A" for i in N],
    "numbers": [str(3 * i) for i in N],
    "padded codes": [f"{i % 20:05d}" for i in N],
    "ranges": [("<5", "5-9", "10+")[i % 3] for i in N],
    "many levels": [f"w{i % 30}" for i in N],
}


@pytest.mark.parametrize(("values", "line"), CASES.values(), ids=CASES.keys())
def test_a_doubt_is_one_line_and_none_about_what_was_declared(caplog, values, line):
    columns = {"x": values, "y": [str(i % 2) for i in N]}
    (only,) = said(caplog, columns)
    assert only.startswith(line)
    assert said(caplog, columns, {"x": "categorical"}) == []


@pytest.mark.parametrize("values", CLEAN.values(), ids=CLEAN.keys())
def test_nothing_is_said_about_ordinary_columns(caplog, values):
    assert said(caplog, {"x": values, "y": [str(i % 2) for i in N]}) == []


def test_a_wrong_delimiter_and_many_columns_of_a_kind(caplog):
    columns = {"x": ["1" if i % 2 else "2" for i in N], "y": [str(i % 2) for i in N]}
    assert "one column only, named 'x,y': is the delimiter right?" in said(caplog, columns, delimiter=";")
    (only,) = said(caplog, {f"x{j}": [f"u{i % 50}" for i in N] for j in range(11)})
    assert "'x7' (50 levels) and 3 more" in only and "'x8'" not in only
    lines = said(caplog, {f"x{j}": [f"{i}%" for i in N] for j in range(30)})
    assert len(lines) == 21 and lines[-1].endswith("10 more like these, which optbn describe lists")


@pytest.mark.parametrize("name", ["store_id", "storeId", "zip", "ZIP code", "postal_code", "areaCode", "fips"])
def test_codes_that_are_read_as_amounts_are_named(name):
    rows = "".join(f"{17 * i % 40 + 10},{i % 3}\n" for i in range(200))
    found = reading(io.BytesIO(f"{name},k\n{rows}".encode()))
    assert any(f"are read as amounts: {name!r}; --column" in str(one) for one in found.findings)
    for other in ("age", "valid", "humid", "gross", "decode", "education-num"):
        found = reading(io.BytesIO(f"{other},k\n{rows}".encode()))
        assert not found.findings
