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
from optbn.experiments.curve import LEVELS
from optbn.experiments.verdicts import Finding, alike, less, power, signs_of, summary, wilcoxon_of
from optbn.report.tables import table
from results.times.study import section

Row = Mapping[str, Any]

cell = curve.cell


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


LEVEL, STRICT = 0.05, 0.01
"""Of tests of all sizes together, and of the paper's own, one per size."""
PAPER = "PCART"
CLAIMS = (
    ("insurance", 0, 400, "PCARTp is below FTp on insurance for N <= 400", less),
    ("water", 3200, 16400, "PCARTp is below FTp on water for 3200 <= N <= 16400", less),
    ("alarm", 0, 25600, "PCARTp and FTp do not differ significantly on alarm", alike),
)
"""Network, range of rows, what the paper behind PCART says, and how that is judged."""


def findings(rows: Sequence[Row]) -> list[Finding]:
    """The published claims, by the paper's test (each size alone) and by all sizes of the claim together."""
    done = [row for row in rows if row["status"] == "done"]
    found = []
    for network, low, high, claim, judge in CLAIMS:
        sizes = [size for size in _sizes(done, network) if low <= size <= high]
        for key, level in LEVELS.items() if sizes else ():
            alone = [wilcoxon_of(*_pairs(done, network, (size,), key)) for size in sizes]
            together = wilcoxon_of(*_pairs(done, network, sizes, key))
            each = ", ".join(f"{size}: {t.difference:+.2f}" for size, t in zip(sizes, alone, strict=True))
            count = sum(test.p < STRICT for test in alone)
            figure = f"{count} of {len(alone)} sizes p < {STRICT:g} ({each}){power(alone, STRICT)}"
            found.append(Finding(PAPER, f"{claim}, {level}, each size", judge(alone, STRICT), figure))
            verdict = judge([together], LEVEL)
            found.append(Finding(PAPER, f"{claim}, {level}, all sizes together", verdict, together.words))
    for key, level in LEVELS.items():
        means = [
            (float(np.mean(first)), float(np.mean(second)))
            for network in dict.fromkeys(row["cell"]["network"] for row in done)
            for size in _sizes(done, network)
            for first, second in [_pairs(done, network, (size,), key, "pcart", "ft")]
            if first
        ]
        if means:
            below = sum(a < b for a, b in means)
            test = signs_of(*map(np.array, zip(*means, strict=True)), 0.0)
            figure = f"below in {below} of {len(means)} means, {test.words}"
            found.append(Finding(PAPER, f"PCART is below FT throughout, {level}", less([test]), figure))
    return found


def _claims(done: Sequence[Row]) -> str:
    """The findings, and what the rows say outside the ranges of the claims."""
    found = findings(done)
    if not found:
        return ""
    lines = []
    for network, low, high, *_ in CLAIMS:
        outside = [size for size in _sizes(done, network) if not low <= size <= high]
        if outside:
            tests = {level: wilcoxon_of(*_pairs(done, network, outside, key)) for key, level in LEVELS.items()}
            words = [f"{test.words} between {level}" for level, test in tests.items()]
            lines.append(f"- Outside that range ({', '.join(map(str, outside))}) on {network}: {'; '.join(words)}.")
    head = (
        "## The published claims\n\nThe difference is SHD of the first minus SHD of the second on the same samples, by"
        f" the paired Wilcoxon test: of each size alone at {STRICT:g}, as published, and of all sizes of a claim"
        f" together at {LEVEL:g}.\n"
    )
    return "\n".join([head, summary(found), *lines]) + "\n"


def _sizes(done: Sequence[Row], network: str) -> list[int]:
    """The sizes of which there are two pairs or more."""
    mine = {row["cell"]["rows"] for row in done if row["cell"]["network"] == network}
    return [size for size in sorted(mine) if len(_pairs(done, network, (size,), "shd_dag")[0]) >= 2]


def _pairs(
    done: Sequence[Row], network: str, sizes: Sequence[int], key: str, first: str = "pcartp", second: str = "ftp"
) -> tuple[list[float], list[float]]:
    """The distances of two scores on the samples that both have finished."""

    def of(score: str) -> dict[tuple[int, int], float]:
        return {
            (row["cell"]["rows"], row["cell"]["repeat"]): row["result"][key]
            for row in done
            if (row["cell"]["network"], row["cell"]["method"]) == (network, score) and row["cell"]["rows"] in sizes
        }

    a, b = of(first), of(second)
    both = sorted(a.keys() & b.keys())
    return [a[at] for at in both], [b[at] for at in both]
