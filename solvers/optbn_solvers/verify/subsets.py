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
from typing import Any

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
    offsets = families.offsets
    left, found = (1 << families.n) - 1, []
    while left:
        placed = (1 << families.n) - 1 - left
        for v in range(families.n):
            if left >> v & 1 and families.before[v] & left == 0:
                masks = families.masks[offsets[v] : offsets[v + 1]]
                fits = (masks & left == 0) & ((masks ^ placed) & families.adjacent[v] == 0)
                row = int(offsets[v] + np.argmax(fits))
                if fits.any() and families.units[row] + g[left ^ 1 << v] == g[left]:
                    break
        found.append((v, row))
        left ^= 1 << v
    return found


def _best(families: Families, group: Sequence[int]) -> Ints:
    """int64[m, 2^(m - 1)]: the best family of a member when these others of the group are placed before it."""
    m = len(group)
    best = np.empty((m, 1 << m - 1), dtype=np.int64)
    offsets, subsets = families.offsets, np.arange(1 << m - 1)
    within = _renamed(np.concatenate([families.adjacent, families.before]), group)
    for i, (v, own) in enumerate(zip(group, best, strict=True)):
        rows = slice(offsets[v], offsets[v + 1])
        masks, fixed, first = (
            _without(i, sets) for sets in (_renamed(families.masks[rows], group), within[v], within[families.n + v])
        )
        kernel.best_after(masks, families.units[rows], fixed, NEVER, own)
        if first:
            own[subsets & first != first] = NEVER
    return best


def _without(place: int, sets: Any) -> Any:
    """Sets of the places but one, with those above it counted one lower."""
    below = (1 << place) - 1
    return (sets & below) | (sets >> 1 & ~below)


def _renamed(masks: Ints, group: Sequence[int]) -> Ints:
    """Sets of variables as sets of places in the group."""
    if list(group) == list(range(len(group))):
        return masks & ((1 << len(group)) - 1)
    renamed = np.zeros(len(masks), dtype=np.int64)
    for i, u in enumerate(group):
        renamed |= (masks >> u & 1) << i
    return renamed
