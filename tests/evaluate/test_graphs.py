"""Graphs of every kind: read from everywhere, directed as enumeration directs them, compared as others compare them."""

from __future__ import annotations

import numpy as np
import pytest

from optbn.base.errors import NetworkError
from optbn.evaluate import distances
from optbn.evaluate.files import read_graph, write_matrix
from optbn.evaluate.graphs import Graph, class_of, from_edges, from_matrix
from optbn.evaluate.intervention import intervention_bounds, intervention_distance
from optbn.evaluate.orientation import closed, consistent_extension
from optbn.evaluate.sources import as_graph
from optbn.network.catalog import load_network
from optbn.network.structure import Structure
from tests.naive import evaluate as naive


def random_graph(rng: np.random.Generator, n: int, density: float, lines: float) -> np.ndarray:
    """Arcs along a random order, some of them lines."""
    order = rng.permutation(n)
    arcs = np.triu(rng.random((n, n)) < density, 1)
    graph = arcs | (arcs & (rng.random((n, n)) < lines)).T
    return graph[np.ix_(order, order)]


@pytest.mark.twin
def test_lines_are_directed_as_enumeration_directs_them():
    rng = np.random.default_rng(1)
    without = 0
    for _ in range(400):
        graph = random_graph(rng, int(rng.integers(2, 6)), 0.6, 0.7)
        members = naive.extensions(graph)
        found = consistent_extension(graph)
        assert (found is None) == (not members)
        without += not members
        if members:
            assert any((found == member).all() for member in members)
            assert (closed(graph) == np.logical_or.reduce(members)).all()
    assert 20 < without < 380


@pytest.mark.twin
def test_bounds_of_the_intervention_distance_are_those_of_the_members():
    rng = np.random.default_rng(2)
    wide = 0
    for _ in range(150):
        n = int(rng.integers(2, 6))
        true, graph = random_graph(rng, n, 0.5, 0.0), random_graph(rng, n, 0.6, 0.6)
        members = naive.extensions(graph)
        found = intervention_bounds(true, graph)
        if not members:
            assert found is None
            continue
        values = [naive.intervention_distance(true, member) for member in members]
        assert found is not None and found.exact and (found.low, found.high) == (min(values), max(values))
        wide += found.low < found.high
    assert wide > 30


def test_loose_bounds_hold_the_true_ones(monkeypatch):
    rng = np.random.default_rng(3)
    for _ in range(40):
        true, dag = random_graph(rng, 6, 0.5, 0.0), random_graph(rng, 6, 0.4, 0.0)
        graph = class_of(dag)
        exact = intervention_bounds(true, graph)
        with monkeypatch.context() as patch:
            patch.setattr("optbn.evaluate.intervention.MOST_MEMBERS", 0)
            loose = intervention_bounds(true, graph)
        assert exact is not None and loose is not None
        assert loose.low <= exact.low <= intervention_distance(true, dag) <= exact.high <= loose.high


def test_distances_are_those_of_an_independent_implementation():
    gadjid = pytest.importorskip("gadjid")
    rng = np.random.default_rng(4)
    direction = "from row to column"
    for _ in range(120):
        n = int(rng.integers(2, 12))
        a, b = random_graph(rng, n, 0.35, 0.0), random_graph(rng, n, 0.35, 0.0)
        found = distances.compare(from_matrix(a), from_matrix(b))
        assert found.sid == gadjid.sid(a.astype(np.int8), b.astype(np.int8), edge_direction=direction)[1]
        assert found.shd_dag == gadjid.shd(a.astype(np.int8), b.astype(np.int8))[1]
        classes = [from_matrix(class_of(dag)) for dag in (a, b)]
        coded = [graph.arcs.astype(np.int8) + 2 * np.triu(graph.lines).astype(np.int8) for graph in classes]
        assert found.shd_cpdag == distances.compare(*classes).shd_cpdag == gadjid.shd(*coded)[1]
        bounds = distances.compare(from_matrix(a), classes[1]).sid_bounds
        assert bounds is not None and bounds == found.sid_bounds and bounds.low <= found.sid <= bounds.high
        if n < 7:
            members = naive.extensions(classes[1].matrix)
            sids = [gadjid.sid(*(g.astype(np.int8) for g in (a, m)), edge_direction=direction)[1] for m in members]
            assert (bounds.low, bounds.high) == (min(sids), max(sids))


