"""The published Java code's results on its own folds, with its conventions (see `oracle`), on every set there is."""

from __future__ import annotations

import pytest

from optbn.classifiers import load_classifier
from optbn.evaluate.cross_validation import cross_validate
from tests.classifiers.oracle import METHODS, SETS, Published


@pytest.mark.parametrize("name", SETS)
def test_published_results(name: str) -> None:
    known = Published.read(name)
    for method in METHODS:
        if method in known.results:
            scores = known.scores(method)
            assert scores["rmse"] == pytest.approx(known.results[method]["rmse"], abs=1e-5), method
            assert scores["zero_one"] == pytest.approx(known.results[method]["err"], abs=1e-5), method


@pytest.mark.parametrize("name", ["glass", "vehicle"])
def test_the_ensemble_is_at_least_as_good_as_the_published_one_well_seeded(name: str) -> None:
    known = Published.read(name)
    scores = cross_validate(load_classifier("eskdb"), known.X, known.y, known.folds[:5]).scores()
    assert scores["rmse"] <= known.results["ESKDBR-M(scrambled seeds,5exp)"]["rmse"] + 0.003
