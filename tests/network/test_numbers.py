"""Numbers with bounds, whole numbers, ranges as evidence, explanations and joint answers about real variables."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.stats import norm

import optbn
from optbn.data.dataset import Categorical, Real
from optbn.data.support import Support
from optbn.network.cpds import TableCPD, TreeCPD
from optbn.network.cut import matched
from optbn.network.formats import decode, encode
from optbn.network.leaves import CategoricalLeaves, NormalLeaves
from optbn.network.moments import moments as moments_of
from optbn.network.network import BayesianNetwork
from optbn.network.tree import Split, Tree
from tests.naive.cut import moments

INF = math.inf


@pytest.mark.parametrize(
    ("mean", "sd", "least", "most", "largest"),
    [
        (2.77, 1.5, 0.0, INF, 1.5),
        (2.77, 3.1, 0.0, INF, 2.77),  # no wider than an exponential
        (100.0, 3.0, 0.0, INF, 3.0),
        (0.3, 0.1, 0.0, 1.0, 0.1),
        (0.5, 0.45, 0.0, 1.0, 0.2887),  # no wider than uniform
        (-3.0, 2.0, -INF, 0.0, 2.0),
    ],
)
def test_what_is_cut_keeps_its_mean_and_if_it_can_its_deviation(mean, sd, least, most, largest):
    location, scale = matched(np.array([mean]), np.array([sd]), least, most)
    found = moments(location[0], scale[0], least, most)
    assert found[0] == pytest.approx(mean, rel=1e-4)
    assert found[1] == pytest.approx(largest, rel=0.02) and found[1] <= largest * 1.001
    leaves = NormalLeaves(location, scale, Support(least, most))
    first, second = moments_of(leaves, np.zeros(0))
    assert (first[0, 0], math.sqrt(second[0, 0])) == pytest.approx(found, rel=1e-4)


def test_densities_sum_to_one_and_draws_stay_inside():
    support = Support(0.0, INF, True)
    leaves = NormalLeaves.fitting(np.array([1.5, 20.0]), np.array([1.4, 4.0]), support)
    x = np.linspace(-0.5, 60.0, 200_001)
    for cell in (0, 1):
        density = np.exp(leaves.log_density(np.full(len(x), cell), x))
        assert np.trapezoid(density, x) == pytest.approx(1.0, abs=1e-4)
    drawn = leaves.sample(np.repeat([0, 1], 20_000), np.random.default_rng(1))
    assert drawn.min() == 0 and (drawn == np.round(drawn)).all()
    assert drawn[:20_000].mean() == pytest.approx(1.5, abs=0.05)
    assert np.isfinite(leaves.log_density(np.array([0]), np.array([-3.0]))).all()  # a surprise has an answer
    declared = NormalLeaves(np.array([1.0]), np.array([1.0]), Support(0.0, 5.0, False, True))
    assert declared.log_density(np.array([0]), np.array([5.1]))[0] == -INF


def counting_network():
    """group -> visits (whole, never negative) -> ill, and a grade whose levels are numbers."""
    group, ill, grade = Categorical(("a", "b")), Categorical(("no", "yes")), Categorical(("1", "2", "3"))
    visits = Real(0.0, 40.0, whole=True)
    split = Tree.build([Split(0, (0,), 1, 2), 0, 1], (group,))
    leaves = NormalLeaves.fitting(np.array([1.2, 7.0]), np.array([1.5, 3.0]), visits.support)
    cut = Tree.build([Split(0, 3.0, 1, 2), 0, Split(0, 6.5, 3, 4), 1, 2], (visits,))
    chances = CategoricalLeaves(np.array([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]]))
    return BayesianNetwork(
        ("group", "visits", "ill", "grade"),
        (group, visits, ill, grade),
        (
            TableCPD(group, (), (), np.array([0.6, 0.4])),
            TreeCPD(visits, ("group",), (group,), split, leaves),
            TreeCPD(ill, ("visits",), (visits,), cut, chances),
            TableCPD(grade, ("ill",), (ill,), np.array([[0.5, 0.3, 0.2], [0.1, 0.3, 0.6]])),
        ),
    )


def everything(network):
    """{(group, visits, ill, grade): probability}, every whole number of visits apart."""
    numbers, found = np.arange(200), {}
    leaves = network.cpd("visits").leaves
    for g, i, j in itertools.product(range(2), range(2), range(3)):
        z = (np.arange(-0.5, 200.0) - leaves.mean[g]) / leaves.sd[g]
        mass = np.diff(norm.cdf(z)) / norm.sf(z[0])
        cells = network.cpd("ill").cells([numbers.astype(float)], len(numbers))
        joint = (0.6, 0.4)[g] * mass * network.cpd("ill").leaves.probabilities[cells, i]
        joint = joint * network.cpd("grade").probabilities[i, j]
        found.update({(g, int(x), i, j): p for x, p in zip(numbers, joint, strict=True)})
    return found


RANGES = [
    ({"visits": ">3"}, lambda g, x, i, j: x > 3),
    ({"visits": ">=3"}, lambda g, x, i, j: x >= 3),
    ({"visits": "2.5 <= x < 7"}, lambda g, x, i, j: 2.5 <= x < 7),
    ({"visits": (2, 7), "grade": ">1"}, lambda g, x, i, j: 2 <= x < 7 and j > 0),
    ({"visits": (None, 4), "ill": "yes"}, lambda g, x, i, j: x < 4 and i == 1),
    ({"grade": "<=2"}, lambda g, x, i, j: j < 2),
]


@pytest.mark.parametrize(("evidence", "holds"), RANGES)
def test_ranges_as_evidence_sum_over_what_they_hold(evidence, holds):
    network = counting_network()
    inside = {key: p for key, p in everything(network).items() if holds(*key)}
    total = sum(inside.values())
    answer = network.query("group", evidence)
    assert answer["a"] == pytest.approx(sum(p for key, p in inside.items() if key[0] == 0) / total, rel=1e-9)
    assert answer.log_evidence == pytest.approx(math.log(total), abs=1e-9)
    assert network.posteriors(evidence)["group"]["a"] == pytest.approx(answer["a"])
    drawn = network.sample(3000, 1, evidence)
    codes = zip(*(drawn.column(name).astype(int).tolist() for name in network.names), strict=True)
    assert all(holds(*row) for row in codes)
    assert (drawn.column("group") == 0).mean() == pytest.approx(answer["a"], abs=0.04)
    visits = network.query("visits", evidence)
    assert visits.quantile(0.0) >= 0 and visits.quantile(0.5).is_integer()


def test_forward_rows_agree_with_exact_answers():
    network = counting_network()
    rows = network.sample(40_000, 1)
    assert rows.column("visits").min() == 0 and (rows.column("visits") % 1 == 0).all()
    assert (rows.column("ill") == 1).mean() == pytest.approx(network.query("ill")["yes"], abs=0.01)
    joint = network.query(["visits", "ill"])
    assert joint.levels[0] == ("x < 3", "3 <= x < 6.5", "x >= 6.5")
    assert joint["x < 3", "yes"] == pytest.approx(
        ((rows.column("visits") < 3) & (rows.column("ill") == 1)).mean(), abs=0.01
    )


def test_explanations_choose_levels_and_intervals():
    network = counting_network()
    pieces = {}
    for (g, x, i, j), p in everything(network).items():
        key = (g, 0 if x < 3 else 1 if x < 6.5 else 2, i, j)
        pieces[key] = pieces.get(key, 0.0) + p
    for evidence, holds in (({}, lambda key: True), ({"ill": "yes"}, lambda key: key[2] == 1)):
        best = max((key for key in pieces if holds(key)), key=pieces.__getitem__)
        found = network.most_probable(evidence)
        assert found.log_joint == pytest.approx(math.log(pieces[best]), abs=1e-9)
        assert found.assignment["group"] == "ab"[best[0]]
        assert found.intervals["visits"] == ("x < 3", "3 <= x < 6.5", "x >= 6.5")[best[1]]
        assert network.query("group", {"visits": float(found.assignment["visits"])})


def test_supports_travel_in_files(tmp_path):
    network = counting_network()
    again = decode(encode(network, "json"), "json", "a file")
    assert again == network and again.domain("visits").whole
    assert again.cpd("visits").leaves.support == Support(0.0, INF, True)


def test_learned_numbers_stay_where_numbers_can_lie(tmp_path):
    rng = np.random.default_rng(1)
    rows = [
        f"{'ab'[g]},{rng.poisson(3 + 6 * g)},{rng.beta(1, 3):.4f},{rng.normal():.3f}" for g in rng.integers(2, size=300)
    ]
    (tmp_path / "d.csv").write_text("\n".join(["group,visits,share,free", *rows]))
    network = optbn.learn(tmp_path / "d.csv", max_parents=1, smoother="laplace").network
    drawn = network.sample(3000, 1)
    assert drawn.column("visits").min() == 0 and (drawn.column("visits") % 1 == 0).all()
    share = drawn.column("share")
    assert share.min() >= 0 and share.max() <= 1 and drawn.column("free").min() < 0
    data = optbn.read(tmp_path / "d.csv")
    for name in ("visits", "share", "free"):
        assert network.query(name).mean == pytest.approx(data.column(name).mean(), rel=0.05, abs=0.05)
