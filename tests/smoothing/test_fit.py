"""Fitting networks: every local model, every source of rows, related data sets, and bad input."""

from __future__ import annotations

import json

import networkx
import numpy as np
import pytest

import optbn
from optbn.base.errors import DataError, LimitError, NetworkError, UnknownNameError, UnsupportedError
from optbn.data.dataset import Categorical, Dataset, Real
from optbn.network.cpds import BinnedTableCPD, TableCPD, TreeCPD
from optbn.network.leaves import CategoricalLeaves, NormalLeaves, StudentLeaves
from optbn.network.network import BayesianNetwork
from optbn.network.tree import Split, Tree
from optbn.smoothing.fitting import fitted
from optbn.smoothing.normal import NormalCounts

AB = Categorical(("a", "b"))
XYZ = Categorical(("x", "y", "z"))
UNIT = Real(-20.0, 20.0)


def table(*rows):
    return np.array(rows, dtype=float)


def mixed_network():
    """Tables, a categorical tree with a real parent, normal leaves on a tree and on bins, a root of normal leaves."""
    tree = Tree.build([Split(0, 0.0, 1, 2), 0, Split(1, (0,), 3, 4), 1, 2], (UNIT, AB))
    return BayesianNetwork(
        ("A", "X", "T", "Y", "B"),
        (AB, UNIT, XYZ, UNIT, AB),
        (
            TableCPD(AB, (), (), table(0.3, 0.7)),
            BinnedTableCPD(UNIT, ("A",), (AB,), (np.zeros(0),), NormalLeaves([-1.0, 2.0], [1.0, 0.5])),
            TreeCPD(XYZ, ("X", "A"), (UNIT, AB), tree,
                    CategoricalLeaves(table([0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]))),
            TreeCPD(UNIT, ("X", "A"), (UNIT, AB), tree, NormalLeaves([0.0, 4.0, -4.0], [1.0, 1.0, 0.5])),
            BinnedTableCPD(AB, ("Y", "T"), (UNIT, XYZ), ([-2.0, 2.0], np.zeros(0)),
                           CategoricalLeaves(np.linspace(0.1, 0.9, 9)[:, None] * [1, -1] + [0, 1])),
        ),
    )  # fmt: skip


def asia_data(n=500, seed=3):
    return optbn.load_network("asia").sample(n, seed)


@pytest.mark.parametrize("leaves", ["normal", "student"])
def test_every_local_model_finds_the_truth_and_serves_likelihood_sampling_and_prediction(leaves):
    truth = mixed_network()
    data = truth.sample(40_000, 1)
    found = optbn.fit(truth, data, "m_estimate", leaves=leaves)
    assert found.names == truth.names and found.structure == truth.structure
    for name in ("A", "T", "B"):
        assert np.abs(found.cpd(name).leaves.probabilities - truth.cpd(name).leaves.probabilities).max() < 0.06
    kind = {"normal": NormalLeaves, "student": StudentLeaves}[leaves]
    for name in ("X", "Y"):
        ours, theirs = found.cpd(name).leaves, truth.cpd(name).leaves
        assert isinstance(ours, kind)
        mean, sd = (ours.mean, ours.sd) if leaves == "normal" else (ours.location, ours.scale)
        assert np.abs(mean - theirs.mean).max() < 0.05 and np.abs(sd - theirs.sd).max() < 0.03
    held = truth.sample(2000, 2)
    assert truth.log_likelihood(held) - 15 < found.log_likelihood(held) < truth.log_likelihood(held) + 15
    assert found.sample(10, 1).n_rows == 10
    p = found.predict_proba("T", held.select(["A", "X", "Y", "B"]))
    assert np.allclose(p.sum(axis=1), 1.0)
    assert np.abs(p - truth.predict_proba("T", held)).mean() < 0.02


def test_a_tree_is_smoothed_on_its_own_nodes():
    """Leaf 1's rows are few: m-estimate backs off only when there are none, HDP borrows from its sibling's parent."""
    truth = mixed_network()
    data = truth.sample(300, 1)
    cells = truth.cpd("T").cells([data.column("X"), data.column("A")], 300)
    keep = np.flatnonzero(cells != 1)
    without = data.take(keep)
    found = optbn.fit(truth, without, "m_estimate", m=0.0).cpd("T").leaves.probabilities
    counts = np.bincount(without.column("T")[cells[keep] == 2], minlength=3)
    assert np.allclose(found[1], found[2]) and np.allclose(found[2], counts / counts.sum())
    assert (optbn.fit(truth, without, "hdp").cpd("T").leaves.probabilities > 0).all()
    assert np.allclose(optbn.fit(truth, without, "laplace").cpd("T").leaves.probabilities[1], 1 / 3)


