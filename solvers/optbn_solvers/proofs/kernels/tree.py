"""The rules of solvers/optbn_solvers/proofs/README.md, compiled. Twin: optbn_solvers.proofs.reference.check_tree.

The branches of the path keep their families one after the other in an arena that grows; a filter works on those of
the node above, which has no other child. Multipliers are changed on the way down and restored on the way up, where
the bytes of the proof are read again: nothing as long as the proof is kept. Below a closed node records are counted,
nothing else. The arena is limited to DEEPEST times the table, and the work (families looked at) to what the caller
allows: whoever makes up a proof decides about neither. The weighted sum of the multipliers is kept below 2^61, so
that no sum overflows; a proof beyond that is left to the reference, which has no such limit. Shares no code with the
search.
"""

from __future__ import annotations

import numpy as np

from optbn_solvers.base.compiled import kernel
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
    TOO_LONG,
) = range(13)
LARGEST_SUBSET = 12
DEEPEST = 256  # times the families of the table (and a million) that the nodes of a path may have together
LARGEST = np.int64(1) << 55  # coefficient or right-hand side
HEAVIEST = np.int64(1) << 61
NONE = -(np.int64(1) << 62)
ZERO = np.uint64(0)
ONE = np.uint64(1)


@kernel
def meets(mask, other):
    """Do two sets uint64[W] have a member in common?"""
    common = ZERO
    for w in range(len(mask)):
        common |= mask[w] & other[w]
    return common != ZERO


@kernel
def inside(mask, other):
    """Is the set a subset of the other?"""
    missing = ZERO
    for w in range(len(mask)):
        missing |= mask[w] & ~other[w]
    return missing == ZERO


@kernel
def put(mask, v):
    mask[v >> 6] |= ONE << np.uint64(v & 63)


@kernel
def pattern_of(mask, members):
    """The positions of the members that are in the mask, as bits."""
    pattern = 0
    for i in range(len(members)):
        v = members[i]
        if (mask[v >> 6] >> np.uint64(v & 63)) & ONE != ZERO:
            pattern |= 1 << i
    return pattern


@kernel
def bound_of(offsets, values, constant):
    """The bound of a node; NONE if a variable has no family."""
    total = constant
    for v in range(len(offsets) - 1):
        if offsets[v] == offsets[v + 1]:
            return NONE
        top = values[offsets[v]]
        for f in range(offsets[v] + 1, offsets[v + 1]):
            top = max(top, values[f])
        total += top
    return total


@kernel
def largest(m, best):
    """The largest sum of best[i, parents of i] over the acyclic graphs on m variables; best becomes monotone."""
    for i in range(m):
        for step in range(m):
            for among in range(1 << m):
                if (among >> step) & 1:
                    best[i, among] = max(best[i, among], best[i, among ^ (1 << step)])
    most = np.zeros(1 << m, dtype=np.int64)
    for among in range(1, 1 << m):
        for i in range(m):
            if (among >> i) & 1:
                rest = among ^ (1 << i)
                most[among] = max(most[among], most[rest] + best[i, rest])
    return most[-1]


@kernel
def grow_from(placed, waiting, count, offsets, masks):
    """Place what can be placed of waiting[:count]; how many stay. The placed ones end up behind them, last first."""
    moved = True
    while moved:
        moved = False
        i = 0
        while i < count:
            v = waiting[i]
            fits = False
            for f in range(offsets[v], offsets[v + 1]):
                if inside(masks[f], placed):
                    fits = True
                    break
            if fits:
                put(placed, v)
                count -= 1
                waiting[i], waiting[count] = waiting[count], v
                moved = True
            else:
                i += 1
    return count


@kernel
def drop_unsupported(offsets, masks, values):
    """Step 3 in place. Without any acyclic choice every family of some variable goes."""
    n = len(offsets) - 1
    words = masks.shape[1]
    order = np.arange(n)
    reach = np.zeros((n, words), dtype=np.uint64)
    before = np.zeros(words, dtype=np.uint64)
    stuck = grow_from(before, order, n, offsets, masks)
    reach[order[:stuck]] = before  # leaving out a stuck variable changes nothing for the others
    before[:] = ZERO
    for i in range(n - 1, stuck - 1, -1):
        v = order[i]
        reach[v] = before
        put(before, v)
        early = True
        for f in range(offsets[v], offsets[v + 1]):
            early &= inside(masks[f], reach[v])
        if not early:
            grow_from(reach[v], order[:i].copy(), i, offsets, masks)
    k = offsets[0]
    begin = k
    for v in range(n):
        end = offsets[v + 1]
        offsets[v] = k
        for f in range(begin, end):
            if inside(masks[f], reach[v]):
                masks[k] = masks[f]
                values[k] = values[f]
                k += 1
        begin = end
    offsets[n] = k


