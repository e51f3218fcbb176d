"""A mixture of soft networks and trees as plain JSON values, and back; `optbn.classifiers.saved` has the rest.

    {"kind": "mixture", "columns": [..], "scales": [SCALE, ..], "shares": [..], "networks": [NETWORK, ..],
     "trees": [TREE, ..], "counted": [MEMBER of kind network over places, ..]}
    SCALE = {"points": [..], "ranks": [..]} of numbers | {"cells": [..], "coarse": [..]} of texts
    NETWORK = {"knots": [[..], ..], "parents": [[i, [j, ..]], ..], "scores": [[..] of each class, ..]}
    TREE = {"attribute": [-1 at leaves], "cut": [..], "fanout": [..], "branch": [..], "probabilities": [[..], ..]}

Of two classes the scores are those of the second one, the first has 0. What was read is checked before it is used: the
compiled code believes what it is given.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from optbn.base.errors import DataError
from optbn.classifiers import record as records
from optbn.classifiers.member import Member
from optbn.classifiers.soft.generative import CodedNetwork
from optbn.classifiers.soft.kernels.scores import zero_scores
from optbn.classifiers.soft.member import Mixture, PlacedTree, SoftNetwork
from optbn.classifiers.soft.places import Places, Scale
from optbn.classifiers.soft.structure import Structure
from optbn.classifiers.trees.tree import Tree
from optbn.data.discretise.transformer import Column


def to_record(
    mixture: Mixture, columns: list[records.Attribute], written: Callable[[Member], records.Network]
) -> records.Mixture:
    """The record, with the columns as they are written; `written` is a network's record."""
    return records.Mixture(
        columns=columns,
        scales=[
            records.Scale(s.points.tolist(), s.ranks.tolist(), s.cells.tolist(), s.coarse.tolist())
            for s in mixture.places.scales
        ],
        shares=mixture.shares.tolist(),
        networks=[_network(part) for part in mixture.parts if isinstance(part, SoftNetwork)],
        trees=[_tree(part) for part in mixture.parts if isinstance(part, PlacedTree)],
        counted=[written(part.member) for part in mixture.parts if isinstance(part, CodedNetwork)],
    )


def from_record(
    record: records.Mixture,
    columns: tuple[Column, ...],
    classes: int,
    network_of: Callable[[records.Network], Member],
) -> Mixture:
    """The mixture, or a DataError that says what does not fit; `network_of` reads a network's record."""
    _expect(len(record.scales) == len(columns), "has as many scales as columns")
    scales = tuple(_read_scale(scale, column) for scale, column in zip(record.scales, columns, strict=True))
    networks = [_read_network(each, scales, classes) for each in record.networks]
    trees = [_read_tree(each, scales, columns, classes) for each in record.trees]
    shares = np.array(record.shares, dtype=np.float64)
    counted = [CodedNetwork(network_of(each), scales) for each in record.counted]
    for each in counted:
        _expect(len(each.member.columns) == len(columns), "has counted networks over its columns")
        for own, scale in zip(each.member.columns, scales, strict=True):
            cells = None if len(scale.points) else tuple(str(cell) for cell in range(scale.n_cells))
            _expect(own.levels == cells, "has counted networks over its places")
    _expect(len(shares) == len(networks) + len(trees) + len(counted) > 0, "has a share for each of its parts")
    _expect(bool((np.isfinite(shares) & (shares >= 0)).all()) and shares.sum() > 0, "has shares of at least 0")
    return Mixture(Places(columns, scales), (*networks, *trees, *counted), shares)


def _network(network: SoftNetwork) -> records.SoftNetwork:
    planes = np.moveaxis(network.scores, 2, 1).reshape(-1, network.scores.shape[1])
    return records.SoftNetwork(
        knots=[knots.tolist() for knots in network.structure.knots],
        parents=[(i, list(p)) for i, p in network.structure.parents.items()],
        scores=planes[: network.n_classes if network.n_classes > 2 else 1].tolist(),
    )


def _tree(placed: PlacedTree) -> records.PlacedTree:
    tree = placed.tree
    return records.PlacedTree(
        attribute=tree.attribute.tolist(),
        cut=[float(cut) if np.isfinite(cut) else None for cut in tree.cut],
        fanout=tree.children.tolist(),
        branch=tree.branch.tolist(),
        probabilities=placed.probabilities.tolist(),
    )


