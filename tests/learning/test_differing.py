"""Arcs that differ between related data sets: against all tuples of graphs, and what a price does."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest

import optbn
from optbn.base.errors import DataError, UnknownNameError, UnsupportedError
from optbn.learning.differing import learn_differing
from optbn.scores import load_score
from tests.naive import phase1 as naive


def related(seed, n=3, rows=60, domains=2):
    rng = np.random.default_rng(seed)
    data = naive.random_categorical(rng, n, rows, levels=2)
    columns = {name: [data.domain(name).levels[c] for c in data.column(name)] for name in data.names}
    return optbn.Dataset.from_arrays(columns | {"town": [f"t{t}" for t in rng.integers(0, domains, rows)]})


def family_scores(data, levels):
    """{level: {(child, parents): score}} by the score's own `block`, one family at a time."""
    names = [name for name in data.names if name != "town"]
    out = {}
    for d, level in enumerate(levels):
        bound = load_score("bdeu").bind(data.select(names).take(data.column("town") == d))
        out[level] = {
            (v, parents): bound.block(np.array([parents], dtype=np.int32), np.arange(len(names))[None] == v)[0, v]
            for v in range(len(names))
            for size in range(len(names))
            for parents in itertools.combinations([u for u in range(len(names)) if u != v], size)
        }
    return out


def acyclic(parents):
    left = set(range(len(parents)))
    while left:
        free = {v for v in left if not set(parents[v]) & left}
        if not free:
            return False
        left -= free
    return True


def best_of_all(scores, n, price, most):
    """The joint optimum over all tuples of graphs whose arcs together have no cycle."""
    choices = [
        [c for size in range(n) for c in itertools.combinations([u for u in range(n) if u != v], size)]
        for v in range(n)
    ]
    graphs = [g for g in itertools.product(*choices) if acyclic(g)]
    best = -np.inf
    for graph_0 in graphs:
        for several in itertools.product(graphs, repeat=len(scores)):
            union = [set(graph_0[v]).union(*(g[v] for g in several)) for v in range(n)]
            if max(map(len, union)) > most or not acyclic(union):
                continue
            value = 0.0
            for of, graph in zip(scores.values(), several, strict=True):
                value += sum(of[v, graph[v]] - price * len(set(graph[v]) ^ set(graph_0[v])) for v in range(n))
            best = max(best, value)
    return best


@pytest.mark.parametrize(("seed", "price", "most"), [(0, 0.0, 2), (1, 0.4, 2), (2, 1.0, 2), (3, 0.2, 1), (4, 3.0, 2)])
def test_the_joint_optimum_against_all_tuples_of_graphs(seed, price, most):
    data = related(seed)
    found = learn_differing(data, "town", price=price, max_parents=most)
    scores = family_scores(data, data.domain("town").levels)
    assert found.solution.status == "optimal"
    assert found.solution.score == pytest.approx(best_of_all(scores, 3, price, most), abs=1e-8)
    # the graphs that are handed over have that score
    value = -price * len(found.differences)
    names = [name for name in data.names if name != "town"]
    for level, of in found.structures.items():
        for v, name in enumerate(names):
            value += scores[level][v, tuple(sorted(names.index(p) for p in of.parents(name)))]
    assert value == pytest.approx(found.solution.score, abs=1e-8)


def two_towns(rows=400):
    """a -> b everywhere, b -> c in the first town only."""
    rng = np.random.default_rng(0)
    town = np.repeat([0, 1], rows)
    a = rng.integers(0, 2, 2 * rows)
    b = np.where(rng.random(2 * rows) < 0.85, a, 1 - a)
    c = np.where((town == 0) & (rng.random(2 * rows) < 0.7), b, rng.integers(0, 2, 2 * rows))
    text = {"a": list("ny"), "b": list("ny"), "c": list("ny"), "town": ["north", "south"]}
    return optbn.Dataset.from_arrays({
        name: [text[name][i] for i in codes] for name, codes in {"a": a, "b": b, "c": c, "town": town}.items()
    })  # fmt: skip


