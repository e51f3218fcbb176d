"""Hierarchical gradient smoothing: published leaves, the loss and its gradient, and what optimising buys."""

from __future__ import annotations

import json
import time

import numpy as np
import pytest

from optbn.smoothing.gradient import Gradient, Problem
from optbn.smoothing.kernels.gradient import combine
from optbn.smoothing.tree import CountTree
from tests.naive import smoothing as naive
from tests.paths import shared_neighbour


def random_tree(seed, n=40, sizes=(3, 2, 2), K=3, noise=0.3):
    generator = np.random.default_rng(seed)
    rows = np.stack([generator.integers(0, s, n) for s in sizes], axis=1)
    child = np.where(generator.random(n) < noise, generator.integers(0, K, n), rows[:, 0] % K)
    contexts, at = np.unique(rows, axis=0, return_inverse=True)
    counts = np.zeros((len(contexts), K))
    np.add.at(counts, (at.ravel(), child), 1)
    return CountTree.from_configurations(contexts, counts, sizes)


def fit(tree, **settings):
    return Gradient(**settings).fit(tree, np.random.default_rng(0))


@pytest.mark.parametrize("data", ["iris", "glass", "tic-tac-toe"])
def test_alpha_1_gives_the_published_leaves(data):
    golden = json.loads(shared_neighbour("golden", "bnc", "c45_trees_smoothing.json").read_text())
    for kind, tolerance in (("HGS", 1e-5), ("HGS_LogLoss", 5e-5)):  # their strengths are 1 up to 1e-5 and 1e-4
        nodes = golden[f"{data}|{kind}"]
        tree, where = CountTree.from_splits(
            [n["parent"] for n in nodes], np.array([n["n"] for n in nodes], dtype=float)
        )
        estimate = fit(tree, alpha=1.0)
        for i, node in enumerate(nodes):
            if node["leaf"]:
                own = tree.branch[where[i]] == i
                p = estimate.probabilities[where[i]] if own else estimate.unseen[where[i]]
                assert np.abs(p - node["p"]).max() < tolerance


@pytest.mark.twin
@pytest.mark.parametrize("seed", range(4))
def test_loss_and_gradient(seed):
    tree = random_tree(seed)
    problem = Problem.of(tree)
    generator = np.random.default_rng(seed)
    z = generator.normal(size=problem.size)
    loss, gradient = problem.loss(z)
    strength = dict.fromkeys(range(-1, len(tree.parent)), 0.0)
    for u in range(len(tree.parent)):
        if problem.place[u] >= 0:
            strength[u] = np.exp(z[problem.place[u]])
    strength[-1] = np.exp(z[-1])
    assert abs(loss - naive.leave_one_out(tree, strength)) < 1e-9 * loss
    for j in range(problem.size):
        e = 1e-5 * np.eye(problem.size)[j]
        difference = (problem.loss(z + e)[0] - problem.loss(z - e)[0]) / 2e-5
        assert abs(difference - gradient[j]) < 1e-6 * max(1.0, abs(gradient[j]))


def uneven_tree(seed):
    """The counts of a decision tree whose leaves lie at different depths."""
    random = np.random.default_rng(seed)
    parents = [-1, *(int(random.integers(0, i)) for i in range(1, 12))]
    counts = np.where(np.isin(np.arange(12), parents)[:, None], 0, random.integers(0, 5, (12, 3))).astype(float)
    for i in range(11, 0, -1):
        counts[parents[i]] += counts[i]
    return CountTree.from_splits(parents, counts)[0]


