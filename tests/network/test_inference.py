"""Exact inference against sums over all configurations, numerical integration and draws."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm, t

import optbn
from optbn.base.errors import LimitError, UnknownNameError, UnsupportedError
from optbn.data.dataset import Categorical, Real
from optbn.network.cpds import BinnedTableCPD, TableCPD
from optbn.network.leaves import NormalLeaves, StudentLeaves
from optbn.network.moments import moments
from optbn.network.network import BayesianNetwork
from optbn.network.posterior import RealPosterior
from tests.naive.network import naive_joint, naive_mixed_joint, random_network
from tests.network.test_network import mixed_network


def some_evidence(rng, network, k):
    names = rng.permutation(network.names)[:k]
    return {str(v): str(rng.choice(network.domain(v).levels)) for v in names}


def test_posteriors_explanations_and_samples_of_small_networks():
    rng = np.random.default_rng(1)
    for _ in range(12):
        network = random_network(rng, 5)
        joint = naive_joint(network)
        given = some_evidence(rng, network, int(rng.integers(0, 3)))
        at = tuple(network.domain(v).levels.index(given[v]) if v in given else slice(None) for v in network.names)
        part = joint[at]
        free = [v for v in network.names if v not in given]
        targets = [str(v) for v in rng.permutation(free)[: int(rng.integers(1, 3))]]
        drop = tuple(i for i, v in enumerate(free) if v not in targets)
        kept = [v for v in free if v in targets]
        expected = np.transpose(part.sum(axis=drop), [kept.index(v) for v in targets]) / part.sum()
        found = network.query(targets, given)
        assert np.allclose(found.probabilities, expected, atol=1e-12)
        assert found.log_evidence == pytest.approx(math.log(part.sum()) if given else 0.0)
        best = network.most_probable(given)
        assert best.log_joint == pytest.approx(math.log(part.max()))
        codes = tuple(network.domain(v).levels.index(best.assignment[v]) for v in network.names)
        assert joint[codes] == pytest.approx(part.max())
        if given:
            rows = network.sample(4000, 7, given)
            assert all((rows.column(v) == network.domain(v).levels.index(x)).all() for v, x in given.items())
            counts = np.zeros(joint.shape)
            np.add.at(counts, tuple(rows.columns), 1)
            noise = np.sqrt(part.ravel() / part.sum() / 4000)
            assert (np.abs(counts[at].ravel() / 4000 - part.ravel() / part.sum()) < 5 * noise + 2e-3).all()


MIXED = [
    ("A", {}),
    ("T", {"A": "b"}),
    ("T", {"X": 1.7}),
    ("A", {"Y": 0.4}),
    ("T", {"Y": 3.0, "B": "y"}),
    ("B", {"S": 1.2}),
    ("A", {"X": 2.05, "S": 9.0, "T": "n"}),
]


@pytest.mark.parametrize(("target", "given"), MIXED)
def test_mixed_networks_against_a_fine_grid(target, given):
    """The real variables X and S summed out on a grid whose cells end at the thresholds."""
    network = mixed_network()
    expected, log_evidence = naive_mixed_joint(network, target, given)
    found = network.query(target, given)
    assert np.allclose(found.probabilities, expected, atol=3e-4)
    assert found.log_evidence == pytest.approx(log_evidence, abs=2e-3)


@pytest.mark.parametrize("given", [{}, {"T": "y"}, {"A": "c", "B": "n"}, {"Y": 2.5}, {"S": 1.6, "T": "n"}])
@pytest.mark.parametrize("target", ["X", "S", "Y"])
def test_posteriors_of_real_variables_are_what_samples_show(target, given):
    network = mixed_network()
    if target in given:
        return
    if given == {"A": "c", "B": "n"}:
        with pytest.raises(UnsupportedError, match="A=c, B=n has probability zero"):
            network.query(target, given)
        with pytest.raises(UnsupportedError, match="probability zero"):
            network.sample(10, 1, given)
        return
    found = network.query(target, given)
    rows = network.sample(60_000, 3, given)
    x = rows.column(target)
    assert isinstance(found, RealPosterior) and found.probabilities.sum() == pytest.approx(1)
    assert abs(x.mean() - found.mean) < 5 * x.std() / math.sqrt(len(x))
    assert found.sd == pytest.approx(x.std(), rel=0.05)
    assert all((rows.column(v) == (g if isinstance(g, float) else "yn".index(g))).all() for v, g in given.items())


def test_blanket_predictions_agree_with_predict_proba():
    network = mixed_network()
    rows = network.sample(30, 4)
    proba = network.predict_proba("T", rows)
    for i in range(rows.n_rows):
        given = {v: row_value(rows, v, i) for v in network.names if v != "T"}
        assert np.allclose(network.query("T", given).probabilities, proba[i], atol=1e-12)


def row_value(rows, name, i):
    domain, value = rows.domain(name), rows.column(name)[i]
    return domain.levels[value] if isinstance(domain, Categorical) else float(value)


def test_moments_of_cut_leaves():
    cuts = np.array([-3.0, -0.5, 0.25, 4.0, 11.0])
    ends = [-np.inf, *cuts, np.inf]
    students = StudentLeaves([0.0, 1.0, -2.0], [1.0, 2.5, 0.7], [2.5, 7.0, 40.0])
    for leaves, laws in (
        (NormalLeaves([0.0, 3.0], [1.0, 2.5]), [norm(0, 1), norm(3, 2.5)]),
        (students, [t(v, m, s) for m, s, v in zip(students.location, students.scale, students.dof, strict=True)]),
    ):
        mean, variance = moments(leaves, cuts)
        for c, law in enumerate(laws):
            for i, (a, b) in enumerate(itertools.pairwise(ends)):
                mass = quad(law.pdf, a, b)[0]
                first = quad(lambda x, law=law: x * law.pdf(x), a, b)[0] / mass
                second = quad(lambda x, law=law, m=first: (x - m) ** 2 * law.pdf(x), a, b, limit=500)[0] / mass
                assert mean[c, i] == pytest.approx(first, rel=1e-5, abs=1e-6)
                assert variance[c, i] == pytest.approx(second, rel=3e-2 if np.isinf([a, b]).any() else 1e-4)
    assert np.isnan(moments(StudentLeaves([0.0], [1.0], [1.0]), np.zeros(0))[0]).all()
    far = moments(NormalLeaves([0.0], [1.0]), np.array([60.0]))
    assert far[0][0].tolist() == [pytest.approx(0.0), 60.0] and far[1][0, 1] == 0.0


def posteriors_are_those_of_single_queries(network, given):
    found = network.posteriors(given)
    assert list(found) == [name for name in network.names if name not in given]
    for name, posterior in found.items():
        alone = network.query(name, given)
        assert posterior.levels == alone.levels and posterior.probabilities.sum() == pytest.approx(1)
        assert np.allclose(posterior.probabilities, alone.probabilities, atol=1e-12)
        assert posterior.log_evidence == pytest.approx(alone.log_evidence, abs=1e-9)
        if isinstance(alone, RealPosterior):
            assert (posterior.mean, posterior.sd) == (pytest.approx(alone.mean), pytest.approx(alone.sd))


def test_all_posteriors_at_once():
    rng = np.random.default_rng(2)
    for _ in range(30):
        network = random_network(rng, int(rng.integers(1, 8)))
        posteriors_are_those_of_single_queries(network, some_evidence(rng, network, int(rng.integers(0, 4))))
    for _, given in MIXED:
        posteriors_are_those_of_single_queries(mixed_network(), given)
    posteriors_are_those_of_single_queries(optbn.load_network("alarm"), {"HRBP": "HIGH", "PRESS": "LOW"})


def test_all_posteriors_with_states_that_cannot_be():
    network = optbn.load_network("asia")  # either is yes when lung is: tables with zeros
    posteriors_are_those_of_single_queries(network, {"lung": "yes"})
    assert network.posteriors({"lung": "yes"})["either"].probabilities.tolist() == [1.0, 0.0]
    with pytest.raises(UnsupportedError, match="probability zero"):
        network.posteriors({"lung": "yes", "either": "no"})
    assert network.posteriors({name: "no" for name in network.names}) == {}
    with pytest.raises(LimitError, match="exact inference would need"):
        optbn.load_network("munin1").posteriors()


def test_evidence_far_in_the_tails_does_not_underflow():
    domain, real = Categorical(("a", "b")), Real(0, 1)
    a = TableCPD(domain, (), (), [0.5, 0.5])
    x = BinnedTableCPD(real, ("a",), (domain,), ([],), NormalLeaves([0.0, 1.0], [1.0, 1.0]))
    network = BayesianNetwork(("a", "x"), (domain, real), (a, x))
    found = network.query("a", {"x": 100.0})
    assert found.probabilities[0] == pytest.approx(math.exp(-99.5)) and found.log_evidence < -4000


def test_large_networks_and_what_would_not_fit():
    alarm = optbn.load_network("alarm")
    assert alarm.query(["LVFAILURE"], {"PRESS": "HIGH"}).probabilities.sum() == pytest.approx(1)
    munin = optbn.load_network("munin1")
    with pytest.raises(LimitError, match="exact inference would need a table of"):
        munin.query(munin.names[-40:])


@pytest.mark.parametrize(
    ("ask", "error", "message"),
    [
        (lambda n: n.query("Q"), UnknownNameError, "no variable 'Q'"),
        (lambda n: n.query([]), UnsupportedError, "the query names no variable"),
        (lambda n: n.query("A", {"A": "a"}), UnsupportedError, "'A' is both in the question and in the evidence"),
        (lambda n: n.query(["A", "A"]), UnsupportedError, "'A' stands in the query twice"),
        (lambda n: n.query("A", {"B": "x"}), UnknownNameError, "no level of 'B' called 'x'"),
        (lambda n: n.query("A", {"X": "much"}), UnsupportedError, "'X' is real: 'much' is not a number"),
        (lambda n: n.query("A", {"X": ">much"}), UnsupportedError, "'X' is real: '>much' is not a number"),
        (lambda n: n.query("X", {"A": ">1"}), UnsupportedError, "'A' has the levels .*, which are no numbers"),
        (lambda n: n.query("A", {"X": (3, 3)}), UnsupportedError, "evidence 3 <= X < 3 has probability zero"),
    ],
)
def test_mistakes(ask, error, message):
    with pytest.raises(error, match=message):
        ask(mixed_network())


def test_explanations_of_mixed_networks_with_the_real_ones_given():
    network = mixed_network()
    given = {"X": 2.9, "S": 1.0, "Y": 0.0}
    best = network.most_probable(given)
    score = {}
    for a, b, tt in itertools.product("abc", "yn", "yn"):
        score[a, b, tt] = sum(
            float(
                network.cpd(v).log_density(
                    np.array([value(network, v, at(a, b, tt, given))]),
                    [np.array([value(network, p, at(a, b, tt, given))]) for p in network.cpd(v).parents],
                )[0]
            )
            for v in network.names
        )
    assert best.log_joint == pytest.approx(max(score.values()))
    assert best.assignment["X"] == "2.9"


def at(a, b, tt, given):
    return {"A": a, "B": b, "T": tt, **given}


def value(network, name, row):
    domain = network.domain(name)
    return domain.levels.index(row[name]) if isinstance(domain, Categorical) else row[name]
