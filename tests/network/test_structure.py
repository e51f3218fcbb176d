from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

from optbn.base.errors import NetworkError, UnknownNameError
from optbn.network.structure import Structure
from optbn.network.structure_files import read_structure
from tests.naive.network import all_dags, independences, meek_essential_graph


def test_essential_graphs_of_all_dags_on_four_nodes():
    """Every DAG on four nodes against its class, enumerated."""
    classes = defaultdict(list)
    for parents in all_dags(4):
        classes[independences(parents)].append(parents)
    assert sum(map(len, classes.values())) == 543  # the number of labelled DAGs on four nodes
    assert len(classes) == 185  # and of their equivalence classes
    for members in classes.values():
        arcs = [{(u, v) for v, ps in enumerate(parents) for u in ps} for parents in members]
        always = set.intersection(*arcs)
        undirected = {(min(a), max(a)) for a in set.union(*arcs) - always}
        for parents in members:
            cpdag = Structure(("a", "b", "c", "d"), parents).to_cpdag()
            assert (cpdag.arcs, cpdag.edges) == (always, undirected)


def test_essential_graphs_of_larger_dags_by_meeks_rules():
    rng = np.random.default_rng(2)
    for density in (0.15, 0.3, 0.5, 0.8):
        for _ in range(15):
            parents = random_parents(rng, 11, density)
            cpdag = Structure(tuple(map(str, range(11))), parents).to_cpdag()
            assert (cpdag.arcs, cpdag.edges) == meek_essential_graph(parents)


def random_parents(rng, n, density):
    order = rng.permutation(n).tolist()
    parents = [()] * n
    for i, v in enumerate(order):
        parents[v] = tuple(p for p in order[:i] if rng.random() < density)
    return tuple(parents)


def test_essential_graph_does_not_depend_on_names():
    rng = np.random.default_rng(1)
    for _ in range(20):
        n = 12
        parents = random_parents(rng, n, 0.3)
        cpdag = Structure(tuple(map(str, range(n))), parents).to_cpdag()
        relabel = rng.permutation(n)
        moved = [()] * n
        for v in range(n):
            moved[relabel[v]] = tuple(int(relabel[p]) for p in parents[v])
        other = Structure(tuple(map(str, range(n))), tuple(moved)).to_cpdag()
        assert other.arcs == {(relabel[u], relabel[v]) for u, v in cpdag.arcs}
        assert other.edges == {(min(relabel[u], relabel[v]), max(relabel[u], relabel[v])) for u, v in cpdag.edges}


def test_a_structure_knows_its_neighbours():
    s = Structure.from_arcs("abcde", [("a", "c"), ("b", "c"), ("c", "d"), ("e", "d")])
    assert s.parents("c") == ("a", "b") and s.children("c") == ("d",)
    assert s.markov_blanket("c") == ("a", "b", "d", "e")
    assert s.markov_blanket("a") == ("b", "c")
    assert [s.names[v] for v in s.order] == ["a", "b", "e", "c", "d"]
    assert s.arcs == (("a", "c"), ("b", "c"), ("c", "d"), ("e", "d"))
    assert sorted(s.to_networkx().edges) == sorted(s.arcs)
    assert sorted(s.to_cpdag().to_networkx().edges) == sorted(s.arcs)  # all compelled


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Structure.from_arcs("abc", [("a", "b"), ("b", "c"), ("c", "a")]), r"cycle: \w -> \w -> \w -> \w"),
        (lambda: Structure.from_arcs("ab", [("a", "a")]), "cycle: a -> a"),
        (lambda: Structure.from_arcs("ab", [("a", "b"), ("a", "b")]), "'b' lists a parent twice"),
        (lambda: Structure.from_arcs("ab", [("a", "z")]), "'z', which is not a variable"),
        (lambda: Structure.from_parents({"a": ["q"]}), "parent 'q', which is not a variable"),
        (lambda: Structure(("a", "a"), ((), ())), "'a' is named twice"),
        (lambda: Structure(("a", "b"), ((),)), "2 variables but parents for 1"),
        (lambda: Structure(("a",), ((3,),)), "outside 0..0"),
    ],
)
def test_refused(make, message):
    with pytest.raises(NetworkError, match=message):
        make()


def test_a_cycle_is_named_in_its_direction():
    with pytest.raises(NetworkError, match=r"b -> c -> d -> b|c -> d -> b -> c|d -> b -> c -> d"):
        Structure.from_arcs("abcd", [("a", "b"), ("b", "c"), ("c", "d"), ("d", "b")])


def test_an_unknown_name_suggests():
    with pytest.raises(UnknownNameError, match="did you mean 'smoke'"):
        Structure.from_arcs(["smoke", "lung"], [("smoke", "lung")]).parents("smok")


def test_files(tmp_path):
    s = Structure.from_arcs(["x y", "é", "c"], [("x y", "c"), ("é", "c")])
    s.save(tmp_path / "s.json")
    assert read_structure(tmp_path / "s.json") == s
    (tmp_path / "n.bif").write_text("variable a { type discrete [1] { x }; } probability ( a ) { table 1; }")
    assert read_structure(tmp_path / "n.bif") == Structure(("a",), ((),))
    (tmp_path / "bad.json").write_text('{"format": "optbn-structure", "parents": {"a": ["b"], "b": ["a"]}}')
    with pytest.raises(NetworkError, match=r"bad\.json: the parents form a cycle"):
        read_structure(tmp_path / "bad.json")
    (tmp_path / "bad.json").write_text('{"parents": {"a": ["b"], "a": [], "b": []}}')
    with pytest.raises(NetworkError, match=r"bad\.json: variable 'a' is named twice"):
        read_structure(tmp_path / "bad.json")
