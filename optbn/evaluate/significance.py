"""Honest statistics for comparing methods: is the difference more than chance?

Everything takes plain arrays of losses (smaller is better) and can be used alone. scipy has the distributions; here are
the conventions that comparisons of learners use (Demsar, JMLR 2006): ties count half in a sign test's ranks, Friedman
ranks average over ties, and the Nemenyi critical difference is q_alpha sqrt(k (k + 1) / (6 N)).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from optbn.base.errors import DataError
from optbn.base.pictures import save


@dataclass(frozen=True)
class WinDrawLoss:
    """How often the first method lost less, as much, or more; p of the binomial sign test without draws."""

    wins: int
    draws: int
    losses: int
    p: float

    def __str__(self) -> str:
        return f"{self.wins}-{self.draws}-{self.losses}"


def sign_test(first: ArrayLike, second: ArrayLike, tolerance: float = 0.0, tails: Literal[1, 2] = 2) -> WinDrawLoss:
    """Win-draw-loss of paired losses; differences of at most `tolerance` are draws.

    tails  2, or 1: the tail of the side that has more wins, as papers report it who expected that side to win
    """
    from scipy.stats import binomtest

    a, b = _paired(first, second)
    wins, losses = int((a < b - tolerance).sum()), int((a > b + tolerance).sum())
    side: Literal["greater", "two-sided"] = "greater" if tails == 1 else "two-sided"
    p = float(binomtest(max(wins, losses), wins + losses, alternative=side).pvalue) if wins + losses else 1.0
    return WinDrawLoss(wins, len(a) - wins - losses, losses, p)


def wilcoxon(first: ArrayLike, second: ArrayLike) -> float:
    """p of the two-sided Wilcoxon signed-rank test on paired values (zeros dropped; exact for small samples)."""
    from scipy.stats import wilcoxon as scipy_wilcoxon

    a, b = _paired(first, second)
    if (a == b).all():
        return 1.0
    return float(scipy_wilcoxon(a, b, zero_method="wilcox", method="auto").pvalue)


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Holm's step-down correction for many tests: adjusted p by name, never below the raw one."""
    ordered = sorted(p_values.items(), key=lambda item: item[1])
    adjusted, running = {}, 0.0
    for i, (name, p) in enumerate(ordered):
        running = max(running, min(1.0, p * (len(ordered) - i)))
        adjusted[name] = running
    return {name: adjusted[name] for name in p_values}


@dataclass(frozen=True)
class Friedman:
    """Average ranks of k methods over N data sets (1 is best), and whether they differ.

    statistic, p          Friedman's chi-square with k - 1 degrees of freedom, corrected for ties
    critical_difference   Nemenyi: two methods differ when their average ranks are this far apart or more
    cliques               maximal groups, by rank, within which no two methods differ
    """

    methods: tuple[str, ...]
    ranks: tuple[float, ...]
    statistic: float
    p: float
    critical_difference: float
    cliques: tuple[tuple[str, ...], ...]


def friedman(losses: Mapping[str, ArrayLike], alpha: float = 0.05) -> Friedman:
    """Friedman's test with Nemenyi's post-hoc over methods' losses on the same data sets, in the same order."""
    from scipy.stats import chi2, rankdata, studentized_range

    methods = tuple(losses)
    table = np.array([np.asarray(losses[method], dtype=float) for method in methods])
    if table.ndim != 2 or len(methods) < 2 or table.shape[1] < 2:
        raise DataError("Friedman's test needs at least two methods with losses on the same two or more data sets")
    for method, row in zip(methods, table, strict=True):
        _refuse_nan(row, f"of {method!r}")
    k, n = table.shape
    per_set = rankdata(table, axis=0)
    ranks = per_set.mean(axis=1)
    ties = sum(float((counts**3 - counts).sum()) for counts in (np.unique(c, return_counts=True)[1] for c in table.T))
    spread = 12 * n / (k * (k + 1)) * float(((ranks - (k + 1) / 2) ** 2).sum())
    correction = 1 - ties / (n * k * (k * k - 1))
    statistic = spread / correction if correction > 0 else 0.0
    difference = nemenyi_difference(k, n, alpha, studentized_range.ppf)
    order = np.argsort(ranks, kind="stable")
    return Friedman(
        methods=methods,
        ranks=tuple(float(rank) for rank in ranks),
        statistic=statistic,
        p=float(chi2.sf(statistic, k - 1)),
        critical_difference=difference,
        cliques=_cliques([methods[i] for i in order], ranks[order], difference),
    )


