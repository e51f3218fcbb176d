"""The figures of trees and forests; needs $OPTBN_DATA."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from optbn.classifiers.trees import ProbabilityForest, ProbabilityTree
from optbn.smoothing.gradient import Gradient
from optbn.smoothing.hdp import HDP
from results.classifiers.datasets import labelled
from tests.benchmarks import Figure, cpu_seconds
from tests.paths import shared_data


def rows(name: str) -> tuple[Any, Any]:
    """All rows of a data set."""
    return labelled(name, str(shared_data("datasets")))


def measure() -> Iterator[Figure]:
    """All figures of the room."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    X, y = rows("letter")
    for smoother, limit, said in (
        (Gradient(alpha=1.0), 0.6, "gradient smoothing, strengths 1"),
        ("gradient", 0.6, "gradient smoothing, strengths learned"),
        ("cv", None, "strength chosen by 5 folds"),
    ):
        made = ProbabilityTree(smoother)
        made.fit(X[:500], y[:500])
        seconds = cpu_seconds(lambda m=made: m.fit(X, y))
        yield Figure(f"letter, C4.5, {said}", seconds, limit, None, "s", f"{made.tree_.size} nodes")
    tree = made.tree_.count_tree
    for tying in ("level", "single"):
        hdp = HDP(tying=tying, sweeps=1000, chains=1)
        hdp.fit(tree, np.random.default_rng(0))
        yield Figure(
            f"HDP on that tree, 1000 sweeps, tied by {tying}",
            cpu_seconds(lambda h=hdp: h.fit(tree, np.random.default_rng(0))),
            1.0,
        )
    yield Figure("letter, predict 20,000 rows", cpu_seconds(lambda: made.predict_proba(X), 5))
    X, y = rows("magic")
    forest = ProbabilityForest(100)
    forest.fit(X[:500], y[:500])
    seconds = cpu_seconds(lambda: forest.fit(X, y))
    nodes = np.mean([member.tree.size for member in forest.members_])
    yield Figure("magic, forest of 100 trees", seconds, 4.0, None, "s", f"{nodes:.0f} nodes a tree")
    yield Figure("magic, predict 19,020 rows by it", cpu_seconds(lambda: forest.predict_proba(X)))