def test_every_kind_is_known_and_compared_at_its_level():
    dag = from_edges("abc", [("a", "b"), ("b", "c")])
    line = from_edges("abc", [], [("a", "b"), ("b", "c")])
    part = from_edges("abc", [("a", "b")], [("b", "c")])
    bare = from_edges("abc", [], [("a", "b"), ("b", "c")], skeleton=True)
    square = from_edges("abcd", [], [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")])
    assert [g.kind for g in (dag, line, part, bare, square)] == ["DAG", "CPDAG", "PDAG", "undirected", "PDAG"]
    assert (part.class_matrix == line.matrix).all() and part.structure().arcs == (("a", "b"), ("b", "c"))
    found = distances.compare(dag, line)
    assert (found.shd_dag, found.shd_cpdag, found.shd_skeleton, found.sid) == (None, 0, 0, None)
    assert found.sid_bounds is not None and (found.sid_bounds.low, found.sid_bounds.high) == (0, 6)
    assert found.balanced_score == pytest.approx(0.5) and found.entries == 2
    found = distances.compare(dag, bare)
    assert found.shd_cpdag is None and found.v_structures is None and found.balanced_score == 1.0
    assert distances.compare(line, dag).sid_bounds is None  # effects need a true DAG
    turned = distances.compare(dag, from_edges("abc", [("b", "a"), ("b", "c")]))
    assert turned.arrowheads == distances.Retrieval(1, 1, 1) and turned.entries == 2 and turned.shd_dag == 1
    assert distances.compare(from_edges("abcd", []), square).sid_bounds is None
    with pytest.raises(NetworkError, match="no DAG belongs to this graph"):
        square.structure()


def test_the_balanced_score_of_knowing_nothing_is_zero():
    alarm = as_graph("alarm")
    empty, full = np.zeros_like(alarm.matrix), np.triu(np.ones_like(alarm.matrix), 1)
    assert distances.balanced_score(alarm.matrix, empty) == 0.0
    assert distances.balanced_score(alarm.matrix, full | full.T, directed=False) == 0.0
    opposite = ~(alarm.matrix | alarm.matrix.T) & full
    assert distances.balanced_score(alarm.matrix, opposite) == pytest.approx(-1.0)
    assert distances.balanced_score(empty, empty) == 1.0


FILES = {
    "m.csv": "a,b,c\n0,1,0\n0,0,1\n0,1,0\n",
    "n.csv": ",a,b,c\na,0,1,0\nb,0,0,1\nc,0,1,0\n",
    "m.tsv": "a\tb\tc\n0\t0.5\t0\n0\t0\t1\n0\t1\t0\n",
    "e.txt": "# remark\na -> b\nc -- b  # open\n",
    "f.csv": "from,to,kind\na,b,arc\nb,c,line\n",
    "t.txt": "Graph Nodes:\na;b;c\n\nGraph Edges:\n1. a --> b dd nl\n2. b --- c\n",
    "d.dot": 'digraph g {\n  a; "b" [label="B"];\n  a -> b;\n  b -> c [dir=none];\n}\n',
}


@pytest.mark.parametrize("name", FILES)
def test_files_of_a_graph(name, tmp_path):
    (tmp_path / name).write_text(FILES[name])
    graph = read_graph(tmp_path / name).aligned("abc")
    assert (graph.matrix == np.array([[0, 1, 0], [0, 0, 1], [0, 1, 0]], dtype=bool)).all()
    write_matrix(graph, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == FILES["m.csv"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("a <-> b\n", "neither an arc"),
        ("a o-> b\n", "neither an arc"),
        ("a b c d\n", "is no edge"),
        ("a,b\n0,nan\n0,0\n", "not a number"),
        ("a,b\n1,0\n0,0\n", "'a' has an arc to itself"),
        ("Graph Nodes:\na;b\nGraph Edges:\n1. a --> x\n", "ends in 'x'"),
    ],
)
def test_what_is_no_graph_is_refused(text, message, tmp_path):
    (tmp_path / "g.txt").write_text(text)
    with pytest.raises(NetworkError, match=message):
        read_graph(tmp_path / "g.txt")


def test_undirected_files_are_skeletons(tmp_path):
    networkx = pytest.importorskip("networkx")
    networkx.write_graphml(networkx.Graph([("a", "b")]), tmp_path / "g.graphml")
    (tmp_path / "g.dot").write_text("graph { a -- b }")
    for name in ("g.graphml", "g.dot"):
        assert read_graph(tmp_path / name).kind == "undirected"
    (tmp_path / "g.graphml").write_text(
        '<!DOCTYPE x [<!ENTITY a "b">]><graphml><graph edgedefault="undirected"/></graphml>'
    )
    with pytest.raises(NetworkError, match="entity"):
        read_graph(tmp_path / "g.graphml")


def test_objects_of_other_programs():
    networkx = pytest.importorskip("networkx")
    cpdag = load_network("asia").structure.to_cpdag()
    expected = as_graph(cpdag)
    for other in (cpdag.to_networkx(), networkx.DiGraph(cpdag.to_networkx())):
        assert (as_graph(other).aligned(expected.names).matrix == expected.matrix).all()
    assert as_graph(networkx.Graph([("a", "b")])).kind == "undirected"
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(expected.matrix.astype(int), columns=list(expected.names))
    assert (as_graph(frame).matrix == expected.matrix).all() and as_graph(frame).names == expected.names
    with pytest.raises(NetworkError, match="got int"):
        as_graph(3)


def test_objects_of_pgmpy_pyagrum_and_causallearn():
    structure = load_network("asia").structure
    cpdag, expected = structure.to_cpdag(), as_graph(structure.to_cpdag())
    pytest.importorskip("causallearn")
    assert (as_graph(cpdag.to_causallearn()).matrix == expected.matrix).all()
    base = pytest.importorskip("pgmpy.base")
    names = cpdag.names
    pdag = base.PDAG(
        directed_ebunch=[(names[u], names[v]) for u, v in cpdag.arcs],
        undirected_ebunch=[(names[u], names[v]) for u, v in cpdag.edges],
    )
    assert (as_graph(pdag).aligned(names).matrix == expected.matrix).all()
    gum = pytest.importorskip("pyagrum")
    network = load_network("asia")
    model = network.to_pyagrum()
    assert (as_graph(model).aligned(names).matrix == Graph(names, structure.to_adjacency()).matrix).all()
    numbered = as_graph(gum.EssentialGraph(model))  # its nodes have no names
    assert numbered.names == tuple("01234567")
    order = [model.idFromName(name) for name in names]
    assert (numbered.matrix[np.ix_(order, order)] == expected.matrix).all()


def test_graphs_over_other_variables_or_with_a_name_twice():
    with pytest.raises(NetworkError, match="different variables: one is without c"):
        distances.compare(from_edges("abc", []), Structure.from_parents({"a": (), "b": ()}))
    with pytest.raises(NetworkError, match="named twice"):
        from_matrix(np.zeros((2, 2)), ["a", "a"])
