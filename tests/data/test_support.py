"""Where numbers can lie: declared, or concluded from what was seen; and how dates are shown."""

import json
from pathlib import Path

import numpy as np
import pytest

import optbn
from optbn.data.dataset import Real
from optbn.data.dates import from_text, in_unit
from optbn.data.schema import Schema
from optbn.data.support import Support

INF = float("inf")


@pytest.mark.parametrize(
    ("texts", "declared", "expected"),
    [
        ([f"{i}" for i in range(20)], None, Support(0.0, INF, True)),
        ([f"{i - 5}" for i in range(20)], None, Support(-INF, INF, True)),
        ([f"{i / 30}" for i in range(20)], None, Support(0.0, 1.0)),
        ([f"{i / 3}" for i in range(20)], None, Support(0.0, INF)),
        ([f"{i}" for i in range(20)], {"real": [-5, 30]}, Support(-5.0, 30.0, True, True)),
        ([f"{i / 3}" for i in range(20)], {"real": [0, 9]}, Support(0.0, 9.0, False, True)),
        ([f"2024-01-{i + 1:02d}" for i in range(20)], None, Support(-INF, INF, True)),
        ([f"{i:02d}:30" for i in range(20)], None, Support(0.0, 24.0)),
    ],
)
def test_the_support_is_declared_or_concluded(texts, declared, expected, tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text("x,y\n" + "".join(f"{text},{i % 2}\n" for i, text in enumerate(texts)))
    data = optbn.read(path, None if declared is None else {"x": declared})
    assert data.domain("x").support == expected
    again = Schema.of(json.loads(Schema(dict(zip(data.names, data.domains, strict=True))).to_json())).columns["x"]
    assert (again.whole or False, again.unit, again.declared) == (expected.whole, data.domain("x").unit, True)


def test_whole_numbers_are_the_nearest_ones() -> None:
    support = Support(0.0, 5.0, True)
    assert support.nearest(np.array([-3.0, -0.4, 0.6, 4.4, 9.0])).tolist() == [0.0, 0.0, 1.0, 4.0, 5.0]
    values, cuts = np.arange(6), np.array([1.0, 2.5, 4.0])
    for cut, inner in zip(cuts, support.between(cuts), strict=True):
        assert ((values < cut) == (values < inner)).all()


@pytest.mark.parametrize("text", ["1969-12-31", "2024-02-29", "2024-02-29 23:59", "0001-01-01", "9999-12-31"])
def test_dates_are_shown_as_they_are_read(text: str) -> None:
    number = from_text(text, "days")
    assert number is not None and in_unit(number, "days") == text


def test_what_is_no_date_is_a_number() -> None:
    assert in_unit(1e9, "days") == "1e+09"
    assert in_unit(25.0, "hours") == "25" and in_unit(8.5, "hours") == "08:30"
    assert from_text("soon", "days") is None and Real(0, 1).text(0.25) == "0.25"
