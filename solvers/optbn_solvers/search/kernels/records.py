"""The records of a proof, written as the search goes (solvers/optbn_solvers/proofs/README.md)."""

from __future__ import annotations

from optbn_solvers.base.compiled import kernel
from optbn_solvers.search.kernels.families import contains
from optbn_solvers.search.kernels.multipliers import UNNAMED
from optbn_solvers.search.kernels.path import NAMES, RECORDS, TOP, WRITTEN

CLUSTER, LEAF, BRANCH = 0, 2, 4


@kernel
def write(value, records, state):
    records[state[WRITTEN]] = value
    state[WRITTEN] += 1


@kernel
def most_records(clusters, n):
    """More numbers than one step can write: every cluster defined and changed, a branch, two closed children."""
    return (clusters + 1) * (n + 4) + 16


@kernel
def write_cluster(cluster, n, records, state):
    """A CLUSTER record: the set gets the next number, which is returned."""
    write(CLUSTER, records, state)
    at = state[WRITTEN]
    write(0, records, state)
    for v in range(n):
        if contains(cluster, v):
            write(v, records, state)
            records[at] += 1
    state[NAMES] += 1
    return state[NAMES] - 1


@kernel
def write_node(kind, depth, levels, pool, records, state, words):
    """A BRANCH or LEAF record: the multipliers that differ from those of the parent, and the branch."""
    n = levels.offsets.shape[1] - 1
    changes = 0
    for slot in range(state[TOP]):
        if levels.y[depth, slot] != levels.y[depth - 1, slot]:
            changes += 1
            if pool.name[slot] == UNNAMED:
                pool.name[slot] = write_cluster(pool.clusters[slot], n, records, state)
    if kind == BRANCH:
        levels.name[depth] = -1
        for slot in range(state[TOP]):
            if levels.y[depth, slot] > 0:
                same = True
                for w in range(len(words)):
                    same &= pool.clusters[slot, w] == levels.cluster[depth, w]
                if same:
                    if pool.name[slot] == UNNAMED:
                        pool.name[slot] = write_cluster(pool.clusters[slot], n, records, state)
                    levels.name[depth] = pool.name[slot]
        if levels.name[depth] < 0:
            levels.name[depth] = write_cluster(levels.cluster[depth], n, records, state)
    state[RECORDS] += 1
    write(kind, records, state)
    write(changes, records, state)
    for slot in range(state[TOP]):
        before = levels.y[depth - 1, slot]
        if levels.y[depth, slot] != before:
            write(pool.name[slot], records, state)
            write(levels.y[depth, slot] - before, records, state)
    if kind == BRANCH:
        write(levels.child[depth], records, state)
        write(levels.name[depth], records, state)
        write(levels.first[depth], records, state)
