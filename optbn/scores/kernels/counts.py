"""Sums over the cells of contingency tables, many sets of categorical variables at once.

A set's table is counted in one of three ways that give the same integers in the same cell order:

rare rows   Codes are relabelled so that code 0 is a variable's commonest level. Only rows whose codes are all non-zero
            in all members but the last are visited (few: they are found by filtering the list of the prefix's rows,
            which the sets that share a prefix share), and a cell with a zero in member j is what is left:
                table[.., x_j = 0, ..] = (table of the set without j)[..] - sum_{x > 0} table[.., x_j = x, ..]
            This is the AD-tree's economy (Moore and Lee 1998) without the tree; it needs the tables of all
            (k-1)-subsets ("lower").
all rows    One increment per row, when the lower tables are not at hand.
groups      Tables with more cells than `dense_cells` are not laid out: rows are split into groups of equal codes, one
            member after another, by hashing. The "cells" are then the groups in order of their first row.

Rows may have weights, whole numbers of units: then counts are of units, and terms are taken at units times the unit.

Cell order is row-major over the ascending members. The sum of a set depends on nothing but the set and the data, so
not on the block it comes in. Twin: tests/naive/phase1.py `cell_counts`.
"""

from __future__ import annotations

import numpy as np

from optbn.scores.kernels.sets import rank_without
from optbn.scores.kernels.terms import term
from optbn_solvers.base.compiled import kernel


@kernel
def rare_rows(codes):
    """(rows int32[..], starts int64[n + 1]): per variable the rows whose code is not 0."""
    n, N = codes.shape
    starts = np.zeros(n + 1, np.int64)
    for v in range(n):
        total = 0
        for i in range(N):
            total += codes[v, i] != 0
        starts[v + 1] = starts[v] + total
    rows = np.empty(starts[n], np.int32)
    for v in range(n):
        at = starts[v]
        for i in range(N):
            if codes[v, i] != 0:
                rows[at] = i
                at += 1
    return rows, starts


@kernel
def cell_sums(sets, columns, below, dense_cells, rows, terms):
    """(sums float64[u, T], observed int64[u]): per set the sum of T terms over its cells, and its non-empty cells.

    sets      int32[u, k], members ascending
    columns   (codes uint16[n, N], 0 the commonest level; levels int64[n], declared; rare int32[..], the rows that are
              not at the commonest level, of each variable from rare_starts on; weight int32[N], units per row, or
              empty: one each)
    below     (lower int32[..], the tables of all (k-1)-subsets by rank, from `lower_starts` on; empty: count all rows;
              choose, see `sets`)
    rows      int32[u, T], which term: a row of `tables`, `kinds` and `parameters`, or -1 for none (the sum is 0)
    terms     (tables float64[R', L], counts below L; kinds, parameters [R >= R']; unit float64, rows in a unit)
    """
    tables, kinds, parameters, unit = terms
    u, k = sets.shape
    N = columns[0].shape[1]
    sums = np.zeros(rows.shape)
    observed = np.zeros(u, np.int64)
    space = _workspace(k, N)
    table = np.empty(max(1, dense_cells, N), np.int32)
    depth = 0
    for i in range(u):
        depth = _shared(sets, i, depth)
        cells, depth = _count(sets[i], depth, columns, below, dense_cells, space, table)
        filled = 0
        for c in range(cells):
            filled += table[c] != 0
        observed[i] = filled
        for t in range(rows.shape[1]):
            row = rows[i, t]
            if row < 0:
                continue
            total = 0.0
            if row < len(tables):
                values = tables[row]
                for c in range(cells):
                    n = table[c]
                    total += values[n] if n < len(values) else term(kinds[row], parameters[row], n * unit)
            else:
                for c in range(cells):
                    if table[c]:
                        total += term(kinds[row], parameters[row], table[c] * unit)
            sums[i, t] = total
    return sums, observed


@kernel
def all_tables(sets, columns, below, starts):
    """int32[starts[-1]]: the tables of `sets` (all k-subsets in lexicographic order), one after another."""
    out = np.empty(starts[-1], np.int32)
    space = _workspace(sets.shape[1], columns[0].shape[1])
    depth = 0
    for i in range(len(sets)):
        depth = _shared(sets, i, depth)
        table = out[starts[i] : starts[i + 1]]
        _, depth = _count(sets[i], depth, columns, below, len(table), space, table)
    return out


@kernel
def _workspace(k, N):
    """Per prefix length: the rows in its list, their code, and how long the list is."""
    return np.empty((max(k, 1), N), np.int32), np.empty((max(k, 1), N), np.int32), np.zeros(max(k, 1), np.int64)


