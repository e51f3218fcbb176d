"""Probabilities of arcs beyond the exact sums: orders are sampled, what an order says is summed exactly.

The distribution is that of `posterior(over="orders")`: an order of the variables weighs the product of the exact sums
of its variables' families (Friedman and Koller 2003). A sweep has moves of two kinds, both drawn from exact conditional
distributions, so that no proposal is rejected: every variable moves to a place among the others, and windows of WINDOW
neighbouring places are ordered anew as a whole, by the recurrence over subsets of the exact sums. Given an order, the
probability of every arc is a sum, and these are averaged over the draws. Several chains begin at random orders, their
first halves are thrown away, and their agreement is reported: R-hat of the worst arc, and the effective number of
independent draws. The sweeps go on until the chains agree, or the budget or MOST_SWEEPS end them.

Any number of variables; a sweep of n variables takes 2 n^2 sums over families and 2 n 2^WINDOW steps of recurrences.
The answer is an estimate, unlike those of `posterior`: its errors are `errors`, if the chains agree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn_solvers.base.errors import TableError
from optbn_solvers.base.protocol import Budget
from optbn_solvers.base.table import ScoreTable
from optbn_solvers.base.whole import need_whole
from optbn_solvers.front.kernels import sampled as kernel

Floats = NDArray[np.float64]
WINDOW = 10  # variables
AGREED, ENOUGH = 1.05, 200.0  # R-hat below, effective draws from: no more sweeps are needed
FIRST_SWEEPS, MOST_SWEEPS = 100, 6400
ROOM = 512 << 20  # bytes of draws
RARE = 1e-3  # arcs of less variance hardly differ between draws, and say nothing about agreement


@dataclass(frozen=True, eq=False)
class SampledPosterior:
    """Estimates over sampled orders.

    arcs       float64[n, n], arcs[u, v] of u -> v
    errors     float64[n, n], their standard errors
    r_hat      of the arc whose chains agree least (Gelman and Rubin, halves of chains apart); 1 is agreement
    effective  of the arc with fewest effective draws, how many independent ones its draws are worth
    draws      orders averaged over, of all chains
    agreed     the chains agree: R-hat is below AGREED
    """

    arcs: Floats
    errors: Floats
    r_hat: float
    effective: float
    draws: int

    @property
    def agreed(self) -> bool:
        return self.r_hat < AGREED


def sampled_posterior(
    table: ScoreTable,
    sweeps: int | None = None,
    chains: int = 4,
    seed: int = 0,
    budget: Budget | None = None,
    only_listed: bool = False,
) -> SampledPosterior:
    """Average over orders of several chains (see the header), for `sweeps` sweeps or until the chains agree."""
    if (sweeps is not None and sweeps < 8) or chains < 2:
        raise TableError(f"{chains} chains of {sweeps} sweeps: expected at least 2 chains of 8")
    need_whole(table, "averages over graphs", only_listed)
    table.check_feasible()
    budget = (budget or Budget()).started()
    weights = table.scores - np.repeat(table.scores[table.offsets[:-1]], np.diff(table.offsets))
    walks = [_Chain(table, weights, each) for each in np.random.SeedSequence(seed).spawn(chains)]
    most = sweeps or max(FIRST_SWEEPS, min(MOST_SWEEPS, ROOM // (4 * chains * table.n**2)))
    done, look, draws = 0, sweeps or FIRST_SWEEPS, np.empty((0, chains, table.n, table.n), dtype=np.float32)
    while True:
        draws = np.concatenate([draws, np.empty((look - done, *draws.shape[1:]), dtype=np.float32)])
        while done < look and (done < 8 or not budget.exhausted()):
            for number, chain in enumerate(walks):
                chain.sweep()
                draws[done, number] = chain.arcs
            done += 1
        found = _summary(draws[done // 2 : done])
        if done < look or done == most or (found.agreed and found.effective >= ENOUGH):
            return found
        look = min(2 * look, most)


class _Chain:
    """One order, the log sums of its variables and its arcs, and the randomness that moves it."""

    def __init__(self, table: ScoreTable, weights: Floats, seed: np.random.SeedSequence) -> None:
        self.n = table.n
        self.families = table.offsets, table.masks, weights
        self.stream = np.random.default_rng(seed)
        self.order = self.stream.permutation(table.n)
        self.scores, self.arcs = np.empty(table.n), np.empty((table.n, table.n))
        kernel.arcs_of(self.order, self.scores, *self.families, self.arcs)
        if not np.isfinite(self.scores).all():
            raise TableError("a variable has no family among the predecessors of some order; keep the empty families")

    def sweep(self) -> None:
        turns, uniforms = self.stream.permutation(self.n), self.stream.random(self.n)
        kernel.sweep(self.order, self.scores, turns, uniforms, *self.families)
        size = min(WINDOW, self.n)
        for first in self.stream.integers(0, self.n - size + 1, -(-2 * self.n // size)).tolist():
            kernel.reorder(self.order, self.scores, first, size, self.stream.random(size), *self.families)
        kernel.arcs_of(self.order, self.scores, *self.families, self.arcs)


def _summary(draws: NDArray[np.floating[Any]]) -> SampledPosterior:
    """From float32[draws, chains, n, n]."""
    draws = draws.astype(np.float64)
    half = len(draws) // 2
    halves = np.concatenate([draws[:half], draws[half : 2 * half]], axis=1)  # [half, 2 chains, n, n]
    within = halves.var(axis=0, ddof=1).mean(axis=0)
    between = halves.mean(axis=0).var(axis=0, ddof=1)
    varying = within * (half - 1) / half + between > RARE**2
    spread = within * (half - 1) / half + between
    r_hat = np.sqrt(np.where(varying, spread / np.maximum(within, 1e-12), 1.0))
    size = max(1, int(np.sqrt(half)))
    blocks = draws[: len(draws) // size * size].reshape(-1, size, *draws.shape[1:]).mean(axis=1)
    of_mean = size * blocks.reshape(-1, *draws.shape[2:]).var(axis=0, ddof=1)
    count = len(draws) * draws.shape[1]
    effective = np.where(varying, count * spread / np.maximum(of_mean, 1e-12), count)
    errors = np.sqrt(np.maximum(of_mean, spread) / count)
    return SampledPosterior(
        draws.mean(axis=(0, 1)), errors, float(r_hat.max()), float(min(effective.min(), count)), count
    )
