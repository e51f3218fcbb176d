"""Resamples by hand, their shares, resuming, and the graph that agrees best."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest

import optbn
from optbn.base.errors import DataError, OptbnError
from optbn.cli import main
from optbn.learning.bootstrap import Bootstrap, wilson
from optbn.learning.resampling import Resampling


@pytest.fixture(scope="module")
def data():
    return optbn.load_network("asia").sample(200, 3)


def test_each_resample_is_the_optimum_of_its_rows(data):
    found = optbn.bootstrap(data, "bdeu", 2, 4, seed=7)
    assert found.proved.all() and len(found) == 4
    for b in range(4):
        generator = np.random.default_rng(np.random.SeedSequence(7, spawn_key=(b,)))
        rows = data.take(generator.choice(data.n_rows, data.n_rows))
        assert found.scores[b] == pytest.approx(optbn.solve(optbn.score_table(rows, "bdeu", 2)).score, abs=1e-9)


def test_shares_are_counts_over_the_graphs(data):
    found = optbn.bootstrap(data, "bdeu", 2, 6)
    row = found.rows()[0]
    u, v = (found.names.index(row[end]) for end in ("from", "to"))
    both = found.graphs[:, u, v] | found.graphs[:, v, u]
    assert row["adjacent"] == both.mean() and row["low"] <= row["adjacent"] <= row["high"]
    for row in found.rows():
        assert row["forward"] + row["backward"] + row["undirected"] == pytest.approx(row["adjacent"])
    for (a, child, b), share in found.v_structures().items():
        i, j, k = (found.names.index(name) for name in (a, child, b))
        hits = found.graphs[:, i, j] & found.graphs[:, k, j] & ~found.graphs[:, i, k] & ~found.graphs[:, k, i]
        assert share == hits.mean() > 0


def test_a_stopped_run_goes_on_and_ends_the_same(data, tmp_path):
    store = tmp_path / "kept.jsonl"
    optbn.bootstrap(data, "bdeu", 2, 3, seed=1, store=store)
    text = store.read_text()
    store.write_text(text + '{"number": 3, "par')  # killed while writing
    again = optbn.bootstrap(data, "bdeu", 2, 5, seed=1, store=store)
    whole = optbn.bootstrap(data, "bdeu", 2, 5, seed=1)
    assert (again.graphs == whole.graphs).all() and (again.scores == whole.scores).all()
    assert store.read_text().startswith(text) and len(store.read_text().splitlines()) == 6
    with pytest.raises(DataError, match="seed differs"):
        optbn.bootstrap(data, "bdeu", 2, 5, seed=2, store=store)
    store.write_text("no resamples\n")
    with pytest.raises(DataError, match="does not keep resamples"):
        optbn.bootstrap(data, "bdeu", 2, 5, seed=2, store=store)


def test_the_consensus_agrees_best_among_all_graphs():
    generator = np.random.default_rng(4)
    order = [generator.permutation(4) for _ in range(9)]
    graphs = np.zeros((9, 4, 4), dtype=np.bool_)
    for b, permutation in enumerate(order):
        for i, j in itertools.combinations(range(4), 2):
            graphs[b, permutation[i], permutation[j]] = generator.random() < 0.6
    found = Bootstrap(("a", "b", "c", "d"), graphs, np.ones(9, dtype=np.bool_), np.zeros(9))
    worth = 2 * found.adjacent - 1 + found.directed - found.directed.T

    def value(arcs):
        return sum(worth[u, v] for u, v in arcs)

    pairs = list(itertools.combinations(range(4), 2))
    best = -np.inf
    for states in itertools.product((0, 1, 2), repeat=6):
        arcs = [(u, v) if s == 1 else (v, u) for (u, v), s in zip(pairs, states, strict=True) if s]
        left = set(range(4))
        while free := {v for v in left if not any(w == v and u in left for u, w in arcs)}:
            left -= free
        if not left:
            best = max(best, value(arcs))
    place = {name: i for i, name in enumerate("abcd")}
    assert value([(place[u], place[v]) for u, v in found.consensus().arcs]) == pytest.approx(best)


@pytest.mark.parametrize(
    "how",
    [Resampling("blocks", block=10), Resampling("subsample", fraction=0.3), Resampling(stratify="smoke")],
)
def test_ways_to_draw(data, how):
    rows = how.draw(data, np.random.default_rng(0))
    if how.kind == "blocks":
        assert len(rows) == data.n_rows and (np.diff(rows.reshape(-1, 10)) == 1).all()
    elif how.kind == "subsample":
        assert len(rows) == 60 == len(set(rows.tolist()))
    else:
        assert (np.bincount(data.column("smoke")[rows]) == np.bincount(data.column("smoke"))).all()


def test_wilson():
    assert wilson(0.0, 10)[0] == 0.0 and wilson(1.0, 10)[1] == pytest.approx(1.0)
    assert wilson(0.5, 100) == pytest.approx((0.4038, 0.5962), abs=1e-4)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda d: optbn.bootstrap(d, "bdeu", 2, 0), "at least 1"),
        (lambda d: optbn.bootstrap(d, "bdeu", 2, 3, seed=-1), "seed"),
        (lambda d: Resampling("jackknife"), "there are: rows, blocks, subsample"),
        (lambda d: Resampling("blocks"), "block=10"),
        (lambda d: Resampling("subsample", fraction=0.0), "above 0"),
        (lambda d: Resampling(stratify="age").draw(d, np.random.default_rng(0)), "age"),
    ],
)
def test_what_cannot_be_is_refused(data, call, message):
    with pytest.raises(OptbnError, match=message):
        call(data)


def test_the_command_line(data, tmp_path, capsys):
    optbn.write(data, tmp_path / "asia.csv")
    for extra in (["--json"], ["--kind", "blocks", "--block", "20"]):
        with pytest.raises(SystemExit) as ended:
            main(["bootstrap", str(tmp_path / "asia.csv"), "-B", "3", "--score", "bdeu", "-D", "2", *extra])
        assert ended.value.code == 0
    first, _, rest = capsys.readouterr().out.partition("\n")
    assert json.loads(first)["proved"] == 3
    assert "3 resamples, 3 of their best networks proved." in rest


def test_bayesian_resamples_weigh_all_rows(data):
    how = Resampling("bayesian", stratify="smoke")
    weighted = how.resample(data, np.random.default_rng(1))
    assert weighted.n_rows == data.n_rows and weighted.total_weight == pytest.approx(data.n_rows, abs=1e-3)
    codes, values = data.column("smoke"), weighted.weights.values
    assert np.bincount(codes, values) == pytest.approx(np.bincount(codes), abs=1e-3)
    found = optbn.bootstrap(data, "bdeu", 2, 3, seed=7, resampling=Resampling("bayesian"))
    generator = np.random.default_rng(np.random.SeedSequence(7, spawn_key=(1,)))
    rows = data.weighted(200 * generator.dirichlet(np.ones(200)))
    assert found.scores[1] == pytest.approx(optbn.solve(optbn.score_table(rows, "bdeu", 2)).score, abs=1e-9)


def test_resamples_of_more_variables_are_optima_too():
    data = optbn.load_network("child").sample(150, 2)
    found = optbn.bootstrap(data, "bdeu", 2, 5, seed=3)
    assert found.proved.all()
    for b in range(5):
        generator = np.random.default_rng(np.random.SeedSequence(3, spawn_key=(b,)))
        rows = data.take(generator.choice(data.n_rows, data.n_rows))
        assert found.scores[b] == pytest.approx(optbn.solve(optbn.score_table(rows, "bdeu", 2), "ilp").score, abs=1e-8)
