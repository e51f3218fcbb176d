"""Distances against hand-worked examples and against their definitions over all pairs of small graphs."""

from __future__ import annotations

import functools
import itertools

import numpy as np
import pytest

from optbn.base.errors import NetworkError, UnknownNameError
from optbn.evaluate import distances, graphs
from optbn.evaluate.intervention import intervention_distance
from optbn.network.structure import Structure
from tests.naive import evaluate as naive


def graph(n: int, *arcs: tuple[int, int]) -> np.ndarray:
    a = np.zeros((n, n), dtype=bool)
    for u, v in arcs:
        a[u, v] = True
    return a


def random_dag(rng: np.random.Generator, n: int, density: float) -> np.ndarray:
    order = rng.permutation(n)
    upper = np.triu(rng.random((n, n)) < density, 1)
    return upper[np.ix_(order, order)]


def test_a_reversed_arc_counts_once_and_a_missing_one_once():
    truth = graph(4, (0, 1), (1, 2), (2, 3))
    estimate = graph(4, (1, 0), (1, 2), (0, 3))
    assert distances.shd(truth, estimate) == 3
    assert distances.confusion(truth, estimate) == distances.Confusion(1, 1, 0, 1, 1)
    assert distances.skeleton(truth, estimate) == distances.Retrieval(2, 1, 1)


def test_a_line_against_an_arc_is_undirected_not_reversed():
    line, arc = graph(2, (0, 1), (1, 0)), graph(2, (0, 1))
    assert distances.confusion(line, arc) == distances.Confusion(0, 0, 1, 0, 0)
    assert distances.shd(line, arc) == 1


def test_the_collider_and_the_chain_share_a_skeleton_and_no_v_structure():
    collider, chain = graph(3, (0, 2), (1, 2)), graph(3, (0, 2), (2, 1))
    assert distances.v_structures(collider, chain) == distances.Retrieval(0, 0, 1)
    assert distances.skeleton(collider, chain).f1 == 1.0


@functools.cache
def dags_on_four_nodes() -> tuple[list[np.ndarray], list[np.ndarray]]:
    """All 543, and one of each of the 31 that differ in more than the names of their nodes."""
    dags = list(naive.all_dags(4))
    shapes = {}
    for dag in dags:
        names = (dag[np.ix_(order, order)].tobytes() for order in map(list, itertools.permutations(range(4))))
        shapes.setdefault(min(names), dag)
    assert (len(dags), len(shapes)) == (543, 31)
    return dags, list(shapes.values())


def as_structure(dag: np.ndarray) -> Structure:
    return Structure(tuple("abcd"), tuple(tuple(np.flatnonzero(column).tolist()) for column in dag.T))


def test_all_pairs_of_dags_on_four_nodes_agree_with_the_definitions():
    dags, shapes = dags_on_four_nodes()  # renaming the nodes of both graphs changes no distance
    colliders = [naive.colliders(dag) for dag in dags]
    for a in shapes:
        x = naive.colliders(a)
        for b, y in zip(dags, colliders, strict=True):
            expected = naive.shd(a, b)
            assert distances.shd(a, b) == distances.confusion(a, b).total == expected
            found = distances.v_structures(a, b)
            assert (found.found, found.spurious, found.missed) == (len(x & y), len(y - x), len(x - y))


def test_all_pairs_of_classes_on_four_nodes_agree_with_enumeration():
    dags, shapes = dags_on_four_nodes()
    members: dict[object, list[np.ndarray]] = {}
    for dag in dags:
        members.setdefault(((dag | dag.T).tobytes(), frozenset(naive.colliders(dag))), []).append(dag)
    union = {dag.tobytes(): np.logical_or.reduce(same) for same in members.values() for dag in same}
    assert len(members) == 185
    for dag in dags:
        assert (graphs.class_matrix(as_structure(dag), "abcd") == union[dag.tobytes()]).all()
    for a in shapes:
        for b in dags[::25]:
            expected = naive.shd(union[a.tobytes()], union[b.tobytes()])
            assert distances.compare(as_structure(a), as_structure(b), sid=False).shd_cpdag == expected


