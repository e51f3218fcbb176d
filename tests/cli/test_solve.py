"""`optbn solve` and `optbn verify` as a user meets them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import optbn
from optbn.cli import main
from optbn_solvers.base.files import write_table
from optbn_solvers.base.table import ScoreTable
from tests.naive.solvers import optimum_by_subsets, random_table
from tests.processes import interruptible


@pytest.fixture
def scores(tmp_path):
    """A score file and its table."""
    table = random_table(np.random.default_rng(1), 8, "dense")
    write_table(table, tmp_path / "scores.parquet")
    return str(tmp_path / "scores.parquet"), table


@pytest.fixture
def run(capsys):
    def call(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as stop:
            main(list(arguments))
        captured = capsys.readouterr()
        return int(stop.value.code or 0), captured.out, captured.err

    return call


def test_solve_then_verify(scores, run, tmp_path):
    file, table = scores
    answer = str(tmp_path / "solution.json")
    code, out, err = run("solve", file, "-o", answer)
    assert (code, err) == (0, "") and out.startswith("score ") and "optimal" in out
    fields = json.loads((tmp_path / "solution.json").read_text())
    assert fields["status"] == "optimal"
    assert fields["score"] == table.score_of(optimum_by_subsets(table))
    code, out, err = run("verify", file, answer)
    assert code == 0 and "proved   the graph is acyclic" in out
    code, out, _ = run("verify", file, answer, "--time-limit", "0")
    assert code == 3 and "claimed  the bound" in out and "not checked, no time left" in out
    code, out, _ = run("verify", file, answer, "--json")
    assert json.loads(out)["score"] == fields["score"]


def test_the_answer_goes_to_stdout_and_words_to_stderr(scores, run):
    file, table = scores
    code, out, err = run("solve", file)
    assert code == 0 and json.loads(out)["variables"] == list(table.names) and "optimal" in err


def test_formats(scores, run):
    file, _ = scores
    _, out, _ = run("solve", file, "--format", "adjacency")
    graph = {line.split(":")[0]: line.split(":")[1].replace(",", " ").split() for line in out.splitlines()}
    fields = json.loads(run("solve", file)[1])
    assert graph == fields["parents"]
    _, out, _ = run("solve", file, "--format", "dot")
    assert out.startswith("digraph {") and out.count("->") == sum(map(len, graph.values()))
    _, out, _ = run("solve", file, "--format", "cpdag")
    assert out.count("->") == sum(map(len, graph.values()))
    code, _, err = run("solve", file, "--format", "dto")
    assert code == 2 and "did you mean 'dot'" in err


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.update(score=d["score"] + 1, status="feasible", bound=None), "the families add up to"),
        (lambda d: d["parents"].update(v0=["v1"], v1=["v0"]), ""),
        (lambda d: d.update(table="0" * 64), "another score table"),
        (lambda d: d.update(evidence=None), "comes with no evidence|sum of the best scores"),
        (lambda d: d.update(evidence={"kind": "rows", "stages": []}), "lower than its evidence gives"),
        (lambda d: d.pop("score"), "not a solution file"),
    ],
)
def test_verify_says_what_is_false(scores, run, tmp_path, change, message):
    file, _ = scores
    fields = json.loads(run("solve", file)[1])
    change(fields)
    (tmp_path / "changed.json").write_text(json.dumps(fields))
    code, out, err = run("verify", file, str(tmp_path / "changed.json"))
    assert code == 4 and out == "" and err.startswith("optbn: ") and err.count("\n") == 1
    import re

    assert re.search(message, err)


def test_stopping_without_proof_is_exit_code_3(scores, run):
    file, _ = scores
    code, out, err = run("solve", file, "--solver", "greedy", "--time-limit", "0.05")
    assert code == 3 and json.loads(out)["status"] == "feasible" and "not proved" in err
    code, _, _ = run("solve", file, "--solver", "greedy", "--time-limit", "0.05", "--gap", "1e9")
    assert code == 0


def test_starting_from_an_earlier_answer(scores, run, tmp_path):
    file, _ = scores
    answer = str(tmp_path / "s.json")
    run("solve", file, "-o", answer)
    code, out, _ = run("solve", file, "--time-limit", "0", "--start", answer)
    assert code in (0, 3) and json.loads(out)["score"] == json.loads((tmp_path / "s.json").read_text())["score"]


def test_a_proof_in_a_file(scores, run, tmp_path):
    file, _ = scores
    proof, answer = tmp_path / "x.proof", str(tmp_path / "s.json")
    code, out, _ = run("solve", file, "--proof", str(proof), "-o", answer)
    assert code == 0 and "the proof checked" in out
    code, out, _ = run("verify", file, answer)
    assert code == 0 and "the graph is optimal" in out
    moved = proof.rename(tmp_path / "moved.proof")
    code, _, err = run("verify", file, answer)
    assert code == 2 and "is not beside it" in err
    code, out, _ = run("verify", file, answer, "--proof", str(moved))
    assert code == 0 and "the graph is optimal" in out
    moved.write_bytes(moved.read_bytes() + b" ")
    code, _, err = run("verify", file, answer, "--proof", str(moved))
    assert code == 4 and "digest differs" in err
    run("solve", file, "-o", answer, "--solver", "dp")
    code, _, err = run("verify", file, answer, "--proof", str(moved))
    assert code == 2 and "is not a proof file" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--solver", "gredy"], "no solver 'gredy' (did you mean 'greedy'?); there are: astar, auto, "),
        (["--set", "speed=3"], "has no setting 'speed'"),
        (["--set", "speed"], "expected NAME=VALUE"),
        (["-o", "no/such/folder/x.json"], "no/such/folder/x.json: there is no folder no/such/folder"),
        (["--memory", "lots"], "lots"),
    ],
)
def test_wrong_usage_is_one_line(scores, run, arguments, message):
    code, out, err = run("solve", scores[0], *arguments)
    assert code == 2 and out == "" and message in err and err.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("2\na 1\n-1 0\nb 1\n-1 1 c\n", "c"),
        ("2\na 1\nnan 0\nb 1\n-1 0\n", "nan"),
        ("2\na 1\n-inf 0\nb 1\n-1 0\n", "inf"),
        ("2\na 1\n-1 1 b\nb 1\n-1 1 a\n", "'a', 'b'"),
        ("2\na 2\n-1 0\n-2 0\nb 1\n-1 0\n", "two different scores"),
        ("2\na 1\n-1 0\n", ""),
        ("hello\n", ""),
    ],
)
def test_bad_score_files_are_one_line(run, tmp_path, text, message):
    (tmp_path / "bad.jkl").write_text(text)
    code, out, err = run("solve", str(tmp_path / "bad.jkl"))
    assert code == 2 and out == "" and err.startswith("optbn: ") and err.count("\n") == 1
    assert message.lower() in err.lower() and "bug" not in err


def test_a_missing_empty_set_and_a_line_twice_are_fine(run, tmp_path):
    (tmp_path / "odd.jkl").write_text("2\na 2\n-1 1 b\n-1 1 b\nb 1\n-2 0\n")
    code, out, _ = run("solve", str(tmp_path / "odd.jkl"))
    assert code == 0 and json.loads(out)["parents"] == {"a": ["b"], "b": []}


def test_from_python(scores):
    file, table = scores
    solution = optbn.solve(file)
    assert solution.score == optbn.solve(table, "dp").score
    structure = optbn.structure_of(table, solution)
    assert structure.names == table.names and structure.n_arcs > 0
    again = optbn.solve(table, time_limit=0, start=structure)
    assert again.score == solution.score
    seen = []
    optbn.solve(table, "greedy", seconds=0.05, progress=seen.append)
    assert seen


@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT")
def test_ctrl_c_gives_an_answer(tmp_path, run):
    """A large table, interrupted: the best graph comes out within seconds, with exit code 3."""
    table = random_table(np.random.default_rng(2), 60, "dense", rows=60)
    write_table(table, tmp_path / "large.jkl")
    command = ["solve", str(tmp_path / "large.jkl"), "--solver", "greedy", "--time-limit"]
    run(*command, "0.1")  # so that everything is compiled before the clock below starts
    program = [sys.executable, "-m", "optbn", *command, "300"]
    with interruptible(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        time.sleep(6)
        process.send_signal(signal.SIGINT)
        begun = time.monotonic()
        out, err = process.communicate(timeout=60)
        assert process.returncode == 3, err
        assert time.monotonic() - begun < 5
    fields = json.loads(out)
    assert fields["status"] == "feasible" and set(fields["parents"]) == set(table.names)


def test_help_has_examples(run):
    for verb in ("solve", "verify"):
        code, out, _ = run(verb, "--help")
        assert code == 0 and f"optbn {verb} scores.jkl" in " ".join(out.split())


def test_tables_of_one_variable(run, tmp_path):
    write_table(ScoreTable.from_dict({"only": {(): -1.5}}), tmp_path / "one.jkl")
    code, out, _ = run("solve", str(tmp_path / "one.jkl"))
    assert code == 0 and json.loads(out)["score"] == -1.5


def test_constraints_are_asked_obeyed_and_verified(scores, run, tmp_path):
    file, _ = scores
    answer = str(tmp_path / "solution.json")
    asked = ["--forbid", "v1->v0", "--forbid-edge", "v2,v3", "--order", "v4,v5", "--no-ancestor", "v6->v7"]
    asked += ["--max-children", "3", "--max-children", "v0=1", "--max-arcs", "6", "--independent", "v0:v1|v2"]
    code, out, err = run("solve", file, "-o", answer, *asked)
    assert (code, err) == (0, "") and "proved" in out
    fields = json.loads((tmp_path / "solution.json").read_text())
    assert fields["constraints"]["max_children"] == {"*": 3, "v0": 1}
    arcs = {(u, v) for v, parents in fields["parents"].items() for u in parents}
    assert len(arcs) <= 6 and not arcs & {("v1", "v0"), ("v2", "v3"), ("v3", "v2"), ("v5", "v4")}
    code, out, _ = run("verify", file, answer)
    assert code == 0 and "claimed" not in out and "it obeys the constraints (forbidden, forbidden_edges, order" in out
    fields["constraints"]["max_arcs"] = 0
    (tmp_path / "solution.json").write_text(json.dumps(fields))
    code, _, err = run("verify", file, answer)
    assert code == 4 and "more than 0 arcs" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--require", "v0->x"], "'x', which is not a variable"),
        (["--independent", "v0"], "expected something like 'A:B'"),
        (["--max-children", "v0"], "expected a whole number"),
        (["--require-edge", "v0"], "not a pair"),
        (["--ancestor", "v0->v1", "--max-arcs", "0", "--only-listed"], "no acyclic graph of the table obeys"),
        (["--k-best", "3", "--proof", "x"], "--proof does not go with --k-best"),
        (["--k-best", "3", "--gap", "5"], "--gap does not go with --k-best"),
        (["--within", "3", "--start", "x"], "--start does not go with --within"),
        (["--per-class", "--checkpoint", "x"], "--checkpoint does not go with --per-class"),
        (["--k-best", "3", "--set", "seed=1"], "--set does not go with --k-best"),
        (["--k-best", "3", "--certify"], "--certify does not go with --k-best"),
        (["--k-best", "3", "--format", "dot"], "--format dot does not go with --k-best"),
        (["--k-best", "3"], "the best graphs after the best need all parent sets"),
        (["--within", "3"], "say with --only-listed"),
        (["--ancestor", "v0->v1"], "Score the data again with optbn score --keep-dominated"),
        (["--k-best", "3", "--cpu-limit", "0", "--only-listed"], "the 3 best graphs: stopped"),
    ],
)
def test_impossible_wishes_are_one_line(scores, run, arguments, message):
    code, out, err = run("solve", scores[0], *arguments)
    assert code == 2 and out == "" and message in err and len(err.splitlines()) == 1


def test_more_than_one_answer(scores, run):
    file, table = scores
    code, out, err = run("solve", file, "--k-best", "4", "--only-listed")
    found = json.loads(out)
    assert code == 0 and found["count"] == 4 and "possible arcs: " in err
    assert found["graphs"][0]["score"] == table.score_of(optimum_by_subsets(table))
    assert 0 < found["mass"] < 1 and found["probabilities_over"] == "all graphs of the listed parent sets"
    code, out, _ = run("solve", file, "--per-class", "--within", "20", "--forbid", "v1->v0", "--only-listed")
    found = json.loads(out)
    assert code == 0 and found["per_class"] and found["mass"] is None and found["constraints"]
    assert all("v1" not in graph["parents"]["v0"] for graph in found["graphs"])
    code, out, _ = run("solve", file, "--k-best", "2", "--format", "adjacency", "--only-listed")
    assert code == 0 and out.count("# -") == 2 and len(out.split("\n\n")) == 2


@pytest.mark.parametrize("kind", ["parquet", "jkl"])
def test_several_graphs_are_verified(scores, run, tmp_path, kind):
    file, answer, changed = str(tmp_path / f"s.{kind}"), tmp_path / "graphs.json", tmp_path / "changed.json"
    write_table(scores[1], file)
    for arguments in (["--k-best", "4"], ["--per-class", "--within", "20", "--forbid", "v1->v0"]):
        assert run("solve", file, *arguments, "--only-listed", "-o", str(answer))[0] == 0
        code, out, err = run("verify", file, str(answer))
        assert (code, err) == (0, "") and out.count("proved   ") == 3 + (kind == "jkl") and "claimed" not in out
        code, out, _ = run("verify", file, str(answer), "--time-limit", "0")
        assert code == 3 and "claimed  " in out
        code, out, _ = run("verify", file, str(answer), "--json")
        assert code == 0 and json.loads(out)["complete"]
        fields = json.loads(answer.read_text())
        for change, words in (
            ({"graphs": fields["graphs"][1:], "arcs": []}, "of the graphs"),
            ({"graphs": fields["graphs"][::-1]}, "order"),
            ({"graphs": [{"score": 0.0}]}, "not a file of graphs"),
            ({"graphs": []}, "lists no graphs"),
            ({"arcs": [{"parent": "x", "child": "v0", "share": 0.5}]}, "'x', which is not a variable"),
            ({"table": "0"}, "another score table"),
            ({"variables": ["v0"]}, "other variables"),
            ({"constraints": {"forbidden": [["v0", "x"]]}}, "'x', which is not a variable"),
        ):
            changed.write_text(json.dumps(fields | change))
            code, out, err = run("verify", file, str(changed))
            assert code == 4 and words in err and "changed.json" in err and len(err.splitlines()) == 1
        code, _, err = run("verify", file, str(answer), "--proof", "x.proof")
        assert code == 2 and "several graphs, which have no proof file" in err


def test_a_certified_answer(scores, run, tmp_path):
    file, _ = scores
    answer, proof = str(tmp_path / "a.json"), str(tmp_path / "a.proof")
    code, out, _ = run("solve", file, "--proof", proof, "--certify", "-o", answer)
    assert code == 0 and "the proof checked" in out
    assert json.loads((tmp_path / "a.json").read_text())["evidence"]["kind"] == "proof"
    code, out, _ = run("verify", file, answer, "--proof", proof)
    assert code == 0 and "proved   the graph is optimal" in out


def test_a_proof_that_others_check(run, tmp_path):
    from tests.naive.pseudoboolean import Checker

    table = random_table(np.random.default_rng(4), 6, "dense", rows=9)
    file, answer, proof = (str(tmp_path / name) for name in ("scores.jkl", "a.json", "a.pbp"))
    write_table(table, file)
    best = int(table.units[table.offsets[:-1]].sum())
    code, out, _ = run("solve", file, "--proof", proof, "-o", answer)
    assert code == 0 and "the proof checked" in out
    lost = best - optimum_by_subsets(table)
    assert Checker((tmp_path / "a.opb").read_text()).check((tmp_path / "a.pbp").read_text()) == lost
    code, out, _ = run("export-proof", file, answer, "-o", str(tmp_path / "b.pbp"))
    assert code == 0 and "b.opb" in out
    assert (tmp_path / "b.pbp").read_text() == (tmp_path / "a.pbp").read_text()
    code, _, _ = run("solve", file, "--forbid", "v0->v1", "--solver", "ilp", "-o", answer)
    assert code == 0
    code, _, err = run("export-proof", file, answer, "-o", str(tmp_path / "c.pbp"))
    assert code == 0, err
    assert Checker((tmp_path / "c.opb").read_text()).check((tmp_path / "c.pbp").read_text()) >= lost
    run("solve", file, "--max-arcs", "3", "--solver", "dp", "-o", answer)
    code, _, err = run("export-proof", file, answer, "-o", str(tmp_path / "d.pbp"))
    assert code != 0 and "only rows and trees can be exported" in err and not (tmp_path / "d.pbp").exists()
