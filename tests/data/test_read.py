"""Reading files: what comes in is what is in the file, whatever the format, the dialect and the blocks."""

from __future__ import annotations

import io
import json
import logging
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import optbn
from optbn.base.errors import DataError, OptbnError, UnsupportedError
from optbn.data import delimited
from optbn.data.dataset import Categorical, Dataset, Real
from optbn.data.write import write
from tests.naive.data import Refused, read_csv
from tests.paths import shared_data


def csv(text: str | bytes, schema: Any = None, **how: Any) -> Dataset:
    return optbn.read(io.BytesIO(text.encode() if isinstance(text, str) else text), schema, **how)


def labels(data: Dataset, name: str) -> list[Any]:
    domain, values = data.domain(name), data.column(name)
    return [domain.levels[code] for code in values] if isinstance(domain, Categorical) else values.tolist()


def table(n: int, seed: int = 0) -> dict[str, list[str]]:
    """Columns of every kind as text."""
    rng = np.random.default_rng(seed)
    return {
        "sex": [("m", "f")[i] for i in rng.integers(2, size=n)],
        "digit": [str(i) for i in rng.integers(10, size=n)],
        "age": [str(i) for i in rng.integers(100, size=n)],
        "x": [repr(float(v)) for v in rng.standard_normal(n)],
        "band": [("<5", "5", ">=6, or so", 'a "quoted" one')[i] for i in rng.integers(4, size=n)],
    }


def csv_text(columns: dict[str, list[str]]) -> str:
    def quoted(text: str) -> str:
        return '"' + text.replace('"', '""') + '"' if any(c in text for c in ',"\n') else text

    rows = zip(*columns.values(), strict=True)
    return "".join(",".join(map(quoted, row)) + "\n" for row in [list(columns), *rows])


def test_codes_levels_and_numbers() -> None:
    data = csv("sex,age,grade\nm,1.5,2\nf,2.25,1\nm,0.5,10\n")
    assert data.names == ("sex", "age", "grade")
    assert data.domains == (Categorical(("f", "m")), Real(0.5, 2.25), Categorical(("1", "2", "10")))
    np.testing.assert_array_equal(data.column("sex"), [1, 0, 1])
    np.testing.assert_array_equal(data.column("age"), [1.5, 2.25, 0.5])
    np.testing.assert_array_equal(data.column("grade"), [1, 0, 2])


def test_every_column_agrees_with_plain_reading_across_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delimited, "BLOCK_BYTES", 500)
    monkeypatch.setattr(delimited, "BLOCK_ROWS", 1)
    text = csv_text(table(2000))
    data, plain = csv(text), read_csv(text)
    for name, column in plain.items():
        assert labels(data, name) == column.values
        assert (column.levels is None) == isinstance(data.domain(name), Real)


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        (["0", "1"], Categorical(("0", "1"))),
        (["10", "9", "-1"], Categorical(("-1", "9", "10"))),
        ([str(i) for i in range(10)], Categorical(tuple(map(str, range(10))))),
        ([str(i) for i in range(11)], Real(0, 10)),
        (["1.0", "2"], Real(1, 2)),
        (["1e3", "2"], Real(2, 1000)),
        (["007", "008"], Categorical(("007", "008"))),
        (["2", "3", "5more"], Categorical(("2", "3", "5more"))),
        (["1.5", "high"], Categorical(("1.5", "high"))),
        (["b", "a", "C"], Categorical(("C", "a", "b"))),
        ([f"n{i}" for i in range(300)], Categorical(tuple(sorted(f"n{i}" for i in range(300))))),
        (["1_0", "2"], Categorical(("1_0", "2"))),
        (["٣", "4"], Categorical(("4", "٣"))),
        (["None", "."], Categorical((".", "None"))),
        (["  1.5", "-10.5"], Real(-10.5, 1.5)),
        ([f"{i:3d} " for i in range(12)], Real(0, 11)),
        ([" 10", "  9"], Categorical(("  9", " 10"))),
        ([" 07", "8"], Categorical((" 07", "8"))),
    ],
)
@pytest.mark.parametrize("backwards", [False, True])
def test_the_rule_of_inference(texts: list[str], kind: Any, backwards: bool) -> None:
    rows = texts[::-1] if backwards else texts
    data = csv("name,other\n" + "".join(f"{text},z{i % 2}\n" for i, text in enumerate([*rows, *rows])))
    assert data.domain("name") == kind


