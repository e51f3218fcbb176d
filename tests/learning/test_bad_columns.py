"""Columns that break formulas: each score answers with a number or names the column and what to do, never with nan."""

from __future__ import annotations

import math

import numpy as np
import pytest

import optbn
from optbn.base.errors import OptbnError

ROWS = 60
NORMAL = np.random.default_rng(0).normal(size=ROWS)
ANSWERED = {
    "constant": np.full(ROWS, 3.0),
    "two values": np.where(NORMAL > 0, 1.5, 2.5),
    "a large offset": 1e15 + np.round(NORMAL),
    "mostly missing": np.where(np.arange(ROWS) % 3 == 0, NORMAL, np.nan),
    "all missing": np.full(ROWS, np.nan),
}
REFUSED = {
    "huge": NORMAL * 1e300,
    "a huge constant": np.full(ROWS, 1e300),
    "denormal": NORMAL * 1e-310,
    "infinite": np.where(np.arange(ROWS) == 3, np.inf, NORMAL),
}


WAYS = {
    "pcartp": ("pcartp", {}),
    "pcart-avg": ("pcart-avg", {}),
    "ftp": ("ftp", {}),
    "published trees": ("pcart", {"real_prior": "paper"}),
    "trees cut anywhere": ("pcart", {"max_splits": "all"}),
    "runs": ("pcart", {"leaf": "runs"}),
    "by evidence": ("pcartp", {"alpha": "auto", "lambda_": "auto"}),
    "averages": ("pcart-avg", {"alpha": "auto", "trees": "average"}),
}
REAL = {"bge": ("bge", {}), "bic": ("bic", {}), "aic": ("aic", {})}
"""Scores and settings: of columns of all kinds, and of real ones without gaps."""


def learned(x, way):
    score, settings = (WAYS | REAL)[way]
    beside = {} if way in REAL else {"c": np.where(NORMAL > 0.3, "a", "b")}
    table = {"x": x, "g": NORMAL[: len(x)], **beside}
    return optbn.learn(table, score=score, max_parents=2, missing="value", smoother="m_estimate", **settings)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", ANSWERED)
def test_what_can_be_scored_has_a_finite_score(case, way):
    if way == "trees cut anywhere" and "missing" in case:
        with pytest.raises(OptbnError, match="'x' has rows without a number, and max_splits='all'"):
            learned(ANSWERED[case], way)
        return
    found = learned(ANSWERED[case], way)
    assert math.isfinite(found.solution.score)
    assert case not in ("constant", "all missing") or not found.network.parents("x")


@pytest.mark.parametrize("way", [*WAYS, *REAL])
@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_is_refused_by_the_name_of_the_column(case, way):
    with pytest.raises(OptbnError, match="'x'"):
        learned(REFUSED[case], way)


@pytest.mark.parametrize("score", ["pcartp", "pcart-avg", "ftp"])
def test_one_row(score):
    found = optbn.learn({"x": [1.0], "g": [2.0], "c": ["a"]}, score=score, max_parents=2)
    assert math.isfinite(found.solution.score) and not found.network.structure.arcs
