"""Divergence and inference against the joint distribution written out."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from optbn.base.errors import LimitError, NetworkError, UnknownNameError, UnsupportedError
from optbn.data.dataset import Categorical, Real
from optbn.evaluate import density
from optbn.network import inference
from optbn.network.cpds import BinnedTableCPD, TableCPD
from optbn.network.leaves import NormalLeaves
from optbn.network.network import BayesianNetwork


def random_network(rng: np.random.Generator, n: int, zeros: bool = False) -> BayesianNetwork:
    """A random DAG over variables of 2 or 3 levels with Dirichlet rows."""
    names = [f"x{i}" for i in range(n)]
    domains = [Categorical(tuple("abc"[: rng.integers(2, 4)])) for _ in names]
    order = rng.permutation(n)
    cpds = {}
    for place, v in enumerate(order):
        parents = sorted(rng.choice(order[:place], size=min(place, rng.integers(0, 4)), replace=False).tolist())
        sizes = [len(domains[p].levels) for p in parents]
        rows = rng.dirichlet(np.ones(len(domains[v].levels)), size=sizes)
        if zeros and rng.random() < 0.3:
            rows[..., 0], rows[..., 1] = 0.0, rows[..., 1] + rows[..., 0]
        cpds[v] = TableCPD(domains[v], tuple(names[p] for p in parents), tuple(domains[p] for p in parents), rows)
    return BayesianNetwork(tuple(names), tuple(domains), tuple(cpds[v] for v in range(n)))


def joint(network: BayesianNetwork) -> np.ndarray:
    """P(x) for every assignment, by multiplying table entries one by one."""
    sizes = [len(d.levels) for d in network.domains]
    table = np.zeros(sizes)
    for codes in itertools.product(*map(range, sizes)):
        p = 1.0
        for v, name in enumerate(network.names):
            cpd = network.cpd(name)
            p *= cpd.probabilities[(*(codes[network.index(u)] for u in cpd.parents), codes[v])]
        table[codes] = p
    return table


def test_queries_are_sums_of_the_joint():
    rng = np.random.default_rng(0)
    for _ in range(80):
        network = random_network(rng, 6)
        table = joint(network)
        chosen = rng.permutation(6)
        targets, given = chosen[: rng.integers(1, 4)], chosen[4 : 4 + rng.integers(0, 3)]
        evidence = {network.names[v]: str(rng.choice(network.domains[v].levels)) for v in given}
        answer = inference.query(network, [network.names[v] for v in targets], evidence)
        index = [slice(None)] * 6
        for name, level in evidence.items():
            v = network.index(name)
            index[v] = slice(network.domains[v].levels.index(level), network.domains[v].levels.index(level) + 1)
        part = table[tuple(index)]
        expected = part.sum(axis=tuple(v for v in range(6) if v not in targets), keepdims=True)
        expected = np.moveaxis(expected, targets, range(len(targets))).reshape(answer.probabilities.shape)
        np.testing.assert_allclose(answer.probabilities, expected / expected.sum(), rtol=1e-12)
        assert answer.log_evidence == pytest.approx(math.log(part.sum()), abs=1e-12)


def test_the_most_probable_explanation_is_the_largest_entry():
    rng = np.random.default_rng(1)
    for _ in range(60):
        network = random_network(rng, 5)
        table = joint(network)
        v = int(rng.integers(5))
        level = int(rng.integers(len(network.domains[v].levels)))
        found = inference.most_probable(network, {network.names[v]: network.domains[v].levels[level]})
        codes = tuple(network.domains[u].levels.index(found.assignment[name]) for u, name in enumerate(network.names))
        assert codes[v] == level
        assert table[codes] == pytest.approx(np.take(table, level, axis=v).max())
        assert found.log_joint == pytest.approx(math.log(table[codes]))


def test_impossible_evidence_and_wrong_names_are_said():
    domain = Categorical(("no", "yes"))
    root = TableCPD(domain, (), (), np.array([1.0, 0.0]))
    leaf = TableCPD(domain, ("a",), (domain,), np.array([[0.5, 0.5], [0.1, 0.9]]))
    network = BayesianNetwork(("a", "b"), (domain, domain), (root, leaf))
    with pytest.raises(UnsupportedError, match="a=yes has probability zero"):
        inference.query(network, ["b"], {"a": "yes"})
    with pytest.raises(UnknownNameError, match="no variable 'c'"):
        inference.query(network, ["c"])
    with pytest.raises(UnknownNameError, match=r"no level of 'a' called 'yess'.*did you mean 'yes'"):
        inference.query(network, ["b"], {"a": "yess"})
    with pytest.raises(UnsupportedError, match="both in the question and in the evidence"):
        inference.query(network, ["a"], {"a": "no"})


def test_a_table_that_would_not_fit_is_refused_before_it_is_made(monkeypatch):
    monkeypatch.setattr("optbn.network.states.MAX_ENTRIES", 8)
    network = random_network(np.random.default_rng(3), 12)
    with pytest.raises(LimitError, match="would need a table of"):
        for name in network.names:
            inference.query(network, [name], {})


def test_divergence_is_the_sum_over_the_joint_and_sampling_agrees():
    rng = np.random.default_rng(2)
    for _ in range(20):
        true = random_network(rng, 5, zeros=True)
        cpds = []
        for name, cpd in zip(true.names, random_network(rng, 5).cpds, strict=True):
            domains = [true.domain(p) for p in cpd.parents]
            rows = rng.dirichlet(np.ones(len(true.domain(name).levels)), size=[len(d.levels) for d in domains])
            cpds.append(TableCPD(true.domain(name), cpd.parents, tuple(domains), rows))
        fitted = BayesianNetwork(true.names, true.domains, tuple(cpds))
        fitted_table = joint(fitted)
        p = joint(true)
        seen = p > 0
        expected = float((p[seen] * (np.log(p[seen]) - np.log(fitted_table[seen]))).sum())
        assert density.divergence(true, fitted) == density.Estimate(pytest.approx(expected, abs=1e-12), 0.0)
    sampled = density.sampled_divergence(true, fitted, 20_000, 1)
    assert abs(sampled.value - expected) < 5 * sampled.error


def test_divergence_goes_by_the_names_of_levels():
    rng = np.random.default_rng(4)
    true = random_network(rng, 4)
    turned = []
    for cpd in true.cpds:
        domain = Categorical(cpd.domain.levels[::-1])
        parents = tuple(Categorical(p.levels[::-1]) for p in cpd.parent_domains)
        turned.append(TableCPD(domain, cpd.parents, parents, np.flip(cpd.probabilities)))
    same = BayesianNetwork(true.names, tuple(cpd.domain for cpd in turned), tuple(turned))
    assert density.divergence(true, same).value == pytest.approx(0.0, abs=1e-12)
    one = Categorical(("a",))
    ignorant = BayesianNetwork(("x",), (one,), (TableCPD(one, (), (), np.ones(1)),))
    two = Categorical(("a", "b"))
    knowing = BayesianNetwork(("x",), (two,), (TableCPD(two, (), (), np.array([0.5, 0.5])),))
    with pytest.raises(NetworkError, match="does not know the level 'b' of 'x'"):
        density.divergence(knowing, ignorant)
    assert density.divergence(ignorant, knowing).value == pytest.approx(math.log(2))


def test_divergence_of_real_variables_is_sampled():
    def normal(mean: float) -> BayesianNetwork:
        leaves = NormalLeaves(np.array([mean]), np.array([1.0]))
        return BayesianNetwork(("x",), (Real(-9.0, 9.0),), (BinnedTableCPD(Real(-9.0, 9.0), (), (), (), leaves),))

    found = density.divergence(normal(0.0), normal(1.0))  # (difference of means)^2 / 2
    assert found.error > 0 and abs(found.value - 0.5) < 5 * found.error


def test_divergence_to_an_impossible_model_is_infinite_and_to_itself_zero():
    domain = Categorical(("no", "yes"))

    def coin(p: float) -> BayesianNetwork:
        return BayesianNetwork(("a",), (domain,), (TableCPD(domain, (), (), np.array([1 - p, p])),))

    assert density.divergence(coin(0.3), coin(0.0)).value == math.inf
    assert density.divergence(coin(0.0), coin(0.0)).value == 0.0
    data = coin(0.3).sample(1000, 1)
    assert density.held_out(coin(0.3), data).value == pytest.approx(-0.61, abs=0.05)
    assert density.held_out(coin(0.0), data).value == -math.inf
