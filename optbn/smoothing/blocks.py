"""The block-wise sampler of hierarchical Dirichlet smoothing: a count tree laid out for it, and where a chain stands.

`hdp` argues the sampler, `kernels.hdp` runs it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from optbn.smoothing.convergence import Record
from optbn.smoothing.kernels.hdp import EVERY, SHARED, Chain, Kept, run
from optbn.smoothing.m_estimate import whole_counts
from optbn.smoothing.tree import CountTree

if TYPE_CHECKING:
    from optbn.smoothing.hdp import HDP


class Layout(NamedTuple):
    """A count tree laid out for the sweeps; see `kernels.hdp` for the arrays. Nothing here changes while sampling."""

    counts: NDArray[np.int64]
    totals: NDArray[np.float64]
    parent: NDArray[np.int64]
    group: NDArray[np.int64]
    across: bool
    base: NDArray[np.int64]
    cells: NDArray[np.int64]
    cell_parent: NDArray[np.int64]
    cell_start: NDArray[np.int64]
    fixed: NDArray[np.float64]
    group_start: NDArray[np.int64]
    row: NDArray[np.int64]
    nodes: NDArray[np.int64]
    start: NDArray[np.int64]
    levels: NDArray[np.int64]


def plan(tree: CountTree, tying: str, every_level: bool = False) -> Layout:
    """The layout of a tree; `every_level` draws phi of all levels at all inner nodes, needed or not (for tests)."""
    counts = whole_counts(tree, "hdp")
    m, K = counts.shape
    parent = tree.parent.astype(np.int64)
    has_children = np.diff(tree.first_child) > 0
    inner = int(np.flatnonzero(has_children)[-1]) + 1 if has_children.any() else 1
    single = counts[1:] == 1
    base = np.zeros((m, K), dtype=np.int64)
    np.add.at(base, parent[1:], single)
    base[~has_children] = counts[~has_children]
    group, groups = groups_of(tree, tying)
    several = counts >= 2
    several[0] = False
    # groups are runs of nodes, and deeper nodes come later: by falling node, all cells of a level precede those above;
    # inside a level any order will do, and by customers the lengths of loops can be foreseen by the processor
    cells = np.flatnonzero(several)
    cells = cells[np.lexsort((-cells, counts.ravel()[cells], -tree.depth[cells // K], group[cells // K]))]
    cell_node = cells // K
    cell_parent = parent[cell_node] * K + cells % K
    needed = np.zeros(m * K, dtype=np.bool_)
    needed[cell_parent] = True
    needed = needed.reshape(m, K)
    if every_level:
        needed[has_children] = True
    nodes = np.flatnonzero(needed.any(axis=1))
    nodes = nodes[np.lexsort((needed[nodes].sum(axis=1), tree.depth[nodes]))]
    group_start = 1 + np.searchsorted(group[1:], np.arange(groups + 1))
    across = tying == "single" and m > 1
    large = np.diff(group_start) > (0 if across else SHARED)
    return Layout(
        counts=counts.ravel(),
        totals=tree.totals.astype(np.float64),
        parent=parent,
        group=group,
        across=across,
        base=base[:inner].ravel(),
        cells=cells,
        cell_parent=cell_parent,
        cell_start=np.searchsorted(group[cell_node], np.arange(groups + 1)),
        fixed=np.bincount(group[1:], weights=single.sum(axis=1), minlength=groups).astype(np.float64),
        group_start=group_start,
        row=np.where(large, np.cumsum(large) - 1, -1),
        nodes=nodes,
        start=np.concatenate([[0], np.cumsum(needed[nodes].sum(axis=1))]).astype(np.int64),
        levels=np.nonzero(needed[nodes])[1].astype(np.int64),
    )


def groups_of(tree: CountTree, tying: str) -> tuple[NDArray[np.int64], int]:
    """Which concentration each node uses, ascending (the root none: 0), and how many there are."""
    m = len(tree.parent)
    if tying == "level":
        group = tree.depth.astype(np.int64) - 1
    elif tying == "single":
        group = np.zeros(m, dtype=np.int64)
    elif tying == "none":
        group = np.arange(m) - 1
    else:
        group = np.unique(tree.parent, return_inverse=True)[1].astype(np.int64) - 1
    group[0] = 0
    return group, int(group.max()) + 1 if m > 1 else 0


@dataclass
class Blocks:
    """Where one chain stands: its random bits, its concentrations and phi."""

    layout: Layout
    random: NDArray[np.uint64]
    chain: Chain

    @classmethod
    def start(cls, layout: Layout, seed: NDArray[np.uint64], generator: np.random.Generator, prior: HDP) -> Blocks:
        """Frequencies for phi; concentrations from their prior, so that chains begin apart."""
        counts = layout.counts.reshape(len(layout.totals), -1) + 0.5
        phi = (counts / counts.sum(axis=1, keepdims=True)).ravel()
        alpha = np.maximum(generator.gamma(prior.shape, 1.0 / prior.rate, len(layout.fixed)), 1e-2)
        chain = Chain(alpha, np.full(len(alpha), 0.5), phi, layout.counts.copy(), layout.totals.copy())
        return cls(layout, seed.copy(), chain)

    def advance(self, prior: HDP, sweeps: int, record: Record, number: int | None) -> None:
        """Run some sweeps; as chain `number` of the record their estimates make one batch of it."""
        size, keep = len(self.layout.counts), number is not None
        within = record.within if keep else record.within[:0]
        kept = Kept(np.zeros(size), np.zeros(size), within, record.concentration, np.empty(size), np.empty(len(within)))
        root_mean = 0.0 if prior.compat == "published" else len(self.layout.totals) / size
        numbers = (prior.shape, prior.rate, prior.alpha0, root_mean)
        sizes = np.empty((1 + self.layout.row.max(initial=0), SHARED), np.int64)
        run(sweeps, keep, self.layout, self.chain, numbers, kept, sizes, self.random)
        if number is not None:
            record.looks += -(-sweeps // EVERY)
            record.moments.add(number, kept.sums, kept.squares)