def _read_scale(record: records.Scale, column: Column) -> Scale:
    points, ranks = np.array(record.points, dtype=np.float64), np.array(record.ranks, dtype=np.float64)
    cells, coarse = np.array(record.cells, dtype=np.int32), np.array(record.coarse, dtype=np.int32)
    _expect(len(points) == len(ranks), f"has a rank for each point of {column.name!r}")
    _expect(bool(np.isfinite(points).all() and np.isfinite(ranks).all()), f"has finite points of {column.name!r}")
    _expect(
        bool((points[1:] > points[:-1]).all() and (ranks[1:] > ranks[:-1]).all()),
        f"has points of {column.name!r} that ascend",
    )
    levels = 0 if column.levels is None else len(column.levels)
    _expect(
        len(cells) == levels and (column.levels is None or not len(points)),
        f"has a cell for each level of {column.name!r}",
    )
    _expect(not levels or bool(cells.min() >= 0), f"has cells of {column.name!r} from 0 on")
    _expect(
        len(coarse) == int(cells.max(initial=-1)) + 2 and coarse.min() >= 0,
        f"has a cell in pairs for each of {column.name!r}",
    )
    return Scale(points, ranks, cells, coarse)


def _read_network(record: records.SoftNetwork, scales: tuple[Scale, ...], classes: int) -> SoftNetwork:
    knots = tuple(np.array(each, dtype=np.float64) for each in record.knots)
    _expect(len(knots) == len(scales), "has knots for each column")
    for each, scale in zip(knots, scales, strict=True):
        _expect((len(each) > 0) == (len(scale.points) > 0), "has knots where there are numbers")
        _expect(bool(np.isfinite(each).all() and (np.diff(each) > 0).all()), "has knots that ascend")
    parents = {i: tuple(p) for i, p in record.parents}
    for i, chosen in parents.items():
        family = {i, *chosen}
        _expect(len(family) == 1 + len(chosen), "has different attributes in a pair")
        _expect(all(0 <= at < len(scales) for at in family), "has pairs of its columns")
    structure = Structure(scales, knots, parents)
    scores = zero_scores(classes, structure.cells)
    planes = classes if classes > 2 else 1
    _expect(len(record.scores) == planes, "has scores for each class")
    _expect(all(len(plane) == structure.cells for plane in record.scores), "has a score for each cell")
    for k, plane in enumerate(record.scores):
        scores[k // scores.shape[2], :, k % scores.shape[2]] = plane
    _expect(bool(np.isfinite(scores).all()), "has finite scores")
    return SoftNetwork(structure, scores, classes)


def _read_tree(
    record: records.PlacedTree, scales: tuple[Scale, ...], columns: tuple[Column, ...], classes: int
) -> PlacedTree:
    attribute, children, branch = (
        np.array(x, dtype=np.int64) for x in (record.attribute, record.fanout, record.branch)
    )
    m = len(attribute)
    _expect(m > 0 and len(record.cut) == len(children) == len(branch) == m, "has trees that add up")
    first = 1 + np.cumsum(children) - children
    inner = np.flatnonzero(children)
    _expect(int(children.sum()) == m - 1 and bool((first[inner] > inner).all()), "has trees that add up")
    above = attribute[np.repeat(np.arange(m), children)]  # the question above node 1, 2, ..
    asks = bool(((attribute >= 0) == (children > 0)).all() and (attribute < len(scales)).all())
    _expect(asks, "has trees that ask for its columns")
    widths = np.array([3 if column.levels is None else s.n_cells for column, s in zip(columns, scales, strict=True)])
    siblings = np.diff(np.repeat(np.arange(m), children)) == 0
    _expect(bool((np.diff(branch[1:])[siblings] > 0).all()), "has trees whose branches ascend")
    _expect(bool(((branch[1:] >= 0) & (branch[1:] < widths[above])).all()), "has trees whose branches are values")
    rows = len(record.probabilities) == m and all(len(row) == classes for row in record.probabilities)
    _expect(rows, "has trees with a row for each node")
    p = np.array(record.probabilities, dtype=np.float64)
    _expect(bool((np.isfinite(p) & (p >= 0)).all()) and bool((p.sum(axis=1) > 0).all()), "has trees of probabilities")
    kind = np.array([0 if column.levels is not None else 2 for column in columns], dtype=np.int64)
    cut = np.array([np.inf if c is None else c for c in record.cut], dtype=np.float64)
    cut[(attribute < 0) | (kind[attribute] == 0)] = np.nan
    parent = np.append(-1, np.repeat(np.arange(m), children))
    tree = Tree(
        attribute.astype(np.int32), cut, parent.astype(np.int32), first.astype(np.int32), children.astype(np.int32),
        branch.astype(np.int32), np.zeros((m, classes)), np.ones(m), kind,
    )  # fmt: skip
    return PlacedTree(tree, p)


def _expect(fine: bool | np.bool_, what: str) -> None:
    if not fine:
        raise DataError(f"a mixture {what}, this one does not")