@pytest.mark.twin
@pytest.mark.parametrize("seed", range(3))
def test_probabilities_are_the_rows_and_the_shares_of_all_nodes_above(seed):
    tree = random_tree(seed)
    problem = Problem.of(tree)
    strength = np.random.default_rng(seed).gamma(1.0, size=problem.size)
    probabilities, unseen = np.empty_like(tree.counts), np.empty_like(tree.counts)
    combine(strength, tree.counts, tree.totals, problem.parent, problem.place, probabilities, unseen)
    for u in range(len(tree.parent)):
        above, p = np.full(3, strength[-1] / 3), int(tree.parent[u])
        while p >= 0:
            above = above + strength[problem.place[p]] * tree.counts[p] / tree.counts[p].sum()
            p = int(tree.parent[p])
        wanted = tree.counts[u] + above
        assert probabilities[u] == pytest.approx(wanted / wanted.sum())
        if problem.place[u] >= 0:  # a child without rows has u above it as well
            above = above + strength[problem.place[u]] * tree.counts[u] / tree.counts[u].sum()
            assert unseen[u] == pytest.approx(above / above.sum())


@pytest.mark.twin
@pytest.mark.parametrize("tree", [random_tree(1), random_tree(2, sizes=(4,)), uneven_tree(3), uneven_tree(4)])
def test_effective_number_is_a_trace(tree):
    problem = Problem.of(tree)
    z = np.random.default_rng(0).normal(size=problem.size)
    slopes = []
    for node, level in zip(problem.node, problem.level, strict=True):
        one = problem._replace(node=np.array([node]), level=np.array([level]))
        slopes += [one.loss(z)[1] / problem.counts[node, level]] * int(problem.counts[node, level])
    G = np.array(slopes).T @ np.array(slopes)
    for penalty in (0.1, 3.0):
        wanted = np.trace(G @ np.linalg.inv(G + penalty * np.eye(len(G))))
        assert abs(problem.effective_number(z, penalty) - wanted) < 1e-10


def test_many_contexts_take_seconds():
    """To solve for the columns of an inverse took the square of their number: minutes here."""
    rows = np.random.default_rng(0).integers(0, 10, (60_000, 6))
    counts = np.eye(2)[(rows[:, 0] + rows[:, 4]) % 2]
    tree = CountTree.from_configurations(*_merged(rows, counts), (10,) * 6)
    problem = Problem.of(tree)
    assert problem.size > 40_000
    began = time.process_time()
    assert 0 < problem.effective_number(np.zeros(problem.size), 1.0) < problem.size
    assert time.process_time() - began < 5.0


def _merged(rows, counts):
    configurations, where = np.unique(rows, axis=0, return_inverse=True)
    merged = np.zeros((len(configurations), counts.shape[1]))
    np.add.at(merged, where.ravel(), counts)
    return configurations, merged


@pytest.mark.parametrize("seed", range(4))
def test_optimised_is_no_worse_by_its_loss_and_never_nan(seed):
    tree = random_tree(seed, n=[2, 15, 60, 200][seed], noise=[0.0, 0.1, 0.5, 1.0][seed])
    plain, best, free = fit(tree, penalty=np.inf), fit(tree), fit(tree, penalty=0.0)
    for estimate in (plain, best, free):
        assert np.isfinite(estimate.probabilities).all() and (estimate.probabilities > 0).all()
    assert best.diagnostics["criterion"] <= plain.diagnostics["criterion"]
    assert best.diagnostics["leave_one_out_loss"] <= plain.diagnostics["leave_one_out_loss"] + 1e-9
    assert free.diagnostics["leave_one_out_loss"] <= best.diagnostics["leave_one_out_loss"] + 1e-6
    assert (plain.diagnostics["strength"] == 1.0).all()


def test_optimising_helps_on_fresh_rows_on_average():
    gain = []
    for seed in range(12):
        generator = np.random.default_rng(100 + seed)
        sizes = (4, 3, 3)
        truth = generator.dirichlet([[0.3, 0.6, 1.0, 2.0][seed % 4]] * 4, 36)
        if seed % 2:  # only the first variable matters
            truth = truth[::9].repeat(9, axis=0)
        contexts = np.array(list(np.ndindex(*sizes)))
        counts = generator.multinomial(6, truth).astype(float)
        tree = CountTree.from_configurations(contexts, counts, sizes)
        loss = [-(truth * np.log(e.at(tree, tree.cells()))).sum() / 36 for e in (fit(tree, penalty=np.inf), fit(tree))]
        gain.append(loss[0] - loss[1])
    assert np.mean(gain) > 0.0
