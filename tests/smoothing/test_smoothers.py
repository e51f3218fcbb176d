"""What every smoother promises, run over the registry."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from optbn.base.errors import UnknownNameError, UnsupportedError
from optbn.smoothing import SMOOTHERS, load_smoother
from optbn.smoothing.counting import FamilyCounts
from optbn.smoothing.tree import CountTree
from tests.naive import smoothing as naive

QUICK = {"hdp": {"sweeps": 300, "chains": 2}}
CASES = [(name, QUICK.get(name, {})) for name in SMOOTHERS] + [
    ("m_estimate", {"m": "cv"}),
    ("bdeu", {"ess": 10.0}),
    ("gradient", {"alpha": 1.0}),
    ("hierarchical", {"method": "exact"}),
    ("hdp", {"tying": "single", "sweeps": 300}),
    ("hdp", {"tying": "same_parent", "sweeps": 300}),
    ("hdp", {"tying": "none", "sweeps": 300, "deviations": True}),
    ("hdp", {"discount": 0.3, "sweeps": 300}),
    ("hdp", {"discount": "learned", "sweeps": 300}),
]
MAY_BE_ZERO = [("mle", {}), ("gradient", {"alpha": 1.0})]
RANDOM = [case for case in CASES if case[0] == "hdp"]
cases = pytest.mark.parametrize(("name", "settings"), CASES, ids=lambda x: str(x))


def example(seed=0, n=80, sizes=(3, 4), n_levels=3, last_level_unused=True):
    generator = np.random.default_rng(seed)
    columns = [generator.integers(0, s, n) for s in sizes]
    child = (sum(columns[:1]) + generator.integers(0, 2, n)) % (n_levels - last_level_unused)
    counts = FamilyCounts(sizes, n_levels)
    counts.add(columns, child)
    return counts.tree()


def fit(name, settings, tree, seed=1):
    return load_smoother(name, **settings).fit(tree, np.random.default_rng(seed))


@cases
def test_distributions_at_every_node_and_below_it(name, settings):
    for tree in (example(), example(n=3), example(n=0), example(n=1, sizes=())):
        estimate = fit(name, settings, tree)
        for p in (estimate.probabilities, estimate.unseen, estimate.at(tree, tree.cells())):
            assert p.shape[1] == 3
            assert np.allclose(p.sum(axis=1), 1.0, atol=1e-12)
            assert (p >= 0).all()
            if (name, settings) not in MAY_BE_ZERO or tree.counts.sum() == 0:
                assert (p > 0).all()


@cases
def test_one_level_many_levels_and_enormous_counts(name, settings):
    contexts = np.array([[0, 0], [0, 1], [1, 0]])
    many = np.random.default_rng(0).integers(0, 2, (3, 100)).astype(float)
    huge = np.array([[1e9, 3.0, 0.0], [2e8, 1e8, 1.0], [0.0, 7.0, 2e9]])
    each_row = settings.get("method") == "exact" or "discount" in settings
    for counts in (np.array([[3.0], [2.0], [5.0]]), many, huge)[: 2 if each_row else 3]:
        tree = CountTree.from_configurations(contexts, counts, (2, 2))
        estimate = fit(name, settings, tree)
        for p in (estimate.probabilities, estimate.unseen):
            assert np.isfinite(p).all() and np.allclose(p.sum(axis=1), 1.0)


@cases
def test_tends_to_frequencies(name, settings):
    tree = example(last_level_unused=False)
    times = 30.0 if settings.get("method") == "exact" else 300.0 if "discount" in settings else 1e5
    many = replace(tree, counts=tree.counts * times)
    p = fit(name, settings, many).probabilities
    leaves = tree.is_leaf
    frequencies = (tree.counts / tree.totals[:, None])[leaves]
    assert np.abs(p[leaves] - frequencies).max() < (2e-3 if times == 1e5 else 4e-2)


@cases
def test_same_seed_same_bits(name, settings):
    tree = example()
    assert np.array_equal(fit(name, settings, tree).probabilities, fit(name, settings, tree).probabilities)


@cases
def test_relabelling_the_child_relabels_the_answer(name, settings):
    tree = example(last_level_unused=False)
    turn = np.array([2, 0, 1])
    turned = replace(tree, counts=np.ascontiguousarray(tree.counts[:, turn]))
    if name == "hdp":
        settings = {**settings, "sweeps": 4000}
    if settings.get("m") == "cv":
        pytest.skip("which rows are held out depends on their order")
    a, b = fit(name, settings, tree), fit(name, settings, turned)
    tolerance = 6 * (a.diagnostics["monte_carlo_error"]) if name == "hdp" else 1e-4 if name == "gradient" else 1e-9
    assert np.abs(a.probabilities[:, turn] - b.probabilities).max() < tolerance


@cases
def test_relabelling_a_parent_moves_the_contexts(name, settings):
    if settings.get("m") == "cv":
        pytest.skip("which rows are held out depends on their order")
    generator = np.random.default_rng(5)
    rows = np.stack([generator.integers(0, 3, 60), generator.integers(0, 4, 60)], axis=1)
    child = (rows[:, 0] + generator.integers(0, 2, 60)) % 3
    turn = np.array([2, 3, 1, 0])
    tables = []
    if name == "hdp":
        settings = {**settings, "sweeps": 4000}
    for second in (rows[:, 1], turn[rows[:, 1]]):
        counts = FamilyCounts((3, 4), 3)
        counts.add([rows[:, 0], second], child)
        tree = counts.tree((0, 1))
        estimate = fit(name, settings, tree)
        tables.append(estimate.at(tree, tree.cells()).reshape(3, 4, 3))
    tolerance = 6 * estimate.diagnostics["monte_carlo_error"] if name == "hdp" else 1e-4 if name == "gradient" else 1e-9
    assert np.abs(tables[0] - tables[1][:, turn]).max() < tolerance


def test_constants_against_their_definitions():
    tree = example(last_level_unused=False)
    n, N = tree.counts, tree.totals[:, None]
    assert np.allclose(fit("mle", {}, tree).probabilities, n / N)
    assert np.allclose(fit("laplace", {}, tree).probabilities, (n + 1) / (N + 3))
    assert np.allclose(fit("m_estimate", {"m": 2.0}, tree).probabilities, (n + 2 / 3) / (N + 2))
    share = 1 / np.array([1.0, *tree.sizes]).cumprod()[tree.depth][:, None]
    assert np.allclose(fit("bdeu", {"ess": 6.0}, tree).probabilities, (n + 2 * share) / (N + 6 * share))
    assert np.allclose(fit("bdeu", {}, tree).unseen, 1 / 3)


@pytest.mark.twin
@pytest.mark.parametrize("seed", range(3))
def test_m_branch_against_recursion(seed):
    tree = example(seed, sizes=(3, 2, 2))
    assert np.allclose(fit("m_branch", {"M": 3.0}, tree).probabilities, naive.m_branch(tree, 3.0))


def test_m_is_chosen_by_held_out_rows():
    generator = np.random.default_rng(0)
    contexts = np.arange(400)[:, None]
    noise = CountTree.from_configurations(contexts, generator.multinomial(4, [0.2] * 5, 400).astype(float), (400,))
    sharp = CountTree.from_configurations(contexts, 4.0 * np.eye(5)[generator.integers(0, 5, 400)], (400,))
    assert fit("m_estimate", {"m": "cv"}, noise).diagnostics["m"] == 20.0
    assert fit("m_estimate", {"m": "cv"}, sharp).diagnostics["m"] == 0.05
    assert fit("m_estimate", {"m": "cv"}, example(n=5)).diagnostics["m"] == 1.0


@pytest.mark.parametrize(
    ("name", "settings", "said"),
    [
        ("bdeu", {"ess": 0.0}, "ess is 0.0"),
        ("m_estimate", {"m": -1.0}, "m is -1.0"),
        ("m_estimate", {"m": "best"}, "'best'"),
        ("m_branch", {"M": float("nan")}, "M is nan"),
        ("hdp", {"rate": 0.0}, "rate is 0.0"),
        ("hdp", {"chains": 0}, "chains is 0"),
        ("hdp", {"compat": "java"}, "'java'"),
        ("hierarchical", {"s": -1.0}, "s is -1.0"),
        ("gradient", {"alpha": 0.0}, "alpha is 0.0"),
        ("gradient", {"penalty": -1.0}, "penalty is -1.0"),
    ],
)
def test_settings_out_of_range_are_refused_by_name(name, settings, said):
    with pytest.raises(UnsupportedError, match=said):
        load_smoother(name, **settings)


def test_names_that_do_not_exist():
    with pytest.raises(UnknownNameError, match="did you mean 'laplace'"):
        load_smoother("laplac")
    with pytest.raises(UnknownNameError, match=r"no setting 'es'; it has: ess"):
        load_smoother("bdeu", es=1)
    with pytest.raises(UnknownNameError, match="level, none, same_parent, single"):
        load_smoother("hdp", tying="levels")
    with pytest.raises(UnknownNameError, match="exact, variational"):
        load_smoother("hierarchical", method="mcmc")


@pytest.mark.parametrize("name", ["hdp", "gradient"])
def test_fractions_of_rows_are_refused_where_rows_are_counted(name):
    tree = replace(example(), counts=example().counts * 0.5)
    with pytest.raises(UnsupportedError, match=name):
        fit(name, {}, tree)
