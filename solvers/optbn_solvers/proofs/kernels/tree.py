"""The rules of solvers/optbn_solvers/proofs/README.md, compiled. Twin: optbn_solvers.proofs.reference.check_tree.

The branches of the path keep their families one after the other in an arena; a filter works on those of the node above,
which has no other child. Multipliers are changed on the way down and restored on the way up, where the bytes of the
proof are read again: nothing as long as the proof is kept. Below a closed node records are counted, nothing else. The
arena is limited to DEEPEST times the table: whoever makes up a proof does not decide about it. The weighted sum of the
multipliers is kept below 2^61, so that no sum overflows; a proof beyond that is left to the reference, which has no
such limit. Shares no code with the search.

All that is known between two numbers of the proof stands in arrays that the caller made: so the check can pause, for a
look at the clock or for more room, and go on.
"""

from __future__ import annotations

import numpy as np

from optbn_solvers.base.compiled import leaf
from optbn_solvers.proofs.kernels.rows import (
    AT,
    BAD_BRANCH,
    BELOW,
    BRANCH,
    CHANGES,
    CLUSTER,
    DEPTH,
    ENDS_EARLY,
    FILLED,
    FILTER,
    FINE,
    GOES_ON,
    KIND,
    LARGEST_SUBSET,
    LEAF,
    LEFT,
    MEMBERS,
    NODES,
    NONE,
    OPEN_LEAF,
    ROWS,
    SUBSET,
    TOO_DEEP,
    UNKNOWN_RECORD,
    UNKNOWN_ROW,
    WORK,
    change,
    read_row,
    skip_changes,
    take,
    take_back,
)
from optbn_solvers.proofs.kernels.support import drop_unsupported, meets, move

DEEPEST = 256  # times the families of the table (and a million) that the nodes of a path may have together
NOTHING = -(np.int64(1) << 62)
PLACE, PENDING, BEGUN, CHANGED, CONSTANT, VARIABLE, ROW, FIRST = range(8)
"""Of each level of the path: which families it has, how many children are still to come, where in the stream its
changes begin and how many there are, the constant of its bound, its branch (the variable, NONE for a filter; the row;
whether the disjoint child comes first)."""
PAUSED, MORE_ROWS, MORE_MEMBERS, MORE_COEFFICIENTS, MORE_LEVELS, MORE_PLACES, MORE_FAMILIES = range(100, 107)


@leaf
def bound_of(offsets, values, constant):
    """The bound of a node; NOTHING if a variable has no family."""
    total = constant
    for v in range(len(offsets) - 1):
        if offsets[v] == offsets[v + 1]:
            return NOTHING
        top = values[offsets[v]]
        for f in range(offsets[v] + 1, offsets[v + 1]):
            top = max(top, values[f])
        total += top
    return total


@leaf
def drop_hopeless(offsets, values, masks, spare):
    """Step 5 in place: families that fall `spare` or more short of the best of their variable go."""
    k = offsets[0]
    begin = k
    for v in range(len(offsets) - 1):
        end = offsets[v + 1]
        offsets[v] = k
        top = NOTHING
        for f in range(begin, end):
            top = max(top, values[f])
        for f in range(begin, end):
            if top - values[f] < spare:
                move(masks, values, f, k)
                k += 1
        begin = end
    offsets[-1] = k


@leaf
def copy_child(here, there, masks, values, level, disjoint, within):
    """The families of a node that are in one child of its branch go behind them."""
    k = here[-1]
    for v in range(len(here) - 1):
        there[v] = k
        for f in range(here[v], here[v + 1]):
            if level[VARIABLE] == v and meets(masks[f], within) == disjoint:
                continue
            move(masks, values, f, k)
            k += 1
    there[-1] = k


@leaf
def lacking(now, n, defined, levels, arena):
    """What there is too little of for any next record and the child of its node; FINE if nothing."""
    rows, _, members, coefficients = defined
    offsets, _, values = arena
    place = levels[now[DEPTH], PLACE]
    if now[ROWS] == len(rows):
        return MORE_ROWS
    if now[MEMBERS] + n > len(members):
        return MORE_MEMBERS
    if now[FILLED] + (LARGEST_SUBSET << LARGEST_SUBSET) > len(coefficients):
        return MORE_COEFFICIENTS
    if now[DEPTH] + 1 == len(levels):
        return MORE_LEVELS
    if place + 1 == len(offsets):
        return MORE_PLACES
    if 2 * offsets[place, n] - offsets[place, 0] > len(values):
        return MORE_FAMILIES
    return FINE


@leaf
def read_branch(n, stream, now, level):
    """The variable, the row, and whether the disjoint child comes first; FINE, or what is wrong."""
    if now[LEFT] < 3:
        return ENDS_EARLY
    now[LEFT] -= 3
    level[VARIABLE], level[ROW], level[FIRST] = take(stream, now), take(stream, now), take(stream, now)
    if level[ROW] < 0 or level[ROW] >= now[ROWS]:
        return UNKNOWN_ROW
    if level[VARIABLE] < 0 or level[VARIABLE] >= n or level[FIRST] < 0 or level[FIRST] > 1:
        return BAD_BRANCH
    return FINE


