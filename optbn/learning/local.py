"""The local models behind a learned structure: what the score chose for each family, ready for its parameters.

A tree score's families become tree CPDs, a binning score's become tables with bins, any other's plain tables. Their
leaves are placeholders: `optbn.fit` keeps the partition of the parents' space and fills the leaves.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from optbn.data.dataset import Categorical, Dataset, Domain
from optbn.network.cpds import CPD, BinnedTableCPD, TableCPD, TreeCPD
from optbn.network.leaves import CategoricalLeaves, Leaves, MixedLeaves, NormalLeaves
from optbn.network.network import BayesianNetwork
from optbn.network.structure import Structure
from optbn.scores.full_table import FittedTable
from optbn.scores.protocol import BoundScore
from optbn.scores.trees.fitted import FittedTree


def with_local_models(structure: Structure, data: Dataset, bound: BoundScore) -> BayesianNetwork:
    """The structure as a network with the score's local models and uniform (or standard normal) leaves."""
    cpds = tuple(
        _cpd(data, child, bound.fitted(child, parents), parents) for child, parents in enumerate(structure.parent_sets)
    )
    return BayesianNetwork(data.names, data.domains, cpds)


def _cpd(data: Dataset, child: int, fitted: object, parents: tuple[int, ...]) -> CPD:
    """The CPD of one family; scores without local models of their own mean a plain table."""
    domain = data.domains[child]
    if isinstance(fitted, FittedTree) and fitted.parents:
        names, domains = _parents(data, fitted.parents)
        tree = fitted.tree(data.domains)
        return TreeCPD(domain, names, domains, tree, _leaves(domain, tree.n_leaves, fitted.runs))
    if isinstance(fitted, FittedTree) and fitted.runs is not None:
        return BinnedTableCPD(domain, (), (), (), _leaves(domain, 1, fitted.runs))
    if isinstance(fitted, FittedTable) and any(len(cuts) for cuts in fitted.cuts):
        names, domains = _parents(data, fitted.parents)
        sizes = [
            len(parent.levels) if isinstance(parent, Categorical) else len(cuts) + 1
            for parent, cuts in zip(domains, fitted.cuts, strict=True)
        ]
        return BinnedTableCPD(domain, names, domains, fitted.cuts, _leaves(domain, math.prod(sizes)))
    names, domains = _parents(data, parents)
    sizes = [len(parent.levels) for parent in domains if isinstance(parent, Categorical)]
    if isinstance(domain, Categorical):
        shape = (*sizes, len(domain.levels))
        return TableCPD(domain, names, domains, np.full(shape, 1 / len(domain.levels)))
    cuts = tuple(np.zeros(0) for _ in parents)
    return BinnedTableCPD(domain, names, domains, cuts, _leaves(domain, math.prod(sizes)))


def _parents(data: Dataset, parents: tuple[int, ...]) -> tuple[tuple[str, ...], tuple[Domain, ...]]:
    return tuple(data.names[u] for u in parents), tuple(data.domains[u] for u in parents)


def _leaves(domain: Domain, cells: int, runs: NDArray[np.int32] | None = None) -> Leaves:
    if isinstance(domain, Categorical):
        r = len(domain.levels)
        return CategoricalLeaves(np.full((cells, r), 1 / r), runs)
    numbers = NormalLeaves(np.zeros(cells), np.ones(cells))
    return MixedLeaves(np.full(cells, 0.5), numbers) if domain.absent else numbers
