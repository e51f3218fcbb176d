"""Real parents that may be cut between any two values: by every box's number against plans, and against every tree."""

import numpy as np
import pytest

import optbn
from optbn.base.errors import LimitError
from optbn.data.dataset import Categorical, Dataset, Real
from optbn.scores.pcart import PCART
from optbn.scores.trees.costs import MOST_NUMBERED, Costs
from optbn.scores.trees.large import Sites
from optbn.scores.trees.leaves import highest_density
from optbn.scores.trees.thresholds import Boxes
from tests.naive import pcart as naive
from tests.scores_pcart.columns import score

SETTINGS = [{}, {"gamma": None}, {"gamma": 0.01, "alpha": 0.1, "nu": 3.0, "a": 0.1}]


def tied(rng, rows, reals, levels=2):
    """Columns x0 .. of few values, z of a few levels, a categorical y and a real w that both depend on them."""
    reals = [1.5 * rng.integers(0, rng.integers(1, 6), rows) for _ in range(reals)]
    z = rng.integers(0, levels, rows).astype(np.uint8)
    about = sum(x > np.median(x) for x in reals) + z
    y = ((about + (rng.random(rows) < 0.2)) % 3).astype(np.uint8)
    w = np.round(about + 0.3 * rng.normal(size=rows), 1)
    names = (*(f"x{i}" for i in range(len(reals))), "z", "y", "w")
    domains = [Real(x.min(), x.max()) for x in reals]
    domains += [Categorical(tuple("abcd"[:levels])), Categorical(("a", "b", "c")), Real(w.min(), w.max())]
    return Dataset(names, tuple(domains), (*reals, z, y, w))


def boxes(bound, child, parents):
    """All boxes of a family, and what is added to their value."""
    members = np.array(parents, np.int32)
    priors = bound._priors(members[None, :])
    cost, rows = float(priors.leaf_cost[0]), int(priors.leaf_rows[0])
    found = Boxes.of(bound.leaves, Sites.of(bound.leaves, members), members, child, cost, rows)
    return found, float(priors.constant[0]) + float(bound.leaves.jacobian[child])


@pytest.mark.twin
@pytest.mark.parametrize("settings", SETTINGS)
def test_the_best_of_every_tree(settings):
    rng = np.random.default_rng(1)
    for _ in range(25):
        reals = int(rng.integers(1, 4))
        data = tied(rng, int(rng.integers(1, 20)), reals)
        few = [v for v in range(reals) if len(set(data.columns[v].tolist())) <= (4, 3, 2)[reals - 1]]
        bound = PCART(max_splits="all", **settings).bind(data)
        for parents in ((0,), (0, reals), tuple(range(reals))):
            if not set(parents) - {reals} <= set(few):
                continue
            for child in (reals + 1, reals + 2):
                found, added = boxes(bound, child, parents)
                expected, _ = naive.pcart(data, child, parents, "all", **settings)
                assert found.value + added == pytest.approx(expected, rel=1e-9, abs=1e-9)


def in_plans(monkeypatch):
    monkeypatch.setattr(Costs, "laid_out", lambda self, sets, boxes, splits: np.zeros(len(sets), np.bool_))
    monkeypatch.setattr(Costs, "numbered", lambda self, sets: np.zeros(len(sets), np.bool_))


def by_number(monkeypatch):
    monkeypatch.setattr(Costs, "laid_out", lambda self, sets, boxes, splits: np.zeros(len(sets), np.bool_))
    monkeypatch.setattr(Costs, "numbered", lambda self, sets: np.ones(len(sets), np.bool_))


