"""Whole networks: how well does each smoother's network predict rows it has not seen?

A cell samples a bundled network, takes its structure or the optimal one for the sample (BDeu, proved), gives it
parameters with every smoother, and measures the mean log-likelihood of fresh rows. The truth's own mean log-likelihood
of the same rows minus that is an estimate of the Kullback-Leibler divergence from the truth, in nats per row.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from optbn.experiments.evidence import counted, evidence
from optbn.experiments.verdicts import Claim, Finding, summary
from optbn.experiments.verdicts import findings as judged
from optbn.report.tables import Series, curves, table
from results.smoothing.methods import METHODS, made, mean_or_infinite, number, shown

Row = Mapping[str, Any]
PANELS = 4
"""Networks side by side in a picture."""


def cell(
    network: str, rows: int, structure: str, repeat: int, held_out: int, max_parents: int, solve_seconds: float
) -> dict[str, Any]:
    """The divergence and the CPU seconds of every method on one sample."""
    from optbn.learning.solving import solve
    from optbn.network.catalog import load_network
    from optbn.network.structure import Structure
    from optbn.scores.pipeline import score_table
    from optbn.smoothing.fitting import fit

    truth = load_network(network)
    seed = zlib.crc32(f"{network} {rows} {repeat}".encode())
    data, fresh = truth.sample(rows, seed), truth.sample(held_out, seed + 1)
    dag, known = truth.structure, None
    if structure == "optimal":
        scores = score_table(data, "bdeu", max_parents, jobs=1)
        solution = solve(scores, time_limit=solve_seconds)
        assert solution.choice is not None
        known = evidence(solution)
        dag = Structure.from_parents(scores.graph(solution.choice))
    best = truth.log_likelihood(fresh) / held_out
    divergence, seconds = {}, {}
    for name in METHODS:
        start = time.process_time()
        found = fit(dag, data, made(name), seed=repeat)
        seconds[name] = time.process_time() - start
        divergence[name] = number(best - found.log_likelihood(fresh) / held_out)
    return {"truth": best, "evidence": known, "arcs": dag.n_arcs, "divergence": divergence, "seconds": seconds}


CLAIMS = (
    Claim("HDP predicts better than the m-estimate", "divergence", [("hdp", "m 1"), ("hdp", "m cv")]),
    Claim("HDP predicts better than Laplace's and BDeu's estimates", "divergence",
          [("hdp", "laplace"), ("hdp", "bdeu 1"), ("hdp", "bdeu 10")]),
    Claim("The hierarchical estimate predicts better than BDeu's", "divergence",
          [("hierarchical", "bdeu 1"), ("hierarchical", "bdeu 10")]),
    Claim("Gradient smoothing predicts better than HDP", "divergence", [("gradient", "hdp")]),
)  # fmt: skip


def findings(rows: Sequence[Row]) -> list[Finding]:
    """The claims for whole networks, by sign tests over samples."""
    found = []
    for paper, claims in (("HDP", CLAIMS[:2]), ("hierarchical", CLAIMS[2:3]), ("HGS", CLAIMS[3:])):
        for kind in ("optimal", "true"):
            results: dict[str, dict[str, Any]] = {m: {} for m in METHODS}
            for row in rows:
                if row["status"] == "done" and row["cell"]["structure"] == kind:
                    for m, value in row["result"]["divergence"].items():
                        results[m][str(row["cell"])] = {"divergence": np.inf if value is None else value}
            marked = [claim._replace(text=f"{claim.text}, {kind} structures") for claim in claims]
            found += judged(paper, results, marked, 0.0)
    return found


def report(rows: Sequence[Row], folder: Path) -> str:
    """Divergences per network, and what they say about which smoother to use."""
    done = [row for row in rows if row["status"] == "done"]
    names = list(METHODS)
    sizes = sorted({row["cell"]["rows"] for row in done})
    kinds = list(dict.fromkeys(row["cell"]["structure"] for row in done))
    networks = list(dict.fromkeys(row["cell"]["network"] for row in done))
    parts = ["## Claims\n\n" + summary(findings(rows)), _choice(done, names, sizes, kinds)]
    for kind in kinds:
        parts.append(f"## Divergence from the truth, {kind} structures\n\nNats per row, means over the repeats.\n")
        series: Series = {}
        for network in networks:
            body = []
            for n in sizes:
                cells = _cells(done, network=network, structure=kind, rows=n)
                if not cells:
                    continue
                means = {m: mean_or_infinite([c["divergence"][m] for c in cells]) for m in names}
                body.append([str(n), *(shown(means[m], min(means.values())) for m in names)])
                for m in names:
                    if np.isfinite(means[m]):
                        series.setdefault((network, m), []).append((n, means[m]))
            parts.append(f"### {network}\n\n" + table(["rows", *names], body))
        for i in range(0, len(networks), PANELS):
            some = {key: points for key, points in series.items() if key[0] in networks[i : i + PANELS]}
            curves(folder / f"{kind}-{i // PANELS + 1}.svg", some, "rows", "nats per row", logarithmic=True)
            parts.append(f"![curves]({kind}-{i // PANELS + 1}.svg)\n")
    parts.append(_seconds(done, names))
    return "\n".join(parts)


def _cells(done: Sequence[Row], **which: Any) -> list[Mapping[str, Any]]:
    return [row["result"] for row in done if all(row["cell"][key] == value for key, value in which.items())]


def _regret(result: Mapping[str, Any], method: str) -> float:
    """Divergence over the best method's on the same sample, relative to the best: 0 is best."""
    found = {m: np.inf if v is None else v for m, v in result["divergence"].items()}
    least = min(found.values())
    return float(found[method] / least - 1.0) if np.isfinite(found[method]) else float("inf")


