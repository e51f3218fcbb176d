"""benchpress' files and its rule, played: data with cardinalities and empty fields, constraints, outputs, time-outs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from optbn.base.errors import DataError, UnsupportedError
from optbn.data.dataset import Categorical, Real
from optbn.evaluate.files import read_graph
from optbn.experiments.benchpress import read_data
from optbn.learning.constraint_files import read_constraints
from optbn.network.catalog import load_network

MODULE = Path(__file__).parents[2] / "docs" / "benchpress" / "optbn"


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_categorical_data_has_its_numbers_of_levels_in_the_second_line(tmp_path):
    data = read_data(write(tmp_path / "d.csv", "a,b,c\n2,3,2\n1,2,0\n0,1,1\n"))
    assert data.n_rows == 2 and data.domains[1] == Categorical(("0", "1", "2"))
    assert data.columns[1].tolist() == [2, 1]
    data = read_data(write(tmp_path / "d.csv", "a,b\n2,3\n1,\n0,1\n1,2\n"), missing="drop")
    assert data.n_rows == 2 and data.columns[1].tolist() == [1, 2]
    with pytest.raises(DataError, match="missing"):
        read_data(tmp_path / "d.csv")


def test_continuous_data_have_rows_at_once(tmp_path):
    path = write(tmp_path / "d.csv", "a,b\n0.2,2\n3.2,1\n1.5,3\n")
    data = read_data(path)
    assert data.n_rows == 3 and all(isinstance(domain, Real) for domain in data.domains)
    assert data.columns[1].tolist() == [2.0, 1.0, 3.0]
    counts = write(tmp_path / "n.csv", "a,b\n5,6\n1,2\n3,4\n")  # could be either
    assert isinstance(read_data(counts).domains[0], Categorical)
    assert isinstance(read_data(counts, discrete=False).domains[0], Real)
    with pytest.raises(DataError, match="numbers of levels, and these are not"):
        read_data(path, discrete=True)


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("a,b,c,a\n0.2,2.3,5.3,0\n5.2,0.1,1.5,1\n", UnsupportedError, "interventions on a .*cannot be scored yet"),
        ("a,a,b\n1,2,3\n", DataError, "stands over two columns"),
        ("a,b\n1,2\n3\n", DataError, "row 3: 1 fields"),
        ("a,b\n", DataError, "rows below"),
        ("a,b\n0.5,x\n", DataError, "column 'b'"),
    ],
)
def test_other_data_is_refused_by_name(text, error, message, tmp_path):
    with pytest.raises(error, match=message):
        read_data(write(tmp_path / "d.csv", text))


def test_constraints(tmp_path):
    record = {
        "forbidden_edges": [["a", "b"], ["a", "zz"]],
        "required_edges": [["c", "d"]],
        "forbidden_groups": [{"cause": ["e"], "effect": ["a", "b"]}],
        "required_groups": [{"cause": ["a"], "effect": ["e"]}],
        "tiers": [["a"], ["b", "c"], ["d", "zz"]],
        "tier_settings": {"forbid_within_tiers": True, "can_only_cause_next_tier": True},
        "source_nodes": ["a"],
    }
    rules = read_constraints(write(tmp_path / "c.json", json.dumps(record)), tuple("abcde"))
    assert rules.required == (("a", "e"), ("c", "d")) and rules.roots == ("a",)
    backwards = {("b", "a"), ("c", "a"), ("d", "a"), ("d", "b"), ("d", "c")}
    assert set(rules.forbidden) == {("a", "b"), ("e", "a"), ("e", "b"), ("b", "c"), ("c", "b"), ("a", "d")} | backwards
    record = {"context_all": ["a"], "context_tier": ["c"], "tiers": [["b"], ["c", "d"]], "tier_settings": None}
    rules = read_constraints(write(tmp_path / "c.json", json.dumps(record)), tuple("abcd"))
    assert rules.required == (("a", "b"), ("a", "d"), ("c", "d"))
    for bad, words in (('{"tier": []}', "found"), ("[", "Expecting"), ('{"tiers": 3}', "not in the form")):
        with pytest.raises(DataError, match=words):
            read_constraints(write(tmp_path / "c.json", bad), ("a",))


def sample(path: Path, rows: int) -> None:
    """asia as benchpress writes it."""
    data = load_network("asia").sample(rows, 1)
    codes = np.column_stack([np.asarray(column) for column in data.columns])
    lines = [",".join(data.names), ",".join(["2"] * 8), *(",".join(map(str, row)) for row in codes.tolist())]
    path.write_text("\n".join(lines) + "\n")


class Snakemake:
    """What Snakemake gives a script; every setting is text."""

    def __init__(self, folder: Path, settings: dict) -> None:
        self.input = {"data": str(folder / "data.csv")}
        self.output = {name: str(folder / name) for name in ("adjmat", "time", "ntests")}
        self.wildcards = {name: str(value) for name, value in settings.items()}


def play(folder: Path, monkeypatch, **settings) -> tuple[str, float, str]:
    """The module's rule once: adjmat, time and ntests."""
    entry = {**json.loads((MODULE / "schema.json").read_text())["items"]["examples"][0], "score": "bdeu:1", **settings}
    monkeypatch.chdir(folder)
    exec((MODULE / "script.py").read_text(), {"snakemake": Snakemake(folder, entry)})
    return (folder / "adjmat").read_text(), float((folder / "time").read_text()), (folder / "ntests").read_text()


def test_the_rule_writes_the_outputs_also_when_the_time_is_up(tmp_path, monkeypatch):
    sample(tmp_path / "data.csv", 400)
    (tmp_path / "resources" / "constraints").mkdir(parents=True)
    (tmp_path / "resources" / "constraints" / "c.json").write_text('{"required_edges": [["dysp", "xray"]]}')
    matrix, seconds, tests = play(tmp_path, monkeypatch, edgeConstraints="c.json", cpdag=True)
    names, *rows = matrix.splitlines()
    assert names == ",".join(load_network("asia").names) and len(rows) == 8 and tests == "None\n" and 0 < seconds < 600
    assert set("".join(rows)) == {"0", "1", ","}
    (tmp_path / "g.csv").write_text(matrix)
    graph = read_graph(tmp_path / "g.csv")
    at = graph.names.index
    assert graph.kind in ("CPDAG", "DAG") and graph.matrix[at("dysp"), at("xray")]
    matrix, seconds, tests = play(tmp_path, monkeypatch, timeout=0.1)  # no time to begin
    assert matrix == "" and tests == "None\n" and 0.1 <= seconds < 60


def test_a_mistake_is_one_line_and_no_output(tmp_path):
    (tmp_path / "d.csv").write_text("a,b,a\n1.5,2.5,0\n2.5,3.5,1\n")
    for more in ((), ("--timeout", "60")):
        command = [
            sys.executable,
            "-m",
            "optbn",
            "benchpress",
            str(tmp_path / "d.csv"),
            "-o",
            str(tmp_path / "o"),
            *more,
        ]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 2 and "interventions on a" in done.stderr and done.stderr.count("\n") == 1
        assert not (tmp_path / "o").exists()


def test_the_module_folder_is_whole():
    files = {path.name for path in MODULE.iterdir()}
    assert files == {"rule.smk", "script.py", "schema.json", "info.json", "docs.rst", "bibtex.bib"}
    schema = json.loads((MODULE / "schema.json").read_text())["items"]
    script = (MODULE / "script.py").read_text()
    for name in set(schema["properties"]) - {"id"}:
        assert f'settings["{name}"]' in script
    assert all(set(example) == set(schema["required"]) for example in schema["examples"])
    json.loads((MODULE / "info.json").read_text())
