"""Bootstrap, posterior and edge loss of the same sample, as predictors of which pairs of variables are adjacent.

A cell samples a bundled network and gives every pair of variables four numbers, by bdeu with at most 3 parents:

    rows       share of resamples (rows with replacement) in whose optimum the pair is adjacent
    bayesian   the same with random weights of all rows
    posterior  the probability of an arc either way, summed exactly over orders
    loss       what the optimum loses without the adjacency, or (negative) what it loses with the better arc

It reports how well each ranks the pairs (the area under the ROC curve against the true skeleton), and for the first
three, which lie between 0 and 1, the mean squared error of the number as a probability, and how many pairs it puts
above .95, and how many of these are true.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from optbn.evaluate.sources import as_graph
from optbn.learning.bootstrap import bootstrap
from optbn.learning.constraints import all_families
from optbn.learning.edges import edges
from optbn.learning.resampling import Resampling
from optbn.network.catalog import load_network
from optbn.report.tables import standard_error, table
from optbn.scores import load_score
from optbn.scores.scoring import Scoring
from optbn_solvers.front.posterior import posterior

Row = Mapping[str, Any]
METHODS = ("rows", "bayesian", "posterior", "loss")
SURE = 0.95


def cell(network: str, rows: int, repeat: int, max_parents: int, resamples: int) -> dict[str, Any]:
    """One sample, all four."""
    truth = load_network(network)
    data = truth.sample(rows, zlib.crc32(f"{network} {rows} {repeat}".encode()))
    matrix = as_graph(truth).aligned(data.names).matrix
    pairs = np.triu_indices(len(matrix), 1)
    adjacent = (matrix | matrix.T)[pairs]
    found = {}
    for kind in ("rows", "bayesian"):
        begin = time.process_time()
        how = Resampling(kind)  # type: ignore[arg-type]
        shares = bootstrap(data, "bdeu", max_parents, resamples, resampling=how, jobs=1).adjacent
        found[kind] = _judged(shares[pairs], adjacent, time.process_time() - begin)
    begin = time.process_time()
    arcs = posterior(all_families(Scoring.of(data, load_score("bdeu"), max_parents), 1), over="orders").arcs
    found["posterior"] = _judged((arcs + arcs.T)[pairs], adjacent, time.process_time() - begin)
    begin = time.process_time()
    losses = np.full(matrix.shape, -np.inf)
    for row in edges(data, "bdeu", max_parents, jobs=1).rows():
        u, v = data.index(row["from"]), data.index(row["to"])
        value = row["without_adjacency"] if row["present"] else -row["loss"]
        losses[u, v] = losses[v, u] = max(losses[u, v], value)
    found["loss"] = _judged(losses[pairs], adjacent, time.process_time() - begin)
    return found


def _judged(values: np.ndarray, adjacent: np.ndarray, seconds: float) -> dict[str, Any]:
    above = (values[adjacent][:, None] > values[~adjacent][None, :]).mean()
    equal = (values[adjacent][:, None] == values[~adjacent][None, :]).mean()
    sure = values > SURE
    return {
        "auc": float(above + equal / 2),
        "error": float(np.mean((values - adjacent) ** 2)) if values.min() >= 0 and values.max() < 1 + 1e-6 else None,
        "sure": int(sure.sum()),
        "right": int(adjacent[sure].sum()),
        "seconds": seconds,
    }


def report(rows: Sequence[Row], folder: Path) -> str:
    """Means over repeats by network and rows."""
    results = {_key(row): row["result"] for row in rows if row["status"] == "done"}
    groups = sorted({key[:2] for key in results})
    parts = []
    for measure, name in (
        ("auc", "Area under the ROC curve"),
        ("error", "Mean squared error as a probability"),
        ("seconds", "CPU s"),
    ):
        methods = [m for m in METHODS if measure != "error" or m != "loss"]
        body = []
        for network, size in groups:
            line = [network, str(size)]
            for method in methods:
                values = [r[method][measure] for key, r in results.items() if key[:2] == (network, size)]
                line.append(f"{np.mean(values):.3f} ± {standard_error(values):.3f}")
            body.append(line)
        parts.append(f"## {name}\n\n{table(('network', 'rows', *methods), body)}")
    body = []
    for network, size in groups:
        line = [network, str(size)]
        for method in METHODS[:3]:
            mine = [r[method] for key, r in results.items() if key[:2] == (network, size)]
            sure, right = (sum(r[what] for r in mine) for what in ("sure", "right"))
            line.append(f"{right} of {sure}" if sure else "none")
        body.append(line)
    parts.append(
        f"## Pairs above {SURE}, and how many of them are adjacent\n\n{table(('network', 'rows', *METHODS[:3]), body)}"
    )
    return "\n".join(parts)


def _key(row: Row) -> tuple[str, int, int]:
    cell = row["cell"]
    return cell["network"], cell["rows"], cell["repeat"]
