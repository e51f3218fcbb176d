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

With a discount (Pitman-Yor), and to predict each row from all others, rows are seated one by one: `seating`. A learned
discount is nearer to the truth than none, and takes four times as long (results/tying).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import UnsupportedError
from optbn.base.registry import unknown
from optbn.base.settings import check_positive, check_whole
from optbn.smoothing.blocks import Blocks, groups_of, plan
from optbn.smoothing.convergence import Moments, Record
from optbn.smoothing.protocol import Estimate, matched_precision
from optbn.smoothing.seating import Seats, floor_of
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
    discount   of Pitman-Yor processes in place of Dirichlet ones: at least 0 and below 1, or "learned", one for each
               concentration; above 0 every row is seated (see `seating`), which takes longer
    deviations the posterior standard deviation of every probability, too; without, a sixth less time and no intervals
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
    discount: float | str = 0.0
    deviations: bool = True
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
        known = self.discount == "learned" if isinstance(self.discount, str) else 0.0 <= self.discount < 1.0
        if not known:
            raise UnsupportedError(f"hdp: discount is {self.discount!r}, expected 0 <= discount < 1, or 'learned'")
        if self.discount and self.compat:
            raise UnsupportedError("hdp: compat='published' is about the sampler without a discount")
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
        chains = self._chains(tree, generator, bool(self.discount))
        record = self._run(tree, chains, False, progress)
        mean = record.moments.mean().reshape(tree.counts.shape)
        mean /= mean.sum(axis=1, keepdims=True)
        diagnostics = self._diagnostics(record, groups_of(tree, self.tying)[0])
        if not self.deviations:
            return Estimate(mean, mean, diagnostics=diagnostics)
        draws = record.moments.draws
        spread = np.sqrt(np.maximum(record.variance(), 0.0)).reshape(mean.shape)
        precision = matched_precision(mean, spread)
        below = self._unseen_precision(tree, precision, record.concentration / draws, record.discount / draws)
        return Estimate(mean, mean, spread, diagnostics, precision, below)

    def leave_one_out(self, tree: CountTree, generator: np.random.Generator) -> NDArray[np.float64]:
        """float64[m, K]: P(a row of this level at this leaf | all other rows), nan where there is none.

        From one run over all rows: no row is ever left out twice of the same fit (see `seating`).
        """
        record = self._run(tree, self._chains(tree, generator, True), True, None)
        surprise = (record.surprise / record.moments.draws).reshape(tree.counts.shape)
        return np.divide(1.0, surprise, out=np.full_like(surprise, np.nan), where=surprise > 0)

    def _chains(self, tree: CountTree, generator: np.random.Generator, seated: bool) -> Sequence[Blocks | Seats]:
        """The chains at their starts."""
        seeds = generator.integers(0, 1 << 64, size=(self.chains, 1), dtype=np.uint64)
        if not seated:
            layout = plan(tree, self.tying)
            return [Blocks.start(layout, seed, generator, self) for seed in seeds]
        floor = floor_of(tree, self.tying)
        return [Seats.start(tree, floor, seed, generator, self) for seed in seeds]

    def _run(
        self,
        tree: CountTree,
        chains: Sequence[Blocks | Seats],
        surprise: bool,
        progress: Callable[[int, int], None] | None,
    ) -> Record:
        """Burn in, then sample until that is enough."""
        limit = self.sweeps or self.max_sweeps
        length = max(1, -(-limit // BATCHES) if self.sweeps else 32)
        burn_in = self.burn_in if self.burn_in is not None else (limit // 10 if self.sweeps else 2 * length)
        size, groups = tree.counts.size, groups_of(tree, self.tying)[1]
        moments = Moments.empty(self.chains, size, length)
        record = Record(
            moments, np.zeros(size if self.deviations else 0), np.zeros(groups), np.zeros(groups),
            np.zeros(size if surprise else 0),
        )  # fmt: skip
        for chain in chains:
            chain.advance(self, burn_in, record, None)
        settled = False
        while not settled:
            for _ in range(BATCHES // 2 if moments.batches else BATCHES):
                for number, chain in enumerate(chains):
                    chain.advance(self, moments.length, record, number)
                if progress is not None:
                    progress(moments.batches * moments.length, limit)
            settled = self.sweeps is not None or self._settled(moments) or moments.draws >= limit * self.chains
            if not settled and moments.batches >= 2 * BATCHES:
                moments.halve()
        return record

    def _unseen_precision(
        self,
        tree: CountTree,
        precision: NDArray[np.float64],
        concentration: NDArray[np.float64],
        discount: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Of configurations that left the tree below each node: every level on the way spreads them by its process.

        theta ~ PY(d, alpha, phi) has E(1 - |theta|^2) = (alpha + d)/(alpha + 1) (1 - |phi|^2), so that w/(w + 1), w the
        precision, is multiplied by (alpha + d)/(alpha + 1) a level. What was not learned is at its prior mean.
        """
        deepest = max(len(tree.sizes), int(tree.depth[-1]) + 1)
        alpha = np.full(deepest, self.shape / self.rate)
        d = np.full(deepest, 0.5 if isinstance(self.discount, str) else self.discount)
        if self.tying in ("level", "single") and len(concentration):
            known = deepest if self.tying == "single" else len(concentration)
            alpha[:known], d[:known] = np.resize(concentration, known), np.resize(discount, known)
        below = np.append(
            np.cumprod(((alpha + d) / (alpha + 1.0))[::-1])[::-1], 1.0
        )  # of the levels from each depth on
        share = precision / (precision + 1.0) * below[tree.depth]
        return np.asarray(share / (1.0 - share))

    def _settled(self, moments: Moments) -> bool:
        return bool(moments.r_hat().max() <= self.r_hat and moments.effective_draws().min() >= self.effective)

    def _diagnostics(self, record: Record, group: NDArray[np.int64]) -> dict[str, Any]:
        moments = record.moments
        r_hat, effective = float(moments.r_hat().max()), float(moments.effective_draws().min())
        learned = {"discount": record.discount / moments.draws} if self.discount else {}
        return {
            "sweeps": moments.batches * moments.length,
            "chains": len(moments.means),
            "r_hat": r_hat,
            "effective_draws": effective,
            "monte_carlo_error": float(np.sqrt(moments.variance() / moments.effective_draws()).max()),
            "converged": bool(r_hat <= self.r_hat and effective >= self.effective),
            "concentration": record.concentration / moments.draws,
            "concentration_group": group,
            **learned,
        }