@kernel
def drop_hopeless(offsets, values, masks, spare):
    """Step 5 in place: families that fall `spare` or more short of the best of their variable go."""
    n = len(offsets) - 1
    k = offsets[0]
    begin = k
    for v in range(n):
        end = offsets[v + 1]
        offsets[v] = k
        top = NONE
        for f in range(begin, end):
            top = max(top, values[f])
        for f in range(begin, end):
            if top - values[f] < spare:
                masks[k] = masks[f]
                values[k] = values[f]
                k += 1
        begin = end
    offsets[n] = k


@kernel
def double(array):
    return np.concatenate((array, np.zeros_like(array)))


@kernel
def check_tree(offsets0, masks0, units0, target, stream, left, most):
    """(FINE or what is wrong, number of nodes read). masks0 uint64[F, W], stream uint8[...] of `left` numbers.

    TOO_LONG once more than `most` families were looked at.
    """
    n, words = len(offsets0) - 1, masks0.shape[1]
    size = len(units0)
    # the path: level d has the families offsets[place[d], v]:offsets[place[d], v + 1]
    place = np.zeros(8, dtype=np.int64)
    offsets = np.zeros((8, n + 1), dtype=np.int64)
    masks = np.zeros((2 * size, words), dtype=np.uint64)
    values = np.zeros(2 * size, dtype=np.int64)
    offsets[0] = offsets0
    masks[:size] = masks0
    values[:size] = units0
    pending = np.zeros(8, dtype=np.int64)  # children still to come
    changes = np.zeros(8, dtype=np.int64)  # where the changes of the level begin in the stream
    changed = np.zeros(8, dtype=np.int64)  # how many there are
    # its branch: the variable (-1 for a filter), the row, whether the disjoint child comes first
    branch = np.zeros((8, 3), dtype=np.int64)
    constant = np.zeros(8, dtype=np.int64)
    # the rows: members at start[r]:start[r + 1], coefficients of a subset row at worth[r] (-1: a cluster)
    rows = 0
    start = np.zeros(8, dtype=np.int64)
    members = np.zeros(64, dtype=np.int64)
    within = np.zeros((8, words), dtype=np.uint64)
    rhs = np.zeros(8, dtype=np.int64)
    worth = np.zeros(8, dtype=np.int64)
    weight = np.zeros(8, dtype=np.int64)  # of one unit of the multiplier in the sums
    y = np.zeros(8, dtype=np.int64)
    coefficients = np.zeros(64, dtype=np.int64)
    filled = 0
    heavy = np.int64(0)
    depth = 0
    closed_below = 0  # nodes still to come below one that is closed
    work = 0
    count = 0
    at = 0
    while depth >= 0:
        if left < 2:
            return ENDS_EARLY, count
        kind, at = read(stream, at)
        many, at = read(stream, at)
        left -= 2
        if kind in (CLUSTER, SUBSET):
            m = many
            if m < 1 or m > n or (kind == SUBSET and m > LARGEST_SUBSET):
                return BAD_ROW, count
            if left < m:
                return ENDS_EARLY, count
            if rows + 2 > len(start):
                start, within, rhs, worth = double(start), double(within), double(rhs), double(worth)
                weight, y = double(weight), double(y)
            while start[rows] + m > len(members):
                members = double(members)
            mine = members[start[rows] : start[rows] + m]
            left -= m
            for i in range(m):
                v, at = read(stream, at)
                mine[i] = v
                if v < 0 or v >= n or (within[rows, v >> 6] >> np.uint64(v & 63)) & ONE != ZERO:
                    return BAD_ROW, count
                put(within[rows], v)
            start[rows + 1] = start[rows] + m
            rhs[rows] = 1
            worth[rows] = -1
            weight[rows] = m
            if kind == SUBSET:
                if left < 2:
                    return ENDS_EARLY, count
                rhs[rows], at = read(stream, at)
                many, at = read(stream, at)
                left -= 2
                if many < 0 or many > m << m or rhs[rows] < 0:
                    return BAD_ROW, count
                if rhs[rows] > LARGEST:
                    return TOO_LARGE, count
                if left < 3 * many:
                    return ENDS_EARLY, count
                left -= 3 * many
                while filled + (m << m) > len(coefficients):
                    coefficients = double(coefficients)
                worth[rows] = filled
                best = np.zeros((m, 1 << m), dtype=np.int64)
                work += m * m << m
                for _ in range(many):
                    child, at = read(stream, at)
                    pattern, at = read(stream, at)
                    value, at = read(stream, at)
                    if child < 0 or child >= m or pattern < 0 or pattern >= 1 << m or (pattern >> child) & 1:
                        return BAD_ROW, count
                    if value <= 0 or best[child, pattern]:
                        return BAD_ROW, count
                    if value > LARGEST:
                        return TOO_LARGE, count
                    best[child, pattern] = value
                    coefficients[filled + (child << m) + pattern] = value
                filled += m << m
                if largest(m, best) > rhs[rows]:
                    return WRONG_SUBSET, count
                weight[rows] = 1 + rhs[rows] + m * best.max()
            rows += 1
            continue
        if kind not in (LEAF, FILTER, BRANCH):
            return UNKNOWN_RECORD, count
        count += 1
        if many < 0 or many > left // 2:
            return ENDS_EARLY, count
        left -= 2 * many
        below = closed_below > 0
        if not below:
            changes[depth], changed[depth] = at, many
        here = offsets[place[depth]]
        alive = here[n] - here[0]
        work += many + (0 if below else alive)
        if work > most:
            return TOO_LONG, count
        for _ in range(many):
            r, at = read(stream, at)
            change, at = read(stream, at)
            if r < 0 or r >= rows:
                return UNKNOWN_ROW, count
            if below:
                continue
            work += alive
            if work > most:
                return TOO_LONG, count
            if change < -y[r]:
                return NEGATIVE, count
            if change > HEAVIEST // weight[r] - y[r]:
                return TOO_LARGE, count
            y[r] += change
            heavy += change * weight[r]
            if heavy > HEAVIEST:
                return TOO_LARGE, count
            mine = members[start[r] : start[r + 1]]
            if worth[r] < 0:
                constant[depth] -= change
                for v in mine:
                    for f in range(here[v], here[v + 1]):
                        if not meets(masks[f], within[r]):
                            values[f] += change
            else:
                constant[depth] += change * rhs[r]
                for i in range(len(mine)):
                    table = worth[r] + (i << len(mine))
                    for f in range(here[mine[i]], here[mine[i] + 1]):
                        values[f] -= change * coefficients[table + pattern_of(masks[f], mine)]
        closed = below or bound_of(here, values, constant[depth]) <= target
        if not closed:
            drop_unsupported(here, masks, values)
            work += alive
            closed = bound_of(here, values, constant[depth]) <= target
        if kind == LEAF and not closed:
            return OPEN_LEAF, count
        if kind == FILTER and not closed:
            pending[depth] = 1
            branch[depth, 0] = -1
        if kind == BRANCH:
            if left < 3:
                return ENDS_EARLY, count
            left -= 3
            v, at = read(stream, at)
            r, at = read(stream, at)
            first, at = read(stream, at)
            if r < 0 or r >= rows:
                return UNKNOWN_ROW, count
            if v < 0 or v >= n or first < 0 or first > 1:
                return BAD_BRANCH, count
            if not closed:
                pending[depth] = 2
                branch[depth] = v, r, first
        if closed:
            children = 0 if kind == LEAF else 1 if kind == FILTER else 2
            closed_below += children - 1 if below else children
            if not below:
                pending[depth] = 0
            if closed_below > 0:
                continue
        else:
            drop_hopeless(here, values, masks, bound_of(here, values, constant[depth]) - target)
        # climb out of the levels that are done, then step into the next child
        while depth >= 0 and pending[depth] == 0:
            again = changes[depth]  # its changes were made; take them back
            for _ in range(changed[depth]):
                r, again = read(stream, again)
                change, again = read(stream, again)
                y[r] -= change
                heavy -= change * weight[r]
            depth -= 1
        if depth < 0:
            break
        pending[depth] -= 1
        if depth + 2 > len(pending):
            place, pending, branch = double(place), double(pending), double(branch)
            changes, changed, constant = double(changes), double(changed), double(constant)
        constant[depth + 1] = constant[depth]
        place[depth + 1] = place[depth]
        if branch[depth, 0] >= 0:
            place[depth + 1] += 1
            if place[depth] + 2 > len(offsets):
                offsets = double(offsets)
            here, there = offsets[place[depth]], offsets[place[depth] + 1]
            if here[n] > DEEPEST * size + (1 << 20):
                return TOO_DEEP, count
            while 2 * here[n] - here[0] > len(values):
                masks, values = double(masks), double(values)
            k = here[n]
            for v in range(n):
                there[v] = k
                decided = branch[depth, 0] == v
                for f in range(here[v], here[v + 1]):
                    if decided:
                        disjoint = (branch[depth, 2] == 1) == (pending[depth] == 1)
                        if meets(masks[f], within[branch[depth, 1]]) == disjoint:
                            continue
                    masks[k] = masks[f]
                    values[k] = values[f]
                    k += 1
            there[n] = k
        depth += 1
    return (FINE if left == 0 else GOES_ON), count