def _choice(done: Sequence[Row], names: Sequence[str], sizes: Sequence[int], kinds: Sequence[str]) -> str:
    """The table of which to use when; its verdict is computed."""
    parts = [
        "## Which smoother when\n\nExcess divergence over the best smoother of each sample, mean over networks and "
        "repeats\n(0.10: ten percent more divergence than the best).\n"
    ]
    overall: dict[str, list[float]] = {m: [] for m in names}
    for kind in kinds:
        body = []
        for n in sizes:
            cells = _cells(done, structure=kind, rows=n)
            if not cells:
                continue
            regrets = {m: [_regret(c, m) for c in cells] for m in names}
            for m in names:
                overall[m] += regrets[m]
            means = {m: float(np.mean(regrets[m])) for m in names}
            winner = min(means, key=lambda m: means[m])
            body.append([str(n), winner, *(f"{means[m]:.2f}" if np.isfinite(means[m]) else "∞" for m in names)])
        parts.append(f"### {kind} structures\n\n" + table(["rows", "use", *names], body))
    order = sorted(names, key=lambda m: float(np.mean(overall[m])))
    said = ", ".join(f"{m} {np.mean(overall[m]):.2f}" if np.isfinite(np.mean(overall[m])) else f"{m} ∞" for m in order)
    parts.append(f"Over all {len(overall[order[0]])} samples: {said}. **The default follows: {order[0]}.**\n")
    return "\n".join(parts)


def _seconds(done: Sequence[Row], names: Sequence[str]) -> str:
    times = {m: [row["result"]["seconds"][m] for row in done] for m in names}
    body = [[m, f"{1000 * float(np.mean(times[m])):.0f}", f"{1000 * float(np.max(times[m])):.0f}"] for m in names]
    learned = [row["result"] for row in done if row["cell"]["structure"] == "optimal"]
    text = f"Of the learned structures, {counted(learned)}.\n"
    return f"## Times and proofs\n\n{text}\nCPU milliseconds to fit a network.\n\n" + table(
        ["", "mean", "longest"], body
    )
