"""A score file without the sets that a subset beats is scored again, where its data are at hand."""

from __future__ import annotations

import json

import pytest

import optbn
from optbn.base.errors import DataError, UnsupportedError
from optbn.cli import main
from optbn.learning.again import scored_again
from optbn.learning.solving import near, table_of
from optbn.scores import SCORES, load_score, named
from optbn_solvers.base.errors import TableError
from optbn_solvers.base.files import read_about
from tests.cli.test_score import run


@pytest.fixture(scope="module", params=["jkl", "parquet"])
def files(tmp_path_factory, request):
    """Data, their scores, and all of their scores."""
    folder, kind = tmp_path_factory.mktemp("again"), request.param
    optbn.write(optbn.load_network("asia").sample(200, 1), folder / "asia.csv")
    how = ("score", folder / "asia.csv", "--score", "bdeu", "--set", "ess=5", "-D", 2, "--forbid", "asia->smoke")
    assert run(*how, "-o", folder / f"pruned.{kind}") == 0
    assert run(*how, "--keep-dominated", "-o", folder / "all.jkl") == 0
    return folder / "asia.csv", folder / f"pruned.{kind}", folder / "all.jkl"


def test_a_score_file_names_its_score_and_settings(files):
    about = read_about(files[1])
    assert (about["name"], about["settings"], about["sets"]) == ("bdeu", {"ess": 5.0}, "undominated")
    for name in SCORES:
        found = named(load_score(name))
        assert load_score(found["name"], **json.loads(json.dumps(found["settings"]))) == load_score(name)
    assert named(load_score("bdeu", prior="size")) == {}


def test_the_scores_again_are_all_of_them(files):
    data, pruned, whole = files
    assert scored_again(pruned, data).scores == pytest.approx(table_of(whole, True).scores, abs=0)
    with pytest.raises(TableError, match="--data FILE"):
        near(pruned, 5)
    again, direct = near(pruned, 5, data=data), near(whole, 5)
    assert again.scores == pytest.approx(direct.scores, abs=1e-9)
    path = {"ancestors": [("dysp", "asia")]}
    assert optbn.solve(pruned, constraints=path, data=data).score == pytest.approx(
        optbn.solve(whole, constraints=path).score, abs=1e-9
    )


def test_on_the_command_line(files, tmp_path):
    data, pruned, _ = files
    assert run("solve", pruned, "--within", 3, "-o", tmp_path / "g.json") == 2
    assert run("solve", pruned, "--within", 3, "--data", data, "-o", tmp_path / "g.json") == 0
    assert json.loads((tmp_path / "g.json").read_text())["graphs"]


def test_other_data_and_other_files_are_refused(files, tmp_path):
    _, pruned, _ = files
    other = optbn.load_network("asia").sample(200, 2)
    with pytest.raises(DataError, match="digests differ"):
        near(pruned, 5, data=other)
    table = optbn.score_table(other, "bdeu", 2)
    with pytest.raises(UnsupportedError, match="a score file"):
        optbn.solve(table, data=other)
    (tmp_path / "plain.jkl").write_text("2\na 1\n-3.0 0\nb 2\n-4.0 0\n-3.5 1 a\n")
    with pytest.raises(UnsupportedError, match="does not say by which score"):
        scored_again(tmp_path / "plain.jkl", other)
    with pytest.raises(SystemExit):
        main(["solve", str(pruned), "--data", "missing.csv", "--within", "3"])
