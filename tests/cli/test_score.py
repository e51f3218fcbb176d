"""`optbn score` as a user meets it."""

import subprocess
import sys

import numpy as np
import pytest

import optbn
from optbn.cli import main
from optbn.data.write import write
from optbn_solvers.base.files import read_rows, read_table
from optbn_solvers.base.files.native import read_about
from tests.naive import phase1 as naive


@pytest.fixture
def csv(tmp_path):
    path = tmp_path / "data.csv"
    write(naive.random_categorical(np.random.default_rng(1), 5, 80, levels=3), path)
    return str(path)


def run(*arguments):
    """The exit code of a command line."""
    with pytest.raises(SystemExit) as left:
        main(list(map(str, arguments)))
    return left.value.code or 0


def test_from_data_to_a_file(csv, tmp_path, capsys):
    assert run("score", csv, "-o", tmp_path / "a.jkl") == 0
    assert "parent sets of 5 variables kept" in capsys.readouterr().out
    table = optbn.score_table(optbn.read(csv), "pcartp", 3)
    found = read_table(tmp_path / "a.jkl")
    assert (found.scores == table.scores).all() and (found.masks == table.masks).all()
    assert run("score", csv, "--max-parents", 2) == 0
    (tmp_path / "b.jkl").write_text(capsys.readouterr().out)
    assert (read_table(tmp_path / "b.jkl").scores == optbn.score_table(optbn.read(csv), "pcartp", 2).scores).all()


def test_the_native_file_says_what_it_is(csv, tmp_path):
    path = tmp_path / "a.parquet"
    assert run("score", csv, "--score", "bic", "-D", 2, "-o", path, "--forbid", "v0->v1") == 0
    data = optbn.read(csv)
    assert read_table(path) == optbn.score_table(data, "bic", 2, forbidden=[("v0", "v1")])
    about = read_about(path)
    assert about["score"] == "BIC()"
    assert about["data"] == data.digest
    assert about["schema"]["v0"] == list(data.domains[0].levels)
    assert about["constraints"]["forbidden"] == [["v0", "v1"]]


def test_options_reach_the_score_and_the_constraints(csv, tmp_path):
    (tmp_path / "tiers.txt").write_text("v0, v1\n# then\nv2,v3,v4\n")
    out = tmp_path / "a.parquet"
    options = [
        "--score",
        "bdeu",
        "--ess",
        5,
        "-D",
        3,
        "-D",
        "v4=1",
        "--require",
        "v0->v2",
        "--tiers",
        tmp_path / "tiers.txt",
    ]
    options += ["--roots", "v0,v1", "--leaves", "v3", "--jobs", 1, "--memory", "1G", "--store", tmp_path / "store"]
    assert run("score", csv, "-o", out, *options) == 0
    expected = optbn.score_table(
        csv,
        "bdeu",
        {"*": 3, "v4": 1},
        ess=5.0,
        required=[("v0", "v2")],
        tiers=[["v0", "v1"], ["v2", "v3", "v4"]],
        roots=["v0", "v1"],
        leaves=["v3"],
    )
    assert read_table(out) == expected
    assert (tmp_path / "store" / "run.json").exists()
    assert run("score", csv, "--score", "bdeu", "--set", "ess=5", "-D", 1, "-o", out) == 0
    assert read_table(out) == optbn.score_table(csv, "bdeu", 1, ess=5)


def test_listed_families(csv, tmp_path, capsys):
    (tmp_path / "list.txt").write_text("v0: v1, v2\nv1:\nv0:\nv2: v4\nv3:\nv4:\n")
    assert run("score", csv, "--families", tmp_path / "list.txt", "-o", tmp_path / "a.jkl") == 0
    rows = read_rows(tmp_path / "a.jkl")
    assert len(rows) == 6
    assert rows.scores[0] == optbn.score(csv, "v0", ["v1", "v2"])
    assert run("score", csv, "--families", tmp_path / "a.jkl", "--score", "k2", "-o", tmp_path / "b.jkl") == 0
    again = read_rows(tmp_path / "b.jkl")
    assert (again.masks == rows.masks).all() and (again.scores != rows.scores).all()
    capsys.readouterr()
    assert run("score", csv, "--families", tmp_path / "list.txt", "--store", tmp_path / "s") == 2
    assert "--store does not go with --families" in capsys.readouterr().err


