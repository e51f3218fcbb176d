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

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from optbn_solvers.base.compiled import kernel, leaf, part
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


@leaf
def meets(mask, other):
    """Do two sets uint64[W] have a member in common?"""
    common = ZERO
    for w in range(len(mask)):
        common |= mask[w] & other[w]
    return common != ZERO


@leaf
def inside(mask, other):
    """Is the set a subset of the other?"""
    missing = ZERO
    for w in range(len(mask)):
        missing |= mask[w] & ~other[w]
    return missing == ZERO


@part
def put(mask, v):
    mask[v >> 6] |= ONE << np.uint64(v & 63)


@part
def move(masks, values, f, k):
    """Family f is family k, too; word by word, for an assignment of rows makes an array."""
    for w in range(masks.shape[1]):
        masks[k, w] = masks[f, w]
    values[k] = values[f]


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


@part
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


@leaf
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


@part
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
                move(masks, values, f, k)
                k += 1
        begin = end
    offsets[n] = k


@leaf
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
                move(masks, values, f, k)
                k += 1
        begin = end
    offsets[n] = k


@kernel
def double(array):
    return np.concatenate((array, np.zeros_like(array)))


class Rows(NamedTuple):
    """Row r has members[start[r]:start[r + 1]], as a set `within`, and its multiplier y; `weight` is what a unit of it
    adds to the sums. Coefficients of a subset row begin at worth[r] (-1: a cluster); rhs is the right-hand side."""

    start: NDArray[np.int64]
    members: NDArray[np.int64]
    within: NDArray[np.uint64]
    rhs: NDArray[np.int64]
    worth: NDArray[np.int64]
    weight: NDArray[np.int64]
    y: NDArray[np.int64]
    coefficients: NDArray[np.int64]


class Path(NamedTuple):
    """Of each level: which families it has (`place`), how many children are still to come, where in the stream its
    changes begin and how many there are, its branch (the variable, -1 for a filter; the row; whether the disjoint child
    comes first), and the constant of its bound."""

    place: NDArray[np.int64]
    pending: NDArray[np.int64]
    changes: NDArray[np.int64]
    changed: NDArray[np.int64]
    branch: NDArray[np.int64]
    constant: NDArray[np.int64]


class Arena(NamedTuple):
    """The families of place p are offsets[p, v]:offsets[p, v + 1], for every variable v."""

    offsets: NDArray[np.int64]
    masks: NDArray[np.uint64]
    values: NDArray[np.int64]


AT, LEFT, ROWS, FILLED, HEAVY, WORK = range(6)
"""What `now` counts: place in the stream, numbers left, rows, coefficients, weighted multipliers, families seen."""


@part
def take(stream, now):
    """The next number."""
    number, now[AT] = read(stream, now[AT])
    return number


@part
def with_room(rows, now, kind, m):
    """The rows with room for one more of m members."""
    start, members, within, rhs, worth, weight, y, coefficients = rows
    if now[ROWS] + 2 > len(start):
        start, within, rhs, worth = double(start), double(within), double(rhs), double(worth)
        weight, y = double(weight), double(y)
    while start[now[ROWS]] + m > len(members):
        members = double(members)
    while kind == SUBSET and now[FILLED] + (m << m) > len(coefficients):
        coefficients = double(coefficients)
    return Rows(start, members, within, rhs, worth, weight, y, coefficients)


@part
def read_row(kind, m, n, stream, now, rows):
    """Read a row of m members behind the others, for which there is room; FINE, or what is wrong."""
    r = now[ROWS]
    mine = rows.members[rows.start[r] : rows.start[r] + m]
    now[LEFT] -= m
    for i in range(m):
        v = take(stream, now)
        mine[i] = v
        if v < 0 or v >= n or (rows.within[r, v >> 6] >> np.uint64(v & 63)) & ONE != ZERO:
            return BAD_ROW
        put(rows.within[r], v)
    rows.start[r + 1] = rows.start[r] + m
    rows.rhs[r] = 1
    rows.worth[r] = -1
    rows.weight[r] = m
    if kind == SUBSET:
        verdict = read_coefficients(r, m, stream, now, rows)
        if verdict != FINE:
            return verdict
    now[ROWS] += 1
    return FINE


