"""Clusters the slow way: sets are Python frozensets, every acyclic graph is listed."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

Row = tuple[int, frozenset[int], int]  # child, parents, cost


def stuck_set(rows: Sequence[Row], members: frozenset[int], placed: frozenset[int]) -> frozenset[int]:
    """What of `members` cannot be placed after `placed`, using rows of cost 0 only."""
    inside, left = set(placed), set(members)
    while True:
        ready = {v for v in left if any(c == v and cost == 0 and p <= inside for c, p, cost in rows)}
        if not ready:
            return frozenset(left)
        inside |= ready
        left -= ready


def is_acyclic(parents: Sequence[frozenset[int]]) -> bool:
    """Whether a graph given by its parent sets has no directed cycle."""
    left = set(range(len(parents)))
    while left:
        roots = {v for v in left if not parents[v] & left}
        if not roots:
            return False
        left -= roots
    return True


def all_choices(rows: Sequence[Row], n: int) -> Iterator[tuple[int, ...]]:
    """Every acyclic choice of one row per variable, as row numbers."""
    per_child = [[i for i, (c, _, _) in enumerate(rows) if c == v] for v in range(n)]
    for choice in itertools.product(*per_child):
        if is_acyclic([rows[i][1] for i in choice]):
            yield choice
