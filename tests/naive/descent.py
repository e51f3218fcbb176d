"""Slow twins of optbn/scores/descent.py: rows as tuples, groups as dictionaries, the search as a recursion."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

MARGIN = 1e-9


def entropy(counts: Any) -> float:
    n = sum(counts)
    return n * math.log(n) - sum(c * math.log(c) for c in counts if c)


def alone(counts: Any, strength: float, r: int) -> float:
    """What levels with these counts cost in an urn of their own beside log r each and log 1/strength per level more."""
    parts = [math.lgamma(c) + strength / r * sum(1 / i for i in range(1, c)) for c in counts]
    return math.lgamma(sum(counts)) - sum(parts)


@dataclass
class Problem:
    """rows of levels, with a weight each; levels by column; the prior's rows; the child; best known scores by set."""

    rows: list[tuple[int, ...]]
    weights: list[int]
    levels: list[int]
    prior: float
    child: int
    known: dict[frozenset[int], float]
    size: int
    most: int
    found: set[frozenset[int]] = field(default_factory=set)

    @property
    def r(self) -> int:
        return self.levels[self.child]

    def tables(self, members: frozenset[int]) -> dict[tuple[int, ...], Counter[int]]:
        """Counts of the child's levels, by configuration."""
        out: dict[tuple[int, ...], Counter[int]] = defaultdict(Counter)
        for row, weight in zip(self.rows, self.weights, strict=True):
            out[tuple(row[u] for u in sorted(members))][row[self.child]] += weight
        return out

    def strength(self, members: frozenset[int]) -> float:
        return self.prior / math.prod(self.levels[u] for u in members)

    def cells(self, members: frozenset[int]) -> int:
        return sum(len(counts) for counts in self.tables(members).values())

    def mixed_cost(self, members: frozenset[int], after: frozenset[int], strength: float) -> float:
        """What is paid beside log r per cell by all sets between `members` and `members` with all those after it."""
        if strength >= 1:
            return 0.0
        price, at = -math.log(strength), sorted(members)
        blocks: dict[tuple[int, ...], list[Counter[int]]] = defaultdict(list)
        for row, counts in self.tables(members | after).items():
            if len(counts) > 1:
                named = dict(zip(sorted(members | after), row, strict=True))
                blocks[tuple(named[u] for u in at)].append(counts)
        total = 0.0
        for groups in blocks.values():
            beside = [min(price, entropy(counts.values())) for counts in groups]
            first = [max(0.0, alone(counts.values(), strength, self.r)) for counts in groups]
            total += price + max(own + sum(beside) - one for own, one in zip(first, beside, strict=True))
        return total

    def least_cost(self, members: frozenset[int], after: frozenset[int]) -> float:
        """No set above `members` within `after` scores more than minus this."""
        strength = self.strength(members) / min(self.levels[u] for u in after)
        return self.cells(members) * math.log(self.r) + self.mixed_cost(members, after, strength)

    def own_cost(self, members: frozenset[int]) -> float:
        strength, cost = self.strength(members), 0.0
        rows = Counter(tuple(row[u] for u in sorted(members)) for row in self.rows)
        for at, counts in self.tables(members).items():
            if rows[at] == 1:
                continue  # a cell, however often the row is there
            cost -= (len(counts) - 1) * math.log(strength)
            cost += alone(counts.values(), strength, self.r)
        return max(0.0, cost)

    def search(self, members: frozenset[int], order: list[int]) -> list[tuple[int, Any]]:
        """The nodes below one: (how many members are open from there on, its own nodes)."""
        kept = []
        for x in order:
            larger = members | {x}
            floor = max(score for known, score in self.known.items() if known <= larger)
            room = -floor + MARGIN * (1 - floor) - self.cells(larger) * math.log(self.r)
            if room >= 0:
                kept.append((room, x))
        kept.sort(key=lambda pair: pair[0])
        nodes = []
        for i, (room, x) in enumerate(kept):
            larger, rest = members | {x}, [u for _, u in kept[i + 1 :]]
            after = frozenset(rest)
            if self.mixed_cost(larger, after, self.strength(larger)) > room:
                continue
            if len(larger) > self.size and self.own_cost(larger) <= room:
                self.found.add(larger)
            if after and len(larger) < self.most:
                strength = self.strength(larger) / min(self.levels[u] for u in after)
                if self.mixed_cost(larger, after, strength) <= room:
                    nodes.append((len(kept) - i, self.search(larger, rest)))
        return nodes


def nodes_of(tree: list[tuple[int, Any]]) -> int:
    return sum(1 + nodes_of(below) for _, below in tree)


def dive(tree: list[tuple[int, Any]], uniform: Any, d: int = 0) -> tuple[float, int]:
    """(Knuth's estimate of the nodes below, nodes on the way)."""
    if not tree:
        return 0.0, 0
    total = sum(members for members, _ in tree)
    left = uniform[d] * total
    for members, below in tree:
        if left < members:
            nodes, visited = dive(below, uniform, d + 1)
            return total / members * (1 + nodes), 1 + visited
        left -= members
    raise AssertionError
