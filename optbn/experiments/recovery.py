"""Structure recovery: how far the optimal network for a sample is from the network that was sampled.

A cell samples a bundled network, learns the optimal structure under one score, and measures the structural Hamming
distance between DAGs and between CPDAGs, the time of both phases, and whether optimality was proved. All scores see the
same sample at the same (network, rows, repeat), so differences between scores are paired.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from optbn.experiments.tables import Series, curves, mean_and_error, table

Row = Mapping[str, Any]


def cell(
    network: str,
    rows: int,
    repeat: int,
    score: str,
    max_parents: int = 4,
    solver: str = "auto",
    solve_seconds: float = 300.0,
    settings: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """One sample, one score; `score` may carry an equivalent sample size as in "bdeu:10"."""
    from optbn.evaluate.distances import compare
    from optbn.experiments.learning import learn
    from optbn.network.catalog import load_network

    truth = load_network(network)
    data = truth.sample(rows, zlib.crc32(f"{network} {rows} {repeat}".encode()))
    found = learn(data, score, max_parents, solver, solve_seconds, settings or {})
    distance = compare(truth, found.structure, sid=False)
    gap = found.solution.gap
    return {
        "shd_dag": distance.shd_dag,
        "shd_cpdag": distance.shd_cpdag,
        "arcs": distance.estimated_arcs,
        "skeleton_f1": distance.skeleton.f1,
        "score": found.solution.score,
        "optimal": bool(gap == 0.0),
        "gap": gap if np.isfinite(gap) else None,
        "solver": found.solution.solver,
        "families": found.families,
        "kept": len(found.scores),
        "score_cpu": found.seconds["score"][1],
        "solve_cpu": found.seconds["solve"][1],
    }


def report(rows: Sequence[Row], folder: Path) -> str:
    """Tables and curves of the distances, the paired tests, and the times."""
    done = [row for row in rows if row["status"] == "done"]
    networks, scores = _order(done, "network"), _order(done, "score")
    sizes = sorted({row["cell"]["rows"] for row in done})
    parts = []
    for key, level in (("shd_dag", "DAGs"), ("shd_cpdag", "CPDAGs")):
        series: Series = {}
        parts.append(f"## Structural Hamming distance between {level}\n\nMean ± standard error over the repeats.\n")
        for network in networks:
            body = []
            for size in sizes:
                cells = [_values(done, key, network=network, rows=size, score=score) for score in scores]
                if any(cells):
                    body.append([str(size), *(mean_and_error(values) for values in cells)])
                for score, values in zip(scores, cells, strict=True):
                    if values:
                        series.setdefault((network, score), []).append((size, float(np.mean(values))))
            parts.append(f"### {network}\n\n" + table(["rows", *scores], body))
        curves(folder / f"{key}.svg", series, "rows", f"SHD between {level}")
        parts.append(f"![curves]({key}.svg)\n")
    parts.append(_paired_tests(done, networks, sizes))
    parts.append(_claims(done))
    parts.append(_optimality(done))
    parts.append(_times(done, networks, scores, sizes, folder))
    return "\n".join(parts)


def _paired_tests(done: Sequence[Row], networks: Sequence[str], sizes: Sequence[int]) -> str:
    from optbn.evaluate.significance import wilcoxon

    body = []
    for network in networks:
        for size in sizes:
            first, second = _pairs(done, network, size, "pcartp", "ftp")
            if len(first) >= 2:
                mean = float(np.mean(np.subtract(first, second)))
                p = wilcoxon(first, second)
                body.append([network, str(size), str(len(first)), f"{mean:+.2f}", f"{p:.3f}", "*" if p < 0.05 else ""])
    head = ["network", "rows", "pairs", "mean difference", "p", "p < .05"]
    return (
        "## PCARTp against FTp\n\nSHD between DAGs of PCARTp minus that of FTp on the same samples (negative: PCARTp is"
        " nearer to the truth), and the paired Wilcoxon test.\n\n" + table(head, body)
    )


CLAIMS = (
    ("insurance", 0, 400, "PCARTp is below FTp on insurance for N <= 400"),
    ("water", 3200, 16400, "PCARTp is below FTp on water for 3200 <= N <= 16400"),
)


def _claims(done: Sequence[Row]) -> str:
    """The published claims, each with what these rows say; the verdict is computed, not written."""
    from optbn.evaluate.significance import wilcoxon

    lines = ["## The published claims\n"]
    for network, low, high, claim in CLAIMS:
        verdicts = []
        for size in sorted({row["cell"]["rows"] for row in done}):
            if not low <= size <= high:
                continue
            first, second = _pairs(done, network, size, "pcartp", "ftp")
            if len(first) >= 2:
                mean, p = float(np.mean(np.subtract(first, second))), wilcoxon(first, second)
                side = "below" if mean < 0 else "above" if mean > 0 else "equal"
                verdicts.append((size, side, p))
        if not verdicts:
            lines.append(f"- {claim}: no finished cells to judge by.")
            continue
        agree = sum(side == "below" for _, side, _ in verdicts)
        said = ", ".join(f"{size}: {side} (p = {p:.3f})" for size, side, p in verdicts)
        word = "agrees" if agree == len(verdicts) else "does not agree" if agree == 0 else "agrees in part"
        lines.append(f"- {claim}: {word}. {said}.")
    significant = []
    tested = 0
    for size in sorted({row["cell"]["rows"] for row in done}):
        first, second = _pairs(done, "alarm", size, "pcartp", "ftp")
        if len(first) >= 2:
            tested += 1
            if wilcoxon(first, second) < 0.05:
                significant.append(str(size))
    if tested:
        word = f"not so at {', '.join(significant)}" if significant else f"agrees at all {tested} sizes"
        lines.append(f"- On alarm the difference is insignificant: {word}.")
    return "\n".join(lines) + "\n"


def _optimality(done: Sequence[Row]) -> str:
    open_ = [row for row in done if not row["result"]["optimal"]]
    text = f"## Proofs\n\n{len(done) - len(open_)} of {len(done)} networks are proved optimal."
    if open_:
        body = [
            [*(str(row["cell"][key]) for key in ("network", "rows", "repeat", "score")), f"{row['result']['gap']:.3g}"]
            for row in open_
        ]
        text += " The others, with bound minus score in nats:\n\n" + table(
            ["network", "rows", "repeat", "score", "gap"], body
        )
    return text + "\n"


def _times(
    done: Sequence[Row], networks: Sequence[str], scores: Sequence[str], sizes: Sequence[int], folder: Path
) -> str:
    body = []
    series: Series = {}
    for network in networks:
        for score in scores:
            for size in sizes:
                phase1 = _values(done, "score_cpu", network=network, rows=size, score=score)
                phase2 = _values(done, "solve_cpu", network=network, rows=size, score=score)
                kept = _values(done, "kept", network=network, rows=size, score=score)
                if phase1:
                    body.append(
                        [network, score, str(size)]
                        + [f"{np.mean(v):.2f}" for v in (phase1, phase2)]
                        + [f"{max(phase2):.2f}", f"{np.mean(kept):.0f}"]
                    )
                    series.setdefault((network, f"{score}, phase I"), []).append((size, float(np.mean(phase1))))
                    series.setdefault((network, f"{score}, phase II"), []).append((size, float(np.mean(phase2))))
    curves(folder / "times.svg", series, "rows", "CPU seconds", logarithmic=True)
    head = ["network", "score", "rows", "phase I s", "phase II s", "longest phase II s", "sets kept"]
    return "## Times\n\nMean CPU seconds per network learned.\n\n![times](times.svg)\n\n" + table(head, body)


def _pairs(done: Sequence[Row], network: str, size: int, first: str, second: str) -> tuple[list[float], list[float]]:
    """The distances of two scores on the samples that both have finished."""

    def by_repeat(score: str) -> dict[int, float]:
        return {
            row["cell"]["repeat"]: row["result"]["shd_dag"]
            for row in done
            if (row["cell"]["network"], row["cell"]["rows"], row["cell"]["score"]) == (network, size, score)
        }

    a, b = by_repeat(first), by_repeat(second)
    both = sorted(a.keys() & b.keys())
    return [a[r] for r in both], [b[r] for r in both]


def _values(done: Iterable[Row], key: str, **where: Any) -> list[float]:
    return [row["result"][key] for row in done if all(row["cell"][k] == v for k, v in where.items())]


def _order(done: Iterable[Row], key: str) -> list[str]:
    return list(dict.fromkeys(row["cell"][key] for row in done))
