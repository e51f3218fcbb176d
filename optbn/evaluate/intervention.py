"""Structural intervention distance: how many effects of an intervention the estimated graph gets wrong.

Peters and Buehlmann (2015): for every ordered pair (i, j), the estimate H says that p(x_j | do x_i) is obtained by
adjusting for the parents Z of i in H. In the true graph G that is wrong exactly when
    j in Z      and j is a descendant of i in G (H claims there is no effect), or
    j not in Z  and either (a) some z in Z is a descendant of a node w != i on a directed path from i to j,
                or (b) Z leaves some path from i to j open that is not directed.
The distance counts the wrong pairs, 0 .. n (n - 1); it is not symmetric.

(a): the nodes W = {descendants of i other than i} that are ancestors of Z (or in Z) spoil every j that some w in W
reaches. (b): a walk from i that never returns to i, over states (node, entered along or against an arrow, still
directed), passing a chain or fork outside Z and a collider with a descendant in Z, ends at j without being directed. An
open walk that is no path only adds pairs that (a) has already. Cost O(n (n + arcs)) after the reachability of G.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from optbn.evaluate.graphs import Matrix, reachability


def intervention_distance(true: Matrix, estimated: Matrix) -> int:
    """SID(true, estimated) for two DAGs."""
    tails, heads = np.nonzero(true)
    children = np.split(heads, np.cumsum(np.bincount(tails, minlength=len(true)))[:-1])
    heads_t, tails_t = np.nonzero(true.T)
    parents = np.split(tails_t, np.cumsum(np.bincount(heads_t, minlength=len(true)))[:-1])
    return int(_wrong_pairs(*_flat(children), *_flat(parents), reachability(true), np.ascontiguousarray(estimated.T)))


def _flat(lists: list[NDArray[np.int64]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Lists as (offsets, members)."""
    offsets = np.concatenate([[0], np.cumsum([len(members) for members in lists])]).astype(np.int64)
    return offsets, np.concatenate([np.zeros(0, dtype=np.int64), *lists]).astype(np.int64)


@njit(cache=True, nogil=True)
def _wrong_pairs(child_at, child, parent_at, parent, reach, adjusted):
    """The number of wrong (i, j). reach[u, v]: v is u or below it; adjusted[i]: the set Z of i. Twin: tests/naive."""
    n = len(reach)
    wrong = 0
    above = np.empty(n, dtype=np.bool_)  # has a descendant (or itself) in Z
    spoiled = np.empty(n, dtype=np.bool_)
    seen = np.empty((n, 4), dtype=np.bool_)  # state: 2 * (entered along an arrow) + (still directed)
    stack = np.empty((4 * n, 2), dtype=np.int64)
    for i in range(n):
        z = adjusted[i]
        for u in range(n):
            above[u] = False
            spoiled[u] = False
        for u in range(n):
            if z[u]:
                for v in range(n):
                    above[v] |= reach[v, u]
        for w in range(n):
            if w != i and reach[i, w] and above[w]:
                for j in range(n):
                    spoiled[j] |= reach[w, j]
        seen[:] = False
        size = 0
        for e in range(child_at[i], child_at[i + 1]):
            seen[child[e], 3] = True
            stack[size, 0], stack[size, 1] = child[e], 3
            size += 1
        for e in range(parent_at[i], parent_at[i + 1]):
            seen[parent[e], 0] = True
            stack[size, 0], stack[size, 1] = parent[e], 0
            size += 1
        while size:
            size -= 1
            u, state = stack[size, 0], stack[size, 1]
            along = state >= 2
            if not z[u]:  # u is passed as a chain or fork: on to its children
                onward = 3 if state == 3 else 2
                for e in range(child_at[u], child_at[u + 1]):
                    v = child[e]
                    if v != i and not seen[v, onward]:
                        seen[v, onward] = True
                        stack[size, 0], stack[size, 1] = v, onward
                        size += 1
            if (along and above[u]) or (not along and not z[u]):  # an open collider, or a chain against the arrows
                for e in range(parent_at[u], parent_at[u + 1]):
                    v = parent[e]
                    if v != i and not seen[v, 0]:
                        seen[v, 0] = True
                        stack[size, 0], stack[size, 1] = v, 0
                        size += 1
        for j in range(n):
            if j == i:
                continue
            if z[j]:
                wrong += reach[i, j]
            else:
                wrong += spoiled[j] or seen[j, 0] or seen[j, 2]
    return wrong
