"""`optbn classify` and `optbn predict` as a user meets them."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pandas
import pytest

import optbn
from optbn.cli import main
from tests.classifiers.examples import mixed


@pytest.fixture
def train(tmp_path: Path) -> Path:
    X, y = mixed(0)
    X.assign(income=y).to_csv(tmp_path / "train.csv", index=False)
    X.to_csv(tmp_path / "new.csv", index=False)
    return tmp_path / "train.csv"


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as end:
        main([str(a) for a in arguments])
    out, err = capsys.readouterr()
    return int(end.value.code or 0), out, err


@pytest.mark.parametrize("model", ["nb", "aode", "eskdb", "optimal"])
def test_there_and_back(train: Path, model: str, capsys: pytest.CaptureFixture[str]) -> None:
    saved = train.with_name("model.json")
    code, out, err = run(capsys, "classify", train, "--target", "income", "--model", model, "-o", saved)
    assert code == 0 and "2 classes from 4 attributes" in out and not err
    code, out, err = run(capsys, "predict", saved, train.with_name("new.csv"))
    assert code == 0 and not err
    rows = list(csv.reader(io.StringIO(out)))
    assert rows[0] == ["income", "P(no)", "P(yes)"] and len(rows) == 201
    truth = [row["income"] for row in csv.DictReader(train.open())]
    assert sum(row[0] == t for row, t in zip(rows[1:], truth, strict=True)) > 140
    assert all(abs(float(row[1]) + float(row[2]) - 1) < 1e-5 for row in rows[1:])
    code, *_ = run(capsys, "predict", saved, train, "-o", train.with_name("out.csv"))
    assert code == 0 and list(csv.reader(train.with_name("out.csv").open())) == rows


def test_parquet_and_the_model_by_size(
    train: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import pyarrow.parquet as pq

    from optbn.cli import classify

    saved = train.with_name("model.json")
    code, out, err = run(capsys, "classify", train, "-t", "income", "-o", saved)
    assert code == 0 and ": eskdb for" in out and not err
    rows = list(csv.reader(io.StringIO(run(capsys, "predict", saved, train)[1])))
    code, *_ = run(capsys, "predict", saved, train, "-o", train.with_name("out.parquet"))
    table = pq.read_table(train.with_name("out.parquet"))
    assert code == 0 and table.column_names == rows[0] and table.num_rows == 200
    assert table.column(0).to_pylist() == [row[0] for row in rows[1:]]
    assert table.column(1).to_pylist() == pytest.approx([float(row[1]) for row in rows[1:]], abs=1e-5)
    monkeypatch.setattr(classify, "LARGE", 150)
    code, out, err = run(capsys, "classify", train, "-t", "income", "-o", saved)
    assert code == 0 and ": skdb for" in out
    assert "rows: model skdb, one network (--model eskdb for ten)" in err and 190 < int(err.split()[2]) < 220


def test_settings_and_folds(train: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved = train.with_name("m.json")
    arguments = ("--set", "k=1", "--smoother", "laplace", "--discretizer", "equal_width", "--folds", "2")
    code, out, _ = run(capsys, "classify", train, "-t", "income", "-m", "skdb", *arguments, "-o", saved)
    assert code == 0 and "2-fold cross-validation on" in out and "log_loss" in out
    text = saved.read_text()
    assert '"k":1' in text and '"smoother":"laplace"' in text


def test_mistakes_are_one_line(train: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved = train.with_name("model.json")
    base = ("classify", train, "-o", saved)
    for arguments, expected in (
        ((*base, "-t", "incom"), "no column 'incom' (did you mean 'income'?)"),
        ((*base, "-t", "income", "-m", "kbd"), "no classifier 'kbd'"),
        ((*base, "-t", "income", "-m", "kdb", "--set", "m=1"), "classifier 'kdb' has no setting 'm'"),
        (("classify", train, "-t", "income", "-o", "model.bif"), "the model is JSON"),
        (("classify", train, "-t", "income", "-o", "/none/model.json"), "/none/model.json: there is no folder /none"),
        (("classify", "-", "-t", "income", "-o", saved), "they must be a file, not stdin"),
        (("predict", train, train), "expected a classifier written by optbn"),
        (("predict", train.with_name("none.json"), train), "no such file"),
    ):
        code, out, err = run(capsys, *arguments)
        assert code == 2 and not out and expected in err and err.count("\n") == 1, err


def test_columns_and_levels_of_new_rows(train: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved = train.with_name("model.json")
    run(capsys, "classify", train, "-t", "income", "-m", "tan", "-o", saved)
    new = train.with_name("new.csv")
    new.write_text("extra,hours,size,job,age\n1,2,m,astronaut,33\n1,2,m,cook,\n")
    code, out, err = run(capsys, "predict", saved, new)
    assert code == 0 and len(out.splitlines()) == 3
    assert "not seen in training are treated as missing: column 'job' 1 (first 'astronaut', row 1)" in err
    new.write_text("hours,size,job\n2,m,cook\n")
    code, out, err = run(capsys, "predict", saved, new)
    assert code == 2 and "no column 'age'" in err and not out
    new.write_text("hours,size,job,age\n2,m,cook,old\n")
    code, out, err = run(capsys, "predict", saved, new)
    assert code == 2 and "'age'" in err and "'old'" in err and not out


def test_a_network_predicts_what_is_named(train: Path, capsys: pytest.CaptureFixture[str]) -> None:
    network, rows = train.with_name("network.json"), train.with_name("rows.csv")
    code, *_ = run(capsys, "learn", train, "--max-parents", "1", "--smoother", "m_estimate", "-o", network)
    assert code == 0
    code, out, err = run(capsys, "predict", network, train.with_name("new.csv"), "--target", "income")
    assert code == 0, err
    answered = list(csv.DictReader(io.StringIO(out)))
    expected = optbn.BayesianNetwork.load(network).predict_proba("income", pandas.read_csv(train))
    assert [float(row["P(yes)"]) for row in answered] == pytest.approx(expected[:, 1].tolist(), abs=1e-5)
    number = pandas.read_csv(train).select_dtypes("float").columns[0]
    code, out, err = run(capsys, "predict", network, train, "--target", number, "-o", rows)
    assert code == 0 and len(pandas.read_csv(rows)[number]) == len(pandas.read_csv(train)), err
    code, _, err = run(capsys, "predict", network, train, "--target", "incom")
    assert code == 2 and "did you mean 'income'" in err
    rows.write_text("x,y\n1,2\n")
    code, _, err = run(capsys, "predict", network, rows, "--target", "income")
    assert code == 2 and "no column is a variable of the network" in err
