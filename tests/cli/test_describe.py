"""`optbn describe` as a user meets it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from optbn.cli import main

DATA = "sex,age,x,grade\n" + "".join(f"{'mf'[i % 2]},{20 + i},{i / 4},{i % 3}\n" for i in range(40))


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[str, str, int]:
    with pytest.raises(SystemExit) as left:
        main(["describe", *arguments])
    out, err = capsys.readouterr()
    return out, err, int(left.value.code or 0)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "d.csv"
    path.write_text(DATA)
    return path


def test_the_table(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, err, code = run(capsys, str(path))
    lines = [line.rstrip() for line in out.splitlines()]
    assert (err, code) == ("", 0)
    assert lines[0].endswith("d.csv: 40 rows, 4 columns (2 categorical, 2 real)")
    assert lines[1].split() == ["column", "kind", "levels", "values"]
    assert lines[2].split() == ["sex", "categorical", "2", "f", "(20),", "m", "(20)"]
    assert lines[3].split() == ["age", "real", "20", "to", "59,", "median", "39.5,", "mean", "39.5", "±", "11.5"]
    assert lines[5].split() == ["grade", "categorical", "3", "0", "(14),", "1", "(13),", "2", "(13)"]
    assert len(lines) == 6


def test_json_has_everything(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, _, _ = run(capsys, str(path), "--json")
    found = json.loads(out)
    assert found["rows"] == 40 and [column["name"] for column in found["columns"]] == ["sex", "age", "x", "grade"]
    assert found["columns"][0]["levels"] == ["f", "m"] and found["columns"][0]["counts"] == [20, 20]
    assert found["columns"][2]["range"] == [0, 9.75] and found["columns"][2]["quartiles"] == [2.4375, 4.875, 7.3125]


def test_a_saved_schema_reads_the_same_again(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    schema = tmp_path / "s.json"
    out, err, _ = run(capsys, str(path), "--save-schema", str(schema))
    assert err == f"the schema is in {schema}\n"
    assert run(capsys, str(path), "--schema", str(schema))[0] == out
    printed, _, _ = run(capsys, str(path), "--save-schema", "-")
    assert printed == schema.read_text()
    edited = json.loads(printed) | {"age": "ignore", "grade": {"ordinal": ["2", "1", "0", "3"]}}
    schema.write_text(json.dumps(edited))
    out, _, _ = run(capsys, str(path), "--schema", str(schema))
    assert "age" not in out and "2 (13), 1 (13), 0 (14), 3 (0)" in out and "ordinal" in out


def test_missing_values_are_shown_and_treated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "d.csv"
    path.write_text("a,b\nx,1.5\n?,2.5\ny,\n?,4.5\n")
    out, err, code = run(capsys, str(path))
    assert code == 0 and err == (
        "3 missing values: learn takes missing as a value of its own; to leave such rows out write --missing drop, to "
        "fill cells in --missing impute\n"
    )
    assert [line.split()[2:4] for line in out.splitlines()[2:]] == [["2", "2"], ["1", "1.5"]]
    out, err, _ = run(capsys, str(path), "--missing", "impute")
    assert err == "" and "x (3), y (1)" in out
    out, err, code = run(capsys, str(path), "--missing", "as_level")
    assert (out, code) == ("", 2) and "column 'b' is real, so as_level does not apply" in err
    out, err, code = run(capsys, str(path), "--missing", "refuse")
    assert (out, code) == ("", 2) and "3 missing values ('a' 2, 'b' 1)" in err
    path.write_text("a,b\nx,1.5\n-,2.5\ny,\n?,4.5\n")
    out, err, _ = run(capsys, str(path), "--missing-token", "-")
    assert "x (1), y (1)" in out and err.startswith("3 missing values")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("large", "small"), [(1e308, 1e-300), (1.0, 0.5)])
def test_numbers_of_any_size(tmp_path: Path, capsys: pytest.CaptureFixture[str], large: float, small: float) -> None:
    path = tmp_path / "d.csv"
    path.write_text(f"x,y\n{-large!r},{small!r}\n{large!r},{-small!r}\n")
    out, _, code = run(capsys, str(path), "--json", "--column", "x=real", "--column", "y=real")
    x, y = json.loads(out)["columns"]
    assert code == 0
    assert (x["mean"], x["sd"], x["quartiles"]) == (0, large, [-large / 2, 0, large / 2])
    assert (y["mean"], y["sd"], y["quartiles"]) == (0, small, [-small / 2, 0, small / 2])


def test_dialects_can_be_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "d.csv"
    path.write_bytes("é;b\nx,y;1\nz;2\n".encode("latin-1"))
    out, _, code = run(capsys, str(path), "--no-header", "--delimiter", ";", "--encoding", "latin-1")
    assert code == 0 and "X1" in out and "'x,y' (1)" in out and "é (1)" in out


def test_two_hundred_columns_are_all_there_and_no_line_is_cut(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "d.csv"
    names = [f"a_column_with_a_rather_long_name_{i}" for i in range(200)]
    rows = [",".join(f"level number {(i * j) % 12}" for i in range(200)) for j in range(24)]
    path.write_text("\n".join([",".join(names), *rows]))
    out, _, _ = run(capsys, str(path))
    lines = out.splitlines()
    assert [line.split()[0] for line in lines[2 : len(names) + 2]] == names
    assert "level number 0 (2), level number 1 (2)" in lines[3] and "4 more (8)" in lines[3]


@pytest.mark.parametrize("arguments", [["--schema", "nowhere.json"], ["--format", "xls"], ["--encoding", "utf-9"]])
def test_wrong_options_are_one_line(path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    out, err, code = run(capsys, str(path), *arguments)
    assert (out, code) == ("", 2) and err.startswith("optbn: ") and err.count("\n") == 1


def test_a_sample_through_a_pipe() -> None:
    optbn = [sys.executable, "-m", "optbn"]
    sample = subprocess.run([*optbn, "sample", "asia", "-n", "500"], capture_output=True, check=True)
    described = subprocess.run([*optbn, "describe", "-"], input=sample.stdout, capture_output=True, check=True)
    assert described.stdout.decode().startswith("stdin: 500 rows, 8 columns (8 categorical, 0 real)\n")
    assert described.stderr == b""


def test_help_has_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    out, _, code = run(capsys, "--help")
    assert code == 0 and "optbn describe data.csv" in out


def test_levels_in_order_on_the_command_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path, schema = tmp_path / "d.csv", tmp_path / "schema.json"
    path.write_text("size,x\n" + "small,1\nlarge,2\nsmall,3\n" * 5)
    column = ["--column", "size=small < medium < large"]
    assert run(capsys, str(path), *column, "--save-schema", str(schema))[2] == 0
    assert json.loads(schema.read_text())["size"] == {"ordinal": ["small", "medium", "large"]}
    _, message, code = run(capsys, str(path), "--column", "size=small<<large")
    assert code == 2 and "levels in order (small<medium<large)" in message
