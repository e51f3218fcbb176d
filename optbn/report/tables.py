"""Markdown tables and curves for generated reports."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

Series = dict[tuple[str, str], list[tuple[float, ...]]]  # (panel, line) -> points (x, y) or (x, y, spread of y)
DASHES = ("-", "--", ":", "-.")


def table(head: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    """A markdown table."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(row) + " |" for row in body]
    return "\n".join(lines) + "\n"


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
        from matplotlib import rcParams
        from matplotlib.figure import Figure
    except ImportError:
        return
    rcParams["svg.hashsalt"] = "optbn"  # the same picture has the same bytes
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
    figure.savefig(path, metadata={"Date": None})
