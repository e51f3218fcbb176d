"""What the tables of related domains borrow: from what is common, and from the domain's own context one step above.

A domain's distribution in a context (some of the parents' values, the most telling first) lies between two others: that
of all domains in the same context, and its own in the context with one condition less,

    theta(domain, x1 .. xi) ~ Dir(s_i (w_i common(x1 .. xi) + (1 - w_i) theta(domain, x1 .. x(i-1)))),

which is a graph, not a tree, of distributions (Wood and Teh 2009 adapt language models so). With w = 1 domains differ
row by row, with w = 0 each is a smoothed table of its own. Every depth has its s and w, those that predict each row
best from all other rows of its domain: a row is taken out of its context and of those above before it is predicted, so
that no context is drawn to itself. What is common is taken as known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import expit, gammaln

Table = NDArray[np.float64]
MIDDLE, SPREAD = 10.0, 1.5
"""log s ~ Normal(log MIDDLE, SPREAD^2) before the data: two domains say little about s, and equal ones would have it
infinite. With ten domains or more the middle hardly matters; with three, 10 was better than 2 or K on families of the
study in results/related. The log odds of w have the same spread, around even."""
REACH = 8.0 * SPREAD
MOST_STEPS, LONGEST, CLOSE = 100, 3.0, 1e-9
"""Of Newton's method on log s and the log odds of w."""
NO_ROWS = 1e-6
"""What a context without rows weighs where contexts are averaged."""


def by_depth(table: Table, rows: Table) -> list[Table]:
    """A table, float64[x1, .., xL, K], and its averages over the last conditions, by `rows`, float64[x1, .., xL]."""
    weights = rows[..., None] + NO_ROWS
    found = [table]
    for _ in range(rows.ndim):
        total = weights.sum(axis=-2)
        found.append((weights * found[-1]).sum(axis=-2) / total)
        weights = total
    return found[::-1]


def between(counts: Table, common: Sequence[Table]) -> tuple[list[Table], Table]:
    """Every domain's distributions by depth, and what those of the last depth are worth, float64[d, x1, .., xL].

    counts   float64[d, x1, .., xL, K]
    common   by depth what stands beside them, float64[d, x1, .., xi, K], or [1, ..] if all domains have the same
    """
    depth = len(common) - 1
    tables: list[Table] = []
    own = without = s = None
    for i, centre in enumerate(common):
        n = counts.sum(axis=tuple(range(1 + i, 1 + depth)))
        total = n.sum(axis=-1, keepdims=True)
        centre = np.broadcast_to(centre, n.shape)
        taken = np.minimum(n, 1.0)  # a row, or what there is of it
        if own is None or without is None:
            s, mean, mean_without = strength(n, centre), centre, centre
        else:
            s, w = mixture(n, taken, centre, without[..., None, :])
            mean, mean_without = (w * centre + (1.0 - w) * above[..., None, :] for above in (own, without))
        own = (n + s * mean) / (total + s)
        without = (n - taken + s * mean_without) / (total - taken + s)
        tables.append(own)
    assert s is not None
    return tables, total[..., 0] + s


def mixture(n: Table, taken: Table, centre: Table, above: Table) -> tuple[float, float]:
    """The s and w under which rows are likeliest, each predicted from all others.

    n, taken, centre  float64[.., K]: counts, what of them is left out, and what is common
    above  the domain's own prediction in the context above, the row left out; its next to last axis may have length 1
    """
    occurs = n > 0
    times, c = n[occurs], centre[occurs]
    p = np.broadcast_to(above, n.shape)[occurs]
    rest = (n - taken)[occurs]
    rows = (n.sum(axis=-1, keepdims=True) - taken)[occurs]
    middle = np.array([np.log(MIDDLE), 0.0])

    def loss(z: Table) -> tuple[float, Table, Table]:
        """And its slope and curvature by log s and the log odds of w."""
        s, w = float(np.exp(z[0])), float(expit(z[1]))
        mean, whole, turn = w * c + (1.0 - w) * p, rows + s, w * (1.0 - w)
        likely = rest + s * mean
        by_s, by_w = s * mean / likely, s * (c - p) / likely
        away = (z - middle) / SPREAD**2
        value = times @ np.log(whole / likely) + (z - middle) @ away / 2.0
        slope = away + np.array([times @ (s / whole - by_s), -turn * (times @ by_w)])
        bend = np.array([
            [times @ (s * rows / whole**2 - by_s * (1.0 - by_s)), -turn * (times @ (by_w * (1.0 - by_s)))],
            [0.0, turn * (turn * (times @ (by_w * by_w)) - (1.0 - 2.0 * w) * (times @ by_w))],
        ])  # fmt: skip
        bend[1, 0] = bend[0, 1]
        return float(value), slope, bend + np.eye(2) / SPREAD**2

    found = _descend(loss, middle)
    return float(np.exp(found[0])), float(expit(found[1]))


def _descend(loss: Callable[[Table], tuple[float, Table, Table]], z: Table) -> Table:
    """The minimum near z by Newton's method; a step that leads upward is tried again, shorter and steeper."""
    value, slope, bend = loss(z)
    stiff = 0.0
    for _ in range(MOST_STEPS):
        stiff = max(stiff, 1e-3 - 2.0 * float(np.linalg.eigvalsh(bend)[0]), 0.0)
        step = np.clip(np.linalg.solve(bend + stiff * np.eye(2), slope), -LONGEST, LONGEST)
        found = loss(z - step)
        if found[0] > value:
            if np.abs(step).max() < CLOSE:
                break
            stiff = max(4.0 * stiff, float(np.abs(bend).max()))
            continue
        z, (value, slope, bend), stiff = z - step, found, stiff / 8.0
        if np.abs(step).max() < CLOSE:
            break
    return z


def around(counts: Table, centre: Table) -> tuple[Table, Table]:
    """Rows of probabilities, float64[.., K], each around a centre with the strength of all, and what rows are worth."""
    s = strength(counts, centre)
    rows = counts.sum(axis=-1) + s
    return (counts + s * centre) / rows[..., None], rows


def strength(counts: Table, centre: Table) -> float:
    """The s of theta ~ Dir(s centre) under which rows of counts, float64[.., K], are likeliest.

    centre  of the same shape, or of that of the last axes, such as float64[cells, K] beside counts of many domains

    The evidence is that of Dirichlet-multinomials, times the prior of s; cells without counts say
    nothing. The centre is taken as known.
    """
    occurs = counts > 0
    n, p = counts[occurs], np.broadcast_to(centre, counts.shape)[occurs]
    rows, times = np.unique(counts.sum(axis=-1), return_counts=True)
    middle = float(np.log(MIDDLE))

    def loss(log_s: float) -> float:
        s = float(np.exp(log_s))
        evidence = (gammaln(n + s * p) - gammaln(s * p)).sum() + (times * (gammaln(s) - gammaln(rows + s))).sum()
        return float((log_s - middle) ** 2 / (2.0 * SPREAD**2) - evidence)

    return float(np.exp(minimize_scalar(loss, bounds=(middle - REACH, middle + REACH), method="bounded").x))
