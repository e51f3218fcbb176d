"""Numbers: against other packages, at the edges of what there can be, and the same whatever the number of threads.

pyAgrum's BDeu is not among the others: its table of the gamma function is inexact.
"""

from __future__ import annotations

import numpy as np
import pytest

import optbn
from optbn.data.dataset import Categorical, Dataset
from optbn.scores.listed import score
from optbn_solvers import ScoreTable

FAMILIES = [
    ("dysp", ["either", "bronc"]),
    ("xray", []),
    ("either", ["lung", "tub"]),
    ("lung", ["smoke", "asia", "dysp"]),
]


@pytest.fixture(scope="module")
def asia():
    return optbn.load_network("asia").sample(500, seed=3)


@pytest.mark.parametrize("ess", [1.0, 10.0])
def test_bdeu_is_that_of_pgmpy(asia, ess):
    estimators = pytest.importorskip("pgmpy.estimators", reason="pgmpy is not installed")
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({
        name: pandas.Categorical([domain.levels[c] for c in column], domain.levels)
        for name, domain, column in zip(asia.names, asia.domains, asia.columns, strict=True)
    })  # fmt: skip
    states = {name: list(domain.levels) for name, domain in zip(asia.names, asia.domains, strict=True)}
    theirs = estimators.BDeu(frame.astype(str), equivalent_sample_size=ess, state_names=states)
    for child, parents in FAMILIES:
        assert score(asia, child, parents, "bdeu", ess=ess) == pytest.approx(
            theirs.local_score(child, parents), abs=1e-8
        )


@pytest.mark.parametrize("name", ["asia", "child", "insurance"])
def test_scores_are_those_of_pygobnilp(name):
    """Its scorer needs no Gurobi; BDeu (two equivalent sample sizes) and BIC of random families."""
    scoring = pytest.importorskip("pygobnilp.scoring", reason="pygobnilp is not installed")
    pandas = pytest.importorskip("pandas")
    data = optbn.load_network(name).sample(400, seed=5)
    frame = pandas.DataFrame({
        name: pandas.Categorical([domain.levels[c] for c in column], domain.levels)
        for name, domain, column in zip(data.names, data.domains, data.columns, strict=True)
    })  # fmt: skip
    rng = np.random.default_rng(6)
    families = []
    for _ in range(60):
        child, *parents = rng.permutation(data.names)[: 1 + int(rng.integers(0, 4))].tolist()
        families.append((child, tuple(sorted(parents))))
    theirs = scoring.DiscreteData(frame)
    assert [theirs.arity(v) for v in data.names] == list(data.cardinalities)
    for ess in (1.0, 10.0):
        bdeu = scoring.BDeu(theirs, alpha=ess)
        for child, parents in families:
            expected = bdeu.bdeu_score(child, parents)[0]
            assert score(data, child, list(parents), "bdeu", ess=ess) == pytest.approx(expected, abs=1e-7)
    bic = scoring.DiscreteBIC(theirs)
    for child, parents in families:
        expected = bic.score(child, parents)[0]
        assert score(data, child, list(parents), "bic") == pytest.approx(expected, abs=1e-7)


def questions(network, count):
    """(target, evidence) with evidence that can be: levels of a sampled row."""
    rng = np.random.default_rng(7)
    data = network.sample(count, seed=8)
    for row in range(count):
        target, *given = rng.permutation(network.names)[: 1 + int(rng.integers(0, 5))].tolist()
        at = {name: data.names.index(name) for name in given}
        yield target, {name: data.domains[v].levels[data.columns[v][row]] for name, v in at.items()}


