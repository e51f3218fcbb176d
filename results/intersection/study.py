"""Intersection-validation as published: which score finds with few rows what all of them find with all?

Cells are those of `optbn intersect`; the report adds the published claim with a computed verdict.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from optbn.experiments import intersection
from optbn.experiments.verdicts import Finding, less, power, summary, wilcoxon_of

Row = Mapping[str, Any]

STRICT = 0.01
"""The level of the paper's test, one per data set and fraction."""

cell = intersection.cell


def findings(rows: Sequence[Row]) -> list[Finding]:
    """PCARTp against FTp, and each against its plain form, by the paper's test: each data set and fraction alone."""
    done = [row for row in rows if row["status"] == "done" and "parents" in row["result"]]
    tests: dict[tuple[str, str], dict[str, list[Any]]] = {}
    for data in dict.fromkeys(row["cell"]["data"] for row in done):
        distances = intersection.losses([row for row in done if row["cell"]["data"] == data])
        for first, second in (("pcartp", "ftp"), ("pcartp", "pcart"), ("ftp", "ft")):
            for part in sorted({part for _, part in distances}):
                a, b = distances.get((first, part), {}), distances.get((second, part), {})
                if both := sorted(a.keys() & b.keys()):
                    test = wilcoxon_of([a[r] for r in both], [b[r] for r in both])
                    tests.setdefault((first, second), {}).setdefault(Path(data).stem, []).append(test)
    found = []
    for (first, second), by_data in tests.items():
        for data, some in {**by_data, "all data sets": [t for each in by_data.values() for t in each]}.items():
            better, worse = (sum(t.p < STRICT and t.difference * side > 0 for t in some) for side in (-1, 1))
            nearer = sum(t.difference < 0 for t in some)
            figure = f"significantly nearer in {better} of {len(some)} cells, farther in {worse}, nearer in {nearer}"
            claim = f"{first} is nearer to the agreement graph than {second}, {data}"
            found.append(Finding("PCART", claim, less(some, STRICT), figure + power(some, STRICT)))
    return found


def report(rows: Sequence[Row], folder: Path) -> str:
    """The claim, and what `optbn intersect` reports."""
    head = f"## The published claim\n\nWilcoxon at {STRICT:g} for each data set and fraction alone.\n\n"
    return f"{head}{summary(findings(rows))}\n{intersection.report(rows, folder)}"
