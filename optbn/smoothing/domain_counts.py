"""Counts of one family per domain, and the tables that they give, tier by tier; `domains` says what is shared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import LimitError
from optbn.data.dataset import Real
from optbn.network.cpds import CPD
from optbn.network.leaves import CategoricalLeaves, MixedLeaves
from optbn.smoothing.borrowing import between, by_depth
from optbn.smoothing.counting import FamilyCounts
from optbn.smoothing.family import LARGEST_TABLE, Family, FamilyFit
from optbn.smoothing.normal import NormalCounts, check_range, pooled
from optbn.smoothing.order import information_order
from optbn.smoothing.protocol import CERTAIN, Smoother

Share = Literal["rows", "joint"]
Fit = tuple[CPD, NDArray[np.float64] | None]
"""A CPD and its precision, where there is a posterior."""

Codes = tuple[int, ...]
"""Of a domain's levels."""


class Tier(NamedTuple):
    """The domains by the first columns: their codes, int64[g, columns], and which of the tier above each belongs to."""

    codes: NDArray[np.int64]
    above: NDArray[np.int64]


def tiers_of(every: NDArray[np.int64] | None, levels: int) -> list[Tier]:
    """From the widest: of one column all its levels, of several (`every`) those that occur."""
    if every is None:
        return [Tier(np.arange(levels)[:, None], np.zeros(levels, dtype=np.int64))]
    tiers: list[Tier] = []
    above = np.zeros(len(every), dtype=np.int64)
    for width in range(1, every.shape[1] + 1):
        codes, first, own = np.unique(every[:, :width], axis=0, return_index=True, return_inverse=True)
        tiers.append(Tier(codes, above[first]))
        above = own.ravel()
    return tiers


