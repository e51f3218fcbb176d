"""Files for other programs: opened by the real ones where they are installed, and read back here as they were.

bnlearn, GeNIe, Hugin and Tetrad are not installed on test machines: what they read is checked against their manuals'
rules, and bnlearn itself where R has it.
"""

from __future__ import annotations

import importlib
import re
import shutil
import subprocess

import numpy as np
import pytest

import optbn
from optbn.base.errors import NetworkError
from optbn.data.dataset import Categorical
from optbn.evaluate.files import read_graph
from optbn.network.catalog import catalog
from optbn.network.cpds import TableCPD
from optbn.network.discretised import discretised
from optbn.network.formats import encode, read_network, write_network
from optbn.network.formats.dialects import DIALECTS, legal, originals
from optbn.network.network import BayesianNetwork
from tests.network.test_interop import same
from tests.network.test_network import mixed_network

NAMES = ("a b", "A B", "probability", "1st", "ü|x", "x_1", "X_1")
LEVELS = (
    ("<5.5", ">=5.5"), ("a b", "a,b", "a_b"), ("table", "default"), ("0", "1", "10"), ("-1.5", "+2%", ""),
    ('say "no"', "(x]"), ("missing", "ja;", "ü"),
)  # fmt: skip
BARE = ("tetrad", "modelstring")


def awkward() -> BayesianNetwork:
    """Names and levels that break most readers."""
    rng = np.random.default_rng(3)
    domains = tuple(Categorical(levels) for levels in LEVELS)
    cpds = []
    for v, domain in enumerate(domains):
        parents = tuple(range(max(0, v - 2), v))
        sizes = [len(domains[p].levels) for p in parents]
        table = rng.dirichlet(np.ones(len(domain.levels)), sizes)
        cpds.append(TableCPD(domain, tuple(NAMES[p] for p in parents), tuple(domains[p] for p in parents), table))
    return BayesianNetwork(NAMES, domains, tuple(cpds), "an odd one", {"a b": ("label = A, of B",)})


def pgmpy_reader(format: str):
    reader = {"bif": "BIF:BIFReader", "net": "NET:NETReader", "xdsl": "XDSL:XDSLReader"}[format].split(":")
    pytest.importorskip("pgmpy", reason="pgmpy is not installed")
    return getattr(importlib.import_module(f"pgmpy.readwrite.{reader[0]}"), reader[1])


WRITTEN = [(reader, format) for reader, rule in DIALECTS.items() for format in rule.formats if format not in BARE]


@pytest.mark.parametrize(("reader", "format"), WRITTEN)
def test_every_name_comes_back(reader, format, tmp_path):
    network, path = awkward(), tmp_path / "n"
    write_network(network, path, format, reader)
    again = read_network(path, format)
    assert again == network and again.name == network.name and again.properties == network.properties


@pytest.mark.parametrize("reader", DIALECTS)
def test_what_is_written_is_legal_and_different(reader):
    rule, plain = DIALECTS[reader], legal(awkward(), reader)
    key = str.lower if rule.caseless else str
    assert len({key(name) for name in plain.names}) == len(NAMES)
    for name, domain in zip(plain.names, plain.domains, strict=True):
        assert re.fullmatch(rule.name, name) and name not in rule.reserved.split()
        assert all(re.fullmatch(rule.level, level) for level in domain.levels)
    assert set(originals(plain.properties)) <= {*plain.names, ""}


def test_what_is_legal_stays():
    asia = optbn.load_network("asia")
    for reader in DIALECTS:
        assert legal(asia, reader) == asia and not legal(asia, reader).properties.get("asia")


@pytest.mark.parametrize("format", ["bif", "net", "xdsl"])
@pytest.mark.parametrize("name", ["awkward", "asia", "child"])
def test_pgmpy_opens_what_is_written_for_it(name, format, tmp_path):
    network = awkward() if name == "awkward" else optbn.load_network(name)
    path = tmp_path / f"n.{format}"
    reader = "genie" if format == "xdsl" else "pgmpy"
    write_network(network, path, reader=reader)
    model = BayesianNetwork.from_pgmpy(pgmpy_reader(format)(str(path)).get_model())
    assert same(legal(network, reader), model)


@pytest.mark.parametrize("format", ["bif", "net"])
@pytest.mark.parametrize("name", ["awkward", "asia", "child", "hailfinder"])
def test_pyagrum_opens_what_is_written_for_it(name, format, tmp_path):
    gum = pytest.importorskip("pyagrum", reason="pyagrum is not installed")
    network = awkward() if name == "awkward" else optbn.load_network(name)
    path = tmp_path / f"n.{format}"
    write_network(network, path, reader="pyagrum")
    assert same_values(legal(network, "pyagrum"), BayesianNetwork.from_pyagrum(gum.loadBN(str(path))))