def test_partial_hamming_looks_only_at_what_is_specified():
    known = graph(3, (0, 1))
    specified = graph(3, (0, 1), (1, 0), (1, 2), (2, 1))
    assert distances.partial_hamming(known, specified, graph(3, (0, 2))) == 1
    assert distances.partial_hamming(known, specified, graph(3, (1, 0), (2, 1))) == 2
    assert distances.partial_hamming(known, specified, known) == 0


def test_published_example_of_the_intervention_distance():
    # Peters and Buehlmann (2015), example 1: G over x1, x2, y1, y2, y3; H1 adds an arc, H2 reverses one.
    arcs = [(0, 1), *[(x, y) for x in (0, 1) for y in (2, 3, 4)]]
    g = graph(5, *arcs)
    h1 = graph(5, *arcs, (2, 3))
    h2 = graph(5, (1, 0), *arcs[1:])
    assert distances.shd(g, h1) == distances.shd(g, h2) == 1
    assert intervention_distance(g, h1) == 0
    assert intervention_distance(g, h2) == 8


@pytest.mark.twin
def test_intervention_distance_is_its_definition_on_all_small_graphs():
    for n in (2, 3):
        for a, b in itertools.product(list(naive.all_dags(n)), repeat=2):
            assert intervention_distance(a, b) == naive.intervention_distance(a, b)
    dags, shapes = dags_on_four_nodes()
    for a in shapes:
        wrong = functools.cache(lambda i, j, z, a=a: naive.wrong_pair(a, i, j, set(z)))
        for b in dags:
            sets = [tuple(np.flatnonzero(b[:, i]).tolist()) for i in range(4)]
            expected = sum(wrong(i, j, sets[i]) for i in range(4) for j in range(4) if i != j)
            assert intervention_distance(a, b) == expected
    rng = np.random.default_rng(1)
    for _ in range(60):
        a, b = random_dag(rng, 6, 0.5), random_dag(rng, 6, 0.5)
        assert intervention_distance(a, b) == naive.intervention_distance(a, b)


def test_intervention_distance_to_itself_is_zero():
    rng = np.random.default_rng(2)
    for n in (1, 5, 30):
        a = random_dag(rng, n, 0.3)
        assert intervention_distance(a, a) == 0


def test_compare_aligns_by_name_and_takes_every_kind_of_graph():
    networkx = pytest.importorskip("networkx")
    a = Structure.from_parents({"x": (), "y": ("x",), "z": ("y",)})
    b = networkx.DiGraph([("z", "y"), ("y", "x")])
    result = distances.compare(a, b)
    assert (result.shd_dag, result.shd_cpdag) == (2, 0)
    assert result.arcs.reversed == 2 and result.cpdag_arcs.correct == 2
    assert result.sid == 6 and distances.compare(a, b, sid=False).sid is None
    assert distances.compare(a, a).sid == 0
    with pytest.raises(NetworkError, match="different variables: one is without z"):
        distances.compare(a, Structure.from_parents({"x": (), "y": ()}))


def test_compare_counts_what_is_known_apart():
    a = Structure.from_parents({"x": (), "y": ("x",), "z": ("y",)})
    b = Structure.from_parents({"x": ("y",), "y": ("z",), "z": ()})
    result = distances.compare(a, b, known=[("y", "x"), ("x", "z")])
    assert (result.shd_dag, result.partial_dag, result.partial_cpdag) == (2, 1, 0)
    assert distances.compare(a, b).partial_dag is None
    with pytest.raises(UnknownNameError, match="no variable 'q'"):
        distances.compare(a, b, known=[("q", "x")])
    with pytest.raises(NetworkError, match="no pair with itself"):
        distances.compare(a, b, known=[("x", "x")])


def test_compare_reads_the_class_of_either_graph_in_the_first_ones_order():
    rng = np.random.default_rng(6)
    for _ in range(50):
        m = random_dag(rng, 6, 0.4)
        names = [f"v{i}" for i in range(6)]
        parents = {name: tuple(names[u] for u in np.flatnonzero(m[:, v])) for v, name in enumerate(names)}
        shuffled = {names[i]: parents[names[i]] for i in rng.permutation(6)}
        result = distances.compare(Structure.from_parents(parents), Structure.from_parents(shuffled))
        assert (result.shd_dag, result.shd_cpdag, result.sid) == (0, 0, 0)
