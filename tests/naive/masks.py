"""Slow twins of optbn_solvers.base.kernels.masks, on frozensets."""

from __future__ import annotations

from collections.abc import Sequence


def undominated(families: Sequence[tuple[frozenset[int], int]]) -> list[bool]:
    """Per (parents, units) of one child, best first: whether no earlier one is a subset."""
    return [not any(other <= parents for other, _ in families[:i]) for i, (parents, _) in enumerate(families)]


def unplaced(families: Sequence[Sequence[frozenset[int]]]) -> set[int]:
    """The variables that are left when every variable with a family inside the placed set has been placed."""
    placed: set[int] = set()
    while True:
        ready = {v for v, sets in enumerate(families) if v not in placed and any(s <= placed for s in sets)}
        if not ready:
            return set(range(len(families))) - placed
        placed |= ready
