"""The recurrence over all subsets, f(U) = max over v in U of f(U - v) + best(v, U - v), in blocks.

best(v, W), the score of v's best family inside W, is what costs: n 2^(n-1) values. Variables are split into `low` (the
first ones), `mid` and `top`; a subset is (top part, mid part, low part), and a *block* is the 2^low subsets that share
their high part H. For one child and one H, the families inside H, projected to their low parts, give all 2^low values
at once by a subset-max (zeta) transform: low / 2 vector operations per value, in cache, instead of a search. A family
is written to all its supersets in the lowest LANES variables directly, so the transform's inner loops are long.

For a low child its own bit is left out of the projected masks ("squeezed"), so its transform has half the size.
Values are float64 holding whole units (exact: sums stay below 2^51); -inf where there is no acyclic graph.

Cost: about n / 2 (low / 2 + 1) vector operations per subset, 8 bytes per subset. Twins: tests/naive/solvers.py.
"""

from __future__ import annotations

import numpy as np

from optbn_solvers.base.compiled import leaf, part

LANES = 5


@leaf
def sweep(top, low, mid, families, f, scratch):
    """Fill the blocks of f float64[2^n] whose top part is `top`, given those of all its proper subsets.

    low, mid   numbers of low and mid variables
    families   (offsets int64[n + 1]; low_masks, mid_masks, top_masks, the parts of the parent sets, low children's
               squeezed; values float64[m], best first per child)
    scratch    (room float64[2^low]; own float64[low, 2^(low - 1)]; kept int64[m], the rows that fit the present top
               part, and starts int64[n + 1], where a child's begin)
    """
    offsets, low_masks, mid_masks, top_masks, values = families
    room, own, kept, starts = scratch
    n, count = len(offsets) - 1, 0
    for v in range(n):
        starts[v] = count
        around = _without(top, v - low - mid)
        for row in range(offsets[v], offsets[v + 1]):
            if top_masks[row] & ~around == 0:
                kept[count] = row
                count += 1
    starts[n] = count
    for middle in range(1 << mid):
        high = top << mid | middle
        block = f[high << low : (high + 1) << low]
        for i in range(len(block)):  # a slice assignment compiles numba's error messages along
            block[i] = -np.inf
        if high == 0:
            block[0] = 0.0
        for v in range(low, n):
            if high >> (v - low) & 1:
                inside = _without(middle, v - low) if v < low + mid else middle
                _best_values(room, low, kept[starts[v] : starts[v + 1]], inside, low_masks, mid_masks, values)
                before = _without(high, v - low)
                _take_sum(block, f[before << low : (before + 1) << low], room)
        for v in range(low):
            _best_values(own[v], low - 1, kept[starts[v] : starts[v + 1]], middle, low_masks, mid_masks, values)
        _within(block, low, own)


@part
def _without(members, i):
    """The set without its member i (negative: as it is)."""
    return members & ~(1 << i) if i >= 0 else members


@leaf
def _best_values(out, bits, rows, inside, low_masks, mid_masks, values):
    """out[W] = the best value of a row with its mid part within `inside` and its low part within W, for all W."""
    for i in range(len(out)):
        out[i] = -np.inf
    lanes = min(LANES, bits)
    for row in rows:
        if mid_masks[row] & ~inside == 0:
            fixed, value = low_masks[row], values[row]
            free = (1 << lanes) - 1 & ~fixed
            extra = free
            while True:
                if value > out[fixed | extra]:
                    out[fixed | extra] = value
                if extra == 0:
                    break
                extra = extra - 1 & free
    for i in range(lanes, bits):
        step = 1 << i
        for start in range(0, 1 << bits, 2 * step):
            _take_max(out[start + step : start + 2 * step], out[start : start + step])


@part
def _take_max(out, other):
    for i in range(len(out)):
        out[i] = other[i] if other[i] > out[i] else out[i]


@part
def _take_sum(out, first, second):
    """out = max(out, first + second), elementwise."""
    for i in range(len(out)):
        total = first[i] + second[i]
        out[i] = total if total > out[i] else out[i]


@part
def _within(block, low, own):
    """The recurrence inside one block, over its low variables; own[v, W] is v's best value, W squeezed."""
    lanes = min(LANES, low)
    width = 1 << lanes
    for base in range(0, 1 << low, width):
        target = block[base : base + width]
        for v in range(lanes, low):
            if base >> v & 1:
                before = base ^ 1 << v
                _take_sum(target, block[before : before + width], own[v, _squeeze(before, v) :][:width])
        for offset in range(1, width):
            best = target[offset]
            for v in range(lanes):
                if offset >> v & 1:
                    before = (base | offset) ^ 1 << v
                    total = block[before] + own[v, _squeeze(before, v)]
                    if total > best:
                        best = total
            target[offset] = best


@part
def _squeeze(members, v):
    """The set with the place of v (not a member) closed up."""
    below = (1 << v) - 1
    return members & below | members >> 1 & ~below