def test_a_column_with_more_than_256_levels_is_wider(tmp_path: Path) -> None:
    texts = [f"n{i % 1000}" for i in range(3000)]
    data = csv("x\n" + "\n".join(texts))
    assert data.column("x").dtype == np.uint16
    assert labels(data, "x") == texts
    path = tmp_path / "d.csv"
    write(data, path)
    assert {block.domains for block in Dataset.batches(path, rows=100)} == {data.domains}


def test_dialects() -> None:
    expected = csv("a,b\n1,x\n2,y\n")
    for text in (
        "a;b\n1;x\n2;y\n",
        "a\tb\r\n1\tx\r\n2\ty\r\n",
        "a|b\r1|x\r2|y\r",
        "a b\n1 x\n2 y\n",
        "a, b\n1, x\n2, y\n",
        '"a","b"\n"1","x"\n"2","y"',
        "\ufeffa,b\n1,x\n2,y\n",
        "\n\na,b\n\n1,x\n\n2,y\n\n",
    ):
        assert csv(text) == expected, text
    assert csv("a;b\n1,5;x\n2,5;y\n").domain("a") == Real(1.5, 2.5)
    assert csv("a;b\n" + 10 * "1,5;x\n2,5;y\n").domain("a") == Real(1.5, 2.5)
    assert csv("a,b\nx;y,1\nz;w,2\n", delimiter=",").names == ("a", "b")
    assert csv("a,b\n1,é\n2,y\n".encode("latin-1"), encoding="latin-1").domain("b").levels == ("y", "é")
    assert csv("a,b\n1,é\n2,y\n".encode("utf-16"), encoding="utf-16").domain("b").levels == ("y", "é")
    assert csv('a,b\n1,"x\ny"\n2,z\n').domain("b").levels == ("x\ny", "z")


def test_a_decimal_comma_is_read_declared_or_not() -> None:
    text = "a;b;c\n" + "".join(f"{i},5;x,{i % 2};{i % 3},5\n" for i in range(20))
    data = csv(text, decimal=",")
    assert data.column("a").tolist() == [i + 0.5 for i in range(20)]
    assert data.domain("b").levels == ("x,0", "x,1") and data.domain("c") == Real(0.5, 2.5)
    assert csv(text) == data
    quoted = csv('a,b\n"1,5",x\n"-,5e1",y\n', decimal=",", delimiter=",")
    assert quoted.column("a").tolist() == [1.5, -5.0]
    assert csv("1,5;2\n2,5;3\n", decimal=",").names == ("X1", "X2")


def test_a_text_with_and_without_the_blank_is_one_level() -> None:
    """In the first rows a blank follows every delimiter; a block further down has a new text both ways."""
    plain = "x, p\nx, q\n" * 20_000
    data = csv("a, b\n" + plain + "x, new\nx,new\nx, new\n")
    assert data.domain("b").levels == ("new", "p", "q")
    assert np.bincount(data.column("b")).tolist() == [3, 20_000, 20_000]


def test_blanks_belong_to_the_text_unless_they_follow_every_delimiter() -> None:
    assert csv("a,b\n1, x\n2,y\n").domain("b").levels == (" x", "y")


