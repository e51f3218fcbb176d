"""A network whose local distributions are averages over all trees, instead of the leaves of one.

A categorical variable's distribution given its parents is the posterior mean over every decision tree on them,
weighted by its prior and likelihood (optbn/scores/pcart_avg.py): what the model itself predicts, in a table over the
finest cells of the parents. A mean of normal leaves is no normal distribution: a real variable keeps its best tree with
Student-t leaves, as does a variable whose averages would be too many.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from optbn.data.dataset import Categorical, Dataset
from optbn.learning.local import with_local_models
from optbn.network.cpds import CPD, BinnedTableCPD, TableCPD
from optbn.network.leaves import CategoricalLeaves
from optbn.network.network import BayesianNetwork
from optbn.network.structure import Structure
from optbn.scores.pcart_avg import BoundAverages, PCARTAverage
from optbn.smoothing.fitting import fit
from optbn.smoothing.protocol import Smoother

MOST_CELLS = 1 << 16
"""A table of more cells is not written down; the variable keeps its best tree."""


def average_trees(
    structure: Structure | BayesianNetwork, data: Dataset, *, smoother: str | Smoother = "m_estimate", **settings: Any
) -> BayesianNetwork:
    """The network over the structure whose categorical variables have averages over all trees.

    settings  of the trees, as `score="pcart-avg"` has them (alpha, max_splits, gamma, ...)
    smoother  of the variables that keep a tree
    """
    graph = structure.structure if isinstance(structure, BayesianNetwork) else structure
    graph = Structure.from_parents({name: graph.parents(name) for name in data.names})  # in the order of the data
    bound = PCARTAverage(**settings).bind(data)
    plain = fit(with_local_models(graph, data, bound), data, smoother, leaves="student")
    cpds = tuple(
        _averaged(bound, child, parents) or plain.cpds[child] for child, parents in enumerate(graph.parent_sets)
    )
    return BayesianNetwork(data.names, data.domains, cpds)


def _averaged(bound: BoundAverages, child: int, parents: tuple[int, ...]) -> CPD | None:
    """The table of one variable, or None where it keeps its tree."""
    columns, data = bound.leaves.columns, bound.leaves.data
    domain = data.domains[child]
    sizes = [int(columns.predictors.sizes[u]) for u in parents]
    if not isinstance(domain, Categorical) or math.prod(sizes) > MOST_CELLS:
        return None
    rows = bound.predictions(child, parents).reshape(*sizes, len(domain.levels))
    names, domains = tuple(data.names[u] for u in parents), tuple(data.domains[u] for u in parents)
    if all(isinstance(parent, Categorical) for parent in domains):
        return TableCPD(domain, names, domains, rows)
    cuts = []
    for axis, u in enumerate(parents):
        ends = columns.thresholds[u]
        points = np.unique(ends[np.isfinite(ends)])
        if not data.cardinalities[u]:  # cells that no number can be in have no bin
            rows = np.take(rows, np.searchsorted(ends, [-np.inf, *points], side="right"), axis=axis)
        cuts.append(points)
    return BinnedTableCPD(domain, names, domains, tuple(cuts), CategoricalLeaves(rows.reshape(-1, len(domain.levels))))
