"""The hierarchical smoother's strength: as published, learned for each family, or one for the whole network?

A cell samples a bundled network and gives its true structure parameters with each way of choosing s and alpha0. What is
shared maximises the sum of all families' lower bounds. Measured is the divergence from the truth, nats per row, from
the log-likelihood of fresh rows. A variable of a network has one family, so one strength for a variable is one for a
family.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import optbn
from optbn.experiments.verdicts import Claim, Finding, summary
from optbn.experiments.verdicts import findings as judged
from optbn.report.tables import table
from optbn.smoothing.fitting import fitted
from optbn.smoothing.hierarchical import Hierarchical
from optbn.smoothing.protocol import Estimate, Smoother
from optbn.smoothing.tree import CountTree

Row = Mapping[str, Any]
DEFAULT = "each family"
GRID = np.geomspace(0.25, 64.0, 17)
"""Of what is shared: values of s, or of s / K."""


@dataclass(frozen=True)
class TimesLevels:
    """s = times K."""

    times: float

    def fit(self, tree: CountTree, generator: np.random.Generator) -> Estimate:
        return Hierarchical(s=self.times * tree.n_levels).fit(tree, generator)


METHODS: Mapping[str, Callable[[Any, Any], Smoother]] = {
    DEFAULT: lambda model, data: Hierarchical(),
    "one s for all": lambda model, data: _likeliest(model, data, lambda s: Hierarchical(s=s)),
    "one s / K for all": lambda model, data: _likeliest(model, data, TimesLevels),
    "s = K": lambda model, data: Hierarchical(s="levels"),
    "each family, alpha0 = 1": lambda model, data: Hierarchical(alpha0=1.0),
    "each family, alpha0 of each level": lambda model, data: Hierarchical(alpha0="each"),
    "each family, integrated": lambda model, data: Hierarchical(s="integrated"),
    "as published: s = K, alpha0 = 1": lambda model, data: Hierarchical(s="levels", alpha0=1.0),
}


def _likeliest(model: Any, data: Any, made: Callable[[float], Smoother]) -> Smoother:
    """Of the grid, where the families' lower bounds have the largest sum."""

    def bound(value: float) -> float:
        found = fitted(model, data, made(value)).diagnostics()
        return sum(float(of["lower_bound"]) for of in found.values())

    return made(max(map(float, GRID), key=bound))


def cell(network: str, rows: int, repeat: int, held_out: int) -> dict[str, Any]:
    """The divergence of every method on one sample."""
    truth = optbn.load_network(network)
    seed = zlib.crc32(f"{network} {rows} {repeat}".encode())
    data, fresh = truth.sample(rows, seed), truth.sample(held_out, seed + 1)
    best = truth.log_likelihood(fresh) / held_out
    return {
        name: float(best - optbn.fit(truth, data, made(truth, data)).log_likelihood(fresh) / held_out)
        for name, made in METHODS.items()
    }


def findings(rows: Sequence[Row]) -> list[Finding]:
    """Is the default's divergence smaller than that of each other way?"""
    done = [row for row in rows if row["status"] == "done"]
    results = {m: {str(row["cell"]): {"divergence": row["result"][m]} for row in done} for m in METHODS}
    others = [name for name in METHODS if name != DEFAULT]
    return judged(
        "ours", results, [Claim(f"{DEFAULT} beats {name}", "divergence", [(DEFAULT, name)]) for name in others], 0.0
    )


def report(rows: Sequence[Row], folder: Path) -> str:
    """Means by rows and by network."""
    done = [row for row in rows if row["status"] == "done"]
    parts = ["## Claims\n\n" + summary(findings(rows)), "## Divergence\n\nNats per row; the least of a row in bold.\n"]
    for key in ("rows", "network"):
        body = []
        for value in dict.fromkeys(row["cell"][key] for row in done):
            some = [row["result"] for row in done if row["cell"][key] == value]
            means = {m: float(np.mean([result[m] for result in some])) for m in METHODS}
            least = min(means.values())
            body.append([str(value), *(f"**{p:.4f}**" if p == least else f"{p:.4f}" for p in means.values())])
        parts.append(table([key, *METHODS], body))
    return "\n".join(parts)
