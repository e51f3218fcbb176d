"""Every registered score that takes real columns: another unit, another zero, the same graph and the same local models.

A column times a factor, plus an offset, moves each of its scores by minus the number of its numbers times the logarithm
of the factor, to 1e-9 of the score. Columns are multiples of 1/64, so that an offset of 10^9 is exact. Scores that take
categorical columns too get one, and gaps in the others.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import optbn
from optbn.base.errors import OptbnError
from optbn.data.dataset import Categorical, Dataset, Real
from optbn.evaluate.intersection import agreement, matrix, subsample
from optbn.scores import SCORES, load_score
from optbn.scores.trees.fitted import FittedTree
from tests.scores_pcart.columns import all_sets

FACTORS, OFFSETS = (1e-6, 1 / 3, 1.0, 2.54, 1e6), (0.0, -273.0, 1e9, -1e9)
SHAPES = ("smooth", "ties", "whole numbers", "two values", "outliers", "gaps", "gaps and ties")
FAMILIES = ("pcart", "ft")
SETTINGS = [
    ("pcart", {"max_splits": "all"}),
    ("pcart", {"cuts": "range", "gamma": 0.01}),
    ("pcart", {"lambda_": "auto", "a": "auto"}),
    ("pcart", {"mean": 0.5, "nu": 3.0, "leaf": "runs"}),
    ("pcart-avg", {"cuts": "range", "max_splits": 2}),
    ("ft", {"max_bins": 4, "lambda_": {"x": 0.1, "*": 2.0}}),
]
"""Beside every score as it is."""


def measured(shape: str, rng: np.random.Generator, n: int) -> list[np.ndarray]:
    """Three dependent columns."""
    x = rng.normal(size=n)
    y = 0.8 * x + 0.6 * rng.normal(size=n)
    z = rng.exponential(size=n) + (x > 0)
    step = 0.5 if "ties" in shape else 1.0 if shape == "whole numbers" else 1 / 64
    columns = [np.round(c * (20 if shape == "whole numbers" else 1) / step) * step for c in (x, y, z)]
    if shape == "two values":
        columns[0] = np.where(x > 0, 1.0, 2.5)
    if shape == "outliers":
        columns[0][0], columns[2][1] = 2.0**14, -(2.0**17)
    for column in columns if "gaps" in shape else []:
        column[1:][rng.random(n - 1) < 0.2] = np.nan
    return columns


def dataset(columns: list[np.ndarray], absent: bool, group: np.ndarray | None) -> Dataset:
    """The columns with their own ranges, and the group where there is one."""
    domains = [Real(float(np.nanmin(c)), float(np.nanmax(c)), absent=absent) for c in columns]
    if group is None:
        return Dataset(("x", "y", "z"), tuple(domains), tuple(columns))
    return Dataset(("x", "y", "z", "g"), (*domains, Categorical(("a", "b", "c"))), (*columns, group))


def takes(score: str, kind: str) -> bool:
    """Whether a score takes data with real columns of this kind."""
    columns = [np.arange(9.0), np.arange(9.0) ** 2, np.sqrt(np.arange(9.0))]
    group = np.arange(9).astype(np.uint8) % 3 if kind == "mixed" else None
    try:
        load_score(score).bind(dataset(columns, kind == "mixed", group))
    except OptbnError:
        return False
    return True


def local_models(bound, n: int) -> list:
    """What the trees of all families of two parents look like, but for their thresholds."""
    if not isinstance(bound.fitted(0, ()), FittedTree):
        return []
    trees = [bound.fitted(v, tuple(u for u in range(n) if u not in (v, w))) for v in range(n) for w in range(v)]
    return [
        (tree.content.rows.tolist(), [node if isinstance(node, int) else (node.parent, node.left, node.right)
        for node in tree.nodes]) for tree in trees
    ]  # fmt: skip


def test_scores_of_real_columns_are_known():
    """A new one is tried here without a word more."""
    assert {name for name in SCORES if takes(name, "mixed")} >= {"pcart", "pcartp", "pcart-avg", "ft", "ftp"}
    assert {name for name in SCORES if takes(name, "real")} >= {"bge", "bic", "aic", "pcart", "ft"}


@pytest.mark.parametrize(("score", "settings"), [*((name, {}) for name in SCORES if takes(name, "real")), *SETTINGS])
@pytest.mark.parametrize("shape", SHAPES)
def test_scores_move_with_the_unit_and_nothing_else(score, settings, shape):
    mixed, anywhere = takes(score, "mixed"), settings.get("max_splits") == "all"
    gaps = "gaps" in shape
    if gaps and (not mixed or anywhere):
        pytest.skip("a score of columns without gaps")
    rng = np.random.default_rng([len(score), SHAPES.index(shape)])
    for n in (6, 40) if anywhere else (6, 40, 250):
        columns = measured(shape, rng, n)
        group = rng.integers(0, 3, n).astype(np.uint8) if mixed else None
        method = load_score(score, **settings)
        before = method.bind(dataset(columns, gaps, group))
        factors, offsets = rng.choice(FACTORS, 3), rng.choice(OFFSETS, 3)
        offsets = np.where(factors == 1, offsets, 0.0)  # beside another factor the values themselves would be rounded
        moved = [c * f + o for c, f, o in zip(columns, factors, offsets, strict=True)]
        after = method.bind(dataset(moved, gaps, group))
        numbers = np.array([np.count_nonzero(~np.isnan(c)) for c in columns])
        expected = np.append(-numbers * np.log(factors), [0.0] if mixed else [])
        for k in range(3):
            sets, wanted = all_sets(len(expected), k)
            old, new = before.block(sets, wanted), after.block(sets, wanted)
            old, change = old[wanted], np.broadcast_to(expected, wanted.shape)[wanted]
            scale = 1e-9 * (1 + np.abs(old) + np.abs(change))
            assert (np.abs(new[wanted] - old - change) <= scale).all(), (n, factors, offsets)
        assert local_models(before, len(expected)) == local_models(after, len(expected))


@pytest.mark.parametrize("score", [name for name in SCORES if takes(name, "real")])
def test_the_graph_and_the_parameters_move_with_the_unit(score):
    """The graph is the same up to Markov equivalence where scores do not tell equivalent graphs apart."""
    rng = np.random.default_rng(3)
    columns = [c - 1 for c in measured("smooth", rng, 300)]  # none is without numbers below zero, which would bound it
    group = (columns[2] > 1).astype(np.uint8) if takes(score, "mixed") else None
    plain = dataset(columns, False, group)
    found = optbn.learn(plain, score=score, max_parents=2)
    for factors, offsets in (((1e6, 1e-6, 1.0), (0, 0, 1e9)), ((1.0, 2.5, 1e-6), (-1e9, 0, 0))):
        moved = [c * f + o for c, f, o in zip(columns, factors, offsets, strict=True)]
        other = optbn.learn(dataset(moved, False, group), score=score, max_parents=2)
        assert other.solution.score == pytest.approx(
            found.solution.score - 300 * sum(math.log(f) for f in factors), rel=1e-9
        )
        classes = [one.network.structure.to_cpdag() for one in (found, other)]
        assert classes[0] == classes[1]
        if not score.startswith(FAMILIES):
            continue
        assert found.network.structure == other.network.structure
        fits = [optbn.fit(one.network, data, leaves="student") for one, data in (
            (found, plain), (other, dataset(moved, False, group)))]  # fmt: skip
        for v, f, o in zip("xyz", factors, offsets, strict=True):
            ours, theirs = (one.cpd(v).leaves for one in fits)
            rel = 1e-6 if o else 1e-9  # far from zero a mean itself is rounded by that much
            assert theirs.scale == pytest.approx(ours.scale * f, rel=rel)
            np.testing.assert_allclose((theirs.location - o) / f, ours.location, atol=rel * ours.scale.max())


def test_intersection_validation_does_not_depend_on_units():
    """The agreement graph of two methods, and what they learn from the rows of a subsample."""
    rng = np.random.default_rng(4)
    columns = measured("smooth", rng, 160)
    group = (columns[2] > 1).astype(np.uint8)
    moved = [c * f + o for c, f, o in zip(columns, (1e6, 1e-6, 1.0), (0, 0, 1e9), strict=True)]
    found = []
    for each in (columns, moved):
        data = dataset(each, False, group)
        graphs = [
            {score: optbn.learn(rows, score=score, max_parents=2).network.structure for score in ("pcartp", "ftp")}
            for rows in (data, *(subsample(data, 80, 0, repeat) for repeat in range(3)))
        ]
        whole = agreement(graphs[0])
        below = [matrix(graph, data.names, "cpdag").tolist() for some in graphs[1:] for graph in some.values()]
        found.append((whole.known.tolist(), whole.specified.tolist(), below))
    assert found[0] == found[1]


@pytest.mark.parametrize("score", ["pcartp", "ftp"])
def test_what_real_leaves_say_of_a_class_does_not_depend_on_units(score):
    """A learned network as a classifier: its real children have leaves with densities."""
    rng = np.random.default_rng(5)
    group = rng.integers(0, 3, 300).astype(np.uint8)
    columns = [np.round(64 * (rng.normal(size=300) + shift * group)) / 64 - 4 for shift in (1.5, -1.0, 0.5)]
    moved = [c * f + o for c, f, o in zip(columns, (1e6, 1e-6, 1.0), (0, 0, 1e6), strict=True)]
    found = []
    for each in (columns, moved):
        data = dataset(each, False, group)
        network = optbn.learn(data, score=score, max_parents=2).network
        assert network.structure.arcs
        found.append(network.predict_proba("g", data))
    np.testing.assert_allclose(found[0], found[1], atol=1e-6)