def nemenyi_difference(methods: int, sets: int, alpha: float, quantile: Callable[..., float]) -> float:
    """q_alpha sqrt(k (k + 1) / (6 N)), q the studentised range at infinite degrees of freedom over sqrt 2."""
    q = float(quantile(1 - alpha, methods, np.inf)) / np.sqrt(2)
    return float(q * np.sqrt(methods * (methods + 1) / (6 * sets)))


def difference_diagram(test: Friedman, path: str) -> None:
    """Draw the critical-difference diagram (an axis of ranks, bars over cliques) to a file; needs matplotlib."""
    from matplotlib.figure import Figure

    order = np.argsort(test.ranks, kind="stable")
    k, half = len(order), (len(order) + 1) // 2
    figure = Figure(figsize=(7, 1.3 + 0.28 * half + 0.14 * len(test.cliques)), layout="constrained")
    axes = figure.add_subplot()
    axes.set_xlim(0.6, k + 0.4)
    bars = 0.5 * len(test.cliques)
    axes.set_ylim(-bars - half - 0.5, 2.2)
    axes.axis("off")
    axes.plot([1, k], [0, 0], color="black", lw=1)
    for tick in range(1, k + 1):
        axes.plot([tick, tick], [0, 0.2], color="black", lw=1)
        axes.text(tick, 0.35, str(tick), ha="center", va="bottom", fontsize=8)
    axes.plot([1, 1 + test.critical_difference], [1.4, 1.4], color="black", lw=2)
    label = f"critical difference {test.critical_difference:.2f}"
    axes.text(1, 1.5, label, ha="left", va="bottom", fontsize=8)
    for place, method in enumerate(order):
        left = place < half
        depth = -bars - 0.5 - (place if left else k - 1 - place)
        end = 0.8 if left else k + 0.2
        axes.plot([test.ranks[method]] * 2 + [end], [0, depth, depth], color="0.4", lw=0.8)
        text = f" {test.methods[method]} {test.ranks[method]:.2f} "
        axes.text(end, depth, text, ha="right" if left else "left", va="center", fontsize=8)
    rank = dict(zip(test.methods, test.ranks, strict=True))
    for i, clique in enumerate(test.cliques):
        ends = [rank[clique[0]] - 0.04, rank[clique[-1]] + 0.04]
        axes.plot(ends, [-0.4 - 0.5 * i] * 2, color="black", lw=3)
    save(figure, path)


def _cliques(methods: list[str], ranks: NDArray[np.float64], difference: float) -> tuple[tuple[str, ...], ...]:
    """Maximal runs of the ordered methods whose ends are closer than the difference; runs of one are left out."""
    runs: list[tuple[int, int]] = []
    for start in range(len(methods)):
        end = int(np.searchsorted(ranks, ranks[start] + difference, side="left"))
        if end - start > 1 and not (runs and runs[-1][1] >= end):
            runs.append((start, end))
    return tuple(tuple(methods[a:b]) for a, b in runs)


def _paired(first: ArrayLike, second: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    a, b = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if a.shape != b.shape or a.ndim != 1 or len(a) == 0:
        raise DataError(f"paired tests need two lists of one length, got shapes {a.shape} and {b.shape}")
    _refuse_nan(a, "of the first list")
    _refuse_nan(b, "of the second list")
    return a, b


def _refuse_nan(losses: NDArray[np.float64], whose: str) -> None:
    """A loss that is not known compares as neither less nor more, and would pass for a draw."""
    if np.isnan(losses).any():
        raise DataError(f"loss {int(np.argmax(np.isnan(losses))) + 1} {whose} is nan; leave that data set out")
