"""Growing a C4.5 tree; `optbn.classifiers.trees.growing` argues it.

Attributes are integer codes: of a nominal one its levels, of a numeric one the rank of the value among the different
values; -1 is unknown. A node is a segment [begin, end) of several lists of rows, one in the given order and one sorted
by each numeric attribute; splitting it partitions the segment of every list in place and keeps the order, so nothing is
ever sorted again. Rows whose value is unknown go down every branch with a part of their weight: then the branches are
copied behind the segments in use, one at a time, and the weights of these rows are put back afterwards.

Entropies are sums of n log n. A row that changes sides changes four of them, so a scan costs the same for any number
of classes; for whole weights the numbers are looked up.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import uint64

from optbn.base.variates import word
from optbn_solvers.base.compiled import kernel

TINY = 1e-6
"""Differences below this are none."""

SLACK = 1e-3
"""How far below the average gain a split may be."""

LOG2 = math.log(2.0)

GROW, ENTER, LEAVE = 0, 1, 2


@kernel
def _nlogn(x, table):
    """x log x; `table` has the values for whole x, or is empty."""
    if len(table):
        return table[int(x)]
    return x * math.log(x) if x > 0.0 else 0.0


@kernel
def _entropy(counts, table):
    """The entropy of some counts in nats, times their sum."""
    total, inside = 0.0, 0.0
    for c in range(len(counts)):
        total += counts[c]
        inside += _nlogn(counts[c], table)
    return _nlogn(total, table) - inside


@kernel
def _nominal(rows, code, classes, weights, table, minimum, per, per_class, known):
    """The split by level: (gain in nats times weight, sum of n log n of the branches, known weight, is it allowed).

    per, per_class  float64[levels] and [levels, C], zero, and so again afterwards;  known  float64[C], room
    """
    inside, of_branches, large = 0.0, 0.0, 0
    known[:] = 0.0
    for r in rows:
        x = code[r]
        if x < 0:
            continue
        w, y = weights[r], classes[r]
        before, own = per[x], per_class[x, y]
        per[x] = before + w
        per_class[x, y] = own + w
        known[y] += w
        of_branches += _nlogn(before + w, table) - _nlogn(before, table)
        inside += _nlogn(own + w, table) - _nlogn(own, table)
        if before < minimum - TINY and before + w >= minimum - TINY:
            large += 1
    for r in rows:
        if code[r] >= 0:
            per[code[r]] = 0.0
            per_class[code[r], classes[r]] = 0.0
    return _entropy(known, table) - (of_branches - inside), of_branches, known.sum(), large >= 2


@kernel
def _numeric(rows, code, points, resolution, classes, weights, table, minimum, scale, third, left, right, unknown):
    """The best cut of rows sorted by code, unknown ones last: as `_nominal`, then the codes beside it and cuts tried.

    points  the values that codes stand for; nearer ones than `resolution` are not cut apart
    third   unknown values are a branch of their own; without a cut that tells anything, the only other one (high = -1)
    scale   what gains are divided by to compare them;  left, right, unknown  float64[C], room
    """
    C = len(left)
    left[:] = 0.0
    right[:] = 0.0
    unknown[:] = 0.0
    end = len(rows)
    while end > 0 and code[rows[end - 1]] < 0:
        end -= 1
        unknown[classes[rows[end]]] += weights[rows[end]]
    sum_left, sum_right, known = 0.0, 0.0, 0.0
    for i in range(end):
        right[classes[rows[i]]] += weights[rows[i]]
    for c in range(C):
        known += right[c]
        sum_right += _nlogn(right[c], table)
    before = _nlogn(known, table) - sum_right
    least = 0.1 * known / C
    least = minimum if least <= minimum + TINY else min(least, 25.0)
    low, high, tried, best, after, of_branches = -1, -1, 0, 0.0, before, _nlogn(known, table)
    weight = 0.0
    for i in range(end - 1):
        r = rows[i]
        w, y = weights[r], classes[r]
        sum_left += _nlogn(left[y] + w, table) - _nlogn(left[y], table)
        sum_right += _nlogn(max(right[y] - w, 0.0), table) - _nlogn(right[y], table)
        left[y] += w
        right[y] = max(right[y] - w, 0.0)
        weight += w
        following = code[rows[i + 1]]
        if not points[code[r]] + resolution < points[following] or weight < least - TINY:
            continue
        if known - weight < least - TINY:
            break
        tried += 1
        parts = _nlogn(weight, table) + _nlogn(max(known - weight, 0.0), table)
        gain = before - (parts - sum_left - sum_right)
        if gain > best + TINY * scale:
            best, low, high = gain, code[r], following
            after, of_branches = parts - sum_left - sum_right, parts
    allowed = low >= 0
    if third:
        lost = unknown.sum()
        if not allowed and known >= minimum - TINY and lost >= minimum - TINY:
            allowed, low, tried = True, code[rows[end - 1]], 1
        for c in range(C):
            right[c] = left[c] + right[c] + unknown[c]
        before = _entropy(right, table)
        after += _entropy(unknown, table)
        of_branches += _nlogn(lost, table)
        known += lost
    return before - after, of_branches, known, allowed, low, high, tried


@kernel
def _branch(code, levels, low, third):
    """Which branch a code goes to, -1 when it is unknown."""
    if levels > 0:
        return code
    if code < 0:
        return 2 if third else -1
    return 0 if code <= low else 1


@kernel
def _longer(array, size):
    """The matrix with room for more rows."""
    grown = np.empty((max(size, 2 * len(array)), array.shape[1]), dtype=array.dtype)
    grown[: len(array)] = array
    return grown


@kernel
def _push(stack, depth, task, node, begin, end, extra, top):
    stack[depth, 0], stack[depth, 1], stack[depth, 2] = task, node, begin
    stack[depth, 3], stack[depth, 4], stack[depth, 5] = end, extra, top
    return depth + 1


@kernel
def _partition(mine, side, starts, width, room, ahead):
    """Sort a segment by side[row], keeping the order within; branch b begins at starts[b]."""
    for b in range(width):
        ahead[b] = starts[b]
    kept = 0
    for i in range(len(mine)):
        r = mine[i]
        b = side[r]
        if b == 0:
            mine[kept] = r
            kept += 1
        else:
            room[ahead[b]] = r
            ahead[b] += 1
    mine[kept:] = room[kept : len(mine)]


PARENT, ATTRIBUTE, LOW, HIGH, FIRST, CHILDREN, BRANCH = range(7)


class Rows(NamedTuple):
    """Training rows.

    codes    int32[A, n];  levels  int64[A], 0 for numeric;  third  bool[A], unknown numbers have a branch
    order    int32[numeric, n], rows by each numeric attribute, unknown last;  place  int64[A], which of these, or -1
    points   float64, the different values of attribute a from point_at[a] on, ascending
    classes  int32[n];  n_classes  their number
    """

    codes: Any
    levels: Any
    third: Any
    order: Any
    place: Any
    points: Any
    point_at: Any
    classes: Any
    n_classes: int


class Rules(NamedTuple):
    """How to split.

    minimum     the weight that two branches must have;  resolution  values nearer than this are not cut apart
    mdl         whether a cut pays for having been chosen among many
    by_gain     whether splits are chosen by their gain, and not by the ratio of it to the split information
    candidates  attributes drawn at a node (more, while there is no split), A for all
    table       n log n for whole n up to the total weight, or empty: then weights may be anything
    """

    minimum: float
    resolution: float
    mdl: bool
    by_gain: bool
    candidates: int
    table: Any


class Room(NamedTuple):
    """Scratch for one node: per level, per level and class, three times per class, and per attribute."""

    per: Any
    per_class: Any
    left: Any
    right: Any
    unknown: Any
    gains: Any
    ratios: Any
    cuts: Any


@kernel
def _room(rows, most):
    C, A = rows.n_classes, len(rows.levels)
    cuts = np.zeros((A, 2), dtype=np.int64)
    return Room(
        np.zeros(most), np.zeros((most, C)), np.empty(C), np.empty(C), np.empty(C), np.empty(A), np.empty(A), cuts
    )


@kernel
def _lists(rows, weights):
    """The rows with a weight, as given and by each numeric attribute: int32[1 + numeric, rows]."""
    present = np.flatnonzero(weights > 0.0)
    lists = np.empty((1 + len(rows.order), len(present)), dtype=np.int32)
    lists[0] = present
    for k in range(len(rows.order)):
        at = 0
        for r in rows.order[k]:
            if weights[r] > 0.0:
                lists[1 + k, at] = r
                at += 1
    return lists


@kernel
def _weigh(a, lists, begin, end, rows, weights, total, rules, room):
    """Whether attribute a may split the segment; its gain, ratio and cut go to `room`."""
    table = rules.table
    room.gains[a], room.ratios[a], tried = -1.0, 0.0, 1
    if rows.levels[a] > 0:
        gain, branches, known, allowed = _nominal(
            lists[0, begin:end], rows.codes[a], rows.classes, weights, table, rules.minimum, room.per, room.per_class,
            room.left,
        )  # fmt: skip
    else:
        gain, branches, known, allowed, room.cuts[a, 0], room.cuts[a, 1], tried = _numeric(
            lists[1 + rows.place[a], begin:end], rows.codes[a], rows.points[rows.point_at[a] : rows.point_at[a + 1]],
            rules.resolution, rows.classes, weights, table, rules.minimum, total, rows.third[a], room.left, room.right,
            room.unknown,
        )  # fmt: skip
    gain /= total * LOG2
    if rows.levels[a] == 0:
        gain -= math.log2(tried) / total if rules.mdl and allowed else 0.0
        allowed = allowed and gain > TINY
    if not allowed:
        return False
    lost = 0.0 if len(table) else max(total - known, 0.0)
    split = (_nlogn(total, table) - branches - _nlogn(lost, table)) / (total * LOG2)
    room.gains[a] = gain
    room.ratios[a] = gain if rules.by_gain else gain / split if split > TINY else 0.0
    return True


@kernel
def _best(lists, begin, end, rows, weights, total, rules, attributes, random, room):
    """The attribute to split by, or -1: the best of those drawn whose gain is about the average at least."""
    A = len(rows.levels)
    found, drawn, average = 0, 0, 0.0
    while drawn < A and (drawn < rules.candidates or found == 0):
        if rules.candidates < A:
            pick = drawn + int(word(random) % uint64(A - drawn))
            attributes[drawn], attributes[pick] = attributes[pick], attributes[drawn]
        a = attributes[drawn]
        drawn += 1
        if _weigh(a, lists, begin, end, rows, weights, total, rules, room):
            average += room.gains[a]
            found += 1
    best, greatest = -1, 0.0
    for i in range(drawn):
        a = attributes[i]
        if room.gains[a] >= average / max(found, 1) - SLACK and room.ratios[a] > greatest + TINY:
            best, greatest = a, room.ratios[a]
    return best


@kernel
def _descend(rows, weights, a, low, b, lists, begin, end, top):
    """Copy the rows of branch b, and those whose branch is unknown, behind the segments in use: where they end."""
    for k in range(len(lists)):
        at = top
        for i in range(begin, end):
            x = _branch(rows.codes[a, lists[k, i]], rows.levels[a], low, rows.third[a])
            if x < 0 or x == b:
                lists[k, at] = lists[k, i]
                at += 1
    return at


@kernel
def _share(rows, weights, a, low, b, segment, saved, n_saved):
    """Leave rows whose branch is unknown the part of their weight that branch b has of the known; keep the whole."""
    total, own = 0.0, 0.0
    for r in segment:
        x = _branch(rows.codes[a, r], rows.levels[a], low, rows.third[a])
        if x >= 0:
            total += weights[r]
            own += weights[r] if x == b else 0.0
    for r in segment:
        if rows.codes[a, r] < 0:
            saved[n_saved, 0] = weights[r]
            n_saved += 1
            weights[r] *= own / total
    return n_saved


@kernel
def _sides(rows, weights, a, low, segment, side, heavy, starts):
    """Each row's branch in `side`, each branch's weight and rows (at starts[1 + b]); whether some are unknown."""
    heavy[:] = 0.0
    starts[:] = 0
    lacking = False
    for r in segment:
        x = _branch(rows.codes[a, r], rows.levels[a], low, rows.third[a])
        side[r] = x
        if x >= 0:
            heavy[x] += weights[r]
            starts[x + 1] += 1
        else:
            lacking = True
    return lacking


@kernel
def _add_children(tree, counts, nodes, node, heavy, child_of):
    """A child for each branch that has weight; how many nodes there are then."""
    tree[node, FIRST] = nodes
    for b in range(len(heavy)):
        if heavy[b] > 0.0:
            tree[nodes] = -1
            tree[nodes, PARENT], tree[nodes, BRANCH] = node, b
            tree[nodes, FIRST], tree[nodes, CHILDREN] = 0, 0
            counts[nodes] = 0.0
            child_of[b] = nodes
            nodes += 1
    tree[node, CHILDREN] = nodes - tree[node, FIRST]
    return nodes


@kernel
def grow(rows, rules, row_weights, random):
    """A tree as arrays over nodes; the children of a node are together and after it.

    rows, rules  see `Rows` and `Rules`;  row_weights  rows of weight 0 are not there;  random  uint64[1]
    Returns int32[m, 7]: parent, attribute (-1: leaf), codes beside the cut, first child, children, its branch;
    and counts float64[m, C]. Twin: tests.naive.trees.grow.
    """
    weights = row_weights.copy()
    lists = _lists(rows, weights)
    top = lists.shape[1]
    most = max(3, rows.levels.max())
    room, attributes = _room(rows, most), np.arange(len(rows.levels))
    side, spare = np.empty(len(weights), dtype=np.int32), np.empty(top, dtype=np.int32)
    child_of, starts, ahead = np.empty(most, np.int64), np.empty(most + 1, np.int64), np.empty(most, np.int64)
    heavy = np.empty(most)
    tree, counts, nodes = np.empty((256, 7), dtype=np.int32), np.zeros((256, rows.n_classes)), 1
    tree[0] = -1
    tree[0, FIRST:] = 0
    saved, n_saved = np.empty((16, 1)), 0
    stack = np.empty((64, 6), dtype=np.int64)
    depth = _push(stack, 0, GROW, 0, 0, top, 0, 0)
    while depth > 0:
        depth -= 1
        task, node, extra = stack[depth, 0], stack[depth, 1], stack[depth, 4]
        begin, end = stack[depth, 2], stack[depth, 3]
        segment = lists[0, begin:end]
        a, low = tree[node, ATTRIBUTE], tree[node, LOW]
        if task == ENTER:  # extra: the child, whose rows are copied behind all segments
            if top + end - begin > lists.shape[1]:
                wider = np.empty((len(lists), 2 * (top + end - begin)), dtype=np.int32)
                wider[:, :top] = lists[:, :top]
                lists = wider
            if n_saved + end - begin > len(saved):
                saved = _longer(saved, n_saved + end - begin)
            depth = _push(stack, depth, LEAVE, node, begin, end, n_saved, top)
            b = tree[extra, BRANCH]
            n_saved = _share(rows, weights, a, low, b, lists[0, begin:end], saved, n_saved)
            after = _descend(rows, weights, a, low, b, lists, begin, end, top)
            depth = _push(stack, depth, GROW, extra, top, after, 0, 0)
            top = after
            continue
        if task == LEAVE:  # extra: where the saved weights begin
            top, n_saved = stack[depth, 5], extra
            for r in segment:
                if rows.codes[a, r] < 0:
                    weights[r] = saved[extra, 0]
                    extra += 1
            continue
        here = counts[node]
        for r in segment:
            here[rows.classes[r]] += weights[r]
        total = here.sum()
        if total < 2.0 * rules.minimum - TINY or total - here.max() <= TINY:
            continue
        a = _best(lists, begin, end, rows, weights, total, rules, attributes, random, room)
        if a < 0:
            continue
        low, width = room.cuts[a, 0], rows.levels[a] if rows.levels[a] > 0 else 3
        lacking = _sides(rows, weights, a, low, segment, side, heavy[:width], starts[: width + 1])
        if nodes + width > len(tree):
            tree, counts = _longer(tree, nodes + width), _longer(counts, nodes + width)
        tree[node, ATTRIBUTE], tree[node, LOW], tree[node, HIGH] = a, low, room.cuts[a, 1]
        nodes = _add_children(tree, counts, nodes, node, heavy[:width], child_of)
        if depth + width + 2 > len(stack):
            stack = _longer(stack, depth + width + 2)
        if not lacking:
            for b in range(width):
                starts[b + 1] += starts[b]
            for k in range(len(lists)):
                _partition(lists[k, begin:end], side, starts, width, spare, ahead)
        for b in range(width - 1, -1, -1):
            if heavy[b] > 0.0 and lacking:
                depth = _push(stack, depth, ENTER, node, begin, end, child_of[b], 0)
            elif heavy[b] > 0.0:
                depth = _push(stack, depth, GROW, child_of[b], begin + starts[b], begin + starts[b + 1], 0, 0)
    return tree[:nodes].copy(), counts[:nodes].copy()
