"""What must not matter: the order of contexts and domains, those without rows, and how often the same one is there."""

from __future__ import annotations

import numpy as np
import pytest

import optbn
from optbn.smoothing.borrowing import around
from optbn.smoothing.hierarchical import posterior


@pytest.mark.parametrize("method", ["variational", "exact"])
@pytest.mark.parametrize("alpha0", ["learned", 1.0])
def test_contexts_in_any_order_equal_ones_and_empty_ones(method, alpha0):
    rng = np.random.default_rng(3)
    counts = rng.multinomial(6, [0.5, 0.3, 0.2], 5).astype(float)
    counts[4] = counts[1]
    found = posterior(counts, "learned", alpha0, method)
    order = [3, 1, 4, 0, 2]
    turned = posterior(counts[order], "learned", alpha0, method)
    assert np.allclose(turned.theta(), found.theta()[order], atol=1e-9)
    assert np.allclose(found.theta()[4], found.theta()[1]) and found.s == pytest.approx(turned.s)
    empty = posterior(np.vstack([counts, np.zeros((3, 3))]), "learned", alpha0, method)
    assert np.allclose(empty.theta()[:5], found.theta(), atol=1e-9)
    assert empty.log_evidence == pytest.approx(found.log_evidence)
    assert np.allclose(empty.theta()[5:], found.mean / found.s)


def test_rows_around_a_centre_in_any_order_and_equal_ones():
    rng = np.random.default_rng(0)
    centre = rng.dirichlet(np.ones(3), 4)
    counts = np.array([[rng.multinomial(5, p) for p in centre] for _ in range(3)], dtype=float)
    counts = np.concatenate([counts, counts[:1]])
    p, worth = around(counts, centre)
    assert np.allclose(p[3], p[0]) and np.allclose(worth[3], worth[0])
    again, _ = around(counts[::-1], centre)
    assert np.allclose(again[::-1], p)
    with_none, _ = around(np.concatenate([counts, np.zeros((2, 4, 3))]), centre)
    assert np.allclose(with_none[:4], p) and np.allclose(with_none[4], centre)


@pytest.mark.parametrize("share", ["rows", "joint"])
def test_domains_by_other_names_and_a_domain_twice(share):
    asia = optbn.load_network("asia")
    rows = [asia.sample(n, seed) for seed, n in enumerate((40, 25, 40))]
    rows[2] = rows[0]

    def fitted(names):
        columns = {v: [asia.domain(v).levels[c] for of in rows for c in of.column(v)] for v in asia.names}
        town = [name for name, of in zip(names, rows, strict=True) for _ in range(of.n_rows)]
        data = optbn.Dataset.from_arrays(
            {**columns, "town": town}, schema={v: list(asia.domain(v).levels) for v in asia.names}
        )
        return optbn.fit_domains(asia, data, "town", "hierarchical", share=share)

    a, b = fitted(["a", "b", "c"]), fitted(["z", "k", "m"])
    for v in asia.names:
        tables = {name: a[name].cpd(v).leaves.probabilities for name in "abc"}
        assert np.allclose(tables["a"], tables["c"], atol=1e-9)
        for one, other in (("a", "z"), ("b", "k"), ("c", "m")):
            assert np.allclose(tables[one], b[other].cpd(v).leaves.probabilities, atol=1e-8)