@pytest.mark.parametrize("reader", ["hugin", "bnlearn"])
@pytest.mark.parametrize("name", ["awkward", "asia", "alarm"])
def test_pyagrum_opens_what_is_written_for_programs_that_are_not_here(name, reader, tmp_path):
    """Hugin needs a licence and R its packages: another program that reads their formats stands in."""
    gum = pytest.importorskip("pyagrum", reason="pyagrum is not installed")
    network = awkward() if name == "awkward" else optbn.load_network(name)
    path = tmp_path / "n.net"
    write_network(network, path, reader=reader)
    assert same_values(legal(network, reader), BayesianNetwork.from_pyagrum(gum.loadBN(str(path))))


def test_xdsl_lists_tables_as_genie_does(tmp_path):
    """The last parent changes fastest: dyspnoea of asia as GeNIe writes it (pyAgrum 3.3 has it the other way round)."""
    levels = '<state id="no"/><state id="yes"/>'
    roots = "".join(f'<cpt id="{v}">{levels}<probabilities>0.5 0.5</probabilities></cpt>' for v in ("either", "bronc"))
    table = "<parents>either bronc</parents><probabilities>0.9 0.1 0.2 0.8 0.3 0.7 0.1 0.9</probabilities>"
    text = f'<smile version="1.0"><nodes>{roots}<cpt id="dysp">{levels}{table}</cpt></nodes></smile>'
    (tmp_path / "n.xdsl").write_text(text)
    network = read_network(tmp_path / "n.xdsl")
    assert network.query("dysp", {"either": "no", "bronc": "yes"})["yes"] == pytest.approx(0.8)
    assert network.query("dysp", {"either": "yes", "bronc": "no"})["yes"] == pytest.approx(0.7)
    write_network(network, tmp_path / "again.xdsl")
    assert "0.9 0.1 0.2 0.8 0.3 0.7 0.1 0.9" in (tmp_path / "again.xdsl").read_text()


def same_values(a: BayesianNetwork, b: BayesianNetwork) -> bool:
    """`same`, but with the six digits that pyAgrum's readers keep."""
    rounded = [BayesianNetwork(n.names, n.domains, tuple(_rounded(cpd) for cpd in n.cpds)) for n in (a, b)]
    return same(*rounded)


def _rounded(cpd: TableCPD) -> TableCPD:
    rows = np.round(cpd.probabilities, 5)
    return TableCPD(cpd.domain, cpd.parents, cpd.parent_domains, rows / rows.sum(axis=-1, keepdims=True))


