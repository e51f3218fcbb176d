"""Which effects adjusting for a set gets wrong; the mathematics is in `optbn.evaluate.intervention`."""

from __future__ import annotations

import numpy as np

from optbn_solvers.base.compiled import kernel


@kernel
def wrong_effects(child_at, child, parent_at, parent, reach, sources, adjusted):
    """Per query q the number of j for which (i, j) is wrong, i = sources[q], when adjusted[q] is the set Z of i.

    reach[u, v]: v is u or below it.

    Twin: tests/naive/evaluate.py.
    """
    n = len(reach)
    wrong = np.zeros(len(sources), dtype=np.int64)
    above = np.empty(n, dtype=np.bool_)  # has a descendant (or itself) in Z
    spoiled = np.empty(n, dtype=np.bool_)
    seen = np.empty((n, 4), dtype=np.bool_)  # state: 2 * (entered along an arrow) + (still directed)
    stack = np.empty((4 * n, 2), dtype=np.int64)
    for q in range(len(sources)):
        i, z = sources[q], adjusted[q]
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
                wrong[q] += reach[i, j]
            else:
                wrong[q] += spoiled[j] or seen[j, 0] or seen[j, 2]
    return wrong
