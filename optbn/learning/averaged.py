"""A network whose local distributions are averages over all trees, instead of the leaves of one: trees="average".

A categorical variable's distribution given its parents is the posterior mean over every decision tree on them,
weighted by its prior and likelihood (optbn/scores/pcart_avg.py): what the model itself predicts, in a table over the
finest cells of the parents. A mean of normal leaves is no normal distribution: a real variable keeps its best tree, as
does a variable whose averages would be too many.

The trees are those of the score, where it has trees, and otherwise those that `pcart-avg` has by default; all have
the same weight beforehand unless the score is `pcart-avg` with a gamma, because that predicts best (results/averages).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from optbn.data.anything import DataLike, as_dataset
from optbn.data.dataset import Categorical, Dataset, Real
from optbn.data.schema import Schema, SchemaLike
from optbn.learning.local import with_local_models
from optbn.network.cpds import CPD, BinnedTableCPD, TableCPD
from optbn.network.leaves import CategoricalLeaves
from optbn.network.network import BayesianNetwork
from optbn.network.structure import Structure
from optbn.scores.by_evidence import BoundByEvidence
from optbn.scores.parent_priors import WithPrior
from optbn.scores.pcart import PCART
from optbn.scores.pcart_avg import BoundAverages, PCARTAverage
from optbn.scores.protocol import BoundScore, LocalScore
from optbn.scores.trees.leaves import LeafPrior
from optbn.smoothing.fitting import Fitted, fitted
from optbn.smoothing.normal import LeafKind
from optbn.smoothing.protocol import Smoother
from optbn.smoothing.rows import StructureLike, as_structure

MOST_CELLS = 1 << 16
"""A table of more cells is not written down; the variable keeps its best tree."""
OWN = ("gamma", "leaf", "ess")
"""Settings of best trees that say nothing of averages."""


def average_trees(
    structure: Structure | BayesianNetwork, data: Dataset, *, smoother: str | Smoother = "m_estimate", **settings: Any
) -> BayesianNetwork:
    """The network over the structure whose categorical variables have averages over all trees; the others have their
    best trees, with Student-t leaves.

    settings  of the trees, as `score="pcart-avg"` has them (alpha, max_splits, gamma, ...)
    smoother  of the variables that keep a tree
    """
    graph = structure.structure if isinstance(structure, BayesianNetwork) else structure
    score = PCARTAverage(**settings)
    plain = fitted(_shapes(graph, data, score), data, smoother, leaves="student").network
    return averaged(plain, data, score)[0]


def fitted_averages(
    structure: StructureLike,
    data: DataLike,
    smoother: str | Smoother | None = None,
    *,
    weights: str | ArrayLike | None = None,
    leaves: LeafKind = "normal",
    schema: SchemaLike = None,
    reading: Mapping[str, Any] | None = None,
    **others: Any,
) -> Fitted:
    """`fitted`, the trees averaged; it holds the data in memory."""
    graph = as_structure(structure)
    known = dict(Schema.of(schema).columns)
    if isinstance(graph, BayesianNetwork):
        for name, domain in zip(graph.names, graph.domains, strict=True):
            if isinstance(domain, Categorical):
                known.setdefault(name, domain)
    rows = as_dataset(data, Schema(known), reading=reading, weights=weights)
    of_rows = rows.weights
    rows = graph.conform(rows) if isinstance(graph, BayesianNetwork) else rows.select(graph.names)
    if of_rows is not None and rows.weights is None:
        rows = rows.weighted(of_rows.values)
    score = PCARTAverage()
    shapes = graph if isinstance(graph, BayesianNetwork) else _shapes(graph, rows, score)
    model = fitted(shapes, rows, smoother, leaves=leaves, **others)
    return replace(model, network=averaged(model.network, rows, score)[0])


def averaged(network: BayesianNetwork, data: Dataset, score: PCARTAverage) -> tuple[BayesianNetwork, tuple[str, ...]]:
    """The network with averages wherever there are some, and the variables with parents that keep their distribution;
    `data` have its variables in its order."""
    bound = score.bind(data)
    found = [
        _averaged(bound.best(child, parents)[0] if isinstance(bound, BoundByEvidence) else bound, child, parents)
        for child, parents in enumerate(network.structure.parent_sets)
    ]
    kept = tuple(
        name for name, new, old in zip(network.names, found, network.cpds, strict=True) if new is None and old.parents
    )
    precision = {name: rows for name, rows in network.precision.items() if found[network.names.index(name)] is None}
    cpds = tuple(new or old for new, old in zip(found, network.cpds, strict=True))
    made = BayesianNetwork(network.names, network.domains, cpds, network.name, network.properties, precision)
    return made, kept


def trees_of(method: LocalScore) -> PCARTAverage:
    """The trees that go with a score."""
    if isinstance(method, WithPrior):
        method = method.score
    if isinstance(method, PCARTAverage):
        return method
    shared = fields(method) if isinstance(method, PCART) else fields(LeafPrior) if isinstance(method, LeafPrior) else ()
    return PCARTAverage(**{field.name: getattr(method, field.name) for field in shared if field.name not in OWN})


def _shapes(graph: Structure, data: Dataset, score: PCARTAverage) -> BayesianNetwork:
    """The best trees, variables in the order of the data."""
    ordered = Structure.from_parents({name: graph.parents(name) for name in data.names})
    return with_local_models(ordered, data, score.bind(data))


def _averaged(bound: BoundScore, child: int, parents: tuple[int, ...]) -> CPD | None:
    """The table of one variable, or None where it keeps its tree."""
    assert isinstance(bound, BoundAverages)
    columns, data = bound.leaves.columns, bound.leaves.data
    domain = data.domains[child]
    parents = tuple(sorted(parents))
    sizes = [int(columns.predictors.sizes[u]) for u in parents]
    if not isinstance(domain, Categorical) or math.prod(sizes) > MOST_CELLS:
        return None
    if bound.too_dear(np.array([parents], np.int32).reshape(1, -1))[0]:
        return None
    rows = bound.predictions(child, parents).reshape(*sizes, len(domain.levels))
    names, domains = tuple(data.names[u] for u in parents), tuple(data.domains[u] for u in parents)
    for axis, u in enumerate(parents):
        if u in columns.coarsened:  # levels that are one cell to the trees have the same row
            cell = np.zeros(data.cardinalities[u], np.int64)
            for i, codes in enumerate(columns.members[u]):
                cell[codes] = i
            rows = np.take(rows, cell, axis=axis)
    if rows.size > MOST_CELLS * len(domain.levels):
        return None
    if all(isinstance(parent, Categorical) for parent in domains):
        return TableCPD(domain, names, domains, rows)
    cuts = []
    for axis, (u, parent) in enumerate(zip(parents, domains, strict=True)):
        ends = columns.thresholds[u]
        points = np.unique(ends[np.isfinite(ends)])
        if isinstance(parent, Real):  # cells that no number can be in have no bin
            cells = np.searchsorted(ends, [-np.inf, *points], side="right")
            if parent.absent:
                points, cells = np.append(points, np.inf), np.append(cells, sizes[axis] // 2)
            rows = np.take(rows, cells, axis=axis)
        cuts.append(points)
    return BinnedTableCPD(domain, names, domains, tuple(cuts), CategoricalLeaves(rows.reshape(-1, len(domain.levels))))