def test_an_arc_of_one_town_is_found_at_a_fair_price_and_shared_at_a_high_one():
    data = two_towns()
    found = learn_differing(data, "town", price=3.0)
    skeletons = {level: {frozenset(arc) for arc in of.arcs} for level, of in found.structures.items()}
    assert skeletons == {"north": {frozenset("ab"), frozenset("bc")}, "south": {frozenset("ab")}}
    assert len(found.differences) == 1
    together = learn_differing(data, "town", price=1e4)
    learned, _ = optbn.learn_domains(data, "town", score="bdeu", jobs=1, max_parents=2)
    assert not together.differences
    assert together.solution.score == pytest.approx(learned.report.outcome.score, abs=1e-6)
    assert found.solution.score > together.solution.score


def test_networks_have_their_own_graphs_and_share_what_they_can():
    found = learn_differing(two_towns(), "town", price=3.0)
    for level, network in found.networks.items():
        assert network.structure == found.structures[level] and network.name == level
        assert set(network.precision) == set(network.names)
    c = {level: network.query("c", {"b": "y"}).probabilities[1] for level, network in found.networks.items()}
    assert c["north"] > 0.75 and abs(c["south"] - 0.5) < 0.1


def test_price_and_domains_in_any_order_give_the_same():
    data = two_towns(100)
    names, towns = ["c", "a", "b"], {"north": "z", "south": "a"}
    turned = optbn.Dataset.from_arrays(
        {name: [data.domain(name).levels[i] for i in data.column(name)][::-1] for name in names}
        | {"town": [towns[data.domain("town").levels[i]] for i in data.column("town")][::-1]}
    )
    a, b = (learn_differing(rows, "town", price=2.0) for rows in (data, turned))
    assert a.solution.score == pytest.approx(b.solution.score, abs=1e-8)
    last = np.inf
    for price in (0.0, 1.0, 4.0, 50.0):
        score = learn_differing(data, "town", price=price).solution.score
        assert score <= last + 1e-9
        last = score


def test_mistakes():
    data = two_towns(20)
    with pytest.raises(UnsupportedError, match=r"price is -1\.0"):
        learn_differing(data, "town", price=-1.0)
    with pytest.raises(DataError, match="must have levels"):
        learn_differing({"size": np.linspace(0.5, 9, 30), "a": list("xy") * 15}, "size", price=1.0)
    with pytest.raises(UnsupportedError, match=r"'x' is real.*--column x=categorical.*--ignore x"):
        learn_differing({"x": np.linspace(0.5, 9, 30), "a": list("xy") * 15}, "a", price=1.0)
    with pytest.raises(UnknownNameError, match="ess"):
        learn_differing(data, "town", price=1.0, es=2.0)


def test_the_verb_says_what_differs_and_writes_each_network(tmp_path, capsys):
    from optbn.cli import main

    data, output = two_towns(), tmp_path / "towns.json"
    optbn.write(data, tmp_path / "rows.csv")
    found = learn_differing(data, "town", price=3.0)
    call = ["related", str(tmp_path / "rows.csv"), "--domain", "town", "--price", "3", "-o", str(output)]
    with pytest.raises(SystemExit) as end:
        main(call)
    text = capsys.readouterr().out
    assert end.value.code == 0 and f"{found.solution.score:.6f} nats.\n" in text
    for level, network in found.networks.items():
        assert optbn.load_network(str(tmp_path / f"towns.{level}.json")) == network
    for (level, (parent, child)), present in found.differences.items():
        line = next(line for line in text.splitlines() if f"{parent} -> {child}" in line)
        assert level in line and ("not in" in line) != present
    with pytest.raises(SystemExit):
        main([*call, "--json"])
    answer = json.loads(capsys.readouterr().out.splitlines()[0])
    assert answer["proof"] == "proved" and len(answer["differences"]) == len(found.differences) > 0