def test_local_structures(csv, tmp_path):
    import json

    (tmp_path / "list.txt").write_text("v2: v0, v1\nv0:\n")
    data = optbn.read(csv)
    for score in ("pcart", "bdeu", "ft"):
        options = ["--families", tmp_path / "list.txt", "-o", tmp_path / "a.jkl", "--structures", tmp_path / "s.jsonl"]
        assert run("score", csv, "--score", score, *options) == 0
        first, second = (json.loads(line) for line in (tmp_path / "s.jsonl").read_text().splitlines())
        assert (first["child"], first["parents"]) == ("v2", ["v0", "v1"])
        assert first["score"] == optbn.score(data, "v2", ["v0", "v1"], score)
        counts = np.bincount(data.columns[0], minlength=data.cardinalities[0]).tolist()
        assert second["structure"].get("counts", second["structure"].get("cells", [{}])[0].get("counts")) == counts
        leaves, waiting = [], [first["structure"]]
        while waiting:
            node = waiting.pop()
            waiting += [node[side] for side in ("left", "right") if side in node] + node.get("cells", [])
            leaves += [node["counts"]] if "counts" in node else []
        assert np.sum(leaves, axis=0).tolist() == np.bincount(data.columns[2], minlength=data.cardinalities[2]).tolist()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--score", "bdue"], "did you mean 'bdeu'"),
        (["--score", "bge"], "column 'v0' is categorical"),
        (["-o", "x.txt"], "cannot write score files of kind 'txt'"),
        (["-o", "none/x.jkl"], "there is no folder"),
        (["--forbid", "v0->v1", "--require", "v0->v1"], "is also forbidden"),
        (["--require", "v0->v1", "--require", "v1->v0"], "form a cycle: v0 -> v1 -> v0"),
        (["--require", "v0-v1"], "is not an arc"),
        (["-D", "two"], "expected a whole number, all, or NAME=NUMBER"),
        (["-D", "v9=1"], "no variable 'v9'"),
        (["--memory", "lots"], "is not a size"),
        (["--memory", "100"], "lower max_parents"),
        (["--score", "bdeu", "--ess", "0"], "expected a finite number above 0"),
        (["--set", "alpha"], "expected NAME=VALUE"),
        (["--score", "bdeu", "--max-splits", "2"], "score 'bdeu' has no setting 'max_splits'; it has: ess"),
        (["--tiers", "none.txt"], "none.txt: no such file"),
        (["--families", "none.txt"], "none.txt: no such file"),
        (["--structures", "s.jsonl"], "--structures needs --families"),
    ],
)
def test_mistakes_are_one_line_and_exit_2(csv, capsys, options, message):
    assert run("score", csv, *options) == 2
    error = capsys.readouterr().err
    assert message in error
    assert len(error.strip().splitlines()) == 1


def test_interrupted(csv, tmp_path, monkeypatch, capsys):
    from optbn.scores import candidates

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(candidates.Candidates, "compute", interrupted)
    assert run("score", csv, "-o", tmp_path / "a.jkl", "--store", tmp_path / "store") == 130
    assert "run the same command to go on with" in capsys.readouterr().err
    assert not (tmp_path / "a.jkl").exists()


def test_help_names_every_score(capsys):
    from optbn.scores import SCORES

    assert run("score", "--help") == 0
    words = capsys.readouterr().out.replace(",", " ").replace(";", " ").replace(".", " ").split()
    assert set(SCORES) <= set(words)


def test_a_cold_start_is_quick(csv):
    """Listing help must not import numba."""
    code = "import sys, optbn.cli; optbn.cli.build_app(); sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_keep_dominated_keeps_every_candidate(csv, tmp_path, capsys):
    """What is required later may need a set that a subset beats."""
    assert (
        run("score", csv, "-D", "2", "-D", "v0=1", "--forbid", "v1->v2", "--keep-dominated", "-o", tmp_path / "a.jkl")
        == 0
    )
    assert "families scored" in capsys.readouterr().out
    rows = read_rows(tmp_path / "a.jkl")
    pruned = read_rows(tmp_path / "a.jkl").table()
    assert len(rows) == 5 + 11 * 3 + 7
    names = optbn.read(csv).names
    assert pruned == optbn.score_table(
        optbn.read(csv), "pcartp", {"*": 2, names[0]: 1}, forbidden=[(names[1], names[2])]
    )
    assert run("solve", tmp_path / "a.jkl", "--require", f"{names[3]}->{names[4]}", "-o", tmp_path / "s.json") == 0
    assert run("score", csv, "--keep-dominated", "--candidates", "2", "-o", tmp_path / "b.jkl") == 2
    assert "--candidates does not go with --keep-dominated" in capsys.readouterr().err
