"""The sweeps of the checker's recursion over subsets (optbn_solvers.verify.subsets), one number after the other."""

from __future__ import annotations

from optbn_solvers.base.compiled import kernel

LANES = 5
SHORT = 8  # runs below this are taken number by number


@kernel
def best_after(families, units, fixed, never, own):
    """own int64[2^m]: of each set W, the most units of a family that lies within W and has all of W's `fixed` members.

    families int64[k], their parents as bits.
    """
    own[:] = never
    for row in range(len(families)):
        own[families[row]] = max(own[families[row]], units[row])
    step = 1
    while step < len(own):
        if not fixed & step:
            if step < SHORT:
                for at in range(len(own)):
                    if at & step:
                        own[at] = max(own[at], own[at ^ step])
            else:
                for start in range(0, len(own), 2 * step):
                    _take_max(own[start + step : start + 2 * step], own[start : start + step])
        step *= 2


@kernel
def without(v, places):
    """A set of other places than v, with those above v counted one lower."""
    below = (1 << v) - 1
    return (places & below) | (places >> 1 & ~below)


@kernel
def _take_max(out, other):
    for i in range(len(out)):
        out[i] = other[i] if other[i] > out[i] else out[i]


@kernel
def grow(best, never, value):
    """value int64[2^m]: of each set W, the most that the others bring after it, at least `never`; 0 for all.

    value[W] = the most of best[v, W] + value[W + v] over v outside W; best[v] is int64[2^(m - 1)], for W `without` v.
    Sets that differ in the first LANES variables only are next to each other and taken together.
    """
    m = len(best)
    lanes = min(LANES, m)
    width = 1 << lanes
    value[:] = never
    value[-1] = 0
    for base in range(len(value) - width, -1, -width):
        block = value[base : base + width]
        for v in range(lanes, m):
            if not base >> v & 1:
                after = base | 1 << v
                at = without(v, base)
                _take_sum(block, value[after : after + width], best[v, at : at + width])
        for low in range(width - 1, -1, -1):
            for v in range(lanes):
                if not low >> v & 1:
                    block[low] = max(block[low], block[low | 1 << v] + best[v, without(v, base + low)])


@kernel
def _take_sum(out, first, second):
    """out = max(out, first + second), elementwise."""
    for i in range(len(out)):
        total = first[i] + second[i]
        out[i] = total if total > out[i] else out[i]
