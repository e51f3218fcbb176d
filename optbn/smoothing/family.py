"""One variable given its parents while its network is being fitted: rows in, a CPD out.

Whatever the local model, its parents' values become a few codes (levels, bins, or the leaf of a tree). A categorical
child is counted per configuration of those codes and smoothed on the count tree, a tree CPD on the tree it is; a real
child is summed up per cell (`normal`). The partition of the parents' space is taken as given, never learned here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import LimitError, UnsupportedError
from optbn.data.dataset import Categorical, Domain, Real
from optbn.network.cpds import CPD, BinnedTableCPD, TableCPD, TreeCPD
from optbn.network.leaves import CategoricalLeaves, Leaves, MixedLeaves, NormalLeaves, StudentLeaves, within
from optbn.smoothing.counting import FamilyCounts
from optbn.smoothing.normal import NormalCounts, check_range
from optbn.smoothing.protocol import Estimate, Smoother
from optbn.smoothing.tree import CountTree

LARGEST_TABLE = 1 << 27
"""Entries of a table that is written out, 1 GB."""


@dataclass(frozen=True)
class Family:
    """A variable, its parents and the partition of their space; `model` is None for a plain table."""

    name: str
    domain: Domain
    parents: tuple[str, ...]
    parent_domains: tuple[Domain, ...]
    model: TreeCPD | BinnedTableCPD | None = None

    def __post_init__(self) -> None:
        if self.model is None:
            remedy = "; give a network with a tree or bins there, as pcart learns it, or discretise the column"
            if isinstance(self.domain, Real) and self.parents:
                raise UnsupportedError(
                    f"{self.name!r} is real and has parents, and a bare DAG does not say how they act{remedy}"
                )
            for parent, domain in zip(self.parents, self.parent_domains, strict=True):
                if isinstance(domain, Real):
                    raise UnsupportedError(f"{self.name!r} has the real parent {parent!r}{remedy}")
        entries = self.n_cells * self.n_levels
        if entries > LARGEST_TABLE:
            raise LimitError(
                f"the table of {self.name!r} given {', '.join(self.parents)} would have {entries:,} entries; "
                "use fewer parents, or a tree"
            )

    @classmethod
    def of(cls, name: str, cpd: CPD) -> Family:
        """The family a CPD describes, its probabilities forgotten."""
        model = None if isinstance(cpd, TableCPD) else cpd
        return cls(name, cpd.domain, cpd.parents, cpd.parent_domains, model)

    @property
    def n_levels(self) -> int:
        """Of a categorical child; 1 for a real one."""
        return len(self.domain.levels) if isinstance(self.domain, Categorical) else 1

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """How many values each code has."""
        if isinstance(self.model, TreeCPD):
            return (self.model.tree.n_leaves,)
        bins = [len(points) + 1 for points in self.model.cuts] if self.model is not None else [1] * len(self.parents)
        return tuple(
            len(domain.levels) if isinstance(domain, Categorical) else size
            for domain, size in zip(self.parent_domains, bins, strict=True)
        )

    @property
    def n_cells(self) -> int:
        return math.prod(self.sizes)

    @property
    def runs(self) -> NDArray[np.int32] | None:
        """int32[cells, r]: levels that are equally likely in a cell, where the local model has such."""
        leaves = None if self.model is None else self.model.leaves
        return leaves.runs if isinstance(leaves, CategoricalLeaves) else None

    def codes(self, columns: Mapping[str, NDArray[Any]], n: int) -> list[NDArray[Any]]:
        """The codes of n rows."""
        values = [columns[p] for p in self.parents]
        if isinstance(self.model, TreeCPD):
            return [self.model.cells(values, n)]
        if self.model is None:
            return values
        return [
            np.searchsorted(points, column, side="right") if isinstance(domain, Real) else column
            for domain, points, column in zip(self.parent_domains, self.model.cuts, values, strict=True)
        ]

    def cells(self, columns: Mapping[str, NDArray[Any]], n: int) -> NDArray[np.int64]:
        """int64[n]: the cell of each row, the last code fastest."""
        cells = np.zeros(n, dtype=np.int64)
        for size, code in zip(self.sizes, self.codes(columns, n), strict=True):
            cells = cells * size + code
        return cells

    def cpd(self, leaves: Leaves) -> CPD:
        """The CPD with these leaves, one per cell; those of numbers are cut to where the numbers can lie, and levels
        that the local model has in one run made equally likely: the mean of Dirichlet estimates is that of the run."""
        if isinstance(self.domain, Real):
            leaves = within(leaves, self.domain.support)
        if self.runs is not None:
            assert isinstance(leaves, CategoricalLeaves)
            leaves = CategoricalLeaves.pooled(leaves.probabilities, self.runs)
        if self.model is not None:
            return replace(self.model, leaves=leaves)
        if isinstance(leaves, CategoricalLeaves):
            shape = (*self.sizes, self.n_levels)
            return TableCPD(self.domain, self.parents, self.parent_domains, leaves.probabilities.reshape(shape))  # type: ignore[arg-type]
        return BinnedTableCPD(self.domain, (), (), (), leaves)

    def split_tree(self, leaf_counts: NDArray[np.float64]) -> tuple[CountTree, NDArray[np.int64], NDArray[np.int64]]:
        """The count tree of a tree CPD from its leaves' counts; per leaf its tree node, and where that is in it."""
        assert isinstance(self.model, TreeCPD)
        tree = self.model.tree
        m = len(tree.parent)
        above = np.full(m, -1, dtype=np.int64)
        counts = np.zeros((m, leaf_counts.shape[1]))
        leaf_node = np.zeros(tree.n_leaves, dtype=np.int64)
        for i in range(m - 1, -1, -1):  # children come after their parents
            if tree.parent[i] < 0:
                counts[i] = leaf_counts[tree.left[i]]
                leaf_node[tree.left[i]] = i
            else:
                above[[tree.left[i], tree.right[i]]] = i
                counts[i] = counts[tree.left[i]] + counts[tree.right[i]]
        grown, where = CountTree.from_splits(above.tolist(), counts)
        return grown, leaf_node, where


