"""The rows of a tree: read, proved where they are subset rows, and added to families with their multipliers.

Row r has the members members[rows[r, BEGIN]:][:rows[r, SIZE]], as a set within[r], and its multiplier Y; a unit of that
adds at most WEIGHT to the sums. The coefficients of a subset row begin at WORTH (-1: a cluster), 2^SIZE of each member;
RHS is its right-hand side. `now` counts: see `tree`.
"""

from __future__ import annotations

import numpy as np

from optbn_solvers.base.compiled import leaf
from optbn_solvers.proofs.kernels.support import ONE, ZERO, meets, put
from optbn_solvers.proofs.kernels.varint import read

CLUSTER, SUBSET, LEAF, FILTER, BRANCH = range(5)
(
    FINE,
    ENDS_EARLY,
    GOES_ON,
    UNKNOWN_RECORD,
    UNKNOWN_ROW,
    BAD_ROW,
    WRONG_SUBSET,
    NEGATIVE,
    TOO_LARGE,
    OPEN_LEAF,
    BAD_BRANCH,
    TOO_DEEP,
) = range(12)
LARGEST_SUBSET = 12
LARGEST = np.int64(1) << 55  # coefficient or right-hand side
HEAVIEST = np.int64(1) << 61
BEGIN, SIZE, RHS, WORTH, WEIGHT, Y = range(6)
AT, LEFT, ROWS, MEMBERS, FILLED, HEAVY, WORK, CHANGES, KIND, DEPTH, NODES, BELOW = range(12)
"""What `now` counts: place in the stream, numbers left, rows, their members and coefficients, weighted multipliers,
families looked at; changes that the node being read still has, and its kind (NONE: none is); its depth, nodes that were
begun, and those still to come below one that is closed."""
NONE = -1


@leaf
def take(stream, now):
    """The next number."""
    number, now[AT] = read(stream, now[AT])
    return number


@leaf
def pattern_of(mask, members):
    """The positions of the members that are in the mask, as bits."""
    pattern = 0
    for i in range(len(members)):
        v = members[i]
        if (mask[v >> 6] >> np.uint64(v & 63)) & ONE != ZERO:
            pattern |= 1 << i
    return pattern


@leaf
def read_row(kind, m, n, stream, now, defined, best):
    """Read a row of m members behind the others, for which there is room; FINE, or what is wrong."""
    rows, within, members, _ = defined
    if m < 1 or m > n or (kind == SUBSET and m > LARGEST_SUBSET):
        return BAD_ROW
    if now[LEFT] < m:
        return ENDS_EARLY
    now[LEFT] -= m
    r, begin = now[ROWS], now[MEMBERS]
    for i in range(m):
        v = take(stream, now)
        members[begin + i] = v
        if v < 0 or v >= n or (within[r, v >> 6] >> np.uint64(v & 63)) & ONE != ZERO:
            return BAD_ROW
        put(within[r], v)
    row = rows[r]
    row[BEGIN], row[SIZE], row[RHS], row[WORTH], row[WEIGHT] = begin, m, 1, -1, m
    if kind == SUBSET:
        verdict = read_coefficients(row, m, stream, now, defined[3], best)
        if verdict != FINE:
            return verdict
    now[ROWS] += 1
    now[MEMBERS] += m
    return FINE


@leaf
def read_coefficients(row, m, stream, now, coefficients, best):
    """The right-hand side of a subset row and its coefficients, no acyclic choice of which may add up to more."""
    if now[LEFT] < 2:
        return ENDS_EARLY
    row[RHS] = take(stream, now)
    many = take(stream, now)
    now[LEFT] -= 2
    if many < 0 or many > m << m or row[RHS] < 0:
        return BAD_ROW
    if row[RHS] > LARGEST:
        return TOO_LARGE
    if now[LEFT] < 3 * many:
        return ENDS_EARLY
    now[LEFT] -= 3 * many
    row[WORTH] = now[FILLED]
    now[WORK] += m * m << m
    for i in range(m):
        best[i, : 1 << m] = 0
    heaviest = 0
    for _ in range(many):
        child, pattern, value = take(stream, now), take(stream, now), take(stream, now)
        if child < 0 or child >= m or pattern < 0 or pattern >= 1 << m or (pattern >> child) & 1:
            return BAD_ROW
        if value <= 0 or best[child, pattern]:
            return BAD_ROW
        if value > LARGEST:
            return TOO_LARGE
        best[child, pattern] = value
        heaviest = max(heaviest, value)
        coefficients[now[FILLED] + (child << m) + pattern] = value
    now[FILLED] += m << m
    if largest(m, best) > row[RHS]:
        return WRONG_SUBSET
    row[WEIGHT] = 1 + row[RHS] + m * heaviest
    return FINE


@leaf
def largest(m, best):
    """The largest sum of best[i, parents of i] over the acyclic graphs on m variables; best becomes monotone, and its
    last row holds the sums."""
    for i in range(m):
        for step in range(m):
            for among in range(1 << m):
                if (among >> step) & 1:
                    best[i, among] = max(best[i, among], best[i, among ^ (1 << step)])
    most = best[LARGEST_SUBSET]
    most[0] = 0
    for among in range(1, 1 << m):
        most[among] = 0
        for i in range(m):
            if (among >> i) & 1:
                rest = among ^ (1 << i)
                most[among] = max(most[among], most[rest] + best[i, rest])
    return most[(1 << m) - 1]


@leaf
def change(stream, now, defined, here, masks, values, level, constant, most):
    """Make the changes of multipliers that a node still has, until that is much work; FINE, or what is wrong.

    here int64[n + 1]: its families; level[constant]: what the rows add to its bound.
    """
    rows, within, members, coefficients = defined
    alive = here[-1] - here[0]
    while now[CHANGES] > 0 and now[WORK] <= most:
        r, by = take(stream, now), take(stream, now)
        now[CHANGES] -= 1
        if r < 0 or r >= now[ROWS]:
            return UNKNOWN_ROW
        now[WORK] += alive + 1
        row = rows[r]
        if by < -row[Y]:
            return NEGATIVE
        if by > HEAVIEST // row[WEIGHT] - row[Y]:
            return TOO_LARGE
        row[Y] += by
        now[HEAVY] += by * row[WEIGHT]
        if now[HEAVY] > HEAVIEST:
            return TOO_LARGE
        mine = members[row[BEGIN] : row[BEGIN] + row[SIZE]]
        if row[WORTH] < 0:
            level[constant] -= by
            for v in mine:
                for f in range(here[v], here[v + 1]):
                    if not meets(masks[f], within[r]):
                        values[f] += by
        else:
            level[constant] += by * row[RHS]
            for i in range(len(mine)):
                worth = row[WORTH] + (i << len(mine))
                for f in range(here[mine[i]], here[mine[i] + 1]):
                    values[f] -= by * coefficients[worth + pattern_of(masks[f], mine)]
    return FINE


@leaf
def skip_changes(stream, now):
    """Read the changes of a node below a closed one; FINE, or what is wrong."""
    for _ in range(now[CHANGES]):
        r, _ = take(stream, now), take(stream, now)
        if r < 0 or r >= now[ROWS]:
            return UNKNOWN_ROW
    now[CHANGES] = 0
    return FINE


@leaf
def take_back(many, at, stream, now, rows):
    """The multipliers as they were before the `many` changes that begin there in the stream."""
    for _ in range(many):
        r, at = read(stream, at)
        by, at = read(stream, at)
        rows[r, Y] -= by
        now[HEAVY] -= by * rows[r, WEIGHT]
