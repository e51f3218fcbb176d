from __future__ import annotations

import itertools

import numpy as np
import pytest

import optbn
from optbn.base.errors import NetworkError, UnsupportedError
from optbn.data.dataset import Categorical, Dataset, Real
from optbn.network.cpds import BinnedTableCPD, TableCPD, TreeCPD
from optbn.network.kernels import draw
from optbn.network.leaves import CategoricalLeaves, NormalLeaves, StudentLeaves
from optbn.network.network import BayesianNetwork
from optbn.network.tree import Split, Tree
from tests.naive.network import (
    naive_draw,
    naive_joint,
    naive_leaf,
    naive_log_density,
    naive_log_likelihood,
    random_network,
)

YN, ABC, REAL = Categorical(("y", "n")), Categorical(("a", "b", "c"), ordered=True), Real(0.0, 8.0)


def mixed_network() -> BayesianNetwork:
    """Every kind of CPD, leaf and parent; the variables not in topological order."""
    tree = Tree.build([Split(0, (0, 2), 1, 2), 0, Split(1, 2.0, 3, 4), 1, 2], (ABC, REAL))
    t = TreeCPD(YN, ("A", "X"), (ABC, REAL), tree, CategoricalLeaves([[0.1, 0.9], [0.2, 0.8], [0.9, 0.1]]))
    a = TableCPD(ABC, (), (), [0.2, 0.3, 0.5])
    b = TableCPD(YN, ("A",), (ABC,), [[0.1, 0.9], [0.5, 0.5], [1, 0]])
    x = BinnedTableCPD(REAL, ("A",), (ABC,), ([],), NormalLeaves([1, 2, 3], [1, 1, 0.1]))
    students = StudentLeaves(np.arange(6.0), np.arange(1.0, 7.0), np.full(6, 5.5))
    s = BinnedTableCPD(REAL, ("T", "X"), (YN, REAL), ([], [1.0, 2.0]), students)
    real_tree = Tree.build([Split(0, 1.5, 1, 2), 1, Split(0, 1.0, 3, 4), 2, 0], (REAL,))  # node 3: an empty side
    y = TreeCPD(REAL, ("S",), (REAL,), real_tree, NormalLeaves([0, 1, 2], [1, 2, 3]))
    return BayesianNetwork(("T", "A", "B", "X", "S", "Y"), (YN, ABC, YN, REAL, REAL, REAL), (t, a, b, x, s, y))


@pytest.mark.twin
def test_draw_is_its_twin():
    rng = np.random.default_rng(1)
    for r in (1, 2, 5):
        table = rng.dirichlet(np.full(r, 0.3), size=7)
        table[0] = np.eye(r)[0]
        table[1] = np.eye(r)[-1]
        cumulative = CategoricalLeaves(table)._cumulative
        cells, raw = rng.integers(0, 7, 500), np.random.PCG64(r).random_raw(500)
        raw[:2] = [0, 2**64 - 1]
        cells[:2] = [1, 0]
        out = np.empty(500, dtype=np.int64)
        draw(cells, cumulative, raw, out)
        assert out.tolist() == naive_draw(cells, cumulative, raw)
        assert (table[cells, out] > 0).all()


@pytest.mark.twin
def test_descend_is_its_twin():
    rng = np.random.default_rng(2)
    domains = (ABC, REAL, Categorical(tuple(map(str, range(70)))))
    for _ in range(20):
        nodes = random_tree(rng, domains, 12)
        tree = Tree.build(nodes, domains)
        columns = [rng.integers(0, 3, 200), rng.choice([0.0, 2.0, 3.5, 8.0], 200), rng.integers(0, 70, 200)]
        assert tree.nodes(domains) == nodes
        leaves = tree.cells(columns, 200)
        assert leaves.tolist() == [naive_leaf(nodes, row) for row in zip(*columns, strict=True)]


