"""TAN from few rows: accuracy and AUC with every smoother, as in the paper on hierarchical estimation (its Fig. 7, 8).

A cell is a data set and a number of training rows. `repeats` times, rows are drawn to train from, and at most `test`
others to test on; numbers are cut into five intervals of equal frequency in the training rows. All smoothers see the
same rows and the same tree. Classes that the training rows lack cannot be predicted, and count as mistakes; AUC is the
mean over those pairs of a class and the rest that the test rows have. Sets with fewer than rows + 10 rows are left out
at that size, as are their cells' numbers.

`hierarchical` learns s and has alpha0 = 1, `hierarchical s=K` has the paper's s too.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from optbn.experiments.verdicts import Claim, Finding, ranks, summary, verdicts
from optbn.experiments.verdicts import findings as judged
from optbn.report.tables import Series, curves, table
from results.classifiers.datasets import labelled
from results.smoothing.methods import made

Row = Mapping[str, Any]
OURS = {"hierarchical": "learned", "hierarchical s=K": "levels"}
SMOOTHERS = ("laplace", "bdeu 1", "bdeu 10", "m 1", "m cv", "gradient", "hdp", "hierarchical", "hierarchical s=K")
SCORES = {"error": "accuracy", "auc_loss": "AUC"}
FEWEST = 10
"""Rows to test on."""


def cell(dataset: str, rows: int, data: str, repeats: int, test: int) -> dict[str, Any]:
    """Mean errors and 1 - AUC by smoother; nothing where the set has too few rows."""
    from optbn.classifiers.tan import TAN
    from optbn.data.discretise.equal_frequency import EqualFrequency
    from optbn.smoothing.hierarchical import Hierarchical

    X, y = labelled(dataset, data)
    if len(y) < rows + FEWEST:
        return {}
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in SMOOTHERS}
    for repeat in range(repeats):
        order = np.random.default_rng(zlib.crc32(f"{dataset} {rows} {repeat}".encode())).permutation(len(y))
        inside, outside = order[:rows], order[rows : rows + test]
        for name in SMOOTHERS:
            smoother = Hierarchical(OURS[name], alpha0=1.0) if name in OURS else made(name)
            model = TAN(smoother, EqualFrequency(5), random_state=repeat)
            model.fit(X.iloc[inside], y[inside])
            found[name].append(_losses(model.predict_proba(X.iloc[outside]), model.classes_, y[outside]))
    means = {name: np.mean(values, axis=0) for name, values in found.items()}
    return {name: dict(zip(SCORES, map(float, values), strict=True)) for name, values in means.items()}


def _losses(p: Any, classes: Any, y: Any) -> tuple[float, float]:
    from scipy.stats import rankdata

    error = float((classes[p.argmax(axis=1)] != y).mean())
    areas = []
    for own in np.unique(y):
        is_own = y == own
        n, m = int(is_own.sum()), int((~is_own).sum())
        if not m:
            continue
        column = np.flatnonzero(classes == own)
        ranked = rankdata(p[:, column[0]]) if len(column) else np.full(len(y), (len(y) + 1) / 2)
        areas.append((ranked[is_own].sum() - n * (n + 1) / 2) / (n * m))
    return error, 1.0 - float(np.mean(areas)) if areas else 0.0


def _claims(sizes: Sequence[int]) -> list[Claim]:
    pairs = [("hierarchical s=K", other) for other in ("bdeu 1", "bdeu 10")]
    learned = [("hierarchical", "hierarchical s=K")]
    return [
        *(
            Claim(f"Hierarchical estimation has more {words} than BDeu at {n} rows", f"{score} {n}", pairs)
            for score, words in SCORES.items()
            for n in sizes
        ),
        *(
            Claim(f"A learned strength has more {words} than s = K at {n} rows (ours)", f"{score} {n}", learned)
            for score, words in SCORES.items()
            for n in sizes
        ),
    ]


def _results(rows: Sequence[Row]) -> dict[str, dict[str, dict[str, Any]]]:
    """smoother -> data set -> "error 20" and the like -> value."""
    results: dict[str, dict[str, dict[str, Any]]] = {name: {} for name in SMOOTHERS}
    for row in rows:
        if row["status"] == "done":
            for name, losses in row["result"].items():
                of_set = results[name].setdefault(row["cell"]["dataset"], {})
                of_set.update({f"{score} {row['cell']['rows']}": value for score, value in losses.items()})
    return results


def _sizes(rows: Sequence[Row]) -> list[int]:
    return sorted({row["cell"]["rows"] for row in rows if row["status"] == "done" and row["result"]})


def findings(rows: Sequence[Row]) -> list[Finding]:
    """The paper's claims and ours, by sign tests over data sets."""
    return judged("hierarchical", _results(rows), _claims(_sizes(rows)))


def report(rows: Sequence[Row], folder: Path) -> str:
    """Claims, means and ranks at every size."""
    results, sizes = _results(rows), _sizes(rows)
    parts = [
        "## Claims\n\nTwo-tailed sign tests over data sets; differences of at most .0001 are draws. Those of the paper "
        f"are about s = K.\n\n{summary(findings(rows))}\n{verdicts(results, _claims(sizes))}"
    ]
    series: Series = {}
    for score, words in SCORES.items():
        body = []
        for n in sizes:
            of = {
                name: [v[f"{score} {n}"] for v in results[name].values() if f"{score} {n}" in v] for name in SMOOTHERS
            }
            means = {name: 1.0 - float(np.mean(values)) for name, values in of.items()}
            best = max(means.values())
            body.append([str(n), str(len(of[SMOOTHERS[0]])), *(_shown(means[name], best) for name in SMOOTHERS)])
            for name in SMOOTHERS:
                series.setdefault((words, name), []).append((n, means[name]))
        parts.append(f"## {words[0].upper()}{words[1:]}\n\nMeans over data sets that have as many rows; the best in "
                     f"bold.\n\n{table(['rows', 'data sets', *SMOOTHERS], body)}")  # fmt: skip
    curves(folder / "curves.svg", series, "rows", "mean over data sets")
    parts.append("![curves](curves.svg)\n")
    for n in sizes:
        known = {m: {name: v for name, v in found.items() if f"error {n}" in v} for m, found in results.items()}
        if text := ranks(known, SMOOTHERS, f"error {n}", folder, f"ranks-{n}.svg"):
            parts.append(f"## Ranks by error at {n} rows\n\n{text}")
    return "\n".join(parts)


def _shown(value: float, best: float) -> str:
    return f"**{value:.4f}**" if value >= best - 5e-5 else f"{value:.4f}"
