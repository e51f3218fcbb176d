"""Probabilities of arcs beyond the exact sums: orders are sampled, what an order says is summed exactly.

The distribution is that of `posterior(over="orders")`: an order of the variables weighs the product of the exact sums
of its variables' families (Friedman and Koller 2003). A sweep moves every variable to a place drawn from its exact
conditional distribution given the order of the others, so no proposal is rejected. Given an order, the probability of
every arc is a sum, and these are averaged over the draws. Several chains begin at random orders, their first halves are
thrown away, and their agreement is reported: R-hat of the worst arc, and the effective number of independent draws.

Any number of variables; a sweep of n variables takes 2 n^2 sums over families. The answer is an estimate, unlike those
of `posterior`: its errors are `errors`, if the chains agree.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from optbn_solvers.base.errors import TableError
from optbn_solvers.base.protocol import Budget
from optbn_solvers.base.table import ScoreTable
from optbn_solvers.base.whole import need_whole
from optbn_solvers.front.kernels import sampled as kernel

Floats = NDArray[np.float64]
RARE = 1e-3  # arcs of less variance hardly differ between draws, and say nothing about agreement


@dataclass(frozen=True, eq=False)
class SampledPosterior:
    """Estimates over sampled orders.

    arcs       float64[n, n], arcs[u, v] of u -> v
    errors     float64[n, n], their standard errors
    r_hat      of the arc whose chains agree least (Gelman and Rubin, halves of chains apart); 1 is agreement
    effective  of the arc with fewest effective draws, how many independent ones its draws are worth
    draws      orders averaged over, of all chains
    """

    arcs: Floats
    errors: Floats
    r_hat: float
    effective: float
    draws: int


def sampled_posterior(
    table: ScoreTable,
    sweeps: int = 400,
    chains: int = 4,
    seed: int = 0,
    budget: Budget | None = None,
    only_listed: bool = False,
) -> SampledPosterior:
    """Average over orders of several chains (see the module's header); a budget may end the sweeps earlier."""
    if sweeps < 8 or chains < 2:
        raise TableError(f"{chains} chains of {sweeps} sweeps: expected at least 2 chains of 8")
    need_whole(table, "averages over graphs", only_listed)
    table.check_feasible()
    budget = (budget or Budget()).started()
    weights = table.scores - np.repeat(table.scores[table.offsets[:-1]], np.diff(table.offsets))
    families = table.offsets, table.masks, weights
    streams = [np.random.default_rng(each) for each in np.random.SeedSequence(seed).spawn(chains)]
    orders = [stream.permutation(table.n) for stream in streams]
    scores, draws = np.empty((chains, table.n)), np.empty((sweeps, chains, table.n, table.n))
    for order, score in zip(orders, scores, strict=True):
        kernel.arcs_of(order, score, *families, draws[0, 0])
        if not np.isfinite(score).all():
            raise TableError("a variable has no family among the predecessors of some order; keep the empty families")
    done = 0
    while done < sweeps and (done < 8 or not budget.exhausted()):
        for chain, stream in enumerate(streams):
            turns, uniforms = stream.permutation(table.n), stream.random(table.n)
            kernel.sweep(orders[chain], scores[chain], turns, uniforms, *families)
            kernel.arcs_of(orders[chain], scores[chain], *families, draws[done, chain])
        done += 1
    return _summary(draws[done // 2 : done])


def _summary(draws: NDArray[np.float64]) -> SampledPosterior:
    """From float64[draws, chains, n, n]."""
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