def random_tree(rng, domains, leaves):
    """A random tree, nodes in breadth-first order."""
    nodes: list = [None]
    open_leaves = [0]
    while len(open_leaves) < leaves:
        at = open_leaves.pop(int(rng.integers(len(open_leaves))))
        parent = int(rng.integers(len(domains)))
        domain = domains[parent]
        goes_left: float | tuple = float(rng.choice([1.0, 2.0, 3.5]))
        if isinstance(domain, Categorical):
            goes_left = tuple(np.flatnonzero(rng.random(len(domain.levels)) < 0.5).tolist())
        nodes[at] = Split(parent, goes_left, len(nodes), len(nodes) + 1)
        open_leaves += [len(nodes), len(nodes) + 1]
        nodes += [None, None]
    for number, at in enumerate(rng.permutation(open_leaves)):
        nodes[at] = number
    return nodes


def test_log_likelihood_is_its_twin():
    rng = np.random.default_rng(3)
    for network in [*(random_network(rng, 6) for _ in range(4)), mixed_network()]:
        data = network.sample(60, 5)
        rows = network.log_likelihood_rows(data)
        np.testing.assert_allclose(rows, naive_log_likelihood(network, data), rtol=1e-12)
        assert network.log_likelihood(data) == pytest.approx(rows.sum(), rel=1e-12)


def test_an_impossible_row_has_log_likelihood_minus_infinity():
    network = optbn.load_network("asia")
    data = network.sample(1, 1)
    columns = dict(zip(data.names, (np.array([1], dtype=np.uint8) for _ in data.names), strict=True))
    columns["lung"] = np.array([0], dtype=np.uint8)  # lung = yes, either = no
    assert network.log_likelihood(Dataset(data.names, data.domains, tuple(columns.values()))) == -np.inf


def test_predict_proba_is_the_conditional_of_the_joint():
    rng = np.random.default_rng(4)
    for _ in range(5):
        network = random_network(rng, 5)
        joint = naive_joint(network)
        assert joint.sum() == pytest.approx(1.0)
        data = network.sample(30, 1)
        for v, target in enumerate(network.names):
            without = data.select([name for name in network.markov_blanket(target)])
            predicted = network.predict_proba(target, without if without.n_variables else data)
            for i in range(data.n_rows):
                at = tuple(slice(None) if u == v else int(data.columns[u][i]) for u in range(5))
                np.testing.assert_allclose(predicted[i], joint[at] / joint[at].sum(), rtol=1e-9)


def test_predict_proba_with_real_children():
    network = mixed_network()
    data = network.sample(20, 3)
    predicted = network.predict_proba("A", data)
    for i in range(20):
        row = {name: data.column(name)[i] for name in data.names}
        weights = []
        for k in range(3):
            row["A"] = k
            factors = [("A", ()), ("T", ("A", "X")), ("B", ("A",)), ("X", ("A",))]
            weights.append(
                np.exp(sum(naive_log_density(network.cpd(v), row[v], [row[p] for p in ps]) for v, ps in factors))
            )
        np.testing.assert_allclose(predicted[i], np.array(weights) / sum(weights), rtol=1e-9)
    with pytest.raises(UnsupportedError, match="'X' is real"):
        network.predict_proba("X", data)


def test_predict_proba_refuses_an_impossible_row():
    p = TableCPD(YN, (), (), [1.0, 0.0])
    c = TableCPD(YN, ("p",), (YN,), [[1.0, 0.0], [1.0, 0.0]])
    network = BayesianNetwork(("p", "c"), (YN, YN), (p, c))
    data = Dataset(("c",), (YN,), (np.array([0, 1], dtype=np.uint8),))
    with pytest.raises(NetworkError, match="row 2 is impossible"):
        network.predict_proba("p", data)


