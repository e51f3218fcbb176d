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

from optbn.experiments.tables import Series, curves, mean_and_error, standard_error, table
from optbn.experiments.times import section

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
    parts = [_claims(done)]
    for key, level in LEVELS.items():
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
                        series.setdefault((network, score), []).append(
                            (size, float(np.mean(values)), standard_error(values))
                        )
            parts.append(f"### {network}\n\n" + table(["rows", *scores], body))
        curves(folder / f"{key}.svg", series, "rows", f"SHD between {level} (mean, standard error)")
        parts.append(f"![curves]({key}.svg)\n")
    parts.append(_paired_tests(done, networks, sizes))
    parts.append(_optimality(done))
    parts.append(_repeats(done, networks, scores, sizes))
    parts.append(section("times", done, folder))
    return "\n".join(parts)


def _paired_tests(done: Sequence[Row], networks: Sequence[str], sizes: Sequence[int]) -> str:
    from optbn.evaluate.significance import wilcoxon

    body = []
    for network in networks:
        for size in sizes:
            line = [network, str(size)]
            for key in LEVELS:
                first, second = _pairs(done, network, (size,), key)
                if len(first) >= 2:
                    p = wilcoxon(first, second)
                    line += [str(len(first))] if len(line) == 2 else []
                    line += [f"{np.mean(np.subtract(first, second)):+.2f}", f"{p:.3f}{'*' if p < LEVEL else ''}"]
            if len(line) > 2:
                body.append(line)
    head = ["network", "rows", "pairs"]
    for name in LEVELS.values():
        head += [f"{name}: mean difference", "p"]
    return (
        "## PCARTp against FTp\n\nSHD of PCARTp minus that of FTp on the same samples (negative: PCARTp is nearer to"
        f" the truth), and the paired Wilcoxon test (* p < {LEVEL:g}). With five pairs no p is below 0.0625, whatever"
        " the difference.\n\n" + table(head, body)
    )


LEVEL = 0.05
LEVELS = {"shd_dag": "DAGs", "shd_cpdag": "CPDAGs"}
CLAIMS = (
    ("insurance", 0, 400, "PCARTp is below FTp on insurance for N <= 400", -1),
    ("water", 3200, 16400, "PCARTp is below FTp on water for 3200 <= N <= 16400", -1),
    ("alarm", 0, 25600, "PCARTp and FTp do not differ significantly on alarm", 0),
)
"""Network, range of rows, what the paper behind PCART says, and the side on which PCARTp should be."""


def _claims(done: Sequence[Row]) -> str:
    """The published claims, each with what these rows say; the verdict is computed, not written."""
    lines = []
    for network, low, high, claim, side in CLAIMS:
        mine = {
            row["cell"]["rows"]
            for row in done
            if row["cell"]["network"] == network
            and len(_pairs(done, network, (row["cell"]["rows"],), "shd_dag")[0]) >= 2
        }
        inside = [size for size in sorted(mine) if low <= size <= high]
        outside = sorted(mine.difference(inside))
        if inside:
            lines += [f"- {claim}: {_verdict(done, network, inside, key, side)}" for key in LEVELS]
        if outside:
            said = [f"{_said(done, network, outside, key)} between {level}" for key, level in LEVELS.items()]
            lines.append(f"- Outside that range ({', '.join(map(str, outside))}) on {network}: {'; '.join(said)}.")
    if not lines:
        return ""
    head = (
        "## The published claims\n\nThe difference is SHD of PCARTp minus SHD of FTp on the same samples, tested by"
        " the paired Wilcoxon test on all pairs of a claim's range together. 'Below' is agreed with when the mean"
        f" difference is negative and p < {LEVEL:g}, in part when it is only negative. 'Do not differ significantly' is"
        f" agreed with when p >= {LEVEL:g}, in part when only all sizes together reach p < {LEVEL:g} and no size alone"
        " does.\n"
    )
    return "\n".join([head, *lines]) + "\n"


def _said(done: Sequence[Row], network: str, sizes: Sequence[int], key: str) -> str:
    """ "-1.20 over 15 pairs (p = 0.031)"."""
    from optbn.evaluate.significance import wilcoxon

    first, second = _pairs(done, network, sizes, key)
    return f"{np.mean(np.subtract(first, second)):+.2f} over {len(first)} pairs (p = {wilcoxon(first, second):.2g})"


def _verdict(done: Sequence[Row], network: str, sizes: Sequence[int], key: str, side: int) -> str:
    from optbn.evaluate.significance import wilcoxon

    first, second = _pairs(done, network, sizes, key)
    mean, p = float(np.mean(np.subtract(first, second))), wilcoxon(first, second)
    if side == 0:
        significant = [size for size in sizes if wilcoxon(*_pairs(done, network, (size,), key)) < LEVEL]
        word = "does not agree" if significant else "agrees" if p >= LEVEL else "agrees in part"
    else:
        word = "does not agree" if mean * side <= 0 else "agrees" if p < LEVEL else "agrees in part"
    alone = (f"{size}: {np.mean(np.subtract(*_pairs(done, network, (size,), key))):+.2f}" for size in sizes)
    return f"**{word}** between {LEVELS[key]}, {_said(done, network, sizes, key)}. By size: {', '.join(alone)}."


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


def _repeats(done: Sequence[Row], networks: Sequence[str], scores: Sequence[str], sizes: Sequence[int]) -> str:
    """How many samples each mean is over."""
    body = []
    for score in scores:
        counts = [[len(_values(done, "arcs", network=n, rows=size, score=score)) for n in networks] for size in sizes]
        body.append([score, *(str(c[0]) if len(set(c)) == 1 else "/".join(map(str, c)) for c in counts)])
    return f"## Samples\n\nHow many there are ({'/'.join(networks)} where they differ).\n\n" + table(
        ["score", *map(str, sizes)], body
    )


def _pairs(
    done: Sequence[Row], network: str, sizes: Sequence[int], key: str, first: str = "pcartp", second: str = "ftp"
) -> tuple[list[float], list[float]]:
    """The distances of two scores on the samples that both have finished."""

    def of(score: str) -> dict[tuple[int, int], float]:
        return {
            (row["cell"]["rows"], row["cell"]["repeat"]): row["result"][key]
            for row in done
            if (row["cell"]["network"], row["cell"]["score"]) == (network, score) and row["cell"]["rows"] in sizes
        }

    a, b = of(first), of(second)
    both = sorted(a.keys() & b.keys())
    return [a[at] for at in both], [b[at] for at in both]


def _values(done: Iterable[Row], key: str, **where: Any) -> list[float]:
    return [row["result"][key] for row in done if all(row["cell"][k] == v for k, v in where.items())]


def _order(done: Iterable[Row], key: str) -> list[str]:
    return list(dict.fromkeys(row["cell"][key] for row in done))
