"""Phase I against Phase II: the CPU time of both, and how many candidate sets are left for the second.

A study without cells of its own: it reads the rows of recovery and intersection, where every learned network reports
`score_cpu`, `solve_cpu`, `families` and `kept`. PCART and PCARTP (FT and FTP) of one sample share their trees (see
`learning`), so both report that time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from optbn.experiments.evidence import counted
from optbn.experiments.verdicts import Finding, less, signs_of, summary
from optbn.report.tables import Series, curves, table

Row = Mapping[str, Any]


def report(rows: Sequence[Row], folder: Path) -> str:
    """What dominates, in words and numbers; then means per study, network or data set, score and size."""
    done = [row for row in rows if row["status"] == "done" and "score_cpu" in row["result"]]
    parts = [summary(findings(rows)), _share(done)]
    for study in dict.fromkeys(row["study"] for row in done):
        parts.append(section(study, [row for row in done if row["study"] == study], folder))
    return "\n".join(parts)


def findings(rows: Sequence[Row]) -> list[Finding]:
    """Who is faster in Phase II, by the means of every subject and size; and which phase takes the time."""
    done = [row for row in rows if row["status"] == "done" and "score_cpu" in row["result"]]
    seconds: dict[tuple[str, str, int, str], list[float]] = {}
    for row in done:
        at = (row["study"], _subject(row), _size(row), row["cell"]["method"])
        seconds.setdefault(at, []).append(row["result"]["solve_cpu"])
    means = {at: float(np.mean(values)) for at, values in seconds.items()}
    found = []
    for first, second in (("pcartp", "ftp"), ("pcartp", "pcart"), ("ftp", "ft")):
        for study in dict.fromkeys(row["study"] for row in done):
            pairs = [
                (mean, means[*at[:3], second])
                for at, mean in means.items()
                if at[0] == study and at[3] == first and (*at[:3], second) in means
            ]
            if pairs:
                a, b = map(np.array, zip(*pairs, strict=True))
                test = signs_of(a, b, 0.0)
                figure = f"faster in {int((a < b).sum())} of {len(a)} means, {a.sum():.0f} s against {b.sum():.0f} s; "
                claim = f"{first} has a faster Phase II than {second} ({study})"
                found.append(Finding("PCART", claim, less([test]), figure + test.words))
    return found


def _share(done: Sequence[Row]) -> str:
    """Which phase takes the time, by score."""
    body = []
    for study in dict.fromkeys(row["study"] for row in done):
        for score in dict.fromkeys(row["cell"]["method"] for row in done if row["study"] == study):
            some = [row["result"] for row in done if (row["study"], row["cell"]["method"]) == (study, score)]
            first, second = (np.array([r[key] for r in some]) for key in ("score_cpu", "solve_cpu"))
            kept = np.array([r["kept"] / r["families"] for r in some])
            share = second.sum() / (first.sum() + second.sum())
            body.append([study, score, str(len(some)), f"{first.sum():.0f}", f"{second.sum():.0f}"])
            body[-1] += [f"{100 * share:.0f} %", f"{100 * (second > first).mean():.0f} %"]
            body[-1] += [f"{second.max():.1f}", f"{100 * kept.mean():.2f} %"]
    head = ["study", "score", "networks", "phase I s", "phase II s", "phase II of all", "more than phase I in"]
    head += ["longest phase II s", "sets that survive"]
    text = (
        f"CPU seconds on one core; {counted([row['result'] for row in done])}. Phase I scores"
        " every candidate parent set, phase II searches the best network among those that survive the pruning. PCART"
        " and PCARTp (and FT and FTp) of one sample share phase I; either has its whole time here. The first cells of"
        " a run carry what compiling costs, or reading the compiled code.\n\n## Which phase takes the time\n\n"
    )
    return text + table(head, body)


def section(name: str, done: Sequence[Row], folder: Path) -> str:
    """Means by network or data set, score and number of rows; pictures `name`-seconds.svg and `name`-kept.svg."""
    seconds: Series = {}
    kept: Series = {}
    body = []
    for subject in dict.fromkeys(_subject(row) for row in done):
        mine = [row for row in done if _subject(row) == subject]
        for score in dict.fromkeys(row["cell"]["method"] for row in mine):
            for size in sorted({_size(row) for row in mine}):
                some = [r["result"] for r in mine if (r["cell"]["method"], _size(r)) == (score, size)]
                if not some:
                    continue
                keys = ("score_cpu", "solve_cpu", "kept", "families")
                mean = {key: float(np.mean([r[key] for r in some])) for key in keys}
                body.append([subject, score, str(size), str(len(some))])
                body[-1] += [f"{mean['score_cpu']:.2f}", f"{mean['solve_cpu']:.2f}"]
                body[-1] += [f"{max(r['solve_cpu'] for r in some):.2f}"]
                body[-1] += [f"{mean['families']:,.0f}", f"{mean['kept']:,.0f}"]
                for key, label in (("score_cpu", f"{score}, phase I"), ("solve_cpu", f"{score}, phase II")):
                    seconds.setdefault((subject, label), []).append((size, max(mean[key], 1e-3)))
                kept.setdefault((subject, score), []).append((size, mean["kept"]))
    curves(folder / f"{name}-seconds.svg", seconds, "rows", "CPU seconds", logarithmic=True)
    curves(folder / f"{name}-kept.svg", kept, "rows", "candidate sets that survive", logarithmic=True)
    head = [
        "",
        "score",
        "rows",
        "networks",
        "phase I s",
        "phase II s",
        "longest phase II s",
        "sets scored",
        "sets kept",
    ]
    return (
        f"## {name.capitalize()}\n\n![seconds]({name}-seconds.svg)\n![candidate sets]({name}-kept.svg)\n\n"
        "CPU seconds and candidate sets, means over the repeats.\n\n" + table(head, body)
    )


def _subject(row: Row) -> str:
    return str(row["cell"].get("network") or row["cell"]["data"])


def _size(row: Row) -> int:
    return int(row["result"].get("rows") or row["cell"]["rows"])
