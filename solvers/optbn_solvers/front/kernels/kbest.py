"""The k best graphs on every subset of the variables. Twin: tests/naive/solvers.py (all acyclic graphs).

A graph on U is built once only: its *last* variable is its largest sink v, and the rest, a graph on U - v, may have no
sink above v that is not a parent of v. If k other graphs on U - v are at least as good as the rest, each of them with
v's family makes a graph on U at least as good, so lists of length k suffice. (The recurrence: Tian, He and Ram 2010;
they compare graphs to find duplicates, here there are none.)
"""

from __future__ import annotations

import numpy as np

from optbn_solvers.base.compiled import kernel


@kernel
def extend(first, last, n, offsets, masks, values, totals, sinks, rows, rests):
    """Fill the lists of the subsets first..last-1, given those of all their proper subsets.

    totals  float64[2^n, k], descending, -inf behind the last graph (whole units, so sums are exact)
    sinks   int32[2^n, k], the sinks of each graph
    rows, rests  int32[2^n, k], the row of its largest sink, and the place of its rest in the list of U - v
    """
    k = totals.shape[1]
    for among in range(first, last):
        count = 0
        total, sink = totals[among], sinks[among]
        row_of, rest_of = rows[among], rests[among]
        total[:] = -np.inf
        for v in range(n):
            if not among >> v & 1:
                continue
            rest = among ^ (1 << v)
            for row in range(offsets[v], offsets[v + 1]):
                if masks[row] & ~rest:
                    continue
                if count == k and totals[rest, 0] + values[row] <= total[k - 1]:
                    break
                for i in range(k):
                    here = totals[rest, i] + values[row]
                    if here == -np.inf or (count == k and here <= total[k - 1]):
                        break
                    left = sinks[rest, i] & ~masks[row]
                    if left >> v:
                        continue  # it has a larger sink: another turn of v builds it
                    place = count if count < k else k - 1
                    while place and total[place - 1] < here:
                        if place < k:
                            total[place], sink[place] = total[place - 1], sink[place - 1]
                            row_of[place], rest_of[place] = row_of[place - 1], rest_of[place - 1]
                        place -= 1
                    total[place], sink[place] = here, left | 1 << v
                    row_of[place], rest_of[place] = row, i
                    count = min(count + 1, k)


@kernel
def graph(among, place, offsets, rows, rests, choice):
    """Set choice[v] for v in `among` to the rows of graph number `place` of its list."""
    while among:
        row = rows[among, place]
        v = np.searchsorted(offsets, row, side="right") - 1
        choice[v] = row
        place = rests[among, place]
        among ^= 1 << v
