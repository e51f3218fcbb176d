"""Trees whose leaves are estimated by each smoother, and the average over all trees: which predicts fresh rows best?

A cell samples a bundled network, learns the optimal graph of trees (pcartp, two parents) and fits its probabilities in
every way; measured is the divergence from the truth on fresh rows, nats a row.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import optbn
from optbn.experiments.verdicts import Claim, Finding, summary
from optbn.experiments.verdicts import findings as judged
from optbn.report.tables import table

Row = Mapping[str, Any]
AVERAGE = "average over trees"
SMOOTHERS = ("hdp", "gradient", "hierarchical", "m_estimate", "bdeu", "m_branch", "laplace")


def cell(network: str, rows: int, repeat: int, held_out: int) -> dict[str, float]:
    """Divergence by way of fitting."""
    truth = optbn.load_network(network)
    seed = zlib.crc32(f"{network} {rows} {repeat}".encode())
    data, fresh = truth.sample(rows, seed), truth.sample(held_out, seed + 1)
    graph = optbn.learn(data, max_parents=2, jobs=1).network
    best = truth.log_likelihood(fresh)
    fits = {name: optbn.fit(graph, data, name) for name in SMOOTHERS}
    fits[AVERAGE] = optbn.fit(graph, data, trees="average")
    return {name: (best - found.log_likelihood(fresh)) / held_out for name, found in fits.items()}


def findings(rows: Sequence[Row]) -> list[Finding]:
    """By sign tests over networks and numbers of rows."""
    results: dict[str, dict[str, Any]] = {name: {} for name in (*SMOOTHERS, AVERAGE)}
    for row in rows:
        if row["status"] == "done":
            for name, value in row["result"].items():
                results[name][str(row["cell"])] = {"divergence": value}
    claims = [
        Claim(f"The average over trees is nearer than best trees by {name}", "divergence", [(AVERAGE, name)])
        for name in SMOOTHERS
    ]
    claims += [
        Claim(f"Best trees by hdp are nearer than by {name}", "divergence", [("hdp", name)]) for name in SMOOTHERS[1:]
    ]
    return judged("trees", results, claims, 0.0)


def report(rows: Sequence[Row], folder: Path) -> str:
    """Means over repeats, the least of a line in bold."""
    done = [row for row in rows if row["status"] == "done"]
    names = (*SMOOTHERS, AVERAGE)
    body = []
    for network, size in sorted({(row["cell"]["network"], row["cell"]["rows"]) for row in done}):
        some = [row["result"] for row in done if (row["cell"]["network"], row["cell"]["rows"]) == (network, size)]
        body.append([network, str(size), *_line({name: [result[name] for result in some] for name in names})])
    body.append(["all", "", *_line({name: [row["result"][name] for row in done] for name in names})])
    return (
        "## Claims\n\n"
        + summary(findings(rows))
        + "\n## Divergence, nats a row\n\n"
        + table(("network", "rows", *names), body)
    )


def _line(values: Mapping[str, Sequence[float]]) -> list[str]:
    means = {name: float(np.mean(of)) for name, of in values.items()}
    return [f"**{mean:.3f}**" if mean == min(means.values()) else f"{mean:.3f}" for mean in means.values()]
