"""Violated clusters by minimum cuts.

What a cluster C costs is  f(C) = sum of x(v, P) over v in C and P disjoint from C  (the empty P included); it is
violated when f(C) < 1. Were all parent sets single variables, f would be the capacity of a cut: of the arcs u -> v with
v inside and u outside, and of an arc of weight x(v, {}) from a source to each v. So appoint of every family one parent
to speak for it. A family whose speaker is outside counts as disjoint, which it may not be: the cut is at least f(C),
and equal where each family that meets C has its speaker inside. Hence, for a variable r that is to be in C: a minimum
cut between the source and r; speakers move into the C that it leaves; again, until the cut shrinks no more. A step
looks at all sets at once, where a climb flips one variable after the other: on dna.test clusters of 15 variables
violated by .25 turn up in .05 s where climbs find none, and an integer program of 4 s one by .17.

The flow is at most 1 and the point's support a few hundred families, so plain augmenting paths will do (.05 ms a cut).
Twins: tests/naive/ilp.py.
"""

from __future__ import annotations

import numpy as np

from optbn_solvers.base.compiled import kernel

TINY = 1e-9
SHRINKS = 1e-6


@kernel
def cut_clusters(potential, n, children, starts, parents, x, least, found):
    """Fill `found` (bool[k, n]) with clusters violated by `least`; returns how many there are (k: maybe more).

    Of each family the parent with the largest potential[t] (float64[tries, n]) speaks first. In each try a variable
    that is in a cluster found so is no root any more.
    """
    m = len(children)
    spare = np.ones(n)
    for f in range(m):
        spare[children[f]] -= x[f]
    head, links, capacity = np.empty(n + 1, np.int64), np.empty((2 * (n + m), 2), np.int64), np.empty(2 * (n + m))
    speaker = np.empty(m, dtype=np.int64)
    inside, queue, back = np.empty(n, dtype=np.bool_), np.empty(n + 1, np.int64), np.empty(n + 1, np.int64)
    covered = np.empty(n, dtype=np.bool_)
    count = 0
    for turn in range(len(potential)):
        covered[:] = False
        for root in range(n):
            if covered[root] or spare[root] > 1.0 - least:
                continue
            for f in range(m):
                speaker[f] = parents[starts[f]]
                for k in range(starts[f], starts[f + 1]):
                    if potential[turn, parents[k]] > potential[turn, speaker[f]]:
                        speaker[f] = parents[k]
            before = 2.0
            while True:
                _network(n, children, speaker, x, spare, head, links, capacity)
                cut = _least_cut(n, root, head, links, capacity, inside, queue, back)
                if cut > before - SHRINKS:
                    break
                before = cut
                for f in range(m):
                    if not inside[speaker[f]]:
                        for k in range(starts[f], starts[f + 1]):
                            if inside[parents[k]]:
                                speaker[f] = parents[k]
            if before < 1.0 - least:
                for v in range(n):
                    found[count, v] = inside[v]
                    covered[v] |= inside[v]
                count += 1
                if count == len(found):
                    return count
    return count


@kernel
def _network(n, children, speaker, x, spare, head, links, capacity):
    """Arcs speaker -> child, and n -> v for what v's families have left; arc i and its way back, i ^ 1, are links[i] =
    (where to, the next arc from the same variable)."""
    for v in range(n + 1):
        head[v] = -1
    for i in range(n + len(children)):
        if i < n:
            tail, tip, weight = n, i, spare[i]
        else:
            tail, tip, weight = speaker[i - n], children[i - n], x[i - n]
        links[2 * i, 0], links[2 * i, 1], capacity[2 * i] = tip, head[tail], weight
        head[tail] = 2 * i
        links[2 * i + 1, 0], links[2 * i + 1, 1], capacity[2 * i + 1] = tail, head[tip], 0.0
        head[tip] = 2 * i + 1


@kernel
def _least_cut(n, root, head, links, capacity, inside, queue, back):
    """The least cut between n and `root`; `inside` becomes the smallest side of the root that has it.

    Paths are looked for from the root backwards: a source is seldom far, and what is reached when none is left is the
    answer. back[v] is the arc from v towards the root.
    """
    flow = 0.0
    while True:
        inside[:] = False
        inside[root] = True
        queue[0] = root
        at, end, met = 0, 1, False
        while at < end and not met:
            i = head[queue[at]]
            at += 1
            while i >= 0 and not met:
                u = links[i, 0]
                if capacity[i ^ 1] > TINY:
                    if u == n:
                        back[n], met = i ^ 1, True
                    elif not inside[u]:
                        inside[u] = True
                        back[u] = i ^ 1
                        queue[end] = u
                        end += 1
                i = links[i, 1]
        if not met:
            return flow
        most = 2.0
        v = n
        while v != root:
            most = min(most, capacity[back[v]])
            v = links[back[v], 0]
        v = n
        while v != root:
            capacity[back[v]] -= most
            capacity[back[v] ^ 1] += most
            v = links[back[v], 0]
        flow += most