class FamilyFit:
    """The counts of one family, and what became of them: for a categorical child `tree` and `estimate`, `cells`, which
    say of each cell its node and whether it was seen, and `precision`, float64[cells], if there is a posterior."""

    def __init__(self, family: Family) -> None:
        self.family = family
        self.tree: CountTree | None = None
        self.estimate: Estimate | None = None
        if isinstance(family.domain, Real):
            check_range(family.name, family.domain)
        self.cells: tuple[NDArray[np.int64], NDArray[np.bool_]] | None = None
        self.precision: NDArray[np.float64] | None = None
        self._normal = NormalCounts(family.n_cells) if isinstance(family.domain, Real) else None
        self._counts = FamilyCounts(family.sizes, family.n_levels) if self._normal is None else None

    def add(self, columns: Mapping[str, NDArray[Any]], n: int, weights: NDArray[np.float64] | None) -> None:
        """Count a batch."""
        child = columns[self.family.name]
        if self._normal is not None:
            self._normal.add(self.family.cells(columns, n), child, weights)
        else:
            assert self._counts is not None
            self._counts.add(self.family.codes(columns, n), child, weights)

    def finish(self, smoother: Smoother, generator: np.random.Generator, leaves: str) -> CPD:
        """The CPD."""
        domain = self.family.domain
        if self._normal is not None:
            assert isinstance(domain, Real)
            found: Leaves = self._normal.leaves(*self._normal.overall(domain), leaves)
            if domain.absent:
                assert isinstance(found, NormalLeaves | StudentLeaves)
                found = MixedLeaves(self._normal.absent(self._normal.share()), found)
            return self.family.cpd(found)
        assert self._counts is not None
        if isinstance(self.family.model, TreeCPD):
            configurations, counts = self._counts.configurations()
            per_leaf = np.zeros((self.family.n_cells, self.family.n_levels))
            per_leaf[configurations[:, 0]] = counts
            self.tree, leaf_node, where = self.family.split_tree(per_leaf)
            self.estimate = smoother.fit(self.tree, generator)
            nodes = where[leaf_node]
            reached = self.tree.branch[nodes] == leaf_node
        else:
            self.tree = self._counts.tree()
            self.estimate = smoother.fit(self.tree, generator)
            nodes = self.tree.cells()
            reached = self.tree.is_leaf[nodes]
        rows = np.where(reached[:, None], self.estimate.probabilities[nodes], self.estimate.unseen[nodes])
        self.cells = nodes, reached
        self.precision = self.estimate.precision_at(nodes, reached)
        if self.family.runs is not None:
            self.precision = None  # it is that of levels by themselves
        return self.family.cpd(CategoricalLeaves(rows))

    def deviations(self) -> NDArray[np.float64] | None:
        """Posterior standard deviations of every probability, in the shape of the table or float64[cells, K].

        None for a real child, and for a smoother without a posterior.
        """
        if self.estimate is None or self.cells is None or self.precision is None:
            return None
        nodes, seen = self.cells
        p = np.where(seen[:, None], self.estimate.probabilities[nodes], self.estimate.unseen[nodes])
        rows = np.sqrt(p * (1.0 - p) / (self.precision[:, None] + 1.0))
        if self.estimate.deviations is not None:
            rows = np.where(seen[:, None], self.estimate.deviations[nodes], rows)
        return rows if self.family.model is not None else rows.reshape(*self.family.sizes, self.family.n_levels)
