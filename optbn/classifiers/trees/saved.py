"""A tree that predicts as plain JSON values, and back; `optbn.classifiers.saved` has the rest of the file.

    {"kind": "decision_tree", "columns": [..], "attribute": [-1 at leaves], "cut": [number or null], "fanout": [children
     of each node, breadth first], "branch": [..], "counts": [[..]], "totals": [..], "probabilities": [[..]],
     "inside": [[..]]}

Trees of a forest have no counts and no estimates inside, [] for each node.

A cut of null at a numeric attribute asks whether the value is known. What was read is checked before it is walked: the
compiled walk believes what it is given.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import DataError
from optbn.classifiers.record import Attribute, DecisionTree
from optbn.classifiers.trees.member import TreeMember
from optbn.classifiers.trees.tree import Tree
from optbn.data.discretise.transformer import Column


def to_record(member: TreeMember, columns: list[Attribute]) -> DecisionTree:
    """The record, with the columns as they are written."""
    tree = member.tree
    return DecisionTree(
        columns=columns,
        attribute=tree.attribute.tolist(),
        cut=[float(cut) if np.isfinite(cut) else None for cut in tree.cut],
        fanout=tree.children.tolist(),
        branch=tree.branch.tolist(),
        counts=tree.counts.tolist(),
        totals=tree.totals.tolist(),
        probabilities=member.probabilities.tolist(),
        inside=member.inside.tolist(),
    )


def from_record(record: DecisionTree, columns: tuple[Column, ...], classes: int) -> TreeMember:
    """The member, or a DataError that says what does not fit."""
    attribute, children, branch = (
        np.array(x, dtype=np.int64) for x in (record.attribute, record.fanout, record.branch)
    )
    m = len(attribute)
    _expect(m > 0 and len(record.cut) == len(children) == len(branch) == len(record.totals) == m, "does not add up")
    first = 1 + np.cumsum(children) - children
    _expect(int(children.sum()) == m - 1, "does not add up")
    inner = np.flatnonzero(children)
    _expect(bool((first[inner] > inner).all()), "has a node before its parent")
    parent = np.concatenate([[-1], np.repeat(np.arange(m), children)])
    _expect(bool(((attribute >= 0) == (children > 0)).all()), "asks at leaves, or does not ask inside")
    _expect(bool((attribute < len(columns)).all()), "asks for a column that is not there")
    kind = np.array([0 if c.levels is not None else 1 + (c.missing is not None) for c in columns], dtype=np.int64)
    widths = np.array([3 if column.levels is None else column.n_levels for column in columns])
    siblings = np.diff(parent[1:]) == 0
    _expect(bool((np.diff(branch[1:])[siblings] > 0).all()), "has branches that do not ascend")
    _expect(bool(((branch[1:] >= 0) & (branch[1:] < widths[attribute[parent[1:]]])).all()), "has a branch to nowhere")
    probabilities = _matrix(record.probabilities, m, classes)
    counts, inside = (_matrix(rows, m, classes if any(rows) else 0) for rows in (record.counts, record.inside))
    totals = np.array(record.totals, dtype=np.float64)
    _expect(bool((totals >= 0).all()) and bool((totals[1:] > 0).all()), "has a node that no row reaches")
    cut = np.array([np.inf if c is None else c for c in record.cut], dtype=np.float64)
    cut[(attribute < 0) | (kind[attribute] == 0)] = np.nan
    tree = Tree(
        attribute.astype(np.int32), cut, parent.astype(np.int32), first.astype(np.int32), children.astype(np.int32),
        branch.astype(np.int32), counts, totals, kind,
    )  # fmt: skip
    return TreeMember(columns, tree, probabilities, inside)


def _matrix(rows: list[list[float]], m: int, classes: int) -> NDArray[np.float64]:
    _expect(len(rows) == m and all(len(row) == classes for row in rows), f"has a row of another length than {classes}")
    found = np.array(rows, dtype=np.float64)
    _expect(bool((np.isfinite(found) & (found >= 0)).all()), "has a number that is none or below 0")
    return found


def _expect(fine: bool, what: str) -> None:
    if not fine:
        raise DataError(f"a decision tree {what}")
