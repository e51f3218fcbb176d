"""Networks handed to the real packages and taken back: the same variables, levels and arcs, probabilities to 1e-12.

The packages are not dependencies (extra `peers`); a test whose package is not installed is skipped. What the packages
compute from what they were given is compared with our own exact inference, which shares nothing with theirs.
"""

from __future__ import annotations

import numpy as np
import pytest

import optbn
from optbn.base.errors import NetworkError, UnsupportedError
from optbn.data.dataset import Categorical
from optbn.network.cpds import TableCPD
from optbn.network.equivalence import Cpdag
from optbn.network.formats import decode, encode, graphml
from optbn.network.network import BayesianNetwork
from optbn.network.structure import Structure
from optbn.network.structure_files import read_structure
from tests.network.test_network import mixed_network, random_network

TEN = ("asia", "cancer", "earthquake", "survey", "sachs", "alarm", "child", "insurance", "water", "hailfinder")


def same(a: BayesianNetwork, b: BayesianNetwork) -> bool:
    """Equal but for the order of the variables and of each variable's parents."""
    if set(a.names) != set(b.names) or set(a.structure.arcs) != set(b.structure.arcs):
        return False
    for name in a.names:
        one, two = a.cpd(name), b.cpd(name)
        axes = [two.parents.index(p) for p in one.parents]
        turned = np.transpose(two.probabilities, [*axes, len(axes)])
        if one.domain != two.domain or not np.abs(one.probabilities - turned).max() <= 1e-12:
            return False
    return True


@pytest.mark.parametrize("name", TEN)
def test_pgmpy_round_trip(name):
    pytest.importorskip("pgmpy", reason="pgmpy is not installed")
    network = optbn.load_network(name)
    model = network.to_pgmpy()
    assert model.check_model()
    assert same(network, BayesianNetwork.from_pgmpy(model))


@pytest.mark.parametrize("name", TEN)
def test_pyagrum_round_trip(name):
    gum = pytest.importorskip("pyagrum", reason="pyagrum is not installed")
    network = optbn.load_network(name)
    other = network.to_pyagrum()
    assert other.check() == ()
    again = BayesianNetwork.from_pyagrum(other)
    assert same(network, again) and again.names == network.names and again.name == network.name
    engine = gum.LazyPropagation(other)
    given = {v: network.domain(v).levels[0] for v in network.names[::7]}
    engine.setEvidence(given)
    engine.makeInference()
    if engine.evidenceProbability() > 0:
        for target in [v for v in network.names if v not in given][:5]:
            assert np.allclose(
                engine.posterior(target).toarray(), network.query(target, given).probabilities, atol=1e-9
            )


def test_what_pgmpy_makes_of_a_network_has_its_probabilities():
    inference = pytest.importorskip("pgmpy.inference", reason="pgmpy is not installed")
    network = optbn.load_network("asia")
    answer = inference.VariableElimination(network.to_pgmpy()).query(["lung"], {"xray": "yes"}, show_progress=False)
    assert answer.state_names["lung"] == list(network.domain("lung").levels)
    assert np.allclose(answer.values, network.query("lung", {"xray": "yes"}).probabilities, atol=1e-12)


def test_odd_names_parents_out_of_order_and_levels_that_are_no_text():
    names = ("b, 1", "a|b", "ü")
    domains = tuple(Categorical(levels) for levels in (("<1", ">=1"), ("x y", "z", "{}"), ("0", "1")))
    rng = np.random.default_rng(5)
    child = TableCPD(domains[0], names[:0:-1], domains[:0:-1], rng.dirichlet([1, 1], (2, 3)))
    roots = [TableCPD(d, (), (), rng.dirichlet(np.ones(len(d.levels)))) for d in domains[1:]]
    network = BayesianNetwork(names, domains, (child, *roots), "odd")
    assert BayesianNetwork.from_networkx(network.to_networkx()) == network
    gum = pytest.importorskip("pyagrum", reason="pyagrum is not installed")
    assert same(network, BayesianNetwork.from_pyagrum(network.to_pyagrum()))
    other = gum.BayesNet("numbers")
    other.add(gum.RangeVariable("r", "", 3, 4))
    other.cpt("r")[:] = [0.25, 0.75]
    assert BayesianNetwork.from_pyagrum(other).domain("r").levels == ("3", "4")
    factors = pytest.importorskip("pgmpy.factors.discrete", reason="pgmpy is not installed")
    assert same(network, BayesianNetwork.from_pgmpy(network.to_pgmpy()))
    model = BayesianNetwork.to_pgmpy(network)
    model.add_node(7)
    with pytest.raises(NetworkError, match="variable '7' has no CPD"):
        BayesianNetwork.from_pgmpy(model)
    model.add_cpds(factors.TabularCPD(7, 2, [[0.5], [0.5]], state_names={7: [0, True]}))
    assert BayesianNetwork.from_pgmpy(model).domain("7").levels == ("0", "True")


@pytest.mark.parametrize("method", ["to_pgmpy", "to_pyagrum"])
def test_real_variables_are_refused_by_name(method):
    pytest.importorskip(method.removeprefix("to_"), reason="not installed")
    with pytest.raises(NetworkError, match=r"variable '\w+' (is real|has the real parent)"):
        getattr(mixed_network(), method)()


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyagrum", None)
    with pytest.raises(UnsupportedError, match="pip install pyagrum"):
        optbn.load_network("asia").to_pyagrum()


