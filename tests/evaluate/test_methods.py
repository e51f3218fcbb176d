"""Methods by one text: ours, functions, programs, other packages; what goes wrong is a row."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

from optbn.base.errors import DataError, UnknownNameError
from optbn.evaluate.distances import compare
from optbn.experiments import curve, intersection, runner
from optbn.experiments.methods import OBJECTIVES, PEERS, Limits, load_method, name_of, objective_of
from optbn.experiments.spec import Experiment
from optbn.experiments.worth import score_of
from optbn.network.catalog import load_network

LIMITS = Limits(3, 60.0)
PROGRAM = """
import csv, sys
with open(sys.argv[1]) as file:
    names = next(csv.reader(file))
if len(sys.argv) > 3:
    sys.exit("no licence")
open(sys.argv[2], "w").write("\\n".join([f"{a} -> {b}" for a, b in zip(names, names[1:])]))
sum(i * i for i in range(2_000_000))
"""
MODULE = """
import networkx as nx
def chain(data):
    return nx.DiGraph(zip(data.names, data.names[1:]))
def limited(data, limits):
    assert limits.max_parents == 3
    return nx.Graph(zip(data.names, data.names[1:]))
"""


@pytest.fixture
def program(tmp_path) -> str:
    (tmp_path / "p.py").write_text(PROGRAM.replace("\\\\n", "\\n"))
    return f"chain={sys.executable} {tmp_path / 'p.py'} {{data}} {{graph}}"


def test_ours_by_score_and_solver():
    data = load_network("cancer").sample(200, 1)
    first, second = load_method("bic")(data, LIMITS), load_method("bic+dp")(data, LIMITS)
    assert first.facts["score"] == second.facts["score"] == pytest.approx(score_of(first.graph, data, "bic"))
    assert second.facts["solver"] == "dp" and second.facts["evidence"] in ("proved", "searched completely")
    with pytest.raises(UnknownNameError, match=r"no method 'bci'.*pgmpy-hc"):
        load_method("bci")
    with pytest.raises(UnknownNameError, match="no solver 'pd'"):
        load_method("bic+pd")


def test_programs_and_functions_give_their_graph(program, tmp_path, monkeypatch):
    (tmp_path / "chains.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    data = load_network("cancer").sample(50, 1)
    found = {text: load_method(text)(data, LIMITS) for text in (program, "chains:chain", "chains:limited")}
    assert found[program].facts["cpu"] > 0.05  # of the program
    assert [each.graph.kind for each in found.values()] == ["DAG", "DAG", "undirected"]
    assert len({compare(each.graph, found[program].graph, sid=False).shd_skeleton for each in found.values()}) == 1
    with pytest.raises(DataError, match=r"ended with 1: no licence"):
        load_method(program + " please")(data, LIMITS)
    with pytest.raises(DataError, match="wrote no graph"):
        load_method(f"x={sys.executable} -c pass {{data}} {{graph}}")(data, LIMITS)
    with pytest.raises(DataError, match=r"has no \{graph\}"):
        load_method("x=ls {data}")
    with pytest.raises(DataError, match="has no attribute 'none'"):
        load_method("chains:none")
    assert name_of(program) == "chain" and objective_of(program) is None and objective_of("bic+dp") == "bic"


def test_rows_of_methods_failures_and_time_limits(program, tmp_path):
    slow = f"slow={sys.executable} -c 'import time; time.sleep(60)' {{data}} {{graph}}"
    grid = {"network": ("cancer",), "rows": (60,), "repeat": (0, 1)}
    fixed = {"max_parents": 2}
    late = Experiment("curve", ({**grid, "repeat": (0,), "method": (slow,)},), fixed, time_limit=3.0)
    assert runner.run(late, tmp_path / "r") == runner.Tally(1, 0, 1, 1)
    methods = ("bic", program, program.replace("chain=", "broken=") + " please")
    experiment = Experiment("curve", ({**grid, "method": methods},), fixed, time_limit=300.0)
    tally = runner.run(experiment, tmp_path / "r")
    assert (tally.done, tally.failed) == (6, 2)
    experiment = Experiment("curve", ({**grid, "method": (*methods, slow)},), fixed)
    by_name = {name_of(row["cell"]["method"]): row for row in runner.rows(experiment, tmp_path / "r")}
    assert [by_name[n]["status"] for n in ("bic", "chain", "broken", "slow")] == ["done", "done", "failed", "timeout"]
    assert by_name["chain"]["result"]["cpu"] > 0 and "seed" in by_name["chain"]["result"]
    text = runner.report(experiment, tmp_path / "r").read_text()
    assert "| rows | bic | chain |" in text and "2 of 2 networks are proved optimal" in text
    cells = [{"data": str(tmp_path / "d.csv"), "part": part, "repeat": 0} for part in (1, 2)]
    from optbn.data.write import write

    write(load_network("cancer").sample(80, 1), tmp_path / "d.csv")
    rows = [
        {"status": "done", "cell": {**cell, "method": m}, "result": intersection.cell(**cell, method=m)}
        for cell in cells
        for m in ("bic", program)
    ]
    assert "| chain | 4 |" in intersection.report(rows, tmp_path) and "lines" not in rows[1]["result"]


def test_a_curve_over_classes_and_graphs_counts_what_there_is():
    rows = [
        {"status": "done", "cell": {"network": "asia", "rows": 50, "repeat": 0, "method": m}, "result": result}
        for m, result in (
            ("bic", {"shd_dag": 3, "shd_cpdag": 2, "arcs": 7, "evidence": "proved", "score_cpu": 1, "solve_cpu": 1}),
            ("pgmpy-pc", {"shd_dag": None, "shd_cpdag": 5, "arcs": 6, "cpu": 0.1}),
        )
    ]
    from pathlib import Path
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        text = curve.report(rows, Path(folder))
    assert "| 50 | 3.0 |  |" in text and "| 50 | 2.0 | 5.0 |" in text


def with_bnlearn() -> bool:
    program = shutil.which("Rscript")
    return (
        program is not None and not subprocess.run([program, "-e", "library(bnlearn)"], capture_output=True).returncode
    )


@pytest.mark.parametrize("peer", sorted(PEERS))
def test_peers_find_what_is_there(peer):
    """cancer's strong half: graphs of 2,000 rows have at most a few wrong edges."""
    package = {"pgmpy": "pgmpy", "pyagrum": "pyagrum", "causallearn": "causallearn"}.get(peer.partition("-")[0])
    if package is None:
        if not with_bnlearn():
            pytest.skip("R with its package bnlearn is not installed")
    else:
        pytest.importorskip(package)
    truth = load_network("asia")
    data = truth.sample(1000, 3)
    found = load_method(peer)(data, Limits(3, 60.0))
    distance = compare(truth, found.graph, sid=False)
    assert distance.skeleton.recall >= 0.4 and found.facts["cpu"] > 0
    if peer in OBJECTIVES:
        best = load_method(OBJECTIVES[peer])(data, Limits(3, 60.0))
        assert best.facts["score"] >= score_of(found.graph, data, OBJECTIVES[peer]) - 1e-6
