"""`learn` is its own steps: score, solve and fit, one after another, give the same network."""

import numpy as np
import pytest

import optbn
from optbn.learning.local import with_local_models
from optbn.learning.solving import structure_of
from optbn.scores import load_score


def steps(data, score, parents):
    table = optbn.score_table(data, score, parents)
    solution = optbn.solve(table)
    return solution, structure_of(table, solution)


@pytest.mark.parametrize("score", ["bic", "bdeu"])
def test_of_count_scores(score):
    data = optbn.load_network("asia").sample(400, 1)
    found = optbn.learn(data, score=score, max_parents=2, smoother="laplace")
    solution, structure = steps(data, score, 2)
    assert found.solution.score == solution.score and found.network.structure == structure
    assert found.network == optbn.fit(structure, data, "laplace")


def test_of_trees_over_mixed_columns(tmp_path):
    rng = np.random.default_rng(1)
    group = rng.integers(3, size=300)
    x, n = rng.normal(2.0 * group), rng.poisson(4 + 3 * group)
    rows = [f"{'abc'[g]},{a:.3f},{k},{'yn'[int(a > 2)]}" for g, a, k in zip(group, x, n, strict=True)]
    (tmp_path / "d.csv").write_text("\n".join(["group,x,n,high", *rows]))
    found = optbn.learn(tmp_path / "d.csv", max_parents=2, smoother="laplace")
    data = optbn.read(tmp_path / "d.csv")
    default = load_score("pcartp")
    solution, structure = steps(data, default, 2)
    assert optbn.score_table(data).digest == optbn.score_table(data, default).digest  # one default for both
    assert found.solution.score == solution.score and found.network.structure == structure
    assert found.network == optbn.fit(with_local_models(structure, data, default.bind(data)), data, "laplace")


def test_of_a_file_with_gaps(tmp_path):
    """Each step reads a file as `learn` does: a missing value is a value."""
    rng = np.random.default_rng(2)
    a = rng.integers(2, size=200)
    b = np.where(rng.random(200) < 0.2, "", np.where(rng.random(200) < 0.8, a, 1 - a).astype(str))
    path = tmp_path / "gaps.csv"
    cells = zip(a, b, rng.random(200), strict=True)
    path.write_text("\n".join(["a,b,x", *(f"{'ny'[i]},{j},{i + k:.2f}" for i, j, k in cells)]))
    found = optbn.learn(path, smoother="laplace")
    table = optbn.score_table(path)
    solution = optbn.solve(table)
    assert found.solution.score == solution.score and found.network.structure == structure_of(table, solution)
    assert abs(optbn.gap(path, found.network).nats) < 1e-9
    assert optbn.edges(path).score == pytest.approx(solution.score)
    assert len(optbn.bootstrap(path, resamples=2)) == 2
    assert optbn.fit(found.network, path, "laplace").parents("b") == found.network.parents("b")