class DomainCounts:
    """One family's counts per domain."""

    def __init__(self, family: Family, sizes: Sequence[int], share: Share) -> None:
        self.family = family
        self.sizes = tuple(sizes)
        entries = family.n_cells * family.n_levels
        if len(sizes) == 1 and entries * sizes[0] > LARGEST_TABLE:
            raise LimitError(
                f"the tables of {family.name!r} in {sizes[0]} domains would have {entries * sizes[0]:,} entries; "
                "use fewer parents or fewer domains"
            )
        real = isinstance(family.domain, Real)
        if isinstance(family.domain, Real):
            check_range(family.name, family.domain)
        self._normal: dict[Codes, NormalCounts] | None = {} if real else None
        self._counts = None if real else FamilyCounts(sizes, entries)
        self._together = FamilyFit(family) if real or share == "rows" else None

    def add(
        self,
        columns: Mapping[str, NDArray[Any]],
        domains: Sequence[NDArray[Any]],
        n: int,
        weights: NDArray[np.float64] | None,
    ) -> None:
        if self._together is not None:
            self._together.add(columns, n, weights)
        cells = self.family.cells(columns, n)
        child = columns[self.family.name]
        if self._counts is not None:
            self._counts.add(domains, cells * self.family.n_levels + child, weights)
            return
        assert self._normal is not None
        found, own = np.unique(np.stack(domains, axis=1), axis=0, return_inverse=True)
        for d, codes in enumerate(found.tolist()):
            rows = own.ravel() == d
            part = self._normal.setdefault(tuple(codes), NormalCounts(self.family.n_cells))
            part.add(cells[rows], child[rows], None if weights is None else weights[rows])

    def domains(self) -> NDArray[np.int64]:
        """int64[d, columns]: the domains that have rows, those of weight 0 left out."""
        if self._counts is not None:
            return self._counts.configurations()[0]
        assert self._normal is not None
        return np.array(list(self._normal), dtype=np.int64).reshape(-1, len(self.sizes))

    def finish(
        self, smoother: Smoother, generator: np.random.Generator, leaves: str, tiers: Sequence[Tier]
    ) -> list[list[Fit]]:
        """For each tier a fit for each of its domains, and then the common one alone."""
        if self._together is None:
            fits = self._from_joint(smoother, generator)
            return [fits[:-1], fits[-1:]]
        common = self._together.finish(smoother, generator, leaves)
        if self._counts is None:
            real: list[list[Fit]] = [[(cpd, None) for cpd in tier] for tier in self._real_children(leaves, tiers)]
            return [*real, [(common, None)]]
        assert isinstance(common.leaves, CategoricalLeaves)
        return [*self._between(common.leaves.probabilities, tiers), [(common, self._together.precision)]]

    def _between(self, common: NDArray[np.float64], tiers: Sequence[Tier]) -> list[list[Fit]]:
        """Tables of each tier between those of the tier above and their own with one condition less."""
        assert self._counts is not None
        seen, flat = self._counts.configurations()
        counts = flat.reshape(-1, *self.family.sizes, self.family.n_levels)
        order = _order(counts)
        last = len(order) + 1
        forth, back = (0, *(1 + i for i in order), last), (0, *(1 + np.argsort(order)), last)
        table = common.reshape(1, *counts.shape[1:]).transpose(forth)[0]
        counts = counts.transpose(forth)
        tables = [of[None] for of in by_depth(table, counts.sum(axis=(0, -1)))]
        found: list[list[Fit]] = []
        for tier in tiers:
            own = np.zeros((len(tier.codes), *counts.shape[1:]))
            np.add.at(own, _places(seen, tier.codes), counts)
            tables, rows = between(own, [table[tier.above] for table in tables])
            shape = len(own), self.family.n_cells
            p, worth = tables[-1].transpose(back).reshape(*shape, -1), rows.transpose(back[:-1]).reshape(shape)
            found.append([(self.family.cpd(CategoricalLeaves(p)), w) for p, w in zip(p, worth, strict=True)])
        return found

    def _from_joint(self, smoother: Smoother, generator: np.random.Generator) -> list[Fit]:
        """A part of a Dirichlet is one itself: given the parents, a row is worth its share of the joint's rows."""
        assert self._counts is not None
        tree = self._counts.tree()
        estimate = smoother.fit(tree, generator)
        nodes = np.append(tree.cells(), 0)
        seen = np.append(tree.is_leaf[nodes[:-1]], True)
        flat = np.where(seen[:, None], estimate.probabilities[nodes], estimate.unseen[nodes])
        joint = flat.reshape(self.sizes[0] + 1, self.family.n_cells, self.family.n_levels)
        worth = estimate.precision_at(nodes, seen)
        rows = None if worth is None else np.maximum(worth[:, None] * joint.sum(axis=2), 1.0 / CERTAIN)
        return [
            (self.family.cpd(CategoricalLeaves(_conditional(p, joint[-1]))), None if rows is None else rows[d])
            for d, p in enumerate(joint)
        ]

    def _real_children(self, leaves: str, tiers: Sequence[Tier]) -> Iterator[list[CPD]]:
        domain = self.family.domain
        assert isinstance(domain, Real) and self._normal is not None
        none = NormalCounts(self.family.n_cells)
        together = pooled([none, *self._normal.values()])
        centres = [together.leaves(*together.overall(domain), "normal")]
        shares = [together.absent(together.share())]
        for tier in tiers:
            members: list[list[NormalCounts]] = [[none] for _ in tier.codes]
            for place, part in zip(_places(self.domains(), tier.codes), self._normal.values(), strict=True):
                members[place].append(part)
            parts = [pooled(of) for of in members]
            above = [centres[i] for i in tier.above]
            found = [p.leaves(c.mean, c.sd**2, leaves) for p, c in zip(parts, above, strict=True)]
            chances = [p.absent(shares[i]) for p, i in zip(parts, tier.above, strict=True)]
            centres = [p.leaves(c.mean, c.sd**2, "normal") for p, c in zip(parts, above, strict=True)]
            shares = chances
            if domain.absent:
                yield [self.family.cpd(MixedLeaves(p, one)) for p, one in zip(chances, found, strict=True)]
            else:
                yield [self.family.cpd(one) for one in found]


def _places(seen: NDArray[np.int64], codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """int64[len(seen)]: which row of `codes` (ascending) each row of `seen` begins with."""
    width = codes.shape[1]
    sizes = np.maximum(seen[:, :width].max(axis=0, initial=0), codes.max(axis=0, initial=0)) + 1
    keys, wanted = (np.ravel_multi_index(rows.T, sizes) for rows in (codes, seen[:, :width]))
    return np.asarray(np.searchsorted(keys, wanted))


def _conditional(joint: NDArray[np.float64], common: NDArray[np.float64]) -> NDArray[np.float64]:
    """float64[cells, K]: rows of a joint table divided by their sums; zeros take the common row, or are even."""
    for table in (common, np.ones_like(common)):
        empty = joint.sum(axis=1) <= 0.0
        joint = np.where(empty[:, None], table, joint)
    conditional: NDArray[np.float64] = joint / joint.sum(axis=1, keepdims=True)
    return conditional


def _order(counts: NDArray[np.float64]) -> tuple[int, ...]:
    """The conditions of counts, float64[domains, x1, .., xL, K], by what they tell of the child given the domain."""
    occurs = counts.sum(axis=-1) > 0
    found = information_order(np.argwhere(occurs), counts[occurs], counts.shape[:-1], first=1)
    return tuple(i - 1 for i in found[1:])