def test_data_are_matched_by_the_text_of_their_levels():
    network = optbn.load_network("survey")
    data = network.sample(50, 1)
    permuted = []
    for domain, column in zip(data.domains, data.columns, strict=True):
        levels = tuple(reversed(domain.levels))
        permuted.append((Categorical(levels), (len(levels) - 1 - column).astype(column.dtype)))
    other = Dataset(data.names, tuple(d for d, _ in permuted), tuple(c for _, c in permuted)).select(data.names[::-1])
    np.testing.assert_array_equal(network.log_likelihood_rows(other), network.log_likelihood_rows(data))
    assert network.conform(other) == data
    with pytest.raises(NetworkError, match="no column 'A'"):
        network.log_likelihood(data.select(data.names[1:]))
    strange = Dataset(("A",), (Categorical(("young", "ancient")),), (np.array([0, 1], dtype=np.uint8),))
    with pytest.raises(
        NetworkError, match="column 'A', row 2: the network has no level 'ancient'; it has young, adult"
    ):
        network.conform(strange, ["A"])
    unused = Dataset(("A",), (Categorical(("young", "ancient")),), (np.array([0, 0], dtype=np.uint8),))
    assert network.conform(unused, ["A"]).columns[0].tolist() == [0, 0]
    real = Dataset(("A",), (Real(0, 1),), (np.array([0.0]),))
    with pytest.raises(NetworkError, match="'A' is real in the data, categorical in the network"):
        network.conform(real, ["A"])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: TableCPD(YN, (), (), [0.5, 0.4]), "the table: probabilities sum to 0.9, not 1"),
        (lambda: TableCPD(YN, ("A",), (ABC,), [[0.5, 0.5], [0.5, 0.5], [0.7, 0.7]]), r"row \(c\): .*sum to 1.4"),
        (lambda: TableCPD(YN, ("A",), (ABC,), [[0.5, 0.5]] * 2), r"shape \(2, 2\), expected \(3, 2\)"),
        (lambda: TableCPD(YN, (), (), [np.nan, 1.0]), "nan is not a probability"),
        (lambda: TableCPD(YN, (), (), [-0.5, 1.5]), "-0.5 is not a probability"),
        (lambda: TableCPD(YN, ("X",), (REAL,), [[0.5, 0.5]]), "real parent 'X'"),
        (lambda: TableCPD(REAL, (), (), [0.5, 0.5]), "categorical variable"),
        (lambda: TableCPD(YN, ("A", "A"), (ABC, ABC), np.full((3, 3, 2), 0.5)), "'A' is named twice"),
        (lambda: NormalLeaves([0.0], [0.0]), "leaf 0: sd is 0.0, expected a finite number above 0"),
        (lambda: StudentLeaves([0.0, np.inf], [1, 1], [1, 1]), "leaf 1: location is inf"),
        (lambda: NormalLeaves([0.0, 1.0], [1.0]), "different lengths"),
        (lambda: CategoricalLeaves([0.5, 0.5]), "1 dimensions, expected 2"),
        (lambda: BinnedTableCPD(YN, ("X",), (REAL,), ([2.0, 1.0],), CategoricalLeaves([[1, 0]] * 3)), "ascending"),
        (
            lambda: BinnedTableCPD(YN, ("A",), (ABC,), ([1.0],), CategoricalLeaves([[1, 0]] * 3)),
            "categorical parent 'A'",
        ),
        (
            lambda: BinnedTableCPD(YN, ("X",), (REAL,), ([2.0],), CategoricalLeaves([[1, 0]] * 3)),
            "3 leaves but .* 2 cells",
        ),
        (
            lambda: BinnedTableCPD(YN, (), (), (), NormalLeaves([0], [1])),
            "normal leaves are for numbers, but the variable is categorical",
        ),
        (lambda: BinnedTableCPD(REAL, (), (), (), CategoricalLeaves([[1, 0]])), "but the variable is real"),
        (lambda: BinnedTableCPD(ABC, (), (), (), CategoricalLeaves([[1, 0]])), "2 probabilities per row .* 3 levels"),
        (lambda: Tree.build([Split(0, 1.0, 1, 2), 0, 1], (ABC,)), "threshold, but parent 0 is categorical"),
        (lambda: Tree.build([Split(0, (0,), 1, 2), 0, 1], (REAL,)), "expected a finite threshold"),
        (lambda: Tree.build([Split(0, (5,), 1, 2), 0, 1], (ABC,)), "level number 5"),
        (lambda: Tree.build([Split(1, (0,), 1, 2), 0, 1], (ABC,)), "splits on parent 1"),
        (lambda: Tree.build([Split(0, (0,), 0, 2), 0, 1], (ABC,)), "must come after it"),
        (lambda: Tree.build([Split(0, (0,), 1, 1), 0, 1], (ABC,)), "child of exactly one node"),
        (lambda: Tree.build([Split(0, (0,), 1, 2), 0, 0], (ABC,)), "numbered 0..1, each once"),
        (lambda: Tree.build([], (ABC,)), "child of exactly one node"),
    ],
)
def test_cpds_that_do_not_fit_are_refused(make, message):
    with pytest.raises(NetworkError, match=message):
        make()


