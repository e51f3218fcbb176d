"""Local structures in words: what `fitted` finds behind a score, as JSON values with the names of variables and levels.

tree    {"split": "A", "left_levels": ["a0", "a2"], "left": .., "right": ..}   a categorical parent
        {"split": "X", "below": 1.5, "left": .., "right": ..}                  a real parent: x < 1.5 goes left
leaf    {"counts": [12, 3]}  or  {"rows": 15, "mean": 0.2, "spread": 3.1}      spread: sum of squared deviations
        {"counts": [4, 5, 30], "runs": [["low", "medium"], ["high"]]}          levels of a run are equally likely
table   {"parents": ["A", "X"], "cuts": [null, [0.5]], "cells": [leaf, ..]}    the last parent's cells are next to
                                                                               each other
line    {"intercept": 0.1, "coefficients": [2.0], "variance": 1.0}
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import UnsupportedError
from optbn.data.dataset import Categorical, Dataset
from optbn.scores.count_table import CountTable
from optbn.scores.full_table import FittedTable
from optbn.scores.gaussian import LinearGaussian
from optbn.scores.trees.fitted import FittedTree
from optbn.scores.trees.leaves import LeafContent


def in_words(fitted: object, data: Dataset) -> dict[str, Any]:
    """The JSON value of one local structure over the data's variables."""
    if isinstance(fitted, FittedTree):
        return _tree(fitted, data)
    if isinstance(fitted, LinearGaussian):
        return {
            "intercept": fitted.intercept,
            "coefficients": fitted.coefficients.tolist(),
            "variance": fitted.variance,
        }
    if isinstance(fitted, CountTable):
        cells = fitted.counts.reshape(-1, fitted.counts.shape[-1])
        cuts: list[Any] = [None] * len(fitted.parents)
        leaves = [{"counts": row} for row in cells.tolist()]
    elif isinstance(fitted, FittedTable):
        cuts = [
            None if isinstance(data.domains[u], Categorical) else np.asarray(points).tolist()
            for u, points in zip(fitted.parents, fitted.cuts, strict=True)
        ]
        leaves = [_leaf(fitted.content, number) for number in range(fitted.content.leaves)]
    else:
        raise UnsupportedError(f"a local structure of type {type(fitted).__name__} has no JSON form")
    return {"parents": [data.names[u] for u in fitted.parents], "cuts": cuts, "cells": leaves}


def _tree(tree: FittedTree, data: Dataset) -> dict[str, Any]:
    """The root, made from the leaves up: nodes come after the ones above them."""
    found: list[dict[str, Any]] = [{}] * len(tree.nodes)
    for number, node in reversed([*enumerate(tree.nodes)]):
        if isinstance(node, int):
            found[number] = _leaf(tree.content, node)
            if tree.runs is not None:
                domain = data.domains[tree.child]
                assert isinstance(domain, Categorical)
                found[number]["runs"] = in_runs(domain.levels, tree.runs[node])
            continue
        parent = tree.parents[node.parent]
        domain = data.domains[parent]
        split: dict[str, Any] = {"split": data.names[parent]}
        if isinstance(domain, Categorical):
            assert isinstance(node.goes_left, tuple)
            split["left_levels"] = [domain.levels[code] for code in node.goes_left]
        else:
            split["below"] = node.goes_left
        found[number] = split | {"left": found[node.left], "right": found[node.right]}
    return found[0]


def _leaf(content: LeafContent, number: int) -> dict[str, Any]:
    if content.counts is not None:
        return {"counts": _in_rows(content.counts[number], content.unit)}
    assert content.mean is not None and content.spread is not None
    return {
        "rows": _in_rows(content.rows[number], content.unit),
        "mean": float(content.mean[number]),
        "spread": float(content.spread[number] * content.unit),
    }


def in_runs(levels: tuple[str, ...], runs: NDArray[np.int32]) -> list[list[str]]:
    """The levels of each run."""
    found: list[list[str]] = [[] for _ in range(int(runs[-1]) + 1)]
    for level, run in zip(levels, runs.tolist(), strict=True):
        found[run].append(level)
    return found


def _in_rows(units: Any, unit: float) -> Any:
    """How many rows they are; whole numbers where they are whole."""
    return (units if unit == 1.0 else units * unit).tolist()
