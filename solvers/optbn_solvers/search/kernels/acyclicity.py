"""Which variables can be placed before which, using only some of the families.

An order grows by placing any variable that has a listed family inside the variables placed so far. What stays stuck is
a cluster: every listed family of its members meets it, so a DAG of listed families cannot exist (and a DAG that does
exist pays for an unlisted one). Listing the families of reduced cost 0 detects violated clusters; listing all live
families gives generalised arc consistency: with P_v what can be placed without v, a family of v lies on some acyclic
choice if and only if its parents are inside P_v. One placement costs O(n * families) at worst.

Source: J. Troesser, S. de Givry, G. Katsirelos, "Improved acyclicity reasoning for Bayesian network structure learning
with constraint programming", IJCAI 2021; the clusters are from P. van Beek and H.-F. Hoffmann, CP 2015.
"""

from __future__ import annotations

import numpy as np

from optbn_solvers.base.compiled import kernel
from optbn_solvers.search.kernels.families import ZERO, insert


@kernel
def place(waiting, count, placed, starts, counts, masks, words):
    """Place what can be placed of waiting[:count]; returns how many stay, moved to the front in their order.

    The listed families of v are `starts[v]:starts[v] + counts[v]`. `placed` uint64[W] gains those that were placed;
    waiting[left:count] holds them in reverse order of placement. Twin: tests/naive/cp.py.
    """
    moved = True
    while moved and count:
        moved = False
        i = 0
        while i < count:
            v = waiting[i]
            possible = False
            for f in range(starts[v], starts[v] + counts[v]):
                missing = masks[0, f] & ~placed[0]
                for w in range(1, len(words)):
                    missing |= masks[w, f] & ~placed[w]
                if missing == ZERO:
                    possible = True
                    break
            if possible:
                insert(placed, v)
                count -= 1
                waiting[i] = waiting[count]
                waiting[count] = v
                moved = True
            else:
                i += 1
    return count


@kernel
def shrink(members, count, starts, counts, masks, words, room, placed):
    """Make a stuck set small: drop a member, place what follows, keep what is still stuck; try each member once.

    members[:count] in the order of the tries; returns the size of a stuck set from which no single member can be
    dropped, at the front of members. `room` int64[n] and `placed` uint64[W] are scratch.
    """
    i = count - 1
    while i >= 0 and count > 1:
        for w in range(len(words)):
            placed[w] = ~ZERO
        k = 0
        for j in range(count):
            v = members[j]
            if j != i:
                room[k] = v
                k += 1
        for j in range(k):
            placed[room[j] >> 6] &= ~(np.uint64(1) << np.uint64(room[j] & 63))
        left = place(room, k, placed, starts, counts, masks, words)
        if left:
            # keep the relative order of the members: those before i have not been tried yet
            k = 0
            tried = 0
            for j in range(count):
                v = members[j]
                if (placed[v >> 6] >> np.uint64(v & 63)) & np.uint64(1) == ZERO:
                    members[k] = v
                    k += 1
                    if j < i:
                        tried += 1
            count = k
            i = tried - 1
        else:
            i -= 1
    return count


@kernel
def unsupported(offsets, masks, words, order, counts, waiting, placed, union, reach):
    """How many live families lie on no acyclic choice; reach uint64[n, W] gets P_v. -1 if no acyclic choice exists.

    One round: P_v is computed from the families as they are. order, counts, waiting int64[n], placed and union
    uint64[W] are scratch. Twin: tests/naive/cp.py.
    """
    n = len(offsets) - 1
    for v in range(n):
        order[v] = n - 1 - v
        counts[v] = offsets[v + 1] - offsets[v]
    for w in range(len(words)):
        placed[w] = ZERO
    if place(order, n, placed, offsets, counts, masks, words):
        return -1
    drop = 0
    for w in range(len(words)):
        union[w] = ZERO  # here: the variables before the current one in the order
    for i in range(n - 1, -1, -1):  # order holds the placement backwards
        v = order[i]
        for w in range(len(words)):
            placed[w] = union[w]
            reach[v, w] = ZERO
        insert(union, v)
        for f in range(offsets[v], offsets[v + 1]):
            for w in range(len(words)):
                reach[v, w] |= masks[w, f]
        outside = ZERO
        for w in range(len(words)):
            outside |= reach[v, w] & ~placed[w]
        if outside == ZERO:
            continue  # all parents come earlier anyway; reach[v] = their union suffices
        for j in range(i):
            waiting[j] = order[i - 1 - j]
        place(waiting, i, placed, offsets, counts, masks, words)
        outside = ZERO
        for w in range(len(words)):
            outside |= reach[v, w] & ~placed[w]
            reach[v, w] = placed[w]
        if outside != ZERO:
            for f in range(offsets[v], offsets[v + 1]):
                missing = ZERO
                for w in range(len(words)):
                    missing |= masks[w, f] & ~placed[w]
                if missing != ZERO:
                    drop += 1
    return drop


@kernel
def keep_supported(offsets, masks, reduced, origin, words, reach):
    """Remove in place the families of v that are not inside reach[v]; the offsets follow."""
    n = len(offsets) - 1
    k = offsets[0]
    begin = offsets[0]
    for v in range(n):
        end = offsets[v + 1]
        offsets[v] = k
        for f in range(begin, end):
            missing = ZERO
            for w in range(len(words)):
                missing |= masks[w, f] & ~reach[v, w]
            if missing == ZERO:
                for w in range(len(words)):
                    masks[w, k] = masks[w, f]
                reduced[k] = reduced[f]
                origin[k] = origin[f]
                k += 1
        begin = end
    offsets[n] = k