def test_columns_of_one_width(monkeypatch: pytest.MonkeyPatch) -> None:
    """As numpy.savetxt writes them with fmt="%9.3f"."""
    numbers = np.random.default_rng(0).normal(size=(500, 2)).round(3)
    text = "".join(f"{a:9.3f},{b:9.3f}\n" for a, b in numbers)
    monkeypatch.setattr(delimited, "BLOCK_BYTES", 500)
    data = csv(text)
    assert data.names == ("X1", "X2")
    np.testing.assert_array_equal(np.column_stack(data.columns), numbers)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a,b\nx,y\nx,z\n", ("a", "b")),
        ("1,2\n3,4\n", ("X1", "X2")),
        ("yes,no\nno,no\nyes,no\nyes,yes\n", ("X1", "X2")),
        ("  1.5, 2.5\n -0.5,12.5\n", ("X1", "X2")),
        ("0,1,2\n5,5,5\n5,6,5\n", ("0", "1", "2")),
        ("0,1,2\n0,1,1\n1,1,2\n", ("X1", "X2", "X3")),
        ("a,?\nx,y\nx,z\n", ("X1", "X2")),
        ("class\nclass\nother\n", ("X1",)),
    ],
)
def test_whether_the_first_row_is_a_header(text: str, names: tuple[str, ...], caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "optbn.data"):
        assert csv(text, missing="as_level").names == names
    assert any("there is no header" in r.getMessage() for r in caplog.records) == (names[0] == "X1")
    assert csv(text, header=False, missing="as_level").names[0] == "X1"
    assert csv(text, header=True, missing="as_level").names == tuple(text.split("\n")[0].split(","))


def test_declared_columns() -> None:
    schema = {
        "sex": ["m", "f", "x"],
        "size": {"ordinal": ["s", "m", "l"]},
        "x": {"real": [0, 8]},
        "n": "real",
        "code": "categorical",
        "id": "ignore",
    }
    data = csv("id,sex,size,x,n,code\n1,f,l,7,007,1.5\n2,m,s,1,+2,10\n", schema)
    assert data.names == ("sex", "size", "x", "n", "code")
    assert data.domain("sex") == Categorical(("m", "f", "x"))
    assert data.domain("size") == Categorical(("s", "m", "l"), ordered=True)
    assert data.domain("x") == Real(0, 8)
    assert data.domain("n") == Real(2, 7)
    assert data.domain("code") == Categorical(("1.5", "10"))
    np.testing.assert_array_equal(data.column("sex"), [1, 0])
    np.testing.assert_array_equal(data.column("size"), [2, 0])
    np.testing.assert_array_equal(data.column("n"), [7, 2])


def test_columns_can_be_chosen() -> None:
    assert csv("a,b,c\n1,2,x\n3,4,y\n", columns=["c", "a"]).names == ("c", "a")
    with pytest.raises(DataError, match="no column 'd'"):
        csv("a,b\n1,2\n3,4\n", columns=["d"])


MISSING = "x,y,z\n1,?,2.5\nNA,b,\n2,b,3.5\n2,a,7.5\n"


def test_missing_values_as_a_level() -> None:
    data = csv(MISSING, {"z": "ignore"}, missing="as_level")
    assert labels(data, "x") == ["1", "missing", "2", "2"]
    assert data.domain("y").levels == ("a", "b", "missing")
    with pytest.raises(DataError, match="column 'z' is real, so as_level does not apply"):
        csv(MISSING, missing="as_level")
    with pytest.raises(
        DataError, match=r"columns 'a', 'b' are real.*for them alone by .*'as_level, a=impute, b=impute'"
    ):
        csv("a,b,c\n1.5,2.5,?\n,?,x\n2.25,9.5,y\n", missing="as_level")
    with pytest.raises(DataError, match="'y' has missing values and its declared levels do not include 'missing'"):
        csv(MISSING, {"y": ["a", "b"], "z": "ignore"}, missing="as_level")
    assert csv(MISSING, {"y": ["missing", "a", "b"], "z": "ignore"}, missing="as_level").column("y")[0] == 0


def test_missing_values_dropped() -> None:
    data = csv(MISSING, missing="drop")
    assert labels(data, "x") == ["2", "2"] and labels(data, "z") == [3.5, 7.5]
    assert data.domain("x").levels == ("1", "2")
    with pytest.raises(DataError, match="drop would leave none"):
        csv("x,y\n1,\n,2\n", missing="drop")


def test_missing_values_imputed() -> None:
    data = csv(MISSING, missing="impute")
    assert labels(data, "x") == ["1", "2", "2", "2"]
    assert labels(data, "y") == ["b", "b", "b", "a"]
    assert labels(data, "z") == [2.5, 3.5, 3.5, 7.5]
    assert csv("x,y\n?,1\n?,2\n", missing="impute").names == ("y",)


