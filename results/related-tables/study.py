"""Related data sets of known truth, one table each: the simulation of the paper on hierarchical estimation, Fig. 12-14.

A variable of |X| levels with |Pa| parent configurations in F domains of n rows each. Truth "related" draws the joint of
both in every domain from the hierarchical model, beta ~ Dir(1, .., 1), theta_f ~ Dir(|X| |Pa| beta); "unrelated" draws
each from Dir(1, .., 1). Measured is P(X | parents) in every domain, a mean over domains and configurations. `rows` are
those of `fit_domains` by default, what is common being the pooled ones by BDeu: here, where few domains have few rows
and the joint model is the truth itself, it can only be second.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn.experiments.verdicts import Claim, Finding, summary
from optbn.experiments.verdicts import findings as judged
from optbn.report.tables import Series, curves, table
from optbn.smoothing.borrowing import between, by_depth
from optbn.smoothing.hierarchical import posterior

Row = Mapping[str, Any]
Counts = NDArray[np.float64]
MEASURES = {"mse": "mean squared error", "kl": "Kullback-Leibler divergence, nats", "hellinger": "Hellinger distance"}
PUBLISHED, JOINT, ROWS = "joint, as published", "joint", "rows"


def _bdeu(ess: float) -> Callable[[Counts], Counts]:
    """Each domain by itself; counts float64[F, Pa, K]."""
    return lambda counts: (counts + ess / counts[0].size) / (counts + ess / counts[0].size).sum(axis=2, keepdims=True)


def _joint(counts: Counts, **settings: Any) -> Counts:
    theta = posterior(counts.reshape(len(counts), -1), **settings).theta().reshape(counts.shape)
    return np.asarray(theta / theta.sum(axis=2, keepdims=True))


def _rows(counts: Counts) -> Counts:
    pooled = counts.sum(axis=0)
    common = by_depth(_bdeu(1.0)(pooled[None])[0], pooled.sum(axis=1))
    return between(counts, [table[None] for table in common])[0][-1]


METHODS: Mapping[str, Callable[[Counts], Counts]] = {
    "separate, bdeu 1": _bdeu(1.0),
    "separate, bdeu 10": _bdeu(10.0),
    "pooled, bdeu 1": lambda counts: np.repeat(_bdeu(1.0)(counts.sum(axis=0, keepdims=True)), len(counts), axis=0),
    PUBLISHED: _joint,
    JOINT: lambda counts: _joint(counts, s="learned", alpha0="learned"),
    ROWS: _rows,
}


def cell(truth: str, levels: int, parents: int, domains: int, rows: Sequence[int], repeats: int) -> dict[str, Any]:
    """Mean errors per number of rows and method."""
    out: dict[str, Any] = {}
    shape = domains, parents, levels
    for n in rows:
        errors: dict[str, list[tuple[float, float, float]]] = {name: [] for name in METHODS}
        for repeat in range(repeats):
            generator = np.random.default_rng(zlib.crc32(f"{truth} {shape} {n} {repeat}".encode()))
            beta = generator.dirichlet(np.ones(parents * levels))
            around_what = parents * levels * beta if truth == "related" else np.ones(parents * levels)
            joint = generator.dirichlet(np.maximum(around_what, 1e-3), domains)
            counts = np.array([generator.multinomial(n, p) for p in joint], dtype=float).reshape(shape)
            theta = joint.reshape(shape) / joint.reshape(shape).sum(axis=2, keepdims=True)
            for name, method in METHODS.items():
                errors[name].append(_errors(theta, method(counts)))
        out[str(n)] = {m: dict(zip(MEASURES, np.mean(of, axis=0).tolist(), strict=True)) for m, of in errors.items()}
    return out


def _errors(theta: Counts, found: Counts) -> tuple[float, float, float]:
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(theta > 0, theta * np.log(theta / found), 0.0)
    apart = np.sqrt(np.maximum(1.0 - np.sqrt(theta * found).sum(axis=2), 0.0))
    return float(((found - theta) ** 2).mean()), float(terms.sum(axis=2).mean()), float(apart.mean())


def findings(rows: Sequence[Row]) -> list[Finding]:
    """The paper's claims and ours, by sign tests over sizes of tables, domains and rows."""
    found = []
    for truth in ("related", "unrelated"):
        results: dict[str, dict[str, Any]] = {m: {} for m in METHODS}
        for row in rows:
            if row["status"] == "done" and row["cell"]["truth"] == truth:
                for n, errors in row["result"].items():
                    for m in METHODS:
                        results[m][f"{row['cell']} {n}"] = errors[m]
        claims = [
            Claim(f"{first} beats {other}, {truth} domains, {title}", measure, [(first, other)])
            for measure, title in MEASURES.items()
            for first, others in (
                (PUBLISHED, ("separate, bdeu 1", "separate, bdeu 10", "pooled, bdeu 1")), (JOINT, (PUBLISHED,)),
                (ROWS, (JOINT,)),
            )
            for other in others
        ]  # fmt: skip
        found += judged("hierarchical", results, claims, 0.0)
    return found


def report(rows: Sequence[Row], folder: Path) -> str:
    """Tables and curves per kind of truth, by rows and by domains."""
    done = [row for row in rows if row["status"] == "done"]
    truths = list(dict.fromkeys(row["cell"]["truth"] for row in done))
    parts = ["## Claims\n\n" + summary(findings(rows))]
    for measure, title in MEASURES.items():
        parts.append(
            f"## {title[0].upper()}{title[1:]}\n\nMeans over tables and repeats; the least of a line in bold.\n"
        )
        series: Series = {}
        for truth in truths:
            body = []
            cells = [row for row in done if row["cell"]["truth"] == truth]
            for domains in sorted({row["cell"]["domains"] for row in cells}):
                of = [row["result"] for row in cells if row["cell"]["domains"] == domains]
                for n in sorted(of[0], key=int):
                    means = {m: float(np.mean([result[n][m][measure] for result in of])) for m in METHODS}
                    least = min(means.values())
                    shown = (f"**{v:.3g}**" if v == least else f"{v:.3g}" for v in means.values())
                    body.append([str(domains), n, *shown])
                    for m in METHODS:
                        series.setdefault((f"{truth}, {domains} domains", m), []).append((int(n), means[m]))
            parts.append(f"### {truth} domains\n\n" + table(["domains", "rows a domain", *METHODS], body))
        curves(folder / f"{measure}.svg", series, "rows a domain", title, logarithmic=True)
        parts.append(f"![curves]({measure}.svg)\n")
    return "\n".join(parts)