def test_a_tree_for_other_parents_is_refused():
    tree = Tree.build([Split(1, (0,), 1, 2), 0, 1], (REAL, ABC))
    leaves = CategoricalLeaves([[1, 0], [0, 1]])
    assert TreeCPD(YN, ("X", "A"), (REAL, ABC), tree, leaves).leaves == leaves
    others = [("X",), (REAL,)], [("A", "X"), (ABC, REAL)], [("X", "A"), (REAL, YN)], [("A",), (ABC,)]
    for parents, domains in others:
        with pytest.raises(NetworkError, match=r"the tree was built for other parents|threshold|real"):
            TreeCPD(YN, parents, domains, tree, leaves)


def test_networks_that_do_not_fit_are_refused():
    a, b = TableCPD(YN, ("B",), (YN,), [[0.5, 0.5]] * 2), TableCPD(YN, ("A",), (YN,), [[0.5, 0.5]] * 2)
    with pytest.raises(NetworkError, match=r"cycle: A -> B -> A|cycle: B -> A -> B"):
        BayesianNetwork(("A", "B"), (YN, YN), (a, b))
    with pytest.raises(NetworkError, match="parent 'B', which is not a variable"):
        BayesianNetwork(("A",), (YN,), (a,))
    with pytest.raises(NetworkError, match="CPD of 'A' was made for another domain"):
        BayesianNetwork(("A",), (ABC,), (TableCPD(YN, (), (), [0.5, 0.5]),))
    with pytest.raises(NetworkError, match="another domain of its parent 'B'"):
        BayesianNetwork(("A", "B"), (YN, ABC), (a, TableCPD(ABC, (), (), [1, 0, 0])))
    with pytest.raises(NetworkError, match="'A' is named twice"):
        BayesianNetwork(("A", "A"), (YN, YN), (TableCPD(YN, (), (), [0.5, 0.5]),) * 2)


def test_a_network_is_a_value():
    first, second = optbn.load_network("cancer"), optbn.load_network("cancer")
    assert first == second and hash(first) == hash(second)
    assert repr(first) == "BayesianNetwork('cancer', 5 variables, 4 arcs, 10 parameters)"
    table = first.cpd("Cancer").probabilities
    with pytest.raises(ValueError):
        table[0, 0, 0] = 1.0
    for mixed, other in itertools.product([mixed_network()], [first, mixed_network()]):
        assert (mixed == other) == (other is not first)
    assert hash(mixed_network()) == hash(mixed_network())


def test_the_caller_may_reuse_its_arrays():
    mine = np.array([0.5, 0.5])
    cpd = TableCPD(YN, (), (), mine)
    mine[0] = 7.0
    assert cpd.probabilities[0] == 0.5
