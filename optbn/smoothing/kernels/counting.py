"""Compiled counting and looking up; `optbn.smoothing.counting` and `optbn.smoothing.tree` hold the arguments."""

from __future__ import annotations

import numpy as np

from optbn_solvers.base.compiled import kernel


@kernel
def tally(table, keys):
    """table[key] += 1 for int64 keys in range; two rows at a time, for equal neighbours wait for each other."""
    half = len(keys) // 2
    for i in range(half):
        table[keys[i]] += 1.0
        table[keys[half + i]] += 1.0
    if 2 * half < len(keys):
        table[keys[-1]] += 1.0


@kernel
def tally_weighted(table, keys, weights):
    """table[key] += weight."""
    for i in range(len(keys)):
        table[keys[i]] += weights[i]


@kernel
def _slot(slot_key, key):
    """Where a key is, or where it would go: linear probing from a multiplicative hash."""
    mask = len(slot_key) - 1
    slot = ((key * -7046029254386353131) >> 20) & mask
    while slot_key[slot] != key and slot_key[slot] != -1:
        slot = (slot + 1) & mask
    return slot


@kernel
def rehash(slot_key, slot_node, node_parent, node_value, used):
    """Fill empty slots with the edges to nodes 1 .. used - 1."""
    for node in range(1, used):
        key = (np.int64(node_parent[node]) << 32) | np.int64(node_value[node])
        slot = _slot(slot_key, key)
        slot_key[slot] = key
        slot_node[slot] = node


@kernel
def insert(values, child, weights, begin, slot_key, slot_node, node_parent, node_value, counts, used):
    """Walk rows begin.. of int32[n, k] `values` down a trie, making nodes where needed; add their weights at the end.

    slot_key   int64[2^b], open addressing: (node << 32) | value, or -1;  slot_node  int32[2^b], the child it leads to
    node_*     int32[c], how each node was made;  counts  float64[c, K], of the full configurations
    used       int64[1], nodes so far (0 is the root)
    Returns the first row not inserted, len(values) when all are: the arrays must grow (half full slots, or no node).
    """
    n, k = values.shape
    for i in range(begin, n):
        if weights[i] == 0.0:
            continue
        if used[0] + k > len(node_parent) or 2 * (used[0] + k) > len(slot_key):
            return i
        node = 0
        for d in range(k):
            key = (np.int64(node) << 32) | np.int64(values[i, d])
            slot = _slot(slot_key, key)
            if slot_key[slot] == -1:
                slot_key[slot] = key
                slot_node[slot] = used[0]
                node_parent[used[0]] = node
                node_value[used[0]] = values[i, d]
                used[0] += 1
            node = slot_node[slot]
        counts[node, child[i]] += weights[i]
    return n


@kernel
def descend(values, branch, first_child):
    """int64[n]: the deepest node of a count tree that each row of int32[n, k] reaches; binary search in children."""
    n, k = values.shape
    out = np.zeros(n, dtype=np.int64)
    for i in range(n):
        node = 0
        for d in range(k):
            low, high = first_child[node], first_child[node + 1]
            end = high
            while low < high:
                middle = (low + high) // 2
                if branch[middle] < values[i, d]:
                    low = middle + 1
                else:
                    high = middle
            if low == end or branch[low] != values[i, d]:
                break
            node = low
        out[i] = node
    return out
