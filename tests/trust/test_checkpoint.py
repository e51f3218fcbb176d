"""`--checkpoint`: written whole, resumed from, refused when it belongs elsewhere, never believed without a check."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import optbn
from optbn.base.errors import DataError, UnsupportedError
from optbn.learning import checkpoint
from optbn.learning.checkpoint import Checkpoint
from optbn_solvers import SOLVERS, Progress, ScoreTable
from optbn_solvers.base.errors import CheckFailed
from optbn_solvers.base.protocol import capabilities
from optbn_solvers.base.solution import Exhausted, Status
from optbn_solvers.base.solution_json import from_json, to_json
from optbn_solvers.front.checked import bound_of_proof
from optbn_solvers.front.registry import solver_class
from optbn_solvers.verify import verify
from tests.naive import phase1 as naive

ABLE = {name: capabilities(solver_class(name)) for name in SOLVERS}
VARIABLES = 9


@pytest.fixture(scope="module")
def table():
    return optbn.score_table(naive.random_categorical(np.random.default_rng(3), VARIABLES, 200), "bdeu", 3, jobs=1)


@pytest.mark.parametrize("solver", [name for name in SOLVERS if ABLE[name].largest >= VARIABLES])
def test_reports_carry_the_graph_that_they_speak_of(table, solver):
    events: list[Progress] = []
    solution = optbn.solve(table, solver, progress=events.append, cpu_limit=3)
    told = [event for event in events if event.choice is not None]
    assert told or solver == "auto"
    for event in told:
        assert table.total(event.choice) == event.score <= solution.bound
    assert not told or max(event.score for event in told) <= solution.score


def test_a_state_is_a_solution_file(table, tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint, "EVERY", 0.0)
    states = []
    write = Checkpoint.write
    monkeypatch.setattr(Checkpoint, "write", lambda self, s: (write(self, s), states.append(self.path.read_bytes())))
    best = optbn.solve(table, "ilp", checkpoint=tmp_path / "c.json")
    assert len(states) >= 2
    for state in states[:-1]:
        solution = from_json(table, state)
        assert solution.status is Status.FEASIBLE and solution.bound >= best.score >= solution.score
        verify(table, solution)
    assert from_json(table, states[-1]).status is Status.OPTIMAL
    assert [path.name for path in tmp_path.iterdir()] == ["c.json"]


def test_a_run_goes_on_from_a_state(table, tmp_path):
    path = tmp_path / "c.json"
    best = optbn.solve(table, "ilp")
    kept = Checkpoint.at(table, path)
    kept.listen(Progress(best.score, best.score + 5.0, 0, 0.0, choice=best.choice))
    stopped = optbn.solve(table, "greedy", cpu_limit=0, checkpoint=path)
    assert stopped.score == best.score
    assert stopped.statistics["earlier"] == {"score": best.score, "bound": best.score + 5.0}
    assert from_json(table, path.read_bytes()).bound == min(best.score + 5.0, stopped.bound)
    done = optbn.solve(table, "ilp", checkpoint=path)
    assert done.score == done.bound == best.score
    again = optbn.solve(table, "greedy", checkpoint=path)  # only checks
    assert again.solver == "ilp" and again.status is Status.OPTIMAL


def test_a_worse_end_keeps_the_better_state(table, tmp_path):
    path = tmp_path / "c.json"
    best = optbn.solve(table, "ilp")
    Checkpoint.at(table, path).listen(Progress(best.score, best.score, 0, 0.0, choice=best.choice))
    kept = Checkpoint.at(table, path)
    kept.finish(optbn.solve(table, "greedy", cpu_limit=0.01))
    assert from_json(table, path.read_bytes()).score == best.score


@pytest.mark.parametrize("solver", [name for name in SOLVERS if ABLE[name].exact])
def test_under_constraints(solver, tmp_path, monkeypatch):
    """States obey them, and belong to them."""
    monkeypatch.setattr(checkpoint, "EVERY", 0.0)
    rng = np.random.default_rng(5)
    families = {}
    for child in "abcdef":
        others = [u for u in "abcdef" if u != child]
        sets = [(), *combinations(others, 1), *combinations(others, 2)]
        families[child] = {some: len(some) - rng.random() for some in sets}  # none is dominated
    table = ScoreTable.from_dict(families)
    free = optbn.solve(table, "dp")
    child, parents = next((c, p) for c, p in table.graph(free.choice).items() if p)
    asked = {"forbidden": [(parents[0], child)], "ancestors": [("a", "b")]}
    path, states = tmp_path / "c.json", []
    write = Checkpoint.write
    monkeypatch.setattr(Checkpoint, "write", lambda self, s: (write(self, s), states.append(self.path.read_bytes())))
    best = optbn.solve(table, solver, constraints=asked, checkpoint=path)
    assert best.status == "optimal" and best.score < free.score
    for state in states:
        solution = from_json(table, state)
        assert solution.constraints == best.constraints and solution.bound >= best.score >= solution.score
        verify(table, solution, bound_of_proof)
    path.write_bytes(states[0])
    assert optbn.solve(table, solver, constraints=asked, checkpoint=path).score == best.score
    again = optbn.solve(table, "greedy", constraints=asked, checkpoint=path)  # only checks
    assert again.status == "optimal" and again.score == best.score
    for other in (None, {"forbidden": [(parents[0], child)]}):
        with pytest.raises(DataError, match="belongs to other constraints; use another file"):
            optbn.solve(table, solver, constraints=other, checkpoint=path)


def test_what_is_refused(table, tmp_path):
    path = tmp_path / "c.json"
    optbn.solve(table, "ilp", checkpoint=path)
    other = optbn.score_table(naive.random_categorical(np.random.default_rng(4), 9, 200), "bdeu", 3, jobs=1)
    with pytest.raises(DataError, match="does not fit"):
        optbn.solve(other, "ilp", checkpoint=path)
    with pytest.raises(UnsupportedError, match="there is no folder"):
        optbn.solve(table, "ilp", checkpoint=tmp_path / "none" / "c.json")
    record = json.loads(path.read_text())
    record["parents"] = table.graph([*(int(table.offsets[v + 1]) - 1 for v in range(table.n))])
    record["score"] = record["bound"]
    path.write_text(json.dumps(record))
    with pytest.raises((CheckFailed, DataError)):
        optbn.solve(table, "ilp", checkpoint=path)
    path.write_bytes(b"{")
    with pytest.raises(DataError, match="does not fit"):
        optbn.solve(table, "ilp", checkpoint=path)


def test_the_command_line_keeps_a_state(table, tmp_path, capsys):
    from optbn.cli import main
    from optbn_solvers.base.files import write_table

    write_table(table, tmp_path / "s.parquet")
    for _ in range(2):
        with pytest.raises(SystemExit) as left:
            main(["solve", str(tmp_path / "s.parquet"), "--checkpoint", str(tmp_path / "c"), "-o", str(tmp_path / "o")])
        assert left.value.code == 0
    assert "optimal" in capsys.readouterr().out
    assert Path(tmp_path / "c").exists()


def test_what_a_file_says_of_its_own_check_is_not_believed(table, tmp_path):
    """A forged state: the graph without arcs, by a complete search, checked and proved."""
    path = tmp_path / "c.json"
    optbn.solve(table, "dp", checkpoint=path)
    empty = tuple(int(table.rows(v)[-1]) for v in range(table.n))
    best = from_json(table, path.read_bytes())
    score = table.total(empty)
    told = {"checked": {"proved": ["everything"], "claimed": [], "ended": True, "seconds": 0.0}}
    forged = replace(best, choice=empty, score=score, bound=score, evidence=Exhausted("magic"), statistics=told)
    path.write_bytes(to_json(table, forged))
    with pytest.raises(CheckFailed, match="lower than its evidence gives"):
        optbn.solve(table, "dp", checkpoint=path)


def test_a_path_in_a_state_is_not_followed(table, tmp_path):
    path, proof = tmp_path / "c.json", tmp_path / "p"
    optbn.solve(table, "cp", checkpoint=path, proof=str(proof))
    content = json.loads(path.read_text())
    assert content["evidence"]["kind"] == "proof"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    content["evidence"]["path"] = str(elsewhere / "p")
    proof.replace(elsewhere / "p")
    path.write_text(json.dumps(content))
    with pytest.raises(CheckFailed):
        optbn.solve(table, "cp", checkpoint=path)
    assert optbn.solve(table, "cp", checkpoint=path, proof=str(elsewhere / "p")).status == "optimal"
