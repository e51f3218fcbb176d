"""Rows in which a variable was set do not count for it: scores, parameters, classes, the command line."""

from __future__ import annotations

import numpy as np
import pytest

import optbn
from optbn.base.errors import OptbnError
from optbn.cli import main
from optbn.data.dataset import Categorical, Dataset
from optbn.data.interventions import Interventions, without_targets
from optbn.network.structure import Structure
from optbn.scores import load_score
from optbn.scores.interventional import Interventional
from tests.naive.network import all_dags, interventional_class


def experiment(rows=600, seed=1):
    """a -> b -> c, where b was set at random in the first half of the rows."""
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 2, rows)
    b = np.where(rng.random(rows) < 0.9, a, 1 - a)
    done = np.arange(rows) < rows // 2
    b[done] = rng.integers(0, 2, done.sum())
    c = np.where(rng.random(rows) < 0.85, b, 1 - b)
    binary = Categorical(("0", "1"))
    set_ = Categorical(("none", "b"))
    columns = [column.astype(np.uint8) for column in (a, b, c, done)]
    return Dataset(("a", "b", "c", "set"), (binary, binary, binary, set_), columns)


@pytest.fixture(scope="module")
def split():
    return without_targets(experiment(), "set")


@pytest.mark.parametrize("score", ["bdeu", "pcart", "bic", "ftp"])
def test_each_family_is_scored_on_the_rows_that_count(split, score):
    data, interventions = split
    method = load_score(score)
    found = optbn.score_families(
        data, [("a", ["b"]), ("b", ["a"]), ("b", ()), ("c", ["b"])], Interventional.of(method, interventions)
    )
    rest = data.take(np.flatnonzero(~interventions.rows["b"]))
    assert found.scores[0] == optbn.score(data, "a", ["b"], method)
    assert found.scores[1] == optbn.score(rest, "b", ["a"], method)
    assert found.scores[2] == optbn.score(rest, "b", (), method)
    assert found.scores[3] == optbn.score(data, "c", ["b"], method)


def test_an_experiment_tells_directions_that_observation_cannot():
    learned = optbn.learn(experiment(), score="bdeu", targets="set")
    assert {("a", "b"), ("b", "c")} == set(learned.network.structure.arcs)
    assert all(arc.compelled for arc in learned.report.arcs)
    blind = optbn.learn(experiment().select(["a", "b", "c"]), score="bdeu")
    assert not any(arc.compelled for arc in blind.report.arcs)
    assert any("300 of b" in note for note in learned.report.notes)


def test_parameters_come_from_the_rows_that_count(split):
    data, interventions = split
    learned = optbn.learn(experiment(), score="bdeu", smoother="laplace", targets="set")
    rest = data.take(np.flatnonzero(~interventions.rows["b"]))
    by_hand = optbn.fit(learned.network.structure, rest, "laplace")
    assert np.allclose(learned.network.cpd("b").probabilities, by_hand.cpd("b").probabilities)
    whole = optbn.fit(learned.network.structure, data, "laplace")
    assert np.allclose(learned.network.cpd("c").probabilities, whole.cpd("c").probabilities)


@pytest.mark.parametrize("seed", range(40))
def test_classes_are_those_of_the_definition(seed):
    rng = np.random.default_rng(seed)
    graphs = list(all_dags(4))
    parents = graphs[rng.integers(len(graphs))]
    targets = [frozenset(np.flatnonzero(rng.random(4) < 0.4).tolist()) for _ in range(1 + seed % 3)]
    members = interventional_class(parents, targets)
    shared, all_arcs = set.intersection(*members), set.union(*members)
    names = tuple("abcd")
    found = Structure(names, parents).to_cpdag([[names[v] for v in target] for target in targets])
    assert found.arcs == shared
    assert found.edges == {(u, v) for u, v in all_arcs if u < v and (v, u) in all_arcs}


def test_a_variable_that_was_always_set_has_no_parents(split):
    data, _ = split
    always = Interventions({"b": np.ones(data.n_rows, dtype=np.bool_)})
    table = optbn.score_table(data, Interventional.of(load_score("bdeu"), always), 2)
    assert [table.parents(row) for row in table.rows(1)] == [()] and table.scores[table.offsets[1]] == 0.0


@pytest.mark.parametrize("targets", ["where", {"b": "set", "z": "set"}, {"b": "c"}])
def test_ways_to_name_targets(targets):
    data = experiment()
    if targets == "where":
        with pytest.raises(OptbnError, match="there is no column 'where'"):
            without_targets(data, targets)
    elif "z" in targets:
        with pytest.raises(OptbnError, match=r"neither yes nor no|not a variable"):
            without_targets(data, targets)
    else:
        rest, found = without_targets(data, targets)
        assert rest.names == ("a", "b", "set") and (found.rows["b"] == (data.column("c") == 1)).all()


def test_a_target_that_is_no_variable_is_named():
    data = experiment()
    odd = Dataset(data.names, (*data.domains[:3], Categorical(("", "q"))), data.columns)
    with pytest.raises(OptbnError, match="'q' was set, but it is not a variable"):
        without_targets(odd, "set")


def test_the_command_line(tmp_path, capsys):
    optbn.write(experiment(), tmp_path / "e.csv")
    text = (tmp_path / "e.csv").read_text()
    (tmp_path / "e.csv").write_text(text.replace("none", ""))  # an empty cell: nothing was set
    with pytest.raises(SystemExit) as ended:
        main(["learn", str(tmp_path / "e.csv"), "--score", "bdeu", "--targets", "set", "-o", str(tmp_path / "n.json")])
    assert ended.value.code == 0
    assert set(optbn.read_network(tmp_path / "n.json").structure.arcs) == {("a", "b"), ("b", "c")}