def test_missing_values_by_column() -> None:
    data = csv(MISSING, missing={"x": "as_level", "y": "impute", "z": "drop"})
    assert labels(data, "x") == ["1", "2", "2"] and labels(data, "y") == ["b", "b", "a"]
    assert csv(MISSING, missing="as_level, z=drop,y=impute") == data
    with pytest.raises(DataError, match="2 missing values"):
        csv(MISSING, missing={"x": "as_level"})
    with pytest.raises(OptbnError, match="no column 'w'"):
        csv(MISSING, missing={"w": "drop"})
    with pytest.raises(OptbnError, match="no way to treat missing values '1'"):
        csv("x\n1\n", missing={"x": 1})
    with pytest.raises(OptbnError, match=r"no way to treat missing values 'dorp' \(did you mean 'drop'"):
        csv(MISSING, missing="dorp")


def test_what_counts_as_missing() -> None:
    assert csv("x,y\nNA,1\nb,2\n", {"x": ["NA", "b"]}).domain("x").levels == ("NA", "b")
    assert csv("x,y\nNA,1\nb,2\n", missing_tokens=["-"]).domain("x").levels == ("NA", "b")
    numbers = "x\n" + "".join(f"{i}.5\n" for i in range(20))
    assert csv(numbers + "-9\n-\n", missing_tokens=["-", "-9"], missing="drop").domain("x") == Real(0.5, 19.5)
    assert np.isfinite(csv(numbers + "\nNaN\n", missing="impute").column("x")).all()


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "arrow", "feather"])
def test_what_is_written_is_read_back(tmp_path: Path, ending: str) -> None:
    schema = {
        "sex": ["m", "f", "never seen"],
        "digit": {"ordinal": [str(i) for i in range(12)]},
        "x": {"real": [-9, 9]},
    }
    data = csv(csv_text(table(300)), schema)
    path = tmp_path / f"d.{ending}"
    write(data, path)
    assert optbn.read(path, data.schema) == data
    if ending not in ("csv", "tsv"):
        assert optbn.read(path) == data


def test_a_text_file_that_is_written_keeps_kinds(tmp_path: Path) -> None:
    data = Dataset.from_arrays({"x": [1.0, 2.0, 3.0], "level, or not": ["NA", " a", ""]})
    path = tmp_path / "d.csv"
    write(data, path)
    assert optbn.read(path, missing_tokens=()) == data


