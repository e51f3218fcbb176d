"""Networks and distributions for LaTeX: a tikzpicture of the graph (standalone), a booktabs table of a distribution."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from optbn.network.cpds import CPD
from optbn.network.layout import layered
from optbn.network.render import cpd_rows

SPECIAL = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": "$<$", ">": "$>$"}
SCALE = 0.026  # centimetres per pixel of the layout


def graph_latex(
    names: Sequence[str], arcs: Sequence[tuple[str, str]], undirected: Collection[tuple[str, str]] = ()
) -> str:
    """A document that compiles by itself to a tight picture; the tikzpicture in it can be taken as it is."""
    at = {name: i for i, name in enumerate(names)}
    layout = layered([22 + 7.2 * len(name) for name in names], [(at[a], at[b]) for a, b in arcs])
    lines = [r"\documentclass[tikz]{standalone}", r"\usetikzlibrary{arrows.meta}", r"\begin{document}"]
    lines += [r"\begin{tikzpicture}[>=Stealth, every node/.style={draw, rounded corners, font=\small}]"]
    for i, (name, (x, y)) in enumerate(zip(names, layout.positions, strict=True)):
        lines.append(rf"  \node (v{i}) at ({SCALE * x:.2f}, {-SCALE * y:.2f}) {{{escaped(name)}}};")
    for arc, route in zip(arcs, layout.routes, strict=True):
        bends = "".join(f" .. controls ({SCALE * x:.2f}, {-SCALE * y:.2f})" for x, y in route[:2])
        way = f"{bends.replace(' .. controls', ' and', 2).replace(' and', ' .. controls', 1)} .. " if route else " -- "
        lines.append(rf"  \draw[{'-' if arc in undirected else '->'}] (v{at[arc[0]]}){way}(v{at[arc[1]]});")
    return "\n".join([*lines, r"\end{tikzpicture}", r"\end{document}", ""])


def cpd_latex(name: str, cpd: CPD) -> str:
    """A table with booktabs' rules: the parents' columns, then the numbers."""
    head, rows = cpd_rows(cpd)
    words = len(head) - sum(isinstance(value, float) for value in rows[0])
    given = rf" \mid {', '.join(map(_math, cpd.parents))}" if cpd.parents else ""
    kinds = "l" * words + "r" * (len(head) - words)
    lines = [rf"% $P({_math(name)}{given})$; needs \usepackage{{booktabs}}", rf"\begin{{tabular}}{{{kinds}}}"]
    lines += [r"\toprule", " & ".join(map(escaped, head)) + r" \\", r"\midrule"]
    for row in rows:
        cells = (f"{value:.4g}" if isinstance(value, float) else escaped(str(value)) for value in row)
        lines.append(" & ".join(cells) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def escaped(words: str) -> str:
    """Words as LaTeX prints them."""
    parts = (SPECIAL.get(c, re.sub(r"([#$%&_{}])", r"\\\1", c)) if c.isprintable() else " " for c in words)
    return "".join(parts)


def _math(words: str) -> str:
    return rf"\textrm{{{escaped(words)}}}"
