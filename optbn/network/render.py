"""Networks and local distributions as plain text."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from optbn.data.dataset import Categorical, Domain
from optbn.network.cpds import CPD, BinnedTableCPD, TableCPD, TreeCPD
from optbn.network.leaves import CategoricalLeaves, MixedLeaves, NormalLeaves, StudentLeaves
from optbn.network.moments import moments
from optbn.network.tree import Split

if TYPE_CHECKING:
    from optbn.network.network import BayesianNetwork


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
    titles, leaves = leaf_texts(cpd)
    if isinstance(cpd, TableCPD | BinnedTableCPD):
        rows = [(*cpd.parents, *titles)]
        for cell, leaf in enumerate(leaves):
            rows.append((*cpd.configuration(cell), *leaf))
        return head + columns(rows, right=range(len(cpd.parents), len(rows[0])))
    lines: list[str] = []
    for depth, condition, end in _walk(cpd):
        shown = None if end is None else ", ".join(_shown(cpd, end, titles, leaves[end]))
        lines.append("  " * depth + ": ".join(part for part in (condition, shown) if part))
    return head + "\n".join(lines)


def _shown(cpd: TreeCPD, leaf: int, titles: Sequence[str], values: Sequence[str]) -> Iterator[str]:
    """The parts of a leaf's line; levels of a run together."""
    leaves, runs = cpd.leaves, list(range(len(titles)))
    if isinstance(leaves, CategoricalLeaves) and leaves.runs is not None:
        runs = leaves.runs[leaf].tolist()
    for _, run in groupby(zip(titles, values, runs, strict=True), key=lambda part: part[2]):
        (first, value, _), *others = run
        yield f"{first} to {others[-1][0]} {value} each" if others else f"{first} {value}"


def cpd_rows(cpd: CPD) -> tuple[list[str], list[tuple[object, ...]]]:
    """A head and a row per cell: the parents' levels, or what is true in a leaf of a tree, then the leaf's numbers."""
    titles, leaves = leaf_texts(cpd)[0], cpd.leaves
    if isinstance(leaves, CategoricalLeaves):
        numbers = leaves.probabilities.tolist()
    else:
        law = leaves.numbers if isinstance(leaves, MixedLeaves) else leaves
        fields = [column.tolist() for column in _columns(law)]
        fields = [leaves.absent.tolist(), *fields] if isinstance(leaves, MixedLeaves) else fields
        numbers = list(zip(*fields, strict=True))
    if isinstance(cpd, TableCPD | BinnedTableCPD):
        return [*cpd.parents, *titles], [(*cpd.configuration(cell), *row) for cell, row in enumerate(numbers)]
    rows: list[tuple[object, ...]] = []
    path: list[str] = []
    for depth, condition, leaf in _walk(cpd):
        path[depth:] = [condition] if condition else []
        if leaf is not None:
            rows.append((" and ".join(path) or "always", *numbers[leaf]))
    return ["where", *titles], rows


def _walk(cpd: TreeCPD) -> Iterator[tuple[int, str, int | None]]:
    """The branches of a tree in order, left before right: depth, what is true on it, and the leaf at its end if any."""
    nodes, possible = cpd.tree.nodes(cpd.parent_domains), possible_levels(cpd)
    stack = [(0, -1, "")]
    while stack:
        number, depth, condition = stack.pop()
        node = nodes[number]
        if condition or not isinstance(node, Split):
            yield max(depth, 0), condition, None if isinstance(node, Split) else node
        if isinstance(node, Split):
            parent, here = cpd.parents[node.parent], possible[number][node.parent]
            left, right = conditions(parent, cpd.parent_domains[node.parent], node, here)
            stack += [(node.right, depth + 1, right), (node.left, depth + 1, left)]


def possible_levels(cpd: TreeCPD) -> list[list[frozenset[int]]]:
    """Per node and parent the levels that can still occur there; of a real parent none."""
    nodes = cpd.tree.nodes(cpd.parent_domains)
    everything = [frozenset(range(len(d.levels)) if isinstance(d, Categorical) else ()) for d in cpd.parent_domains]
    found = [everything for _ in nodes]
    for i, node in enumerate(nodes):  # parents come before children
        if isinstance(node, Split):
            left = frozenset(node.goes_left if isinstance(node.goes_left, tuple) else ())
            for child, side in ((node.left, found[i][node.parent] & left), (node.right, found[i][node.parent] - left)):
                found[child] = [side if p == node.parent else levels for p, levels in enumerate(found[i])]
    return found


def conditions(name: str, domain: Domain, node: Split, possible: frozenset[int]) -> tuple[str, str]:
    """What is true on the left and on the right of a split, where only some levels can occur; without a name the values
    alone."""
    if not isinstance(domain, Categorical) or not isinstance(node.goes_left, tuple):
        if node.goes_left == math.inf:
            return f"{name} is a number", f"{name} is missing"
        return f"{name} < {node.goes_left:g}", f"{name} >= {node.goes_left:g}"
    sides: list[list[str]] = [[], []]
    for code in sorted(possible):
        sides[code not in node.goes_left].append(domain.levels[code])
    left, right = (f"{name} in {{{', '.join(side)}}}" if name else ", ".join(side) for side in sides)
    return left, right


def leaf_texts(cpd: CPD) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
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
        return ("mean", "sd"), [(f"{m:.6g}", f"{s:.6g}") for m, s in zip(*_columns(leaves), strict=True)]
    values = zip(leaves.location, leaves.scale, leaves.dof, strict=True)
    return ("location", "scale", "dof"), [(f"{m:.6g}", f"{s:.6g}", f"{d:.6g}") for m, s, d in values]


def _columns(leaves: NormalLeaves | StudentLeaves) -> tuple[np.ndarray[Any, Any], ...]:
    """Mean and standard deviation of the numbers within their support; of a Student-t its parameters."""
    if isinstance(leaves, StudentLeaves):
        return leaves.location, leaves.scale, leaves.dof
    if not leaves.support.bounded:
        return leaves.mean, leaves.sd
    mean, variance = moments(leaves, np.zeros(0))
    return mean[:, 0], np.sqrt(variance[:, 0])
