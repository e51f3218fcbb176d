"""The kernels of the cluster search the slow way: sets are frozensets, functions are evaluated everywhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable

Family = tuple[frozenset[int], int]  # parents, reduced cost


def cheapest(families: Iterable[Family], cluster: frozenset[int]) -> tuple[int | None, int | None]:
    """The least reduced cost of the families disjoint from the cluster, and of the others."""
    free = [cost for parents, cost in families if not parents & cluster]
    other = [cost for parents, cost in families if parents & cluster]
    return min(free, default=None), min(other, default=None)


def placeable(families: list[list[Family]], without: int | None = None) -> frozenset[int]:
    """What can be placed one after the other, never `without`."""
    placed: frozenset[int] = frozenset()
    while True:
        more = {
            v
            for v, own in enumerate(families)
            if v not in placed and v != without and any(parents <= placed for parents, _ in own)
        }
        if not more:
            return placed
        placed |= more


def supported(families: list[list[Family]]) -> list[list[Family]] | None:
    """The families that some acyclic choice has, by trying every one; None if there is no acyclic choice."""
    if len(placeable(families)) < len(families):
        return None
    kept = []
    for v, own in enumerate(families):
        kept.append(
            [family for family in own if len(placeable([*families[:v], [family], *families[v + 1 :]])) == len(families)]
        )
    return kept


def best_moves(bound: Callable[[int], int], least: int, most: int) -> tuple[int, set[int]]:
    """The largest value of a function on least..most, and where it is."""
    values = {step: bound(step) for step in range(least, most + 1)}
    top = max(values.values())
    return top, {step for step, value in values.items() if value == top}