@kernel
def _shared(sets, i, depth):
    """How many of the `depth` members whose lists the workspace holds are still good for set i."""
    if i == 0:
        return 0
    same = 0
    while same < depth and sets[i, same] == sets[i - 1, same]:
        same += 1
    return same


@kernel
def _count(set_, depth, columns, below, dense_cells, space, table):
    """Count one set into table[:cells]; returns (cells, members whose lists the workspace now holds)."""
    codes, levels, rare, rare_starts, weight = columns
    lower, lower_starts, choose = below
    k = len(set_)
    n, N = codes.shape
    weighted = len(weight) > 0
    if k == 0:
        table[0] = weight.sum() if weighted else N
        return 1, 0
    cells = 1.0
    for j in range(k):
        cells *= levels[set_[j]]
    if cells > dense_cells:
        return _groups(set_, codes, levels, table, weight), 0
    cells = np.int64(cells)
    table[:cells] = 0
    listed, code, length = space
    sparse = len(lower) > 0
    for j in range(depth, k - 1):
        v = set_[j]
        size = levels[v]
        x = codes[v]
        if not sparse:
            if j == 0:
                for i in range(N):
                    code[0, i] = x[i]
            else:
                for i in range(N):
                    code[j, i] = code[j - 1, i] * size + x[i]
        elif j == 0:
            found = 0
            for at in range(rare_starts[v], rare_starts[v + 1]):
                listed[0, found] = rare[at]
                code[0, found] = x[rare[at]]
                found += 1
            length[0] = found
        else:
            found = 0
            for at in range(length[j - 1]):
                row = listed[j - 1, at]
                listed[j, found] = row
                code[j, found] = code[j - 1, at] * size + x[row]
                found += x[row] != 0
            length[j] = found
    last = codes[set_[k - 1]]
    size = levels[set_[k - 1]]
    if k == 1:
        for i in range(N):
            table[last[i]] += weight[i] if weighted else 1
    elif not sparse:
        prefix = code[k - 2]
        for i in range(N):
            table[prefix[i] * size + last[i]] += weight[i] if weighted else 1
    else:
        prefix, rows = code[k - 2], listed[k - 2]
        for at in range(length[k - 2]):
            table[prefix[at] * size + last[rows[at]]] += weight[rows[at]] if weighted else 1
        inner = size  # cells of the members after j
        for j in range(k - 2, -1, -1):
            size = levels[set_[j]]
            at = lower_starts[rank_without(set_, j, n, choose)]
            for base in range(0, cells, inner * size):
                for c in range(base, base + inner):
                    table[c] = lower[at]
                    at += 1
                for x in range(1, size):
                    for c in range(base, base + inner):
                        table[c] -= table[c + x * inner]
            inner *= size
    return cells, k - 1


@kernel
def _groups(set_, codes, levels, table, weight):
    """Sizes of the groups of rows with equal codes, in order of their first rows; returns how many there are."""
    N = codes.shape[1]
    slots = 4
    while slots < 2 * N:
        slots *= 2
    group = np.zeros(N, np.int32)
    found = 0
    for j in range(len(set_)):
        x, size = codes[set_[j]], levels[set_[j]]
        slot_key = np.full(slots, -1, np.int64)
        slot_group = np.empty(slots, np.int32)
        found = 0
        for i in range(N):
            key = group[i] * size + x[i]
            h = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
            slot = np.int64((h >> np.uint64(20)) & np.uint64(slots - 1))
            while slot_key[slot] >= 0 and slot_key[slot] != key:
                slot = (slot + 1) & (slots - 1)
            if slot_key[slot] < 0:
                slot_key[slot] = key
                slot_group[slot] = found
                found += 1
            group[i] = slot_group[slot]
    table[:found] = 0
    for i in range(N):
        table[group[i]] += weight[i] if len(weight) > 0 else 1
    return found


@kernel
def assemble(sets, where, joint, own, own_of, penalty, q_of, r_of):
    """float64[m, n]: the scores of a block, -inf where `where` is -1.

    out[i, v] = joint[where[i, v], slot] - own[i, own_of[r]] - penalty[q_of[i], r]  with r = r_of[v]; joint has one
    column for all children of a set, or one per member (then slot is v's position in the joined set).
    """
    m, n = where.shape
    out = np.full((m, n), -np.inf)
    per_child = joint.shape[1] > 1
    for i in range(m):
        for v in range(n):
            if where[i, v] < 0:
                continue
            slot = 0
            if per_child:
                for u in sets[i]:
                    slot += u < v
            r = r_of[v]
            out[i, v] = joint[where[i, v], slot] - own[i, own_of[r]] - penalty[q_of[i], r]
    return out
