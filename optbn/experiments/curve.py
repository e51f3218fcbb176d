"""Learning curves: how far the graph that a method learns from a sample is from the network that was sampled.

A cell samples a bundled network, learns with one method (a score of ours, another program, a function, a command), and
measures the structural Hamming distance between DAGs (where the method finds one) and between CPDAGs, the CPU time, and
for our scores whether optimality was proved. All methods see the same sample at the same (network, rows, repeat), so
differences between them are paired.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from optbn.evaluate.distances import compare
from optbn.experiments.evidence import FOUND, counted, evidence_of, tells_evidence
from optbn.experiments.methods import Limits, load_method, name_of
from optbn.experiments.verdicts import ranks
from optbn.network.catalog import load_network
from optbn.report.tables import Series, curves, half_interval, mean_and_error, table

Row = Mapping[str, Any]

LEVELS = {"shd_dag": "DAGs", "shd_cpdag": "CPDAGs"}


def cell(
    network: str,
    rows: int,
    repeat: int,
    method: str,
    max_parents: int = 4,
    solver: str = "auto",
    solve_seconds: float = 300.0,
    settings: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """One sample, one method (see `methods`); `solver` is that of our scores where the method names none."""
    truth = load_network(network)
    seed = zlib.crc32(f"{network} {rows} {repeat}".encode())
    found = load_method(method, settings, solver)(truth.sample(rows, seed), Limits(max_parents, solve_seconds))
    distance = compare(truth, found.graph, sid=False)
    return {
        "shd_dag": distance.shd_dag,
        "shd_cpdag": distance.shd_cpdag,
        "shd_skeleton": distance.shd_skeleton,
        "arcs": distance.estimated_arcs,
        "skeleton_f1": distance.skeleton.f1,
        "seed": seed,
        **found.facts,
    }


def report(rows: Sequence[Row], folder: Path) -> str:
    """Tables and curves of the distances, and how many of the networks are proved optimal."""
    done = [row for row in rows if row["status"] == "done"]
    networks, methods = _order(done, "network"), _order(done, "method")
    sizes = sorted({row["cell"]["rows"] for row in done})
    parts = []
    for key, level in LEVELS.items():
        series: Series = {}
        parts.append(f"## Structural Hamming distance between {level}\n\nMean ± standard error over the repeats.\n")
        for network in networks:
            body = []
            for size in sizes:
                cells = [_values(done, key, network=network, rows=size, method=method) for method in methods]
                if any(cells):
                    body.append([str(size), *(mean_and_error(values) for values in cells)])
                for method, values in zip(methods, cells, strict=True):
                    if values:
                        series.setdefault((network, name_of(method)), []).append(
                            (size, float(np.mean(values)), half_interval(values))
                        )
            parts.append(f"### {network}\n\n" + table(["rows", *map(name_of, methods)], body))
        curves(folder / f"{key}.svg", series, "rows", f"SHD between {level} (mean, 95 % interval)")
        parts.append(f"![curves]({key}.svg)\n")
    samples: dict[str, dict[str, Any]] = {}
    for row in done:
        where = " ".join(str(row["cell"][k]) for k in ("network", "rows", "repeat"))
        if row["result"].get("shd_cpdag") is not None:
            samples.setdefault(name_of(row["cell"]["method"]), {})[where] = row["result"]
    if text := ranks(samples, list(samples), "shd_cpdag", folder, "ranks.svg", "samples"):
        parts.append(f"## Ranks by SHD between CPDAGs\n\n{text}")
    parts.append(_optimality(done))
    parts.append(_repeats(done, networks, methods, sizes))
    return "\n".join(parts)


def _optimality(done: Sequence[Row]) -> str:
    claiming = [row for row in done if tells_evidence(row["result"])]
    open_ = [row for row in claiming if evidence_of(row["result"]) == FOUND]
    text = f"## Proofs\n\n{counted([row['result'] for row in claiming])}."
    if open_:
        body = [
            [*(str(row["cell"][key]) for key in ("network", "rows", "repeat", "method")), f"{row['result']['gap']:.3g}"]
            for row in open_
        ]
        text += " Those that are the best found, with bound minus score in nats:\n\n" + table(
            ["network", "rows", "repeat", "method", "gap"], body
        )
    return text + "\n"


def _repeats(done: Sequence[Row], networks: Sequence[str], methods: Sequence[str], sizes: Sequence[int]) -> str:
    """How many samples each mean is over."""
    body = []
    for method in methods:
        counts = [[len(_values(done, "arcs", network=n, rows=size, method=method)) for n in networks] for size in sizes]
        body.append([name_of(method), *(str(c[0]) if len(set(c)) == 1 else "/".join(map(str, c)) for c in counts)])
    return f"## Samples\n\nHow many there are ({'/'.join(networks)} where they differ).\n\n" + table(
        ["method", *map(str, sizes)], body
    )


def _values(done: Iterable[Row], key: str, **where: Any) -> list[float]:
    found = [row["result"].get(key) for row in done if all(row["cell"][k] == v for k, v in where.items())]
    return [value for value in found if value is not None]


def _order(done: Iterable[Row], key: str) -> list[str]:
    return list(dict.fromkeys(row["cell"][key] for row in done))