@pytest.mark.parametrize("name", ["asia", "alarm", "insurance", "win95pts"])
def test_posteriors_are_those_of_pyagrum(name):
    gum = pytest.importorskip("pyagrum", reason="pyagrum is not installed")
    network = optbn.load_network(name)
    engine = gum.LazyPropagation(network.to_pyagrum())
    for target, given in questions(network, 40):
        engine.setEvidence(given)
        engine.makeInference()
        expected = engine.posterior(target).toarray()  # pgmpy and optbn agree in fifteen digits, pyAgrum in eight
        np.testing.assert_allclose(network.query(target, given).probabilities, expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", ["asia", "child", "alarm"])
def test_posteriors_are_those_of_pgmpy(name):
    inference = pytest.importorskip("pgmpy.inference", reason="pgmpy is not installed")
    network = optbn.load_network(name)
    engine = inference.VariableElimination(network.to_pgmpy())
    for target, given in questions(network, 15):
        answer = engine.query([target], given, show_progress=False)
        levels = [str(level) for level in answer.state_names[target]]
        expected = [answer.values[levels.index(level)] for level in network.domain(target).levels]
        np.testing.assert_allclose(network.query(target, given).probabilities, expected, atol=1e-13)


def columns(n, rows, levels, seed=1):
    rng = np.random.default_rng(seed)
    domain = Categorical(tuple(map(str, range(levels))))
    values = tuple(rng.integers(0, levels, rows).astype(np.uint8) for _ in range(n))
    return Dataset(tuple(f"v{i}" for i in range(n)), (domain,) * n, values)


@pytest.mark.parametrize("n", [63, 64, 65, 128, 129])
def test_words_of_masks(n):
    data = columns(n, 30, 2)
    table = optbn.score_table(data, "bdeu", 1, jobs=1)
    for child in (0, n - 1):
        for parent in (1, 62, n - 2):
            row = table.find(child, [parent])
            if row is not None:
                expected = score(data, f"v{child}", [f"v{parent}"])
                assert table.scores[row] == pytest.approx(expected, abs=1e-9)
    solution = optbn.solve(table, cpu_limit=20)
    assert solution.bound >= solution.score


@pytest.mark.parametrize("levels", [2, 60])
def test_few_and_many_levels(levels):
    data = columns(4, 300, levels)
    for name in ("bdeu", "bic", "qnml"):
        table = optbn.score_table(data, name, 2, jobs=1)
        assert np.isfinite(table.scores).all()
        assert optbn.solve(table, "dp").score == optbn.solve(table, "ilp").score


def test_ten_million_rows():
    """Counts of one beside counts of millions."""
    rows = 10_000_000
    x = np.zeros(rows, dtype=np.uint8)
    y = np.zeros(rows, dtype=np.uint8)
    x[0] = y[rows // 2] = 1
    data = Dataset(("x", "y"), (Categorical(("a", "b")),) * 2, (x, y))
    from math import lgamma

    def term(count, a):
        return lgamma(count + a) - lgamma(a)

    alone = -term(rows, 1.0) + term(rows - 1, 0.5) + term(1, 0.5)
    given = -term(rows - 1, 0.5) - term(1, 0.5) + term(rows - 2, 0.25) + term(1, 0.25) + term(1, 0.25) + term(0, 0.25)
    assert score(data, "x", [], "bdeu") == pytest.approx(alone, rel=1e-9)
    assert score(data, "x", ["y"], "bdeu") == pytest.approx(given, abs=1e-6)


def test_scores_of_minus_a_thousand_million():
    """The grid holds them beside differences of a millionth."""
    best = {(): -1e9, ("b",): -1e9 + 3e-6}
    table = ScoreTable.from_dict({"a": best, "b": {(): -1e9, ("c",): -1e9 + 2e-6}, "c": {(): -5.0, ("a",): -4.0}})
    for solver in ("dp", "ilp", "cp"):
        solution = optbn.solve(table, solver)
        assert solution.status == "optimal"
        chosen = table.graph(solution.choice)
        assert chosen["c"] == ("a",) and len(chosen["a"]) + len(chosen["b"]) == 1 and chosen["a"] == ("b",)


def test_threads_change_nothing():
    data = optbn.load_network("child").sample(300, seed=1)
    for name in ("bdeu", "pcart"):
        assert optbn.score_table(data, name, 2, jobs=1) == optbn.score_table(data, name, 2, jobs=2)
