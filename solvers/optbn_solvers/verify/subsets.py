"""The checker's own recursion over subsets: how good the rest of an order can be, from the families alone.

    g({}) = 0,    g(R) = max over v in R of b(v, R) + g(R - v),    b(v, R) = the best family of v with no parent in R

is the best score of the variables R of a group G when all others are placed before them, and those outside G are no
obstacle. For G = all variables, g(G) is the optimum; for smaller G it bounds what placing R can bring
(optbn_solvers.verify.layers).

Constraints that an order of the variables can tell are exact here: v comes after `before[v]`; and of two variables
that must be adjacent the later one has the earlier as a parent, so v's family has of `adjacent[v]` those that are
placed, neither fewer nor more.

b is filled from the families and made monotone bit by bit, but for the bits of `adjacent[v]`; g grows in layers of
equal size. Plain numpy, whole numbers: |G|^2 2^|G| steps. Twin: tests/naive/solvers.py `optimum_by_subsets`.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from optbn_solvers.verify.families import Families, Ints

LARGEST = 18  # variables of a group: 40 MB, a third of a second
NEVER = -(1 << 60)  # below every score, and two of them can be added up


def best_choice(listed: Sequence[Sequence[tuple[int, int]]]) -> int | None:
    """The most units of an acyclic choice of one family (parents as bits, units) per variable, of at most LARGEST.

    NEVER if there is none; None where 64 bits do not do.
    """
    families = Families.of(listed)
    if families is None or families.n > LARGEST:
        return None
    return int(rests(families, range(families.n))[-1])


def rests(families: Families, group: Sequence[int]) -> Ints:
    """g, int64[2^m], for the m variables of the group; the i-th of them is bit i."""
    size = 1 << len(group)
    best = _best(families, group)
    g = np.full(size, NEVER, dtype=np.int64)
    g[0] = 0
    for place, smaller in _steps(len(group)):
        larger = smaller | 1 << place
        g[larger] = np.maximum(g[larger], g[smaller] + best[place, size - 1 - larger])
    return np.maximum(g, NEVER)


def order_of(families: Families, g: Ints) -> list[tuple[int, int]]:
    """(variable, its family) in an order that attains g for all variables."""
    n = families.n
    best, offsets = _best(families, range(n)), families.offsets
    left, found = (1 << n) - 1, []
    while left:
        placed = (1 << n) - 1 - left
        v = next(v for v in range(n) if left >> v & 1 and best[v, placed] + g[left ^ 1 << v] == g[left])
        own = slice(offsets[v], offsets[v + 1])
        masks = families.masks[own]
        fits = (masks & left == 0) & ((masks ^ placed) & families.adjacent[v] == 0)
        found.append((v, int(offsets[v] + np.argmax(fits))))
        left ^= 1 << v
    return found


def _best(families: Families, group: Sequence[int]) -> Ints:
    """int64[m, 2^m]: the best family of a member when these of the group are placed before it."""
    m = len(group)
    place = {v: i for i, v in enumerate(group)}
    best = np.full((m, 1 << m), NEVER, dtype=np.int64)
    offsets, subsets = families.offsets, np.arange(1 << m)
    for v, own in zip(group, best, strict=True):
        masks = families.masks[offsets[v] : offsets[v + 1]]
        inside = _renamed(masks, group)
        np.maximum.at(own, inside, families.units[offsets[v] : offsets[v + 1]])
        for bit, u in enumerate(group):
            if not families.adjacent[v] >> u & 1:
                halves = own.reshape(-1, 2, 1 << bit)
                np.maximum(halves[:, 1], halves[:, 0], out=halves[:, 1])
        first = sum(1 << place[u] for u in group if families.before[v] >> u & 1)
        if first:
            own[subsets & first != first] = NEVER
    return best


def _renamed(masks: Ints, group: Sequence[int]) -> Ints:
    """Sets of variables as sets of places in the group."""
    if list(group) == list(range(len(group))):
        return masks & ((1 << len(group)) - 1)
    renamed = np.zeros(len(masks), dtype=np.int64)
    for i, u in enumerate(group):
        renamed |= (masks >> u & 1) << i
    return renamed


@functools.lru_cache(maxsize=8)
def _steps(m: int) -> list[tuple[int, Ints]]:
    """(place of a variable, the sets of one size without it), by size."""
    subsets = np.arange(1 << m)
    sizes = np.bitwise_count(subsets)
    layers = [subsets[sizes == size] for size in range(m)]
    return [(i, layer[layer >> i & 1 == 0]) for layer in layers for i in range(m)]
