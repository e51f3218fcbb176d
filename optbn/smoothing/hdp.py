"""Hierarchical Dirichlet smoothing: every context's distribution is drawn around its parent's.

    phi_root ~ Dir(alpha_0/K, ..., alpha_0/K),   theta_u ~ Dir(alpha_g(u) theta_parent(u)),   alpha_g ~ Gamma(2, 1)

down the count tree (Petitjean, Buntine, Webb, Zaidi 2018); concentrations are tied per level by default. Estimates are
posterior means of theta at every node, which for an unseen configuration is its deepest seen ancestor.

The sampler. Introduce table counts t: the customers n of a cell of node u sit at t tables, and the tables are the
customers of the parent's cell. Published samplers integrate the phi out and move one t by a few steps at a time, with
a table of Stirling numbers. Here the phi of inner nodes are kept, and the blocks are large and exact:

    upward     t ~ CRT(n, alpha phi_parent) at all cells, the deepest first, adding up n of the inner nodes
               after alpha of the level, from p(alpha | n, phi_parent) with its tables integrated out
    downward   phi_u ~ Dir(n_u + alpha phi_parent) from the root

Each t is drawn with the phi of its own node integrated out, and every phi is drawn again before it is conditioned on,
so this is a partially collapsed Gibbs sampler with its steps in a valid order (van Dyk and Park 2008). It needs no
Stirling number and no window. Cells with at most one customer are constant and cost nothing, phi is drawn only where a
child uses it, and a CRT draw costs O(a log n) (see kernels.variates), so a sweep takes time proportional to the cells
with two rows or more, whatever the number of rows. The update of alpha matters: conditional on the tables (an
auxiliary Beta(alpha, N) per node, as published, and here for a concentration that spans levels) it moves so little
that draws of the leaves are correlated over 70 sweeps.

On the published benchmark (7,500 contexts) the worst of all probabilities gets 220 effective draws a second, and a
compiled sampler of the published kind (windowed, 30 MB of Stirling numbers, on the same machine) 4.

What is averaged is E[theta | t, alpha], by the recursion (n_u + alpha theta_parent) / (N_u + alpha).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import UnsupportedError
from optbn.base.registry import unknown
from optbn.base.settings import check_positive, check_whole
from optbn.smoothing.convergence import Moments
from optbn.smoothing.kernels.hdp import run
from optbn.smoothing.m_estimate import whole_counts
from optbn.smoothing.protocol import Estimate, matched_precision
from optbn.smoothing.tree import CountTree

TYINGS = ("level", "single", "same_parent", "none")
BATCHES = 16
"""Batches a chain is recorded in, at least; up to twice as many while it is being extended."""


@dataclass(frozen=True)
class HDP:
    """tying     which nodes share a concentration: those of a "level", all ("single"), siblings ("same_parent"), "none"
    sweeps     Gibbs sweeps per chain after burn-in (rounded up to 16 equal batches), or None: until
               R-hat <= `r_hat` and `effective` draws at every node
    burn_in    sweeps thrown away, or None: a tenth of `sweeps`
    chains     independent chains, started from concentrations drawn from their prior
    shape, rate  the Gamma prior of the concentrations
    alpha0     the root's concentration
    deviations report the posterior standard deviation of every probability
    max_sweeps per chain, when there is no number of sweeps: then it stops, and says `converged: False`
    compat     "published" leaves the root's prior out of the sampling but not of the estimates, as the published code
    """

    paper: ClassVar[str] = (
        "Probabilities: Petitjean, Buntine, Webb, Zaidi (2018), Accurate parameter estimation for Bayesian "
        "network classifiers using hierarchical Dirichlet processes, Machine Learning 107."
    )

    tying: str = "level"
    sweeps: int | None = None
    burn_in: int | None = None
    chains: int = 2
    shape: float = 2.0
    rate: float = 1.0
    alpha0: float = 2.0
    deviations: bool = False
    r_hat: float = 1.01
    effective: float = 400.0
    max_sweeps: int = 50_000
    compat: str | None = None
    whole: ClassVar[bool] = True  # counts of rows must be whole numbers

    def __post_init__(self) -> None:
        if self.tying not in TYINGS:
            raise unknown("tying of concentrations", self.tying, TYINGS)
        if self.compat not in (None, "published"):
            raise UnsupportedError(f"hdp: compat is {self.compat!r}, expected None or 'published'")
        for name in ("shape", "rate", "alpha0"):
            check_positive(self, name, " (0 has no proper posterior)")
        for name, least in (("chains", 1), ("sweeps", 1), ("burn_in", 0), ("max_sweeps", 1)):
            if name in ("chains", "max_sweeps") or getattr(self, name) is not None:
                check_whole(self, name, least)

    def fit(self, tree: CountTree, generator: np.random.Generator) -> Estimate:
        return self.sample(tree, generator, None)

    def sample(
        self, tree: CountTree, generator: np.random.Generator, progress: Callable[[int, int], None] | None
    ) -> Estimate:
        """`fit`, telling progress(sweeps done, of) after every batch."""
        layout = plan(tree, self.tying)
        seeds = generator.integers(0, 1 << 64, size=(self.chains, 1), dtype=np.uint64)
        states = [ChainState.start(layout, seed, generator, self) for seed in seeds]
        limit = self.sweeps or self.max_sweeps
        length = max(1, -(-limit // BATCHES) if self.sweeps else 32)
        burn_in = self.burn_in if self.burn_in is not None else (limit // 10 if self.sweeps else 2 * length)
        moments = Moments.empty(self.chains, tree.counts.size, length)
        seconds = np.zeros(tree.counts.size if self.deviations else 0)
        concentrations = np.zeros(len(layout.fixed))
        for state in states:
            state.advance(layout, self, burn_in, None, seconds[:0], concentrations)
        settled = False
        while not settled:
            for _ in range(BATCHES):
                for c, state in enumerate(states):
                    state.advance(layout, self, moments.length, (moments, c), seconds, concentrations)
                if progress is not None:
                    progress(moments.batches * moments.length, limit)
            settled = self.sweeps is not None or self._settled(moments) or moments.draws >= limit * self.chains
            if not settled and moments.batches >= 2 * BATCHES:
                moments.halve()
        mean = moments.mean().reshape(tree.counts.shape)
        mean /= mean.sum(axis=1, keepdims=True)
        diagnostics = self._diagnostics(moments, concentrations, layout)
        if not self.deviations:
            return Estimate(mean, mean, diagnostics=diagnostics)
        spread = np.sqrt(np.maximum(seconds / moments.draws - moments.mean() ** 2, 0.0)).reshape(mean.shape)
        precision = matched_precision(mean, spread)
        below = self._unseen_precision(tree, precision, concentrations / moments.draws)
        return Estimate(mean, mean, spread, diagnostics, precision, below)

    def _unseen_precision(
        self, tree: CountTree, precision: NDArray[np.float64], concentrations: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Of configurations that left the tree below each node: every level on the way spreads them by its Dirichlet.

        theta | phi ~ Dir(alpha phi) has E(1 - |theta|^2) = alpha/(alpha + 1) (1 - |phi|^2), so that w/(w + 1), w the
        precision, is multiplied by alpha/(alpha + 1) a level. Concentrations that were not learned
        are at their prior mean.
        """
        deepest = max(len(tree.sizes), int(tree.depth[-1]) + 1)
        alpha = np.full(deepest, self.shape / self.rate)
        if self.tying in ("level", "single") and len(concentrations):
            learned = np.resize(concentrations, deepest) if self.tying == "single" else concentrations
            alpha[: len(learned)] = learned
        below = np.append(np.cumprod((alpha / (alpha + 1.0))[::-1])[::-1], 1.0)  # of the levels from each depth on
        share = precision / (precision + 1.0) * below[tree.depth]
        return np.asarray(share / (1.0 - share))

    def _settled(self, moments: Moments) -> bool:
        return bool(moments.r_hat().max() <= self.r_hat and moments.effective_draws().min() >= self.effective)

    def _diagnostics(self, moments: Moments, concentrations: NDArray[np.float64], layout: Layout) -> dict[str, Any]:
        r_hat, effective = float(moments.r_hat().max()), float(moments.effective_draws().min())
        return {
            "sweeps": moments.batches * moments.length,
            "chains": len(moments.means),
            "r_hat": r_hat,
            "effective_draws": effective,
            "monte_carlo_error": float(np.sqrt(moments.variance() / moments.effective_draws()).max()),
            "converged": bool(r_hat <= self.r_hat and effective >= self.effective),
            "concentration": concentrations / moments.draws,
            "concentration_group": layout.group,
        }


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
    group, groups = _groups(tree, tying)
    several = counts >= 2
    several[0] = False
    # groups are runs of nodes, and deeper nodes come later: by falling node, all cells of a level precede those above
    cells = np.flatnonzero(several)
    cells = cells[np.lexsort((-cells, group[cells // K]))] if groups > 1 else cells[::-1].copy()
    cell_node = cells // K
    cell_parent = parent[cell_node] * K + cells % K
    needed = np.zeros(m * K, dtype=np.bool_)
    needed[cell_parent] = True
    needed = needed.reshape(m, K)
    if every_level:
        needed[has_children] = True
    nodes = np.flatnonzero(needed.any(axis=1))
    return Layout(
        counts=counts.ravel(),
        totals=tree.totals.astype(np.float64),
        parent=parent,
        group=group,
        across=tying == "single" and m > 1,
        base=base[:inner].ravel(),
        cells=cells,
        cell_parent=cell_parent,
        cell_start=np.searchsorted(group[cell_node], np.arange(groups + 1)),
        fixed=np.bincount(group[1:], weights=single.sum(axis=1), minlength=groups).astype(np.float64),
        group_start=1 + np.searchsorted(group[1:], np.arange(groups + 1)),
        nodes=nodes,
        start=np.concatenate([[0], np.cumsum(needed[nodes].sum(axis=1))]).astype(np.int64),
        levels=np.nonzero(needed)[1].astype(np.int64),
    )


def _groups(tree: CountTree, tying: str) -> tuple[NDArray[np.int64], int]:
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
class ChainState:
    """Where one chain stands: its random bits, concentrations and phi, and room for the sweeps."""

    random: NDArray[np.uint64]
    alpha: NDArray[np.float64]
    step: NDArray[np.float64]
    phi: NDArray[np.float64]
    n: NDArray[np.int64]
    total: NDArray[np.float64]

    @classmethod
    def start(cls, layout: Layout, seed: NDArray[np.uint64], generator: np.random.Generator, prior: HDP) -> ChainState:
        """Frequencies for phi; concentrations from their prior, so that chains begin apart."""
        counts = layout.counts.reshape(len(layout.totals), -1) + 0.5
        phi = (counts / counts.sum(axis=1, keepdims=True)).ravel()
        alpha = np.maximum(generator.gamma(prior.shape, 1.0 / prior.rate, len(layout.fixed)), 1e-2)
        return cls(seed.copy(), alpha, np.full(len(alpha), 0.5), phi, layout.counts.copy(), layout.totals.copy())

    def advance(
        self,
        layout: Layout,
        prior: HDP,
        sweeps: int,
        record: tuple[Moments, int] | None,
        seconds: NDArray[np.float64],
        concentrations: NDArray[np.float64],
    ) -> None:
        """Run some sweeps; with `record` their estimates make one batch."""
        K = len(layout.counts) // len(layout.totals)
        size = len(layout.counts)
        sums, squares = np.zeros(size), np.zeros(size)
        run(
            sweeps, record is not None, self.random, self.alpha, self.step, self.phi, self.n, self.total, layout.parent,
            layout.group, layout.across, layout.base, layout.cells, layout.cell_parent, layout.cell_start, layout.fixed,
            layout.group_start, layout.nodes, layout.start, layout.levels, prior.shape, prior.rate, prior.alpha0,
            0.0 if prior.compat == "published" else 1.0 / K, np.empty(size), sums, squares, seconds,
            np.empty(len(seconds)), concentrations,
        )  # fmt: skip
        if record is not None:
            record[0].add(record[1], sums, squares)
