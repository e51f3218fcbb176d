"""What users give by mistake: each gets one clear line that names the place and the remedy, in the library and on the
command line (exit code 2, no traceback). Constant and very many columns are legal: they are read, with a warning."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import optbn
from optbn.base.errors import OptbnError
from optbn.cli import main

GIGABYTE = 1 << 30


def text(content: str | bytes, name: str = "d.csv") -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        path = folder / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return make


def hole(start: bytes, size: int) -> Callable[[Path], Path]:
    """A sparse file: this start, then nothing but zero bytes."""

    def make(folder: Path) -> Path:
        path = folder / "d.csv"
        path.write_bytes(start)
        os.truncate(path, size)
        return path

    return make


def folder(folder: Path) -> Path:
    (folder / "d.csv").mkdir()
    return folder / "d.csv"


def absent(folder: Path) -> Path:
    return folder / "d.csv"


def unreadable_parquet(folder: Path) -> Path:
    import pyarrow as pa
    import pyarrow.parquet

    path = folder / "d.parquet"
    pyarrow.parquet.write_table(pa.table({"a": ["x", "y"] * 100}), path)
    path.write_bytes(path.read_bytes()[:-30])
    return path


def mixed(row: int) -> str:
    return "x\n" + "".join("abc\n" if i == row else f"{i}.5\n" for i in range(1, 40))


NUMBERS = {"x": "real"}
BAD: dict[str, tuple[Callable[[Path], Path], dict[str, Any], str]] = {
    "an empty file": (text(""), {}, "d.csv: the file is empty"),
    "blank lines only": (text("\n\n\n"), {}, "d.csv: nothing but blank lines"),
    "a header only": (text("x,y\n"), {}, "d.csv: a header with 2 names but no rows below it"),
    "a header and blank lines": (text("x,y\n\n\n"), {}, "d.csv: a header with 2 names but no rows below it"),
    "a short row": (text("x,y\na,b\nc\n"), {}, "d.csv: row 2 has 1 field, expected 2: 'c'"),
    "a long row": (text("x,y\na,b\nc,d,e\n"), {}, "d.csv: row 2 has 3 fields, expected 2: 'c,d,e'"),
    "a ragged row far down": (
        text("x,y\n" + "a,b\n" * 300_000 + "c\n"),
        {},
        "d.csv: row 300,001 has 1 field, expected 2: 'c'",
    ),
    "a level outside the domain": (
        text("sex,x\nf,1\nm,2\nd,3\n"),
        {"sex": ["f", "m"]},
        "d.csv: column 'sex', row 3: level 'd' is not declared; expected one of 'f', 'm'",
    ),
    "a number outside the range": (
        text("x\n1.5\n9.5\n"),
        {"x": {"real": [0, 8]}},
        "d.csv: column 'x', row 2: 9.5 is outside the declared range [0, 8]",
    ),
    "a text in a real column": (text("x\n1.5\nabc\n"), NUMBERS, "d.csv: column 'x', row 2: 'abc' is not a number"),
    "a number with a unit": (text("x\n1.5\n2_0\n"), NUMBERS, "d.csv: column 'x', row 2: '2_0' is not a number"),
    "inf": (text("x\n1.5\ninf\n"), {}, "d.csv: column 'x', row 2: inf is not a finite number"),
    "-Infinity far down": (
        text("x\n" + "".join(f"{i}.5\n" for i in range(200_000)) + "-Infinity\n"),
        {},
        "d.csv: column 'x', row 200,001: -Infinity is not a finite number",
    ),
    "a number too large": (text("x\n1.5\n1e999\n"), NUMBERS, "column 'x', row 2: 1e999 is not a finite number"),
    "nan": (text("x\n1.5\nnan\n"), {}, "d.csv: 1 missing value ('x' 1); choose what to do with them"),
    "missing values": (
        text("x,y\n1,?\n,b\n,c\n"),
        {},
        "d.csv: 3 missing values ('x' 2, 'y' 1); choose what to do with them: missing = value, drop or impute",
    ),
    "a text among numbers": (text(mixed(30)), {}, "d.csv: column 'x', row 30: 'abc' among numbers; if it marks a"),
    "a text before the numbers": (text(mixed(1)), {}, "d.csv: column 'x', row 1: 'abc' among numbers; if it marks a"),
    "commas before three digits": (
        text("x;y\n" + "".join(f"{i},500;a\n" for i in range(1, 21))),
        {},
        "d.csv: column 'x', row 1: '1,500' is 1500 or 1.5; --column x=1,234.5 or --column x=1,5",
    ),
    "two faults": (
        text("x;y\n" + "".join(f"{i}.5;{i}.5\n" for i in range(20)) + "abc;def\n"),
        {},
        "--column x=categorical (and 1 more: optbn describe lists them all)",
    ),
    "columns aligned by blanks": (text("x  y\n1  2\n"), {}, "column 2 has no name (blanks side by side? put one"),
    "names of rows": (
        text("id\n" + "".join(f"r{i}\n" for i in range(70_000))),
        {},
        "d.csv: no columns are left to read (column 'id': more than 65,536 different texts name the rows",
    ),
    "an open quote": (text('x,y\na,"b\nc,d\n'), {}, "d.csv: a quote is opened and never closed"),
    "an open quote and much after it": (
        text('x,y\na,"b\n' + "c,d\n" * 1_000_000),
        {},
        "a quote opened and never closed?",
    ),
    "2 GB of zeros": (hole(b"", 2 * GIGABYTE), {}, "d.csv: binary content (a zero byte at 0), expected rows of text"),
    "a header and 2 GB of zeros": (
        hole(b"x,y\na,b\n", 2 * GIGABYTE),
        {},
        "d.csv: binary content (a zero byte at 8), expected rows of text",
    ),
    "zeros further down": (hole(b"x,y\n" + b"a,b\n" * 500_000, 2 * GIGABYTE), {}, "d.csv: binary content (a zero byte"),
    "one endless line": (text(b"x" * (40 << 20)), {}, "d.csv: the first 32 MB have no line end, expected rows of text"),
    "a parquet file named csv": (text(b"PAR1....", "d.csv"), {}, "d.csv: this is a parquet file, expected csv"),
    "a spreadsheet": (text(b"PK\x03\x04...", "d.csv"), {}, "d.csv: this is a zip (or spreadsheet) file, expected csv"),
    "an unknown ending": (text("x\n1\n", "d.xyz"), {}, "d.xyz: unknown file ending '.xyz', expected one of .csv"),
    "text named parquet": (text("x\n1\n", "d.parquet"), {}, "d.parquet: not a readable parquet file"),
    "text named arrow": (text("x\n1\n", "d.arrow"), {}, "d.arrow: not a readable Arrow file"),
    "a damaged parquet file": (unreadable_parquet, {}, "d.parquet: not a readable parquet file"),
    "no file": (absent, {}, "d.csv: no such file"),
    "a folder": (folder, {}, "d.csv: is a folder, expected a file"),
    "a schema with an unknown column": (text("age\n1\n"), {"aeg": "real"}, "no column 'aeg' (did you mean 'age'?)"),
    "a schema that says nothing": (text("x\n1\n"), {"x": "reel"}, "column 'x': 'reel' is not a declaration; expected"),
    "arff without data": (text("@relation r\n@attribute x real\n", "d.arff"), {}, "d.arff: no @data line"),
    "arff with an unknown type": (
        text("@attribute x complex\n@data\n", "d.arff"),
        {},
        "d.arff: line 1: attribute 'x': type 'complex'; expected numeric, {levels}, string or date",
    ),
    "arff without rows": (
        text("@attribute x real\n@data\n% none\n", "d.arff"),
        {},
        "d.arff: there are no rows below @d",
    ),
    "arff with an open quote": (
        text("@attribute x string\n@data\nabc\n'abc\n", "d.arff"),
        {},
        'd.arff: line 4: a quote is opened and never closed, or text follows one: "\'abc"',
    ),
    "arff with text after a quote": (
        text("@attribute x {a}\n@data\n'a' b\n", "d.arff"),
        {},
        "d.arff: line 3: a quote is opened and never closed, or text follows one: \"'a' b\"",
    ),
    "arff with an open quote in a name": (
        text("@attribute 'x real\n@data\n1\n", "d.arff"),
        {},
        "d.arff: line 1: expected @attribute NAME TYPE",
    ),
    "a sparse arff": (text("@attribute x real\n@data\n{0 1}\n", "d.arff"), {}, "d.arff: line 3: a sparse row"),
}


@pytest.fixture
def case(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, dict[str, Any], str]:
    make, schema, message = BAD[request.param]
    return make(tmp_path), schema, message


@pytest.mark.parametrize("case", BAD, indirect=True)
def test_bad_input_is_refused_in_one_line(case: tuple[Path, dict[str, Any], str]) -> None:
    path, schema, message = case
    start = time.process_time()
    with pytest.raises(OptbnError) as caught:
        optbn.read(path, schema)
    line = str(caught.value)
    assert message in line
    assert "\n" not in line and len(line) < 500
    assert time.process_time() - start < 3


@pytest.mark.parametrize("encoding", ["hex", "rot13", "undefined", "latin-0"])
def test_encodings_that_are_none(tmp_path: Path, encoding: str) -> None:
    with pytest.raises(OptbnError, match=r"d\.csv: (there is no encoding|not valid undefined)"):
        optbn.read(text("x\n1\n")(tmp_path), encoding=encoding)


COMMAND_LINE = ["an empty file", "a ragged row far down", "2 GB of zeros", "no file", "a folder"]


@pytest.mark.parametrize("case", COMMAND_LINE, indirect=True)
def test_the_command_line_says_the_same_and_exits_with_2(
    case: tuple[Path, dict[str, Any], str], capsys: pytest.CaptureFixture[str]
) -> None:
    path, _, message = case
    with pytest.raises(SystemExit) as left:
        main(["describe", str(path)])
    out, err = capsys.readouterr()
    assert left.value.code == 2
    assert out == ""
    assert err.startswith("optbn: ") and message in err and err.count("\n") == 1


def test_two_gigabytes_are_refused_without_taking_memory(tmp_path: Path) -> None:
    import resource

    path = hole(b"x,y\na,b\n", 2 * GIGABYTE)(tmp_path)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(OptbnError):
        optbn.read(path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000


def test_what_does_not_fit_into_memory_is_refused_early(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from optbn.base import room as memory

    path = text("x\n" + "".join(f"{i % 50}\n" for i in range(1_000_000)))(tmp_path)
    monkeypatch.setattr(memory, "free_memory", lambda: 1_000_000)
    monkeypatch.setattr(memory, "SMALL", 0)
    with pytest.raises(
        OptbnError, match=r"rows would take .* are free; read fewer columns, or go through the file in blocks"
    ):
        optbn.read(path)
    assert sum(map(len, optbn.Dataset.batches(path))) == 1_000_000


def test_a_constant_column_is_read_with_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = text("x,y,z\na,1,1.5\na,2,1.5\n")(tmp_path)
    with caplog.at_level(logging.WARNING, "optbn.data"):
        data = optbn.read(path)
    assert data.cardinalities == (1, 2, 0)
    assert [record.getMessage() for record in caplog.records] == [
        f"{path}: constant columns, which say nothing: 'x', 'z'"
    ]


def test_ten_thousand_columns_are_read_with_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    header = ",".join(f"v{i}" for i in range(10_000))
    rows = (",".join("ab"[(i + j) % 2] for i in range(10_000)) for j in range(10))
    path = text("\n".join([header, *rows]))(tmp_path)
    with caplog.at_level(logging.WARNING, "optbn.data"):
        data = optbn.read(path)
    assert (data.n_rows, data.n_variables) == (10, 10_000)
    assert [record.getMessage() for record in caplog.records] == [
        f"{path}: 10,000 columns leave time for small parent sets only; for larger ones select columns"
    ]