@pytest.mark.twin
@pytest.mark.parametrize("settings", SETTINGS)
def test_the_same_bits_and_trees_as_plans(monkeypatch, settings):
    rng = np.random.default_rng(2)
    for _ in range(40):
        reals = int(rng.integers(1, 3))
        data = tied(rng, int(rng.integers(1, 60)), reals, levels=4)
        bound = PCART(max_splits="all", **settings).bind(data)
        for parents in ((0,), (0, reals), tuple(range(reals))):
            for child in (reals + 1, reals + 2):
                found = []
                for way in (in_plans, by_number):
                    with monkeypatch.context() as patched:
                        way(patched)
                        value = score(bound, data.n_variables, child, parents)
                        found.append((value, bound.fitted(child, parents)))
                (one, tree), (other, same) = found
                assert other == pytest.approx(one, rel=1e-12, abs=1e-12)
                assert same.n_leaves == tree.n_leaves or data.names[child] == "w"  # ties there end in rounding
                if data.names[child] == "y":
                    assert other == one
                    assert same.nodes == tree.nodes


def test_rows_with_weights(monkeypatch):
    rng = np.random.default_rng(3)
    weighted = tied(rng, 50, 2).weighted(0.5 * rng.integers(1, 4, 50))
    bound, values = PCART(max_splits="all").bind(weighted), []
    for way in (in_plans, by_number):
        with monkeypatch.context() as patched:
            way(patched)
            values.append([score(bound, weighted.n_variables, child, (0, 1)) for child in (3, 4)])
    assert values[0] == pytest.approx(values[1], rel=1e-12)


def test_a_row_adds_no_more_than_the_highest_density():
    rng = np.random.default_rng(4)
    data = tied(rng, 40, 1)
    leaves = PCART(max_splits="all", nu=0.7, a=0.2).bind(data).leaves
    row = int(leaves.responses.row[3])
    most = highest_density(leaves.tables, row)
    assert (np.diff(most) >= 0).all()
    for _ in range(500):
        n = int(rng.integers(1, 40))
        values = rng.choice([1e-9, 0.1, 10.0]) * rng.normal(size=n)
        log_m = [leaf_of(values[:m], leaves.tables, row) for m in (n - 1, n)]
        assert log_m[1] - log_m[0] <= most[n] + 1e-9


def leaf_of(values, tables, row):
    n = len(values)
    mean = values.mean() if n else 0.0
    inside = tables.scale[row] + ((values - mean) ** 2).sum() + tables.shrink[row, n] * mean**2
    return tables.constant[row, n] - tables.power[row, n] * np.log(inside)


def test_few_cuts_are_looked_at():
    rng = np.random.default_rng(5)
    x = rng.normal(size=300)
    y = ((x > 0) ^ (rng.random(300) < 0.1)).astype(np.uint8)
    data = Dataset(("x", "y"), (Real(x.min(), x.max()), Categorical(("a", "b"))), (x, y))
    bound = PCART(max_splits="all").bind(data)
    found, _ = boxes(bound, 1, (0,))
    assert found.looked_at < 0.25 * bound.costs.extent(np.array([[0]], np.int32))[1][0]


def test_too_many_values_are_refused_by_name():
    rng = np.random.default_rng(6)
    rows = int((2 * MOST_NUMBERED) ** 0.5) + 10
    x, y = rng.normal(size=(2, rows))
    data = Dataset(("x", "y"), (Real(x.min(), x.max()), Real(y.min(), y.max())), (x, y))
    with pytest.raises(LimitError, match=rf"'x' has {rows} .*max.splits"):
        score(PCART(max_splits="all").bind(data), 2, 1, (0,))


def test_learn_cuts_between_any_two_of_a_thousand_values():
    rng = np.random.default_rng(7)
    x = rng.normal(size=1000)
    data = Dataset(("x", "y"), (Real(x.min(), x.max()), Categorical(("a", "b"))), (x, (x <= 0.123).astype(np.uint8)))
    found = optbn.learn(data, score="pcart", max_splits="all", max_parents=1, constraints={"roots": ["x"]})
    below, above = x[x <= 0.123].max(), x[x > 0.123].min()
    assert below < found.network.cpd("y").tree.threshold[0] <= above
