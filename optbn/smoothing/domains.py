"""Related data sets: one structure, parameters of its own for every domain, and strength borrowed across domains.

A column says which data set a row is from. For a family X | Pa the joint X' = X x Pa is smoothed with the domain as
its one conditioning variable, so the domains' joint distributions share what the smoother shares between contexts (a
mean, for `hierarchical` and `hdp`); dividing by the parents' margin gives each domain its table. The cells of a real
child take the cell of all domains together as the centre of their prior. A domain without rows gets what is common.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from optbn.base.errors import DataError, LimitError, UnsupportedError
from optbn.base.settings import check_seed
from optbn.data.anything import DataLike
from optbn.data.dataset import Categorical, Real
from optbn.network.cpds import CPD
from optbn.network.leaves import CategoricalLeaves, MixedLeaves, NormalLeaves
from optbn.network.network import BayesianNetwork
from optbn.smoothing.counting import FamilyCounts
from optbn.smoothing.family import LARGEST_TABLE, Family
from optbn.smoothing.fitting import Progress, StructureLike, as_structure, families_and_rows, generator_of
from optbn.smoothing.normal import LeafKind, NormalCounts, check_kind, check_range, pooled
from optbn.smoothing.protocol import CERTAIN, Smoother, load_smoother


def fit_domains(
    structure: StructureLike,
    data: DataLike,
    domain: str,
    smoother: str | Smoother = "hierarchical",
    *,
    seed: int = 0,
    weights: str | ArrayLike | None = None,
    leaves: LeafKind = "normal",
    schema: Any = None,
    reading: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    **settings: Any,
) -> dict[str, BayesianNetwork]:
    """A network per level of the column `domain`, in the order of its levels; other arguments as in `fit`."""
    check_kind(leaves)
    check_seed(seed)
    chosen = load_smoother(smoother, **settings)
    asked = as_structure(structure)
    if domain in asked.names:
        raise UnsupportedError(f"column {domain!r} says which domain a row is from, but it is part of the structure")
    families, besides, blocks = families_and_rows(asked, data, weights, schema, reading, (domain,))
    column = besides[domain]
    if not isinstance(column, Categorical):
        raise DataError(f"column {domain!r} is real, but the domain of a row must have levels; declare it categorical")
    levels = column.levels
    joint = [_JointCounts(family, len(levels)) for family in families]
    rows = 0
    for columns, n, row_weights in blocks:
        for counts in joint:
            counts.add(columns, columns[domain], n, row_weights)
        rows += n
        if progress is not None:
            progress("counting", rows, None)
    per_variable: list[list[tuple[CPD, NDArray[np.float64] | None]]] = []
    for i, counts in enumerate(joint):
        per_variable.append(counts.finish(chosen, generator_of(seed, i), leaves))
        if progress is not None:
            progress("fitting", i + 1, len(joint))
    names, domains = tuple(f.name for f in families), tuple(f.domain for f in families)
    return {
        level: BayesianNetwork(
            names,
            domains,
            tuple(fits[d][0] for fits in per_variable),
            level,
            precision={
                name: w for name, fits in zip(names, per_variable, strict=True) if (w := fits[d][1]) is not None
            },
        )
        for d, level in enumerate(levels)
    }


class _JointCounts:
    """One family's counts per domain."""

    def __init__(self, family: Family, n_domains: int) -> None:
        self.family = family
        self.n_domains = n_domains
        entries = family.n_cells * family.n_levels
        if entries * n_domains > LARGEST_TABLE:
            raise LimitError(
                f"the tables of {family.name!r} in {n_domains} domains would have {entries * n_domains:,} entries; "
                "use fewer parents or fewer domains"
            )
        real = isinstance(family.domain, Real)
        if isinstance(family.domain, Real):
            check_range(family.name, family.domain)
        self._normal = [NormalCounts(family.n_cells) for _ in range(n_domains)] if real else []
        self._counts = None if real else FamilyCounts((n_domains,), entries)

    def add(
        self, columns: Mapping[str, NDArray[Any]], domain: NDArray[Any], n: int, weights: NDArray[np.float64] | None
    ) -> None:
        cells = self.family.cells(columns, n)
        child = columns[self.family.name]
        if self._counts is not None:
            self._counts.add([domain], cells * self.family.n_levels + child, weights)
            return
        for d in np.unique(domain):
            rows = domain == d
            self._normal[d].add(cells[rows], child[rows], None if weights is None else weights[rows])

    def finish(
        self, smoother: Smoother, generator: np.random.Generator, leaves: str
    ) -> list[tuple[CPD, NDArray[np.float64] | None]]:
        """A CPD per domain, and its precision where the smoother has a posterior.

        A part of a Dirichlet is one itself: given the parents, a row is worth its share of the joint's rows.
        """
        if self._counts is None:
            return [(cpd, None) for cpd in self._real_children(leaves)]
        tree = self._counts.tree()
        estimate = smoother.fit(tree, generator)
        nodes = tree.cells()
        joint = estimate.at(tree, nodes).reshape(self.n_domains, self.family.n_cells, self.family.n_levels)
        common = estimate.probabilities[0].reshape(joint.shape[1:])
        worth = estimate.precision_at(nodes, tree.is_leaf[nodes])
        rows = None if worth is None else np.maximum(worth[:, None] * joint.sum(axis=2), 1.0 / CERTAIN)
        return [
            (self.family.cpd(CategoricalLeaves(_conditional(table, common))), None if rows is None else rows[d])
            for d, table in enumerate(joint)
        ]

    def _real_children(self, leaves: str) -> list[CPD]:
        domain = self.family.domain
        assert isinstance(domain, Real)
        together = pooled(self._normal)
        centre = together.leaves(*together.overall(domain), "normal")
        assert isinstance(centre, NormalLeaves)
        share = together.absent(together.share())
        found = [part.leaves(centre.mean, centre.sd**2, leaves) for part in self._normal]
        if not domain.absent:
            return [self.family.cpd(one) for one in found]
        chances = [(part.without + share) / (part.weight + part.without + 1.0) for part in self._normal]
        return [self.family.cpd(MixedLeaves(p, one)) for p, one in zip(chances, found, strict=True)]


def _conditional(joint: NDArray[np.float64], common: NDArray[np.float64]) -> NDArray[np.float64]:
    """float64[cells, K]: rows of a joint table divided by their sums; zeros take the common row, or are even."""
    for table in (common, np.ones_like(common)):
        empty = joint.sum(axis=1) <= 0.0
        joint = np.where(empty[:, None], table, joint)
    conditional: NDArray[np.float64] = joint / joint.sum(axis=1, keepdims=True)
    return conditional
