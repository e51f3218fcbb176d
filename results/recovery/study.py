"""Structure recovery as published: which score is nearer to the truth, at which sample size, and is it chance?

Cells are those of `optbn curve`. The report adds the published claims with computed verdicts, PCARTp against FTp on the
same samples, and the times.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from optbn.experiments import curve
from optbn.experiments.curve import LEVELS, cell
from optbn.report.tables import table
from results.times.study import section

__all__ = ["cell", "report"]

Row = Mapping[str, Any]


def report(rows: Sequence[Row], folder: Path) -> str:
    """The claims, tables and curves of the distances, the paired tests, and the times."""
    done = [row for row in rows if row["status"] == "done"]
    networks = list(dict.fromkeys(row["cell"]["network"] for row in done))
    sizes = sorted({row["cell"]["rows"] for row in done})
    parts = [_claims(done), curve.report(rows, folder), _paired_tests(done, networks, sizes)]
    return "\n".join([*parts, section("times", done, folder)])


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
