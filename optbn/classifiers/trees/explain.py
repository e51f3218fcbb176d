"""Trees in words: the whole tree as text or for Graphviz, and one row's way through it.

A prediction is explained by its path: the question at every node, the rows there by class, and the smoothed estimate,
so that one sees how every ancestor moved it and what the leaf's own frequencies would have said. A row with an unknown
value takes several paths; each says its share.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from optbn.classifiers.trees.member import TreeMember
from optbn.network.formats.dot import digraph, quoted

LARGEST_LABEL = 6
"""Classes of which counts and probabilities are shown; of more the most frequent ones."""


@dataclass(frozen=True, eq=False)
class Step:
    """condition     what led here from the node above, in words
    share         the part of the row that comes here (1 unless a value is unknown)
    counts        float64[C], training rows here
    frequencies   float64[C], what they alone say (uniform of none)
    estimate      float64[C], the smoothed probabilities here
    change        float64[C], by how much the step moved the estimate
    """

    condition: str
    share: float
    counts: NDArray[np.float64]
    frequencies: NDArray[np.float64]
    estimate: NDArray[np.float64]
    change: NDArray[np.float64]
    depth: int
    ends: bool


@dataclass(frozen=True, eq=False)
class Explanation:
    """steps from the root down; the probabilities are the estimates where the row ends, weighed by their shares."""

    classes: tuple[str, ...]
    steps: tuple[Step, ...]
    probabilities: NDArray[np.float64]

    def __str__(self) -> str:
        shown = np.sort(np.argsort(-self.probabilities, kind="stable")[:LARGEST_LABEL])
        width = max(len(step.condition) + 2 * step.depth for step in self.steps)
        lines = []
        for step in self.steps:
            share = f" ({step.share:.2f} of the row)" if step.share < 1 else ""
            parts = [
                f"{self.classes[c]} {step.estimate[c]:.3f} ({step.change[c]:+.3f}; {step.counts[c]:g} rows)"
                for c in shown
            ]
            lines.append(f"{'  ' * step.depth + step.condition:<{width}}{share}  {', '.join(parts)}")
        best = int(self.probabilities.argmax())
        lines.append(f"predicted: {self.classes[best]} {self.probabilities[best]:.3f}")
        return "\n".join(lines)


def explanation(member: TreeMember, values: NDArray[np.float64], classes: Sequence[str]) -> Explanation:
    """The way of one row, float64[A]."""
    tree = member.tree
    path = tree.path(values.tolist())
    visited = {node for node, _ in path}
    steps = []
    total = np.zeros(len(classes))
    for node, share in path:
        inside = range(int(tree.first[node]), int(tree.first[node] + tree.children[node]))
        ends = not any(k in visited for k in inside)
        estimate = member.probabilities[node] if ends else member.inside[node]
        above = member.inside[tree.parent[node]] if node else np.full(len(classes), 1 / len(classes))
        rows = tree.counts[node].sum()
        frequencies = tree.counts[node] / rows if rows else np.full(len(classes), 1 / len(classes))
        steps.append(
            Step(
                condition(member, node) if node else "all rows", share, tree.counts[node], frequencies, estimate,
                estimate - above, int(tree.depth[node]), ends,
            )
        )  # fmt: skip
        if ends:
            total += share * estimate
    return Explanation(tuple(classes), tuple(steps), total / total.sum())


def condition(member: TreeMember, node: int) -> str:
    """What leads from the node above to this one."""
    tree = member.tree
    above, branch = int(tree.parent[node]), int(tree.branch[node])
    a = int(tree.attribute[above])
    column = member.columns[a]
    if column.levels is not None:
        return f"{column.name} = {column.labels[branch]}"
    if branch == 2:
        return f"{column.name} is missing"
    if np.isinf(tree.cut[above]):
        return f"{column.name} is known"
    return f"{column.name} {'<=' if branch == 0 else '>'} {tree.cut[above]:.12g}"


def text(member: TreeMember, classes: Sequence[str], max_depth: int | None) -> str:
    """One line per node, children indented."""
    lines, waiting = [], [0]
    tree = member.tree
    while waiting:
        node = waiting.pop()
        depth = int(tree.depth[node])
        children = range(int(tree.first[node]), int(tree.first[node] + tree.children[node]))
        hidden = max_depth is not None and depth >= max_depth and len(children) > 0
        line = "  " * depth + (condition(member, node) if node else "all rows")
        line += ": " + _summary(member, node, classes)
        lines.append(line + (" ..." if hidden else ""))
        if not hidden:
            waiting += reversed(children)
    return "\n".join(lines) + "\n"


def dot(member: TreeMember, classes: Sequence[str], max_depth: int | None) -> str:
    """A digraph; inner nodes show the attribute, edges the condition."""
    tree = member.tree
    lines = ["node [shape=box, fontname=Helvetica]; edge [fontname=Helvetica]"]
    for node in range(tree.size):
        depth = int(tree.depth[node])
        if max_depth is not None and depth > max_depth:
            continue
        inner = tree.children[node] > 0 and (max_depth is None or depth < max_depth)
        head = member.columns[int(tree.attribute[node])].name + "\n" if inner else ""
        style = "" if inner else ", style=rounded"
        lines.append(f"n{node} [label={quoted(head + _summary(member, node, classes))}{style}]")
        if node:
            lines.append(f"n{int(tree.parent[node])} -> n{node} [label={quoted(condition(member, node))}]")
    return digraph(lines, "tree")


def _summary(member: TreeMember, node: int, classes: Sequence[str]) -> str:
    p, counts = member.inside[node], member.tree.counts[node]
    shown = np.sort(np.argsort(-p, kind="stable")[:LARGEST_LABEL])
    return ", ".join(f"{classes[c]} {p[c]:.3f} ({counts[c]:g})" for c in shown)
