"""Networks and local distributions as plain text."""

from __future__ import annotations

import math
from collections.abc import Sequence

from optbn.data.dataset import Categorical, Domain
from optbn.network.cpds import CPD, BinnedTableCPD, TableCPD
from optbn.network.leaves import CategoricalLeaves, MixedLeaves, NormalLeaves, StudentLeaves
from optbn.network.network import BayesianNetwork
from optbn.network.tree import Split


def columns(rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> str:
    """Rows of cells as aligned columns; those numbered in `right` are aligned right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [
            cell.rjust(w) if i in right else cell.ljust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def network_text(network: BayesianNetwork) -> str:
    """Counts, then a line per variable: its domain and its parents."""
    rows = [("variable", "values", "parents")]
    for name, domain in zip(network.names, network.domains, strict=True):
        rows.append((name, _domain(domain), ", ".join(network.parents(name))))
    title = f"{network.name}: " if network.name else ""
    counts = f"{network.n_variables} variables, {network.n_arcs} arcs, {network.n_parameters} parameters"
    return f"{title}{counts}\n\n{columns(rows)}"


def _domain(domain: Domain, limit: int = 60) -> str:
    if not isinstance(domain, Categorical):
        return f"real, {domain.low:g} to {domain.high:g}"
    text = (" < " if domain.ordered else ", ").join(domain.levels)
    return text if len(text) <= limit else f"{text[: limit - 3]}... ({len(domain.levels)} levels)"


def cpd_text(name: str, cpd: CPD) -> str:
    """The distribution of a variable: a row per configuration, or the tree."""
    given = f" | {', '.join(cpd.parents)}" if cpd.parents else ""
    head = f"P({name}{given})\n\n"
    titles, leaves = _leaves(cpd)
    if isinstance(cpd, TableCPD | BinnedTableCPD):
        rows = [(*cpd.parents, *titles)]
        for cell, leaf in enumerate(leaves):
            rows.append((*cpd.configuration(cell), *leaf))
        return head + columns(rows, right=range(len(cpd.parents), len(rows[0])))
    nodes = cpd.tree.nodes(cpd.parent_domains)
    lines = []
    stack = [(0, "", "")]
    while stack:
        number, indent, condition = stack.pop()
        node = nodes[number]
        if not isinstance(node, Split):
            shown = ", ".join(f"{title} {value}" for title, value in zip(titles, leaves[node], strict=True))
            lines.append(f"{indent}{condition}: {shown}" if condition else shown)
            continue
        if condition:
            lines.append(f"{indent}{condition}")
            indent += "  "
        left, right = _conditions(cpd.parents[node.parent], cpd.parent_domains[node.parent], node)
        stack += [(node.right, indent, right), (node.left, indent, left)]
    return head + "\n".join(lines)


def _conditions(name: str, domain: Domain, node: Split) -> tuple[str, str]:
    """What is true on the left and on the right of a split."""
    if isinstance(domain, Categorical) and isinstance(node.goes_left, tuple):
        left = [level for code, level in enumerate(domain.levels) if code in node.goes_left]
        right = [level for code, level in enumerate(domain.levels) if code not in node.goes_left]
        return f"{name} in {{{', '.join(left)}}}", f"{name} in {{{', '.join(right)}}}"
    if node.goes_left == math.inf:
        return f"{name} is a number", f"{name} is missing"
    return f"{name} < {node.goes_left:g}", f"{name} >= {node.goes_left:g}"


def _leaves(cpd: CPD) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Titles, and the values of every leaf as text."""
    leaves = cpd.leaves
    if isinstance(leaves, CategoricalLeaves) and isinstance(cpd.domain, Categorical):
        return cpd.domain.levels, [tuple(f"{p:.4g}" for p in row) for row in leaves.probabilities.tolist()]
    if isinstance(leaves, MixedLeaves):
        titles, rows = _numbers(leaves.numbers)
        return ("missing", *titles), [(f"{p:.4g}", *row) for p, row in zip(leaves.absent, rows, strict=True)]
    assert not isinstance(leaves, CategoricalLeaves)
    return _numbers(leaves)


def _numbers(leaves: NormalLeaves | StudentLeaves) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    if isinstance(leaves, NormalLeaves):
        return ("mean", "sd"), [(f"{m:.6g}", f"{s:.6g}") for m, s in zip(leaves.mean, leaves.sd, strict=True)]
    values = zip(leaves.location, leaves.scale, leaves.dof, strict=True)
    return ("location", "scale", "dof"), [(f"{m:.6g}", f"{s:.6g}", f"{d:.6g}") for m, s, d in values]
