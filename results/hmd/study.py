"""HMD beside BDeu, qNML and PCART: whose optimal graph is nearest to the network that was sampled?

Cells are those of `optbn curve`; `hmd prior=size` is HMD with the prior 1 / binom(n - 1, |P|) over parent sets that
PCARTp and FTp have. The questions are ours, no paper asks them: each is answered by the paired Wilcoxon test over all
samples, with all sizes together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from optbn.experiments import curve
from optbn.experiments.verdicts import Finding, less, summary, wilcoxon_of

Row = Mapping[str, Any]
PAPER = "HMD (ours)"
OURS = ("hmd", "hmd prior=size")
OTHERS = ("bdeu:1", "bdeu:10", "qnml", "pcart", "pcartp")


def cell(method: str, **parameters: Any) -> dict[str, Any]:
    """One sample, one score with its prior over parent sets."""
    score, _, prior = method.partition(" prior=")
    return curve.cell(method=score, settings={"prior": prior} if prior else None, **parameters)


def report(rows: Sequence[Row], folder: Path) -> str:
    """The findings, then the tables and curves of the distances."""
    text = "## Findings\n\nThe mean of SHD of HMD minus SHD of the other; less is nearer to the truth.\n\n"
    return text + summary(findings(rows)) + "\n" + curve.report(rows, folder)


def findings(rows: Sequence[Row]) -> list[Finding]:
    """Each of ours against each other score, between DAGs and between classes."""
    found = []
    for key, level in curve.LEVELS.items():
        for first in OURS:
            for second in OTHERS:
                a, b = _distances(rows, first, key), _distances(rows, second, key)
                both = sorted(a.keys() & b.keys())
                if len(both) >= 2:
                    test = wilcoxon_of([a[at] for at in both], [b[at] for at in both])
                    found.append(Finding(PAPER, f"{first} is nearer than {second}, {level}", less([test]), test.words))
    return found


def _distances(rows: Sequence[Row], method: str, key: str) -> dict[tuple[Any, ...], float]:
    return {
        tuple(row["cell"][name] for name in ("network", "rows", "repeat")): row["result"][key]
        for row in rows
        if row["status"] == "done" and row["cell"]["method"] == method
    }
