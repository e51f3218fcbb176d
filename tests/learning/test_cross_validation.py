"""Held-out fit: by hand on one fold, reproducible, and better than the empty graph where there is something."""

from __future__ import annotations

import numpy as np
import pytest

import optbn

DATA = optbn.load_network("asia").sample(400, 5)


def test_folds_are_disjoint_reproducible_and_scored_by_the_others():
    found = optbn.cross_validate(DATA, "bdeu", 4, max_parents=1, smoother="laplace")
    again = optbn.cross_validate(DATA.to_frame(), "bdeu", 4, max_parents=1, smoother="laplace")
    assert found.per_row == again.per_row and len(found.networks) == 4
    held_out = np.sort(np.random.default_rng(0).permutation(400)[0::4])
    kept = np.setdiff1d(np.arange(400), held_out)
    network = optbn.learn(DATA.take(kept), score="bdeu", max_parents=1, smoother="laplace").network
    assert found.per_row[0] == pytest.approx(network.log_likelihood(DATA.take(held_out)) / 100)
    empty = optbn.cross_validate(DATA, "bdeu", 4, max_parents=0, smoother="laplace")
    assert found.mean > empty.mean and found.standard_error > 0


@pytest.mark.parametrize("folds", [1, 0, 401])
def test_folds_that_cannot_be_are_refused(folds):
    with pytest.raises(optbn.OptbnError, match="folds of 400 rows"):
        optbn.cross_validate(DATA, "bdeu", folds)
