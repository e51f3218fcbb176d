"""Known truth, one table: how near does each smoother come to the distributions that the rows were drawn from?

The design of the paper on hierarchical estimation: |X| levels in |Y| contexts, contexts equally likely, n rows in all.
Truth "related" draws the contexts from the hierarchical model itself, beta ~ Dir(1, .., 1), theta_y ~ Dir(|X| beta);
"unrelated" draws each from Dir(1, .., 1), where there is nothing to share. Errors are means over the contexts. Where
the paper ran Markov chains for its model, the exact posterior means by polynomial integration stand here.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn.experiments.verdicts import Claim, Finding, summary
from optbn.experiments.verdicts import findings as judged
from optbn.report.tables import Series, curves, table
from optbn.smoothing.hierarchical import Hierarchical
from optbn.smoothing.tree import CountTree
from results.smoothing.methods import METHODS, made, mean_or_infinite, number, shown

Row = Mapping[str, Any]
MEASURES = {"mse": "mean squared error", "kl": "Kullback-Leibler divergence, nats", "hellinger": "Hellinger distance"}
EXACT = "hierarchical, exact"


def cell(levels: int, contexts: int, truth: str, rows: Sequence[int], repeats: int) -> dict[str, Any]:
    """Mean errors per number of rows and method."""
    methods = {name: made(name) for name in METHODS} | {EXACT: Hierarchical(method="exact")}
    out: dict[str, Any] = {}
    for n in rows:
        errors: dict[str, list[tuple[float, float, float]]] = {name: [] for name in methods}
        for repeat in range(repeats):
            generator = np.random.default_rng(zlib.crc32(f"{levels} {contexts} {truth} {n} {repeat}".encode()))
            theta = _truth(levels, contexts, truth, generator)
            sizes = generator.multinomial(n, np.full(contexts, 1.0 / contexts))
            counts = generator.multinomial(sizes, theta).astype(float)
            tree = CountTree.from_configurations(np.arange(contexts)[:, None], counts, (contexts,))
            for name, smoother in methods.items():
                estimate = smoother.fit(tree, np.random.default_rng(repeat))
                errors[name].append(_errors(theta, estimate.at(tree, tree.cells())))
        out[str(n)] = {
            name: {measure: number(float(np.mean([e[i] for e in found]))) for i, measure in enumerate(MEASURES)}
            for name, found in errors.items()
        }
    return out


def _truth(levels: int, contexts: int, truth: str, generator: np.random.Generator) -> NDArray[np.float64]:
    """float64[contexts, levels]."""
    if truth == "related":
        beta = generator.dirichlet(np.ones(levels))
        return generator.dirichlet(np.maximum(levels * beta, 1e-3), contexts)
    return generator.dirichlet(np.ones(levels), contexts)


def _errors(theta: NDArray[np.float64], found: NDArray[np.float64]) -> tuple[float, float, float]:
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(theta > 0, theta * np.log(theta / found), 0.0)
    overlap = np.minimum(np.sqrt(theta * found).sum(axis=1), 1.0)
    return (
        float(((found - theta) ** 2).mean()),
        float(terms.sum(axis=1).mean()),
        float(np.sqrt(1.0 - overlap).mean()),
    )


def findings(rows: Sequence[Row]) -> list[Finding]:
    """The claims for one table, by sign tests over sizes of tables and numbers of rows."""
    found = []
    for truth in ("related", "unrelated"):
        results: dict[str, dict[str, Any]] = {m: {} for m in METHODS}
        for row in rows:
            if row["status"] == "done" and row["cell"]["truth"] == truth:
                for n, errors in row["result"].items():
                    for m in METHODS:
                        value = {key: np.inf if v is None else v for key, v in errors[m].items()}
                        results[m][f"{row['cell']} {n}"] = value
        claims = [
            Claim(f"Hierarchical beats {other}, {truth} contexts, {title}", measure, [("hierarchical", other)])
            for measure, title in MEASURES.items()
            for other in ("bdeu 1", "bdeu 10")
        ]
        found += judged("hierarchical", results, claims, 0.0)
    return found


def report(rows: Sequence[Row], folder: Path) -> str:
    """Tables and curves per kind of truth, means over the sizes of tables."""
    done = [row for row in rows if row["status"] == "done"]
    truths = list(dict.fromkeys(row["cell"]["truth"] for row in done))
    names = [*METHODS, EXACT]
    parts = ["## Claims\n\n" + summary(findings(rows))]
    for measure, title in MEASURES.items():
        parts.append(
            f"## {title[0].upper()}{title[1:]}\n\nMeans over |X|, |Y| and repeats; the least of a row in bold.\n"
        )
        series: Series = {}
        for truth in truths:
            cells = [row["result"] for row in done if row["cell"]["truth"] == truth]
            body = []
            for n in sorted({int(n) for result in cells for n in result}):
                means = {m: mean_or_infinite([r[str(n)][m][measure] for r in cells if str(n) in r]) for m in names}
                best = min(means.values())
                body.append([str(n), *(shown(means[m], best) for m in names)])
                for m in names:
                    if np.isfinite(means[m]):
                        series.setdefault((f"{truth} contexts", m), []).append((n, means[m]))
            parts.append(f"### {truth} contexts\n\n" + table(["n", *names], body))
        curves(folder / f"{measure}.svg", series, "rows", title, logarithmic=True)
        parts.append(f"![curves]({measure}.svg)\n")
    parts.append(_by_size(done, truths))
    return "\n".join(parts)


def _by_size(done: Sequence[Row], truths: Sequence[str]) -> str:
    """Where the hierarchical model gains most: its mean squared error over that of BDeu, by |X| and |Y|."""
    parts = ["## Hierarchical over BDeu (ess 1)\n\nRatio of mean squared errors, means over n; below 1 it is better.\n"]
    for truth in truths:
        cells = {(r["cell"]["levels"], r["cell"]["contexts"]): r["result"] for r in done if r["cell"]["truth"] == truth}
        columns = sorted({y for _, y in cells})
        body = []
        for x in sorted({x for x, _ in cells}):
            line = [f"{x} levels"]
            for y in columns:
                ratios = [r["hierarchical"]["mse"] / r["bdeu 1"]["mse"] for r in cells.get((x, y), {}).values()]
                line.append(f"{np.mean(ratios):.2f}" if ratios else "")
            body.append(line)
        parts.append(f"### {truth} contexts\n\n" + table(["", *(f"{y} contexts" for y in columns)], body))
    return "\n".join(parts)