@pytest.mark.parametrize("seed", range(3))
def test_normal_leaves_merge_like_one_pass_and_follow_their_posterior(seed):
    generator = np.random.default_rng(seed)
    values, cells, weights = generator.normal(1e6, 1.0, 200), generator.integers(0, 3, 200), generator.random(200)
    counts = NormalCounts(4)
    for part in (slice(0, 30), slice(30, 31), slice(31, 200)):
        counts.add(cells[part], values[part], weights[part])
    for c in range(3):
        w, x = weights[cells == c], values[cells == c]
        mean = np.average(x, weights=w)
        assert np.isclose(counts.mean[c], mean, rtol=1e-14)
        assert np.isclose(counts.deviations[c], (w * (x - mean) ** 2).sum(), rtol=1e-6)
        a, b = 2 + w.sum() / 2, 3.0 + counts.deviations[c] / 2 + w.sum() * (mean - 1e6) ** 2 / (2 * (w.sum() + 1))
        student = counts.leaves(1e6, 3.0, "student")
        assert np.isclose(counts.leaves(1e6, 3.0, "normal").sd[c] ** 2, b / (a - 1))
        assert np.isclose(student.dof[c], 2 * a)
        assert np.isclose(student.scale[c] ** 2, b / a * (1 + 1 / (w.sum() + 1)))
    normal = counts.leaves(1e6, 3.0, "normal")
    assert normal.mean[3] == 1e6 and np.isclose(normal.sd[3] ** 2, 3.0)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_file_gives_the_same_bits_as_the_data_in_memory(tmp_path, ending):
    network, data = optbn.load_network("asia"), asia_data(3000)
    path = tmp_path / f"data.{ending}"
    optbn.write(data, path)
    for structure in (network, network.structure)[: 2 if ending == "parquet" else 1]:  # csv has its own order of levels
        assert optbn.fit(structure, path, "hdp", sweeps=50) == optbn.fit(structure, data, "hdp", sweeps=50)


def test_batches_do_not_matter(tmp_path, monkeypatch):
    network, data = optbn.load_network("asia"), asia_data(3000)
    optbn.write(data, tmp_path / "data.csv")
    whole = Dataset.batches
    monkeypatch.setattr(Dataset, "batches", staticmethod(lambda *a, **k: whole(*a, rows=77, **k)))
    assert optbn.fit(network, tmp_path / "data.csv", "bdeu") == optbn.fit(network, data, "bdeu")


def test_structures_of_every_kind(tmp_path):
    network, data = optbn.load_network("asia"), asia_data()
    wanted = optbn.fit(network.structure, data, "bdeu")
    parents = {name: network.parents(name) for name in network.names}
    assert optbn.fit(parents, data, "bdeu") == wanted
    graph = optbn.fit(network.to_networkx(), data, "bdeu")
    assert {n: sorted(graph.parents(n)) for n in graph.names} == {n: sorted(p) for n, p in parents.items()}
    network.structure.save(tmp_path / "learned.json")
    optbn.write_network(network, tmp_path / "net.bif")
    assert optbn.fit(tmp_path / "learned.json", data, "bdeu") == wanted
    assert optbn.fit(str(tmp_path / "net.bif"), data, "bdeu").structure == network.structure
    (tmp_path / "solution.json").write_text(
        json.dumps({"format": "optbn-solution-1", "score": 1.0, "parents": parents})
    )
    assert optbn.fit(tmp_path / "solution.json", data, "bdeu") == wanted
    optbn.write_network(network, tmp_path / "net.json")
    assert optbn.fit(tmp_path / "net.json", data, "bdeu") == optbn.fit("asia", data, "bdeu")
    with pytest.raises(UnsupportedError, match="not int"):
        optbn.fit(3, data)
    (tmp_path / "cycle.json").write_text(json.dumps({"parents": {"asia": ["lung"], "lung": ["asia"]}}))
    with pytest.raises(NetworkError, match=r"cycle\.json: the parents form a cycle"):
        optbn.fit(tmp_path / "cycle.json", data)
    assert isinstance(graph, BayesianNetwork) and isinstance(network.to_networkx(), networkx.DiGraph)