def test_parquet_and_arrow_types(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet

    frame = pa.table(
        {
            "flag": pa.array([True, False, True]),
            "few": pa.array([3, 1, 2], pa.int64()),
            "whole": pa.array([1.0, 2.0, 3.0]),
            "text": pa.array(["0", "?", "NA"]),
            "level": pa.DictionaryArray.from_arrays(pa.array([1, 0, 1]), ["zoo", "ant", "unseen"]),
            "gap": pa.array([1, None, 2]),
        }
    )
    path = tmp_path / "d.parquet"
    pyarrow.parquet.write_table(frame, path)
    data = optbn.read(path, missing={"gap": "as_level"})
    assert data.domains == (
        Categorical(("false", "true")),
        Categorical(("1", "2", "3")),
        Real(1, 3),
        Categorical(("0", "?", "NA")),
        Categorical(("zoo", "ant", "unseen")),
        Categorical(("1", "2", "missing")),
    )
    assert labels(data, "level") == ["ant", "zoo", "ant"]
    declared = optbn.read(path, {"whole": ["3", "2", "1"], "flag": "ignore", "gap": "ignore"})
    assert labels(declared, "whole") == ["1", "2", "3"]
    with pytest.raises(DataError, match="column 'when': values of type binary"):
        Dataset.from_frame(pa.table({"when": pa.array([b"0"], pa.binary())}))


def test_dates_and_moments_are_days() -> None:
    import pyarrow as pa

    frame = pa.table(
        {
            "day": pa.array([0, 1, None], pa.date32()),
            "moment": pa.array([0, 43_200, -86_400], pa.timestamp("s")),
            "far": pa.array([0, 10**15, 86_400 * 10**9], pa.timestamp("ns")),
        }
    )
    data = Dataset.from_frame(frame, missing="value")
    assert [data.domain(name).unit for name in data.names] == ["days"] * 3
    assert data.column("day")[:2].tolist() == [0.0, 1.0] and np.isnan(data.column("day")[2])
    assert data.column("moment").tolist() == [0.0, 0.5, -1.0]
    assert data.domain("moment").text(0.5) == "1970-01-01 12:00" and data.domain("moment").text(-1) == "1969-12-31"
    assert (data.domain("day").whole, data.domain("moment").whole) == (True, False)


def test_arff(tmp_path: Path) -> None:
    path = tmp_path / "d.arff"
    path.write_text(
        "% a comment\n@RELATION 'the relation'\n\n@attribute 'first name' {b, 'a, or so', \"c's\"}\n"
        "@ATTRIBUTE x REAL\n@attribute size {s,m,l} % no comment\n@attribute note string\n\n@DATA\n% another\n"
        "b, 1, l, 'it\\'s'\n'a, or so',2.5,?,two\n\nc's , -3e2,m,\"it's\"\n".replace(" % no comment", "")
    )
    data = optbn.read(path, missing={"size": "impute"})
    assert data.domain("first name").levels == ("b", "a, or so", "c's")
    assert labels(data, "first name") == ["b", "a, or so", "c's"]
    assert labels(data, "x") == [1, 2.5, -300]
    assert labels(data, "size") == ["l", "m", "m"]
    assert data.domain("size").levels == ("s", "m", "l")
    assert labels(data, "note") == ["it's", "two", "it's"]
    path.write_text("\ufeff@relation r\n@attribute a {'',x}\n@data\n''\nx\n")
    assert labels(optbn.read(path), "a") == ["", "x"]


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow"])
@pytest.mark.parametrize("rows", [1, 70, 128, 1000])
def test_batches_are_the_file_in_blocks(tmp_path: Path, ending: str, rows: int) -> None:
    path = tmp_path / f"d.{ending}"
    data = csv(csv_text(table(256)), {"sex": ["m", "f", "x"]})
    write(data, path)
    blocks = list(Dataset.batches(path, data.schema, rows=rows))
    assert [len(block) for block in blocks] == [min(rows, 256 - start) for start in range(0, 256, rows)]
    assert all(block.domains == data.domains for block in blocks)
    for name in data.names:
        np.testing.assert_array_equal(np.concatenate([block.column(name) for block in blocks]), data.column(name))
    inferred = next(Dataset.batches(path, rows=rows))
    assert inferred.domains == optbn.read(path).domains


def test_batches_treat_missing_values(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text("x,y\n1,a\n2,\n1,b\n,a\n1,a\n")
    with pytest.raises(DataError, match="2 missing values"):
        Dataset.batches(path)
    with pytest.raises(DataError, match="rows 3 to 4: 1 missing value"):
        list(Dataset.batches(path, {"x": ["1", "2"], "y": "ignore"}, rows=2))
    with pytest.raises(UnsupportedError, match="impute needs the whole file"):
        Dataset.batches(path, missing="impute")
    whole = optbn.read(path, missing="as_level")
    blocks = list(Dataset.batches(path, missing="as_level", rows=2))
    assert all(block.domains == whole.domains for block in blocks)
    assert [labels(block, "y") for block in blocks] == [["a", "missing"], ["b", "a"], ["a"]]
    assert [len(block) for block in Dataset.batches(path, missing="drop", rows=2)] == [1, 1, 1]
    assert [len(block) for block in Dataset.batches(path, missing="drop", rows=1)] == [1, 1, 1]
    with pytest.raises(DataError, match="can be read only once"):
        Dataset.batches(io.BytesIO(path.read_bytes()))


def test_the_place_of_an_error_counts_over_batches(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text("x\n" + "a\n" * 150 + "b\n")
    with pytest.raises(DataError, match="row 151: level 'b' is not declared"):
        list(Dataset.batches(path, {"x": ["a"]}, rows=100))


def test_stdin_and_streams(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stdin:
        buffer = io.BytesIO(b"a,b\n1,x\n2,y\n")

    monkeypatch.setattr("sys.stdin", Stdin)
    assert optbn.read("-") == csv("a,b\n1,x\n2,y\n")


def test_a_named_pipe_is_read_once(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["sh", "-c", f"printf 'a,b\\n1,x\\n2,y\\n' > '{pipe}'"]):
        assert optbn.read(pipe) == csv("a,b\n1,x\n2,y\n")


def test_progress_ends_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text(csv_text(table(20_000)))
    seen: list[tuple[int, int | None]] = []
    optbn.read(path, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (path.stat().st_size, path.stat().st_size)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


def test_the_real_data_sets_have_the_kinds_their_catalogue_declares() -> None:
    for entry in json.loads(shared_data("catalog.json").read_text())["datasets"]:
        path = shared_data("datasets", f"{entry['name']}.parquet")
        kinds = {column["name"]: column["type"] for column in entry["columns_detail"]}
        data = optbn.read(path, missing="impute")
        assert (data.n_rows, set(data.names)) == (entry["rows"], set(kinds))
        for name, domain in zip(data.names, data.domains, strict=True):
            assert kinds[name] == ("num" if isinstance(domain, Real) else "cat")


def test_as_text_most_columns_of_the_real_data_sets_have_the_declared_kind() -> None:
    """What differs are scales of at most ten whole numbers, and one class of thirteen."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    agree = total = 0
    for entry in json.loads(shared_data("catalog.json").read_text())["datasets"]:
        whole = pyarrow.parquet.read_table(shared_data("datasets", f"{entry['name']}.parquet"))
        texts = pa.table([column.cast(pa.string()) for column in whole.columns], names=whole.column_names)
        file = io.BytesIO()
        pyarrow.csv.write_csv(texts.slice(0, 20_000), file)
        data = optbn.read(io.BytesIO(file.getvalue()), missing="impute")
        for column in entry["columns_detail"]:
            domain = data.domain(column["name"])
            agree += column["type"] == ("num" if isinstance(domain, Real) else "cat")
            total += 1
            if column["type"] == "num" and isinstance(domain, Categorical):
                assert len(domain.levels) <= 10
    assert agree / total > 0.94


def test_the_plain_reader_refuses_the_same() -> None:
    for text in (
        "x\n" + "".join(f"{i}.5\n" for i in range(20)) + "abc\n",
        "x\n1.5\ninf\n",
    ):
        with pytest.raises(Refused):
            read_csv(text)
        with pytest.raises(DataError):
            csv(text)


def test_reading_and_writing_leave_pandas_alone(tmp_path: Path) -> None:
    """Arrow imports it in passing, which costs more time and memory than most data."""
    code = """
import io, sys, optbn
from optbn.data.write import write
lines = b"a,b,c,d\\n" + b"".join(b"%d,x,%d.5,\\n%d,y,1,z\\n" % (i, i, i) for i in range(30))
data = optbn.read(io.BytesIO(lines), missing="as_level")
for ending in ("csv", "parquet", "arrow"):
    write(data, f"{sys.argv[1]}/d.{ending}")
    assert optbn.read(f"{sys.argv[1]}/d.{ending}", data.schema) == data
    assert len(next(optbn.Dataset.batches(f"{sys.argv[1]}/d.{ending}"))) == 60
assert "pandas" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow"])
def test_a_stream_of_datasets_is_one_file(tmp_path: Path, ending: str) -> None:
    data = csv(csv_text(table(300)))
    path = tmp_path / f"d.{ending}"
    write((data.take(slice(start, start + 70)) for start in range(0, 300, 70)), path)
    assert optbn.read(path, data.schema) == data
    with pytest.raises(DataError, match="differ in their columns"):
        write([data, data.select(["sex"])], path)
    with pytest.raises(DataError, match="no dataset to write"):
        write([], path)


def test_missing_values_become_a_level_where_only_the_file_declares_levels(tmp_path: Path) -> None:
    path = tmp_path / "d.arff"
    path.write_text("@relation r\n@attribute a {x, y, z}\n@data\nx\n?\ny\n")
    data = optbn.read(path, missing="as_level")
    assert data.domain("a").levels == ("x", "y", "z", "missing")
    assert [block.domains for block in Dataset.batches(path, missing="as_level", rows=2)] == [data.domains] * 2


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (io.StringIO("a,b\n1,2\n"), "a stream of text; open it in binary mode"),
        (5, "expected a path, - for stdin, or a binary stream, not a int"),
    ],
)
def test_what_cannot_be_read_from(path: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        optbn.read(path)
