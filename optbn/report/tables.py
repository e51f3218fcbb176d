"""Tables and curves of generated reports: markdown, and from that LaTeX and csv for papers."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from optbn.base.pictures import save

Series = dict[tuple[str, str], list[tuple[float, ...]]]  # (panel, line) -> points (x, y) or (x, y, spread of y)
DASHES = ("-", "--", ":", "-.")


class Table(NamedTuple):
    """A table of a report, and the headings above it."""

    title: str
    head: list[str]
    body: list[list[str]]


def table(head: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    """A markdown table."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(row) + " |" for row in body]
    return "\n".join(lines) + "\n"


def tables_of(markdown: str) -> Iterator[Table]:
    """The tables of a report."""
    titles: dict[int, str] = {}
    rows: list[list[str]] = []
    for line in [*markdown.splitlines(), ""]:
        if match := re.match(r"(#+) (.*)", line):
            titles = {level: title for level, title in titles.items() if level < len(match[1])}
            titles[len(match[1])] = match[2]
        if line.startswith("|"):
            rows.append([cell.strip() for cell in line.strip().strip("|").split("|")])
        elif rows:
            head, _, *body = rows
            yield Table(", ".join(title for level, title in sorted(titles.items()) if level > 1), head, body)
            rows = []


def latex(found: Table) -> str:
    """The table with booktabs' rules: the first column left, the others right."""
    lines = [
        f"% {found.title}",
        f"\\begin{{tabular}}{{l{'r' * (len(found.head) - 1)}}}",
        "\\toprule",
        " & ".join(map(_tex, found.head)) + r" \\",
        "\\midrule",
        *(" & ".join(map(_tex, row)) + r" \\" for row in found.body),
        "\\bottomrule",
        "\\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def as_csv(found: Table) -> str:
    """The table as csv, without what only looks."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([_plain(cell) for cell in row] for row in [found.head, *found.body])
    return text.getvalue()


def _plain(cell: str) -> str:
    return re.sub(r"\*\*(.*?)\*\*|\[(.*?)\]\(.*?\)", lambda match: match[1] or match[2] or "", cell)


def _tex(cell: str) -> str:
    bold = cell.startswith("**") and cell.endswith("**")
    text = re.sub(r"([&%$#_{}])", r"\\\1", _plain(cell).replace("\\", r"\textbackslash "))
    for sign, command in (
        ("±", r"$\pm$"),
        ("∞", r"$\infty$"),
        ("~", r"\textasciitilde "),
        ("^", r"\^{}"),
        ("<", "$<$"),
        (">", "$>$"),
    ):
        text = text.replace(sign, command)
    return rf"\textbf{{{text}}}" if bold else text


def mean_and_error(values: Sequence[float]) -> str:
    """ "12.3 ± 0.4", the mean and its standard error; empty when there is nothing."""
    if not values:
        return ""
    if len(values) == 1:
        return f"{values[0]:.1f}"
    return f"{np.mean(values):.1f} ± {standard_error(values):.1f}"


def standard_error(values: Sequence[float]) -> float:
    """Of the mean; 0.0 of a single value, of which nothing is known."""
    return float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0


def half_interval(values: Sequence[float], level: float = 0.95) -> float:
    """Half the width of Student's interval for the mean; 0.0 of a single value."""
    if len(values) < 2:
        return 0.0
    from scipy.stats import t

    return float(t.ppf((1 + level) / 2, len(values) - 1)) * standard_error(values)


def curves(
    path: Path,
    series: Series,
    across: str,
    up: str,
    logarithmic: bool = False,
) -> None:
    """One panel per first key, one line per second, x on a logarithmic axis; skipped where matplotlib is missing.

    Lines called "a, x" and "a, y" have one colour and differ in their dashes.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return
    panels = list(dict.fromkeys(panel for panel, _ in series))
    if not panels:
        return
    figure = Figure(figsize=(4.2 * len(panels), 3.6), layout="constrained")
    axes = figure.subplots(1, len(panels), squeeze=False)[0]
    labels = list(dict.fromkeys(label for _, label in series))
    names, kinds = (list(dict.fromkeys(label.partition(", ")[at] for label in labels)) for at in (0, 2))
    for axis, panel in zip(axes, panels, strict=True):
        for label in labels:
            name, _, kind = label.partition(", ")
            colour, dashes = names.index(name), kinds.index(kind) + names.index(name) // 10
            points = sorted(series.get((panel, label), ()))
            if points:
                x, y, *spread = zip(*points, strict=True)
                look = {"marker": "o", "ms": 3, "lw": 1.2, "color": f"C{colour % 10}", "ls": DASHES[dashes % 4]}
                axis.errorbar(x, y, *spread, label=label, elinewidth=0.7, capsize=1.5, **look)
        axis.set_xscale("log")
        if logarithmic:
            axis.set_yscale("log")
        axis.set_title(panel, fontsize=10)
        axis.set_xlabel(across)
    axes[0].set_ylabel(up)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=8, frameon=False)
    save(figure, path)