def test_seeds_and_threads():
    network, data = optbn.load_network("asia"), asia_data()
    one = optbn.fit(network, data, "hdp", seed=5)
    assert optbn.fit(network, data, "hdp", seed=5, threads=4) == one
    assert optbn.fit(network, data, "hdp", seed=6) != one


def test_counts_are_those_of_the_table_and_rows_in_any_order():
    network, data = optbn.load_network("asia"), asia_data()
    result = fitted(network, data, "mle")
    assert result.rows == 500
    p = result.network.cpd("dysp").probabilities
    b, e, d = (data.column(n) for n in ("bronc", "either", "dysp"))
    parents = result.network.parents("dysp")
    for i in range(2):
        for j in range(2):
            inside = ({"bronc": b, "either": e}[parents[0]] == i) & ({"bronc": b, "either": e}[parents[1]] == j)
            if inside.any():
                assert np.isclose(p[i, j, 0], (d[inside] == 0).mean())
    order = np.random.default_rng(0).permutation(500)
    assert optbn.fit(network, data.take(order), "hierarchical") == optbn.fit(network, data, "hierarchical")


def test_deviations_of_every_probability_and_diagnostics():
    data = asia_data()
    result = fitted(optbn.load_network("asia"), data, "hdp", sweeps=200)
    shape = result.network.cpd("either").probabilities.shape
    assert result.deviations("either").shape == shape
    assert ((result.deviations("either") > 0) & (result.deviations("either") < 0.5)).all()
    assert result.diagnostics()["lung"].keys() >= {"r_hat", "effective_draws", "sweeps", "converged"}
    p = (np.bincount(data.column("smoke"), minlength=2) + 1) / 502
    found = fitted(optbn.load_network("asia"), data, "laplace").deviations("smoke")
    assert np.allclose(found, np.sqrt(p * (1 - p) / 503))
    assert fitted(optbn.load_network("asia"), data, "mle").deviations("lung") is None


@pytest.mark.parametrize("smoother", ["hdp", "hierarchical", "bdeu"])
def test_a_tree_and_what_was_never_seen_have_deviations(smoother):
    truth = mixed_network()
    result = fitted(truth, truth.sample(12, 1), smoother)
    of_tree, of_bins = result.deviations("T"), result.deviations("B")
    assert of_tree.shape == (3, 3) and of_bins.shape == (9, 2)
    for name, found in (("T", of_tree), ("B", of_bins)):
        p = result.network.cpd(name).leaves.probabilities
        assert ((found > 0) & (found**2 < p * (1 - p))).all()
    assert result.deviations("X") is None


def test_progress_tells_both_phases():
    seen = []
    optbn.fit(optbn.load_network("asia"), asia_data(), "laplace", progress=lambda *x: seen.append(x))
    assert seen[0] == ("counting", 500, None) and seen[-1] == ("fitting", 8, 8)


# What has no rows


def test_zero_rows_and_zero_weights_give_the_prior():
    network, data = optbn.load_network("asia"), asia_data(20)
    for smoother in ("hdp", "hierarchical", "laplace", "bdeu", "m_estimate", "m_branch", "gradient", "mle"):
        none = optbn.fit(network, data.take(slice(0, 0)), smoother)
        assert all(np.allclose(cpd.probabilities, 0.5) for cpd in none.cpds)
        assert optbn.fit(network, data, smoother, weights=np.zeros(20)) == none
    mixed = optbn.fit(mixed_network(), mixed_network().sample(5, 1).take(slice(0, 0)), "hdp")
    assert np.allclose(mixed.cpd("Y").leaves.mean, 0.0)
    assert np.allclose(mixed.cpd("Y").leaves.sd, 40 / np.sqrt(12))


def test_a_constant_column_still_has_a_density():
    data = Dataset(("X",), (Real(3.0, 3.0),), (np.full(10, 3.0),))
    leaves = optbn.fit({"X": ()}, data).cpd("X").leaves
    assert leaves.mean[0] == 3.0 and 0 < leaves.sd[0] < 0.01


def test_weights_repeat_rows(tmp_path):
    network, data = optbn.load_network("asia"), asia_data(200)
    weights = np.random.default_rng(0).integers(0, 3, 200)
    repeated = optbn.fit(network, data.take(np.repeat(np.arange(200), weights)), "bdeu")
    assert optbn.fit(network, data, "bdeu", weights=weights) == repeated
    w = weights.astype(float)
    with_column = Dataset((*data.names, "w"), (*data.domains, Real(0.0, 2.0)), (*data.columns, w))
    assert optbn.fit(network, with_column, "bdeu", weights="w") == repeated
    optbn.write(with_column, tmp_path / "w.csv")
    assert optbn.fit(network, tmp_path / "w.csv", "bdeu", weights="w") == repeated


