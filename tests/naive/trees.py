"""C4.5 as it is defined, by recursion over lists of rows; entropies by formula, nothing incremental."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

Row = tuple[Sequence[float], int, float]
"""Values (None for unknown), class, weight."""


@dataclass
class Node:
    counts: list[float]
    attribute: int = -1
    cut: float = math.nan
    children: dict[int, Node] = field(default_factory=dict)


def entropy(weights: Sequence[float]) -> float:
    total = sum(weights)
    return -sum(w / total * math.log2(w / total) for w in weights if w > 0) if total > 0 else 0.0


def by_class(rows: Sequence[Row], C: int) -> list[float]:
    counts = [0.0] * C
    for _, y, w in rows:
        counts[y] += w
    return counts


def branch(value: Any, nominal: bool, cut: float, third: bool) -> int | None:
    if value is None:
        return 2 if third and not nominal else None
    return int(value) if nominal else (0 if value <= cut else 1)


def evaluate(
    rows: Sequence[Row], a: int, cut: float, nominal: bool, third: bool, C: int
) -> tuple[float, float, dict[int, list[Row]]]:
    """Information gain in bits per row, split information, and the known rows by branch."""
    parts: dict[int, list[Row]] = {}
    for row in rows:
        b = branch(row[0][a], nominal, cut, third)
        if b is not None:
            parts.setdefault(b, []).append(row)
    total = sum(w for *_, w in rows)
    known = [row for part in parts.values() for row in part]
    weight = sum(w for *_, w in known)
    after = sum(sum(w for *_, w in part) * entropy(by_class(part, C)) for part in parts.values())
    gain = (weight * entropy(by_class(known, C)) - after) / total
    split = entropy([*(sum(w for *_, w in part) for part in parts.values()), total - weight])
    return gain, split, parts


def best_cut(
    rows: Sequence[Row], a: int, third: bool, C: int, minimum: float, mdl: bool
) -> tuple[float, float, float] | None:
    """(cut, gain, gain ratio) of a numeric attribute."""
    total = sum(w for *_, w in rows)
    known = [row for row in rows if row[0][a] is not None]
    weight = sum(w for *_, w in known)
    least = 0.1 * weight / C
    least = minimum if least <= minimum + 1e-6 else min(least, 25.0)
    values = sorted({row[0][a] for row in known})
    tried, best = 0, (0.0, math.nan)
    for value in values[:-1]:
        left = sum(w for v, _, w in known if v[a] <= value)
        if left < least - 1e-6 or weight - left < least - 1e-6:
            continue
        tried += 1
        gain = evaluate(known, a, value, False, False, C)[0] * weight / total
        if gain > best[0] + 1e-6 / math.log(2):
            best = gain, value
    cut = best[1]
    if math.isnan(cut):
        if not third or weight < minimum - 1e-6 or total - weight < minimum - 1e-6:
            return None
        cut, tried = math.inf, 1
    gain, split, _ = evaluate(rows, a, cut, False, third, C)
    gain -= math.log2(tried) / total if mdl else 0.0
    return None if gain <= 1e-6 else (cut, gain, gain / split if split > 1e-6 else 0.0)


def grow(
    rows: Sequence[Row], levels: Sequence[int], third: Sequence[bool], C: int, minimum: float, mdl: bool,
    by_gain: bool = False,
) -> Node:  # fmt: skip
    node = Node(by_class(rows, C))
    total = sum(node.counts)
    if total < 2 * minimum - 1e-6 or total - max(node.counts) <= 1e-6:
        return node
    found: list[tuple[int, float, float, float]] = []
    for a, size in enumerate(levels):
        if size:
            gain, split, parts = evaluate(rows, a, math.nan, True, False, C)
            if sum(sum(w for *_, w in part) >= minimum - 1e-6 for part in parts.values()) >= 2:
                found.append((a, math.nan, gain, gain / split if split > 1e-6 else 0.0))
        elif (cut := best_cut(rows, a, third[a], C, minimum, mdl)) is not None:
            found.append((a, *cut))
    best = None
    for a, cut, gain, ratio in found:
        ratio = gain if by_gain else ratio
        if gain >= sum(f[2] for f in found) / len(found) - 1e-3 and ratio > (best[2] if best else 0.0) + 1e-6:
            best = a, cut, ratio
    if best is None:
        return node
    a, cut, _ = best
    parts = evaluate(rows, a, cut, levels[a] > 0, third[a], C)[2]
    lost = [row for row in rows if branch(row[0][a], levels[a] > 0, cut, third[a]) is None]
    weight = sum(w for part in parts.values() for *_, w in part)
    node.attribute, node.cut = a, cut
    for b in sorted(parts):
        share = sum(w for *_, w in parts[b]) / weight
        below = parts[b] + [(v, y, w * share) for v, y, w in lost]
        node.children[b] = grow(below, levels, third, C, minimum, mdl, by_gain)
    return node


def posterior(
    node: Node, values: Sequence[Any], levels: Sequence[int], third: Sequence[bool], answer: Any
) -> list[float]:
    """The answers of the nodes where a row ends, weighed by the training rows of the branches."""
    if not node.children:
        return answer(node)
    a = node.attribute
    b = branch(values[a], levels[a] > 0, node.cut, third[a])
    if b in node.children:
        return posterior(node.children[b], values, levels, third, answer)
    if b is not None:
        return answer(node)
    total = sum(sum(child.counts) for child in node.children.values())
    out = [0.0] * len(node.counts)
    for child in node.children.values():
        part = posterior(child, values, levels, third, answer)
        out = [o + sum(child.counts) / total * p for o, p in zip(out, part, strict=True)]
    return out
