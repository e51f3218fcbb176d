"""Files as people have them (the tables are in ugly.py and uglier.py) are read as they are meant, and nothing is
changed silently."""

from __future__ import annotations

import io
import json
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import optbn
from optbn.base.errors import DataError
from optbn.data.dataset import Categorical, Dataset
from optbn.data.describe import describe
from optbn.data.read import reading
from tests.data import exports, uglier, ugly
from tests.data.ugly import OUT, REFUSED, L

CASES = ugly.CASES | uglier.CASES | exports.CASES

GRADES = ("", "note", "certain", "probable", "doubtful")


def raw(name: str) -> bytes:
    text = CASES[name][0]
    return text.encode() if isinstance(text, str) else text


def values(data: Dataset, name: str, n: int) -> tuple[Any, ...]:
    domain, column = data.domain(name), data.column(name)[:n]
    return tuple(domain.levels[code] for code in column) if isinstance(domain, Categorical) else tuple(column.tolist())


@pytest.mark.parametrize("name", CASES)
def test_the_intended_reading(name: str) -> None:
    _, meant, worst = CASES[name]
    shown = describe(io.BytesIO(raw(name)))
    assert max((GRADES.index(one.grade) for one in shown.findings), default=0) == GRADES.index(worst)
    if meant == REFUSED:
        with pytest.raises(DataError, match=r"column 'x'.*row [0-9]+"):
            optbn.read(io.BytesIO(raw(name)))
        settled = dict(zip(shown.findings[0].settle[::2], shown.findings[0].settle[1::2], strict=True))
        assert settled.keys() <= {"--column", "--missing-token"} and settled
        return
    real = [name for name, kind in meant.items() if not isinstance(kind, L | str)]
    found = reading(io.BytesIO(raw(name)), missing=dict.fromkeys(real, "impute") | {
        column: "as_level" for column, kind in meant.items() if isinstance(kind, L)})  # fmt: skip
    for column, kind in meant.items():
        if kind == OUT:
            assert column not in found.data.names
            continue
        got = values(found.data, column, len(kind.first))
        if isinstance(kind, L):
            assert got == tuple("missing" if text is None else text for text in kind.first)
        else:
            there = [(a, b) for a, b in zip(got, kind.first, strict=True) if b is not None]
            np.testing.assert_allclose(*zip(*there, strict=True), rtol=1e-14)
            listed = next(one for one in shown.columns if one.name == column)
            assert listed.missing >= sum(value is None for value in kind.first)
    if worst == "probable":
        with pytest.raises(DataError):
            optbn.read(io.BytesIO(raw(name)), missing="drop", strict=True)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case[1] != REFUSED])
def test_the_schema_of_a_description_reads_the_same_and_says_nothing_new(name: str) -> None:
    from optbn.data.schema import Schema

    shown = describe(io.BytesIO(raw(name)))
    schema = Schema.of(json.loads(shown.schema.to_json()))
    again = describe(io.BytesIO(raw(name)), schema)
    assert again.columns == shown.columns
    assert not [one for one in again.findings if one.column is not None]


@pytest.mark.parametrize(("content", "message"), uglier.WHOLE.values(), ids=uglier.WHOLE.keys())
def test_what_is_no_table_or_a_broken_one_is_refused_in_a_line(content: bytes, message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        optbn.read(io.BytesIO(content), missing="value")
    assert len(str(caught.value)) < 400 and "\n" not in str(caught.value)


def clean(seed: int, n: int) -> tuple[list[float], list[str]]:
    generator = random.Random(seed)
    numbers = [round(generator.uniform(-50_000, 90_000), 2) + 0.01 for _ in range(n)]
    return [float(f"{number:.2f}") for number in numbers], [
        generator.choice(["east", "west", "nö rd"]) for _ in range(n)
    ]


def written(number: float, decimal: str, thousands: str, around: str) -> str:
    text = f"{number:,.2f}".replace(",", "T").replace(".", decimal).replace("T", thousands)
    return around.format(text)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 999),
    signs=st.sampled_from([(".", ""), (",", ""), (".", ","), (",", "."), (",", " "), (".", "'")]),
    around=st.sampled_from(["{}", "{} %", "$ {}", "{} €", "{}kg"]),
    delimiter=st.sampled_from([",", ";", "\t", "|"]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252"]),
    marker=st.sampled_from(["", "NA", "-", "n/a", "#N/A"]),
    index=st.booleans(),
    total=st.booleans(),
    sep=st.booleans(),
)
def test_a_clean_table_written_in_an_ugly_way_is_read_back(
    seed: int, signs: tuple[str, str], around: str, delimiter: str, encoding: str, marker: str, index: bool,
    total: bool, sep: bool,
) -> None:  # fmt: skip
    numbers, words = clean(seed, 40)
    lines = [[written(number, *signs, around), word] for number, word in zip(numbers, words, strict=True)]
    lines[7][0] = marker
    rows = [["amount", "where"], *lines, *([[written(1.5, *signs, around), "Total"]] if total and not index else [])]
    if index:
        rows = [[str(i - 1) if i else "", *row] for i, row in enumerate(rows)]
    text = "".join(delimiter.join(f'"{cell}"' if delimiter in cell else cell for cell in row) + "\n" for row in rows)
    text = f"sep={delimiter}\n{text}" if sep else text
    data = optbn.read(io.BytesIO(text.encode(encoding)), missing="drop")
    assert data.names == ("amount", "where")
    np.testing.assert_array_equal(data.column("amount"), [x for i, x in enumerate(numbers) if i != 7])
    assert values(data, "where", 39) == tuple(word for i, word in enumerate(words) if i != 7)


def test_a_row_of_totals_leaves_no_trace_in_ranges_kinds_and_keys(tmp_path):
    """Its texts stood in the parser's dictionary: a key became numbers with a stranger among them, and a price ranged
    to the sum of all prices."""
    lines = ["car-id;price;brand", *(f"{1000 + i};{10 + i % 7},5;{'ab'[i % 2]}" for i in range(300)), "Total;3945,0;"]
    path = tmp_path / "cars.csv"
    path.write_text("\n".join(lines) + "\n")
    data = optbn.read(path)
    assert data.names == ("price", "brand") and data.n_rows == 300
    assert (data.domain("price").low, data.domain("price").high) == (10.5, 16.5)
    assert data.domain("brand").levels == ("a", "b")
