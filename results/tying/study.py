"""Hierarchical Dirichlet smoothing: which contexts share a concentration, and does a Pitman-Yor discount help?

A cell samples a bundled network and gives its true structure parameters with each setting. Measured is the divergence
from the truth, nats per row, from the log-likelihood of fresh rows, and the CPU seconds of the fit.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import optbn
from optbn.experiments.verdicts import Claim, Finding, summary
from optbn.experiments.verdicts import findings as judged
from optbn.report.tables import table
from optbn.smoothing.hdp import HDP

Row = Mapping[str, Any]
DEFAULT = "level"
METHODS: Mapping[str, Mapping[str, Any]] = {
    DEFAULT: {},
    "single": {"tying": "single"},
    "same parent": {"tying": "same_parent"},
    "none": {"tying": "none"},
    "level, discount .1": {"discount": 0.1},
    "level, discount .3": {"discount": 0.3},
    "level, discount learned": {"discount": "learned"},
}


def cell(network: str, rows: int, repeat: int, held_out: int, sweeps: int) -> dict[str, Any]:
    """Divergence and CPU seconds of every setting on one sample."""
    truth = optbn.load_network(network)
    seed = zlib.crc32(f"{network} {rows} {repeat}".encode())
    data, fresh = truth.sample(rows, seed), truth.sample(held_out, seed + 1)
    best = truth.log_likelihood(fresh) / held_out
    out: dict[str, Any] = {}
    for name, settings in METHODS.items():
        start = time.process_time()
        found = optbn.fit(truth, data, HDP(sweeps=sweeps, chains=1, deviations=False, **settings), seed=repeat)
        seconds = time.process_time() - start
        out[name] = {"divergence": float(best - found.log_likelihood(fresh) / held_out), "seconds": seconds}
    return out


def findings(rows: Sequence[Row]) -> list[Finding]:
    """Is the default's divergence smaller than that of each other setting?"""
    done = [row for row in rows if row["status"] == "done"]
    results = {m: {str(row["cell"]): row["result"][m] for row in done} for m in METHODS}
    others = [name for name in METHODS if name != DEFAULT]
    claims = [Claim(f"Tying by level is nearer than {name}", "divergence", [(DEFAULT, name)]) for name in others]
    return judged("ours", results, claims, 0.0)


def report(rows: Sequence[Row], folder: Path) -> str:
    """Means by rows and by network, and times."""
    done = [row for row in rows if row["status"] == "done"]
    parts = ["## Claims\n\n" + summary(findings(rows)), "## Divergence\n\nNats per row; the least of a row in bold.\n"]
    for key in ("rows", "network"):
        body = []
        for value in dict.fromkeys(row["cell"][key] for row in done):
            some = [row["result"] for row in done if row["cell"][key] == value]
            means = {m: float(np.mean([result[m]["divergence"] for result in some])) for m in METHODS}
            least = min(means.values())
            body.append([str(value), *(f"**{p:.4f}**" if p == least else f"{p:.4f}" for p in means.values())])
        parts.append(table([key, *METHODS], body))
    seconds = [f"{np.mean([row['result'][m]['seconds'] for row in done]):.2f}" for m in METHODS]
    parts.append("## Times\n\nCPU seconds to fit a network, means.\n\n" + table([*METHODS], [seconds]))
    return "\n".join(parts)