@part
def read_coefficients(r, m, stream, now, rows):
    """The right-hand side of a subset row and its coefficients, no acyclic choice of which may add up to more."""
    if now[LEFT] < 2:
        return ENDS_EARLY
    rows.rhs[r] = take(stream, now)
    many = take(stream, now)
    now[LEFT] -= 2
    if many < 0 or many > m << m or rows.rhs[r] < 0:
        return BAD_ROW
    if rows.rhs[r] > LARGEST:
        return TOO_LARGE
    if now[LEFT] < 3 * many:
        return ENDS_EARLY
    now[LEFT] -= 3 * many
    rows.worth[r] = now[FILLED]
    best = np.zeros((m, 1 << m), dtype=np.int64)
    now[WORK] += m * m << m
    for _ in range(many):
        child, pattern, value = take(stream, now), take(stream, now), take(stream, now)
        if child < 0 or child >= m or pattern < 0 or pattern >= 1 << m or (pattern >> child) & 1:
            return BAD_ROW
        if value <= 0 or best[child, pattern]:
            return BAD_ROW
        if value > LARGEST:
            return TOO_LARGE
        best[child, pattern] = value
        rows.coefficients[now[FILLED] + (child << m) + pattern] = value
    now[FILLED] += m << m
    if largest(m, best) > rows.rhs[r]:
        return WRONG_SUBSET
    rows.weight[r] = 1 + rows.rhs[r] + m * best.max()
    return FINE


@part
def change(many, stream, now, rows, here, arena, path, depth, most):
    """Read the changes of multipliers at a node and make them; FINE, or what is wrong."""
    masks, values = arena.masks, arena.values
    alive = here[-1] - here[0]
    for _ in range(many):
        r, by = take(stream, now), take(stream, now)
        if r < 0 or r >= now[ROWS]:
            return UNKNOWN_ROW
        now[WORK] += alive
        if now[WORK] > most:
            return TOO_LONG
        if by < -rows.y[r]:
            return NEGATIVE
        if by > HEAVIEST // rows.weight[r] - rows.y[r]:
            return TOO_LARGE
        rows.y[r] += by
        now[HEAVY] += by * rows.weight[r]
        if now[HEAVY] > HEAVIEST:
            return TOO_LARGE
        mine = rows.members[rows.start[r] : rows.start[r + 1]]
        if rows.worth[r] < 0:
            path.constant[depth] -= by
            within = rows.within[r]
            for v in mine:
                for f in range(here[v], here[v + 1]):
                    if not meets(masks[f], within):
                        values[f] += by
        else:
            path.constant[depth] += by * rows.rhs[r]
            for i in range(len(mine)):
                table = rows.worth[r] + (i << len(mine))
                for f in range(here[mine[i]], here[mine[i] + 1]):
                    values[f] -= by * rows.coefficients[table + pattern_of(masks[f], mine)]
    return FINE


@part
def skip_changes(many, stream, now):
    """Read the changes of a node below a closed one; FINE, or what is wrong."""
    for _ in range(many):
        r, _ = take(stream, now), take(stream, now)
        if r < 0 or r >= now[ROWS]:
            return UNKNOWN_ROW
    return FINE


@part
def read_branch(n, stream, now, branch):
    """The variable, the row, and whether the disjoint child comes first; FINE, or what is wrong."""
    if now[LEFT] < 3:
        return ENDS_EARLY
    now[LEFT] -= 3
    for i in range(3):
        branch[i] = take(stream, now)
    if branch[1] < 0 or branch[1] >= now[ROWS]:
        return UNKNOWN_ROW
    if branch[0] < 0 or branch[0] >= n or branch[2] < 0 or branch[2] > 1:
        return BAD_BRANCH
    return FINE


@part
def climb_out(stream, now, rows, path, depth):
    """The deepest level with a child to come, or -1; the changes of those below it are taken back."""
    while depth >= 0 and path.pending[depth] == 0:
        again = path.changes[depth]
        for _ in range(path.changed[depth]):
            r, again = read(stream, again)
            by, again = read(stream, again)
            rows.y[r] -= by
            now[HEAVY] -= by * rows.weight[r]
        depth -= 1
    return depth


@part
def roomier(arena, place):
    """The arena with room for the families of a child of the node at that place."""
    offsets, masks, values = arena
    if place + 2 > len(offsets):
        offsets = double(offsets)
    here = offsets[place]
    while 2 * here[-1] - here[0] > len(values):
        masks, values = double(masks), double(values)
    return Arena(offsets, masks, values)


@part
def copy_child(arena, place, branch, disjoint, within):
    """The families of the node at `place` that are in one child of its branch go to the next place."""
    offsets, masks, values = arena
    here, there = offsets[place], offsets[place + 1]
    k = here[-1]
    for v in range(len(here) - 1):
        there[v] = k
        for f in range(here[v], here[v + 1]):
            if branch[0] == v and meets(masks[f], within[branch[1]]) == disjoint:
                continue
            move(masks, values, f, k)
            k += 1
    there[-1] = k