# Bad input


def test_bad_weights_are_named():
    network, data = optbn.load_network("asia"), asia_data(10)
    with pytest.raises(DataError, match=r"weights, row 4: the weight -1 is not"):
        optbn.fit(network, data, weights=[1, 1, 1, -1, 1, 1, 1, 1, 1, 1])
    with pytest.raises(DataError, match=r"shape \(3,\), but there are 10 rows"):
        optbn.fit(network, data, weights=[1, 1, 1])
    with pytest.raises(DataError, match="11 weights, but there are 10 rows"):
        optbn.fit(network, data, weights=np.ones(11))
    with pytest.raises(DataError, match="no column 'w'"):
        optbn.fit(network, data, weights="w")
    with pytest.raises(DataError, match="'asia' has levels that are no numbers"):
        optbn.fit({"lung": ()}, data, weights="asia")


def test_a_level_the_structure_does_not_know(tmp_path):
    network, data = optbn.load_network("asia"), asia_data(10)
    levels = tuple(data.domain("lung").levels)
    other = Categorical((*levels, "maybe"))
    at = data.index("lung")
    column = data.columns[at].copy()
    column[4] = 2
    odd = Dataset(
        data.names, tuple(other if i == at else d for i, d in enumerate(data.domains)),
        tuple(column if i == at else c for i, c in enumerate(data.columns)),
    )  # fmt: skip
    with pytest.raises(NetworkError, match=r"column 'lung', row 5: the network has no level 'maybe'"):
        optbn.fit(network, odd)
    optbn.write(odd, tmp_path / "odd.csv")
    with pytest.raises(DataError, match=r"(?s)lung.*maybe.*not declared"):
        optbn.fit(network, tmp_path / "odd.csv")


def test_a_parent_that_the_data_lack(tmp_path):
    network, data = optbn.load_network("asia"), asia_data(10)
    some = data.select([n for n in data.names if n != "smoke"])
    with pytest.raises(DataError, match="no column 'smoke', which the structure needs"):
        optbn.fit(network, some)
    optbn.write(some, tmp_path / "some.csv")
    with pytest.raises(DataError, match="no column 'smoke'"):
        optbn.fit(network, tmp_path / "some.csv")


def test_real_columns_need_a_local_model():
    data = mixed_network().sample(10, 1)
    with pytest.raises(UnsupportedError, match="'T' has the real parent 'X'; give a network"):
        optbn.fit({"X": (), "T": ("X",)}, data)
    with pytest.raises(UnsupportedError, match="'X' is real and has parents"):
        optbn.fit({"A": (), "X": ("A",)}, data)
    with pytest.raises(UnknownNameError, match="normal, student"):
        optbn.fit({"X": ()}, data, leaves="gauss")


def test_a_table_that_would_not_fit_is_refused_before_it_is_made():
    ten = Categorical(tuple("0123456789"))
    names = tuple(f"P{i}" for i in range(9))
    data = Dataset((*names, "X"), (ten,) * 9 + (AB,), (np.zeros(5, dtype=np.uint8),) * 10)
    with pytest.raises(LimitError, match=r"'X' given P0, .*2,000,000,000 entries"):
        optbn.fit({**dict.fromkeys(names, ()), "X": names}, data)


@pytest.mark.parametrize(
    ("score", "weights", "smoother"),
    [("pcart", 1.0, "hierarchical"), ("bic", 1.0, "hdp"), ("bic", 0.5, "hierarchical")],
    ids=["trees", "tables", "shares of rows"],
)
def test_the_default_smoother(score, weights, smoother):
    """Trees by hierarchical, tables by hdp, shares of rows by what can count them; of learn, fit, RunningFit."""
    data = optbn.load_network("asia").sample(300, seed=1)
    each = np.full(300, weights)
    found = optbn.learn(data, score=score, max_parents=2, weights=each, seed=3)
    assert found.report.settings["smoother"] == smoother
    weighted = data.weighted(each)
    by_name = optbn.fit(found.network, weighted, smoother, seed=3)
    assert found.network.cpds == by_name.cpds == optbn.fit(found.network, weighted, seed=3).cpds
    assert optbn.RunningFit(found.network, seed=3).partial_fit(data, weights=each).network().cpds == by_name.cpds
    assert optbn.fit(found.network, data, "m_estimate").cpds != by_name.cpds
