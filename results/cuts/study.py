"""Where trees should cut real columns: at midpoints of the range or between halves of the rows, and how often.

A cell draws rows to learn from and as many others to judge by (optbn/experiments/draws.py), learns the optimal network
(pcartp) with one way to cut, gives it Student-t leaves and m-estimates, and reports the mean log density of the other
rows in the units of the file. The report takes differences from `cuts = "range"`, `max_splits = 3`, as published, on
the same rows; and how far the graphs of two draws of rows differ, as the stability of the answer.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from optbn.evaluate.significance import wilcoxon
from optbn.report.tables import standard_error, table

Row = Mapping[str, Any]
Way = tuple[str, int, int]
PUBLISHED = ("range", 3, 2)
"""cuts, max_splits, max_parents."""
NEAR = 0.05
"""A gain smaller by such a share is as good, where the other way costs time."""


def cell(
    data: str, repeat: int, cuts: str, max_splits: int, max_parents: int, rows: int, columns: int, most_levels: int
) -> dict[str, Any]:
    """One draw of rows, one way to cut."""
    from optbn.learning.local import with_local_models
    from optbn.learning.structure import learn_structure
    from optbn.scores import load_score
    from optbn.smoothing.fitting import fit
    from results.draws import two_draws

    learned, fresh = two_draws(data, repeat, rows, columns, most_levels)
    settings = {"cuts": cuts, "max_splits": max_splits}
    begin = time.process_time()
    found = learn_structure(learned, "pcartp", max_parents, settings=settings, jobs=1, time_limit=120)
    seconds = time.process_time() - begin
    shapes = with_local_models(found.structure, learned, load_score("pcartp", **settings).bind(learned))
    fitted = fit(shapes, learned, "m_estimate", leaves="student")
    return {
        "held_out": fitted.log_likelihood(fresh) / fresh.n_rows,
        "seconds": seconds,
        "optimal": bool(found.solution.gap == 0.0),
        "parents": [sorted(parents) for parents in found.structure.parent_sets],
        "leaves": sum(fitted.cpd(name).leaves.cells for name in fitted.names),
    }


def report(rows: Sequence[Row], folder: Path) -> str:
    """Per way to cut: the difference from the published one, wins, stability, leaves, time."""
    results = {_key(row): row["result"] for row in rows if row["status"] == "done"}
    ways = sorted({way for *_, way in results}, key=lambda way: (way[2], way[0], way[1]))
    sets = sorted({data for data, *_ in results})
    gains = {(data, way): gain for data in sets for way in ways if (gain := _gain(results, data, way)) is not None}
    body = []
    for way in ways:
        mine = [gain for (_, other), gain in gains.items() if other == way]
        moved = [share for data in sets if (share := _moved(results, data, way)) is not None]
        fits = [result for (*_, other), result in results.items() if other == way]
        cells = (
            f"{np.mean(mine):+.3f} ± {standard_error(mine):.3f}",
            f"{np.median(mine):+.3f}",
            f"{sum(g > 1e-9 for g in mine)}-{sum(abs(g) <= 1e-9 for g in mine)}-{sum(g < -1e-9 for g in mine)}",
            "" if way == PUBLISHED else f"{wilcoxon(mine, [0.0] * len(mine)):.2g}",
            f"{np.mean(moved):.2f}",
            f"{np.mean([result['leaves'] for result in fits]):.0f}",
            f"{np.mean([result['seconds'] for result in fits]):.2f}",
        )
        body.append((str(way[2]), way[0], str(way[1]), str(len(mine)), *cells))
    head = (
        "D",
        "cuts",
        "s",
        "sets",
        "nats a row",
        "median",
        "better-same-worse",
        "p",
        "graph moves",
        "leaves",
        "CPU s",
    )
    by_set = [(data, *(f"{gains[data, way]:+.3f}" if (data, way) in gains else "" for way in ways)) for data in sets]
    return (
        "D: most parents; s: `max_splits`. Nats a row: held-out log density less that of midpoints with s = 3 and "
        "D = 2 on the same rows, mean over data sets of the mean over draws, and standard error; median over data "
        "sets; data sets on which it is better, the same, worse; p of Wilcoxon's test over data sets. Graph moves: the "
        "share of the adjacencies of two draws that only one of them has. CPU s: to learn one structure.\n\n"
        + table(head, body)
        + f"\n{_verdict(gains)}\n\n"
        + table(("data", *(f"D {size}, {cuts} {splits}" for cuts, splits, size in ways)), by_set)
    )


def _verdict(gains: Mapping[tuple[str, Way], float]) -> str:
    """The largest mean among two parents, and the least s that comes near it."""
    means = {
        way: float(np.mean([gain for (_, other), gain in gains.items() if other == way]))
        for way in {way for _, way in gains}
        if way[2] == PUBLISHED[2]
    }
    best = max(means, key=lambda way: means[way])
    near = min((way for way in means if means[way] >= (1 - NEAR) * means[best]), key=lambda way: way[1])
    return (
        f"With two parents the largest mean has cuts = {best[0]!r} and s = {best[1]}; the fewest halvings within "
        f"{NEAR:.0%} of it are cuts = {near[0]!r}, s = {near[1]}."
    )


def _gain(results: Mapping[Any, Row], data: str, way: Way) -> float | None:
    """The mean over the draws that both have; None where there are none."""
    pairs = [
        (result["held_out"], results[data, repeat, PUBLISHED]["held_out"])
        for (name, repeat, other), result in results.items()
        if (name, other) == (data, way) and (data, repeat, PUBLISHED) in results
    ]
    return float(np.mean([own - base for own, base in pairs])) if pairs else None


def _moved(results: Mapping[Any, Row], data: str, way: Way) -> float | None:
    """The mean, over pairs of draws, of the share of adjacencies that only one has."""
    graphs = [
        {frozenset((u, v)) for v, parents in enumerate(result["parents"]) for u in parents}
        for (name, _, other), result in results.items()
        if name == data and other == way
    ]
    pairs = [(a, b) for i, a in enumerate(graphs) for b in graphs[:i]]
    return float(np.mean([len(a ^ b) / max(1, len(a | b)) for a, b in pairs])) if pairs else None


def _key(row: Row) -> tuple[str, int, Way]:
    cell = row["cell"]
    return cell["data"], cell["repeat"], (cell["cuts"], cell["max_splits"], cell["max_parents"])