def test_bnlearn_opens_what_is_written_for_it(tmp_path):
    rscript = shutil.which("Rscript")
    if rscript is None or subprocess.run([rscript, "-e", "library(bnlearn)"], capture_output=True).returncode:
        pytest.skip("R with bnlearn is not installed")
    plain = legal(awkward(), "bnlearn")
    write_network(awkward(), tmp_path / "n.bif", reader="bnlearn")
    write_network(awkward(), tmp_path / "n.modelstring", reader="bnlearn")
    code = 'library(bnlearn); f <- read.bif("n.bif"); m <- model2network(readLines("n.modelstring")); '
    code += "stopifnot(all.equal(bn.net(f), m)); cat(nodes(f), sep='\\n')"
    done = subprocess.run([rscript, "-e", code], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0 and set(done.stdout.split()) == set(plain.names), done.stderr


@pytest.mark.parametrize("format", ["csv", "edges", "tetrad", "modelstring", "dot"])
@pytest.mark.parametrize("name", ["asia", "survey", "mixed"])
def test_graphs_are_read_back(name, format, tmp_path):
    network = mixed_network() if name == "mixed" else optbn.load_network(name)
    path = tmp_path / f"n.{format}"
    write_network(network, path)
    graph = read_graph(path).aligned(network.names)
    assert (graph.matrix == network.structure.to_adjacency()).all()


@pytest.mark.parametrize("format", ["csv", "edges", "dot"])
def test_any_name_in_graphs_of_quoted_words(format, tmp_path):
    network, path = awkward(), tmp_path / f"n.{format}"
    write_network(network, path)
    assert (read_graph(path).aligned(network.names).matrix == network.structure.to_adjacency()).all()


def test_names_that_a_graph_cannot_hold_are_refused_with_the_remedy(tmp_path):
    for format, reader in (("tetrad", "tetrad"), ("modelstring", "bnlearn")):
        with pytest.raises(NetworkError, match=f"'a b'; add --for {reader}"):
            encode(awkward(), format)
        assert encode(awkward(), format, reader)
    with pytest.raises(NetworkError, match="for genie, choose xdsl or net, not bif"):
        encode(awkward(), "bif", "genie")
    with pytest.raises(ValueError, match="hugin"):
        encode(awkward(), "bif", "hugim")


def test_causallearn_opens_tetrads_text(tmp_path):
    module = pytest.importorskip("causallearn.utils.TXT2GeneralGraph", reason="causal-learn is not installed")
    asia = optbn.load_network("asia")
    write_network(asia, tmp_path / "n.txt", "tetrad")
    graph = module.txt2generalgraph(str(tmp_path / "n.txt"))
    found = {(edge.get_node1().get_name(), edge.get_node2().get_name()) for edge in graph.get_graph_edges()}
    assert found == set(asia.structure.arcs)


def test_igraph_there_and_back():
    igraph = pytest.importorskip("igraph", reason="igraph is not installed")
    asia = optbn.load_network("asia").structure
    assert set(asia.from_igraph(asia.to_igraph()).arcs) == set(asia.arcs)
    assert optbn.compare(asia, asia.to_igraph()).shd_dag == 0
    with pytest.raises(NetworkError, match="undirected"):
        asia.from_igraph(igraph.Graph(2))


def test_xdsl_in_the_wild(tmp_path):
    text = """<?xml version="1.0"?><smile version="1.0" id="N"><nodes>
      <cpt id="a" diagtype="target"><state id="y" fault="true"/><state id="n"/>
      <probabilities>0.25 0.75</probabilities></cpt>
      <deterministic id="b"><state id="n"/><state id="y"/><parents>a</parents><resultingstates>y n</resultingstates>
      </deterministic></nodes><extensions><genie name="N"><node id="a"><name>A</name></node></genie></extensions>
      </smile>"""
    (tmp_path / "n.xdsl").write_text(text)
    network = read_network(tmp_path / "n.xdsl")
    assert network.query("b").as_dict() == {("n",): 0.75, ("y",): 0.25}
    for broken, message in [
        (text.replace("0.25 0.75", "0.25"), "expected 2 probabilities of 'a', found 1"),
        (text.replace("0.25", "x"), "expected numbers"),
        (text.replace(">y n<", ">y m<"), "expected a state of 'b', found 'm'"),
        (text.replace("deterministic", "noisymax"), "found <noisymax>"),
    ]:
        (tmp_path / "n.xdsl").write_text(broken)
        with pytest.raises(NetworkError, match=message):
            read_network(tmp_path / "n.xdsl")


def test_maps_that_cannot_be_are_refused(tmp_path):
    text = encode(legal(awkward(), "pyagrum"), "bif").decode()
    twice = re.sub(r"optbn_original = [^ ;]+", "optbn_original = same", text)
    (tmp_path / "n.bif").write_text(twice)
    with pytest.raises(NetworkError, match="two variables of one name"):
        read_network(tmp_path / "n.bif")
    (tmp_path / "n.bif").write_text(re.sub(r"optbn_original = [^ ;]+", "optbn_original = _9999999_", text, count=1))
    with pytest.raises(NetworkError, match="9999999"):
        read_network(tmp_path / "n.bif")


def test_every_bundled_network_is_written_for_everybody(tmp_path):
    for name in catalog():
        network = optbn.load_network(name)
        if network.n_variables <= 40:
            for reader, rule in DIALECTS.items():
                assert encode(network, rule.formats[0], reader)


def test_discretised_tables_are_those_of_the_joint():
    network = mixed_network()
    made, losses = discretised(network, 3)
    rows = network.sample(100_000, 1)
    assert made.structure == network.structure and all(isinstance(d, Categorical) for d in made.domains)
    coded = {}
    for name in network.names:
        column = rows.column(name)
        if isinstance(network.domain(name), Categorical):
            coded[name] = column.astype(int)
            continue
        ends = [float(level.split(" to ")[0].strip(">=")) for level in made.domain(name).levels[1:]]
        coded[name] = np.searchsorted(ends, column, side="right")
    for name, cpd in zip(made.names, made.cpds, strict=True):
        cells = cpd.cells([coded[p] for p in cpd.parents], rows.n_rows)
        counts = np.zeros((cpd.leaves.cells, len(cpd.domain.levels)))
        np.add.at(counts, (cells, coded[name]), 1)
        n = counts.sum(axis=1, keepdims=True)
        error = np.sqrt(0.25 / np.maximum(n, 1))
        assert (np.abs(counts / np.maximum(n, 1) - cpd.leaves.probabilities) <= 5 * error + (n == 0)).all()
    assert 0 < losses["Y"] < 1 and set(losses) == {"T", "X", "S", "Y"}
    finer = discretised(network, 12)[1]
    assert sum(finer.values()) < sum(losses.values())


def test_a_network_of_levels_is_left_as_it_is():
    asia = optbn.load_network("asia")
    assert discretised(asia, 5) == (asia, {})
