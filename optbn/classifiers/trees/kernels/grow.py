"""Growing a C4.5 tree; `optbn.classifiers.trees.growing` argues it.

Attributes are integer codes: of a nominal one its levels, of a numeric one the rank of the value among the different
values; -1 is unknown. A node is a segment [begin, end) of several lists of rows, one in the given order and one sorted
by each numeric attribute; splitting it partitions the segment of every list in place and keeps the order, so nothing is
ever sorted again. Where few attributes are drawn there is the first list only (see `sorting`). Rows whose value is
unknown go down every branch with a part of their weight: then the branches are copied behind the segments in use, one
at a time, and the weights of these rows are put back afterwards.
"""

from __future__ import annotations

import numpy as np

from optbn.classifiers.trees.kernels.splits import TINY, best_split, new_room
from optbn_solvers.base.compiled import kernel

GROW, ENTER, LEAVE = 0, 1, 2
PARENT, ATTRIBUTE, LOW, HIGH, FIRST, CHILDREN, BRANCH = range(7)


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


@kernel
def _lists(rows, rules, weights):
    """The rows with a weight, as given and perhaps by each numeric attribute: int32[1 + numeric, rows]."""
    present = np.flatnonzero(weights > 0.0)
    numeric = len(rows.order) if rules.lists else 0
    lists = np.empty((1 + numeric, len(present)), dtype=np.int32)
    lists[0] = present
    for k in range(numeric):
        at = 0
        for r in rows.order[k]:
            if weights[r] > 0.0:
                lists[1 + k, at] = r
                at += 1
    return lists


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

    rows, rules  see `splits`;  row_weights  rows of weight 0 are not there;  random  uint64[1]
    Returns int32[m, 7]: parent, attribute (-1: leaf), codes beside the cut, first child, children, its branch;
    and counts float64[m, C]. Twin: tests.naive.trees.grow.
    """
    weights = row_weights.copy()
    lists = _lists(rows, rules, weights)
    top = lists.shape[1]
    most = max(3, rows.levels.max())
    room, attributes = new_room(rows, most), np.arange(len(rows.levels))
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
        a = best_split(lists, begin, end, rows, weights, total, rules, attributes, random, room)
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


@kernel
def cuts(tree, rows):
    """The training values at which numeric attributes are cut, NaN elsewhere: the last one below the middle between
    the values beside the cut, so that no node lies between it and the rows below; inf where missing values alone are
    cut off."""
    found = np.full(len(tree), np.nan)
    for u in range(len(tree)):
        a = tree[u, ATTRIBUTE]
        if a < 0 or rows.levels[a] > 0:
            continue
        found[u] = np.inf
        if tree[u, HIGH] < 0:
            continue
        below, high = rows.point_at[a] + tree[u, LOW], rows.point_at[a] + tree[u, HIGH]
        middle = (rows.points[below] + rows.points[high]) / 2
        if middle >= rows.points[high]:  # neighbours in floating point
            high = below
        while below + 1 < high:
            half = (below + high) // 2
            if rows.points[half] <= middle:
                below = half
            else:
                high = half
        found[u] = rows.points[below]
    return found