@part
def begin(offsets, masks, units):
    """(rows, path, arena) before anything is read, with some room."""
    size, words = masks.shape
    arena = Arena(
        np.zeros((8, len(offsets)), np.int64), np.zeros((2 * size, words), np.uint64), np.zeros(2 * size, np.int64)
    )
    arena.offsets[0] = offsets
    arena.masks[:size] = masks
    arena.values[:size] = units
    none = np.zeros(8, np.int64)
    path = Path(none, none.copy(), none.copy(), none.copy(), np.zeros((8, 3), np.int64), none.copy())
    rows = Rows(
        none.copy(), np.zeros(64, np.int64), np.zeros((8, words), np.uint64), none.copy(), none.copy(), none.copy(),
        none.copy(), np.zeros(64, np.int64),
    )  # fmt: skip
    return rows, path, arena


@part
def longer(path):
    """The path with room for twice as many levels."""
    place, pending, changes, changed, branch, constant = path
    return Path(double(place), double(pending), double(changes), double(changed), double(branch), double(constant))


@part
def node(many, stream, now, rows, here, arena, path, depth, target, most, below):
    """(FINE or what is wrong, whether no graph of the node is above the target) after its changes; those `below` a
    closed node are closed."""
    if below:
        now[WORK] += many
        return (TOO_LONG if now[WORK] > most else skip_changes(many, stream, now)), True
    path.changes[depth], path.changed[depth] = now[AT], many
    alive = here[-1] - here[0]
    now[WORK] += many + alive
    if now[WORK] > most:
        return TOO_LONG, False
    verdict = change(many, stream, now, rows, here, arena, path, depth, most)
    if verdict != FINE or bound_of(here, arena.values, path.constant[depth]) <= target:
        return verdict, True
    drop_unsupported(here, arena.masks, arena.values)
    now[WORK] += alive
    return FINE, bound_of(here, arena.values, path.constant[depth]) <= target


@kernel
def check_tree(offsets0, masks0, units0, target, stream, left, most):
    """(FINE or what is wrong, number of nodes read). masks0 uint64[F, W], stream uint8[...] of `left` numbers.

    TOO_LONG once more than `most` families were looked at.
    """
    n, size = len(offsets0) - 1, len(units0)
    rows, path, arena = begin(offsets0, masks0, units0)
    now = np.zeros(6, np.int64)
    now[LEFT] = left
    depth, count = 0, 0
    closed_below = 0  # nodes still to come below one that is closed
    while depth >= 0:
        if now[LEFT] < 2:
            return ENDS_EARLY, count
        kind, many = take(stream, now), take(stream, now)
        now[LEFT] -= 2
        if kind in (CLUSTER, SUBSET):
            if many < 1 or many > n or (kind == SUBSET and many > LARGEST_SUBSET):
                return BAD_ROW, count
            if now[LEFT] < many:
                return ENDS_EARLY, count
            rows = with_room(rows, now, kind, many)
            verdict = read_row(kind, many, n, stream, now, rows)
            if verdict != FINE:
                return verdict, count
            continue
        if kind not in (LEAF, FILTER, BRANCH):
            return UNKNOWN_RECORD, count
        count += 1
        if many < 0 or many > now[LEFT] // 2:
            return ENDS_EARLY, count
        now[LEFT] -= 2 * many
        here = arena.offsets[path.place[depth]]
        verdict, closed = node(many, stream, now, rows, here, arena, path, depth, target, most, closed_below > 0)
        if verdict == FINE and kind == LEAF and not closed:
            verdict = OPEN_LEAF
        if verdict == FINE and kind == BRANCH:  # that of a closed node is not looked at again
            verdict = read_branch(n, stream, now, path.branch[depth])
        if verdict != FINE:
            return verdict, count
        children = 0 if kind == LEAF else 1 if kind == FILTER else 2
        if closed:
            if closed_below > 0:
                closed_below += children - 1
            else:
                closed_below = children
                path.pending[depth] = 0
            if closed_below > 0:
                continue
        else:
            path.pending[depth] = children
            if kind == FILTER:
                path.branch[depth, 0] = -1
            drop_hopeless(here, arena.values, arena.masks, bound_of(here, arena.values, path.constant[depth]) - target)
        depth = climb_out(stream, now, rows, path, depth)
        if depth < 0:
            break
        path.pending[depth] -= 1
        if depth + 2 > len(path.pending):
            path = longer(path)
        place, branch = path.place[depth], path.branch[depth]
        path.constant[depth + 1] = path.constant[depth]
        path.place[depth + 1] = place + (branch[0] >= 0)
        if branch[0] >= 0:
            if arena.offsets[place, n] > DEEPEST * size + (1 << 20):
                return TOO_DEEP, count
            arena = roomier(arena, place)
            disjoint = (branch[2] == 1) == (path.pending[depth] == 1)
            copy_child(arena, place, branch, disjoint, rows.within)
        depth += 1
    return (FINE if now[LEFT] == 0 else GOES_ON), count