@pytest.mark.parametrize("name", TEN)
def test_networkx_and_adjacency(name):
    network = optbn.load_network(name)
    assert BayesianNetwork.from_networkx(network.to_networkx()) == network
    structure = network.structure
    again = Structure.from_networkx(structure.to_networkx())
    assert (again.names, set(again.arcs)) == (structure.names, set(structure.arcs))
    matrix = structure.to_adjacency()
    assert matrix.sum() == structure.n_arcs
    again = Structure.from_adjacency(matrix * 0.5, structure.names)
    assert (again.names, set(again.arcs)) == (structure.names, set(structure.arcs))


def test_mixed_networks_keep_everything_in_networkx():
    assert BayesianNetwork.from_networkx(mixed_network().to_networkx()) == mixed_network()
    with pytest.raises(NetworkError, match=r"Structure\.from_networkx"):
        BayesianNetwork.from_networkx(mixed_network().structure.to_networkx())


def test_adjacency_of_frames_and_what_is_none():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([[0, 1], [0, 0]], columns=["x", "y"])
    assert Structure.from_adjacency(frame).arcs == (("x", "y"),)
    assert Structure.from_adjacency([[0, 0], [1, 0]]).arcs == (("X2", "X1"),)
    with pytest.raises(NetworkError, match="square"):
        Structure.from_adjacency([[0, 1]])
    with pytest.raises(NetworkError, match="cycle: X1 -> X2 -> X1"):
        Structure.from_adjacency([[0, 1], [1, 0]])
    with pytest.raises(NetworkError, match="1 names"):
        Structure.from_adjacency([[0, 1], [0, 0]], ["a"])


@pytest.mark.parametrize("name", TEN)
def test_causallearn_round_trip(name):
    pytest.importorskip("causallearn", reason="causal-learn is not installed")
    structure = optbn.load_network(name).structure
    again = Structure.from_causallearn(structure.to_causallearn())
    assert (again.names, set(again.arcs)) == (structure.names, set(structure.arcs))
    cpdag = structure.to_cpdag()
    assert Cpdag.from_causallearn(cpdag.to_causallearn()) == cpdag
    if cpdag.edges:
        with pytest.raises(NetworkError, match=r"Cpdag\.from_causallearn"):
            Structure.from_causallearn(cpdag.to_causallearn())


def test_causallearn_agrees_on_the_equivalence_class():
    dag2cpdag = pytest.importorskip("causallearn.utils.DAG2CPDAG", reason="causal-learn is not installed")
    dag = pytest.importorskip("causallearn.graph.Dag")
    for name in ("asia", "sachs", "child"):
        structure = optbn.load_network(name).structure
        graph = structure.to_causallearn()
        theirs = dag.Dag(graph.get_nodes())
        for u, v in structure.arcs:
            theirs.add_directed_edge(graph.get_node(u), graph.get_node(v))
        assert Cpdag.from_causallearn(dag2cpdag.dag2cpdag(theirs)) == structure.to_cpdag()


@pytest.mark.parametrize("name", TEN)
def test_graphml_is_read_by_networkx_and_back(name, tmp_path):
    import networkx

    network = optbn.load_network(name)
    path = tmp_path / "n.graphml"
    optbn.write_network(network, path)
    assert optbn.read_network(path) == network
    assert set(networkx.read_graphml(path).edges) == set(network.structure.arcs)
    networkx.write_graphml(network.structure.to_networkx(), path)
    assert set(read_structure(path).arcs) == set(network.structure.arcs)


def test_graphml_of_other_programs(tmp_path):
    igraph = pytest.importorskip("igraph")
    graph = igraph.Graph([(0, 1), (1, 2)], directed=True, vertex_attrs={"label": ["x & y", "<b>", "c"]})
    path = tmp_path / "n.graphml"
    graph.write_graphml(str(path))
    assert read_structure(path).arcs == (("x & y", "<b>"), ("<b>", "c"))
    fitted = optbn.fit(path, random_data(("x & y", "<b>", "c")), "bdeu")
    assert fitted.n_arcs == 2


def random_data(names: tuple[str, ...]) -> optbn.Dataset:
    return optbn.Dataset.from_arrays(np.random.default_rng(0).integers(0, 2, (50, len(names))).astype(str), names)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<graphml><graph/></graphml>", "f:1:10: expected a directed graph"),
        ("<html/>", "f:1:1: expected <graphml>, found <html>"),
        ("<graphml>", "expected well-formed XML"),
        ("<graphml/>", "f:1:1: expected a graph, found no node"),
        ('<!DOCTYPE x [<!ENTITY a "b">]><graphml/>', "no entity declarations"),
        (
            '<graphml><graph edgedefault="directed"><node id="a"/><node id="a"/></graph></graphml>',
            "expected one node 'a', found a second",
        ),
        ('<graphml><graph edgedefault="directed"><node id="a"/></graph></graphml>', "node 'a' has no distribution"),
    ],
)
def test_graphml_that_is_none(text, message):
    with pytest.raises(NetworkError, match=message):
        decode(text.encode(), "graphml", "f")


def test_graphml_whose_edges_and_distributions_differ():
    network = random_network(np.random.default_rng(3), 5)
    text = encode(network, "graphml").decode()
    edge = next(line for line in text.splitlines() if "<edge" in line)
    with pytest.raises(NetworkError, match="do not tell of the same parents"):
        decode(text.replace(edge + "\n", "", 1).encode(), "graphml")
    assert graphml.read_structure(text.encode(), "f").names == network.names
