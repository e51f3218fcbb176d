"""The checker's own recursion over subsets: how good the rest of an order can be, from the families alone.

    g({}) = 0,    g(R) = max over v in R of b(v, R) + g(R - v),    b(v, R) = the best family of v with no parent in R

is the best score of the variables R of a group G when all others are placed before them, and those outside G are no
obstacle. For G = all variables, g(G) is the optimum; for smaller G it bounds what placing R can bring
(optbn_solvers.verify.layers).

Constraints that an order of the variables can tell are exact here: v comes after `before[v]`; and of two variables
that must be adjacent the later one has the earlier as a parent, so v's family has of `adjacent[v]` those that are
placed, neither fewer nor more.

b is filled from the families and made monotone bit by bit, but for the bits of `adjacent[v]`; g grows from small sets
to large ones (optbn_solvers.verify.kernels.subsets). Whole numbers, |G|^2 2^|G| steps. Twin: tests/naive/solvers.py
`optimum_by_subsets`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from optbn_solvers.verify.families import Families, Ints
from optbn_solvers.verify.kernels import subsets as kernel

LARGEST = 18  # variables of a group: 40 MB, a thirtieth of a second
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
    after = np.empty(1 << len(group), dtype=np.int64)
    kernel.grow(_best(families, group), NEVER, after)
    return after[::-1].copy()  # counted by what is left, not by what is placed


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
    best = np.empty((m, 1 << m), dtype=np.int64)
    offsets, subsets = families.offsets, np.arange(1 << m)
    within = _renamed(np.concatenate([families.adjacent, families.before]), group)
    for v, own in zip(group, best, strict=True):
        rows = slice(offsets[v], offsets[v + 1])
        kernel.best_after(_renamed(families.masks[rows], group), families.units[rows], within[v], NEVER, own)
        first = within[families.n + v]
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