@leaf
def begin_record(n, stream, now, defined, level, best):
    """Read a row, or how many changes a node has; FINE, or what is wrong."""
    if now[LEFT] < 2:
        return ENDS_EARLY
    kind, many = take(stream, now), take(stream, now)
    now[LEFT] -= 2
    if kind in (CLUSTER, SUBSET):
        return read_row(kind, many, n, stream, now, defined, best)
    if kind not in (LEAF, FILTER, BRANCH):
        return UNKNOWN_RECORD
    now[NODES] += 1
    if many < 0 or many > now[LEFT] // 2:
        return ENDS_EARLY
    now[LEFT] -= 2 * many
    now[KIND], now[CHANGES] = kind, many
    if now[BELOW] == 0:
        level[BEGUN], level[CHANGED] = now[AT], many
    return FINE


@leaf
def descend(n, size, now, defined, levels, arena):
    """The next child's families, one level deeper; FINE, or what is wrong."""
    depth = now[DEPTH]
    level, child = levels[depth], levels[depth + 1]
    level[PENDING] -= 1
    child[CONSTANT] = level[CONSTANT]
    child[PLACE] = level[PLACE]
    if level[VARIABLE] >= 0:
        offsets, masks, values = arena
        here = offsets[level[PLACE]]
        if here[n] > DEEPEST * size + (1 << 20):
            return TOO_DEEP
        child[PLACE] += 1
        disjoint = (level[FIRST] == 1) == (level[PENDING] == 1)
        copy_child(here, offsets[child[PLACE]], masks, values, level, disjoint, defined[1][level[ROW]])
    now[DEPTH] += 1
    return FINE


@leaf
def closes(now, level, here, masks, values, target, scratch):
    """Whether no graph of a node is above the target; families without support go."""
    if now[BELOW] > 0 or bound_of(here, values, level[CONSTANT]) <= target:
        return True
    drop_unsupported(here, masks, values, scratch[0], scratch[1])
    now[WORK] += 2 * (here[-1] - here[0])
    return bound_of(here, values, level[CONSTANT]) <= target


@leaf
def check_tree(now, stream, target, size, most, defined, levels, arena, scratch):
    """Go on with a check until it ends (FINE or what is wrong), is PAUSED, or needs MORE_.. of something.

    now int64[12]; stream uint8[...], the numbers; size: families of the table; most: families to be looked at before a
    pause, about. defined: rows, within, members, coefficients (`rows`). levels int64[depths, 8]. arena: offsets
    int64[places, n + 1], masks uint64[.., W], values int64[..]. scratch: reach, order (`drop_unsupported`) and best
    int64[LARGEST_SUBSET + 1, 2^LARGEST_SUBSET]. In the beginning the table is in place 0, all else is 0, but for LEFT
    and KIND.
    """
    offsets, masks, values = arena
    n = offsets.shape[1] - 1
    while now[DEPTH] >= 0:
        level = levels[now[DEPTH]]
        if now[WORK] > most:
            return PAUSED
        if now[KIND] == NONE:
            verdict = lacking(now, n, defined, levels, arena)
            if verdict == FINE:
                verdict = begin_record(n, stream, now, defined, level, scratch[2])
            if verdict != FINE:
                return verdict
            now[WORK] += 1
            if now[KIND] == NONE:
                continue
        here = offsets[level[PLACE]]
        if now[BELOW] > 0:
            verdict = skip_changes(stream, now)
        else:
            verdict = change(stream, now, defined, here, masks, values, level, CONSTANT, most)
        if verdict != FINE:
            return verdict
        if now[CHANGES] > 0:
            continue
        kind, now[KIND] = now[KIND], NONE
        closed = closes(now, level, here, masks, values, target, scratch)
        if kind == LEAF and not closed:
            return OPEN_LEAF
        if kind == BRANCH:  # that of a closed node is not looked at again
            verdict = read_branch(n, stream, now, level)
            if verdict != FINE:
                return verdict
        children = kind - LEAF
        if closed:
            if now[BELOW] > 0:
                now[BELOW] += children - 1
            else:
                now[BELOW] = children
                level[PENDING] = 0
            if now[BELOW] > 0:
                continue
        else:
            level[PENDING] = children
            if kind == FILTER:
                level[VARIABLE] = NONE
            drop_hopeless(here, values, masks, bound_of(here, values, level[CONSTANT]) - target)
        while now[DEPTH] >= 0 and levels[now[DEPTH], PENDING] == 0:
            level = levels[now[DEPTH]]
            take_back(level[CHANGED], level[BEGUN], stream, now, defined[0])
            now[DEPTH] -= 1
        if now[DEPTH] >= 0:
            verdict = descend(n, size, now, defined, levels, arena)
            if verdict != FINE:
                return verdict
    return FINE if now[LEFT] == 0 else GOES_ON
