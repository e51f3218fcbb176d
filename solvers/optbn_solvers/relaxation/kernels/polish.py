"""An order of the variables read off a fractional point, last variable first. Twin: tests/naive/ilp.py."""

from __future__ import annotations

import numpy as np

from optbn_solvers.base.compiled import kernel


@kernel
def sink_order(offsets, starts, parents, dense, noise, order):
    """Fill `order` int64[n] from its end: the next sink is the variable that loses least by having no child left.

    Families of child v are offsets[v]:offsets[v + 1], best first, with values `dense`. A variable's price is 1 less
    the value of its best family free of the sinks placed so far, and less the value of the better ones that are not;
    `noise` float64[n, n] is added (row: place, column: variable). Cost O(n^2 + families).
    """
    n = len(offsets) - 1
    pick, lost = offsets[:-1].copy(), np.zeros(n)
    sink = np.zeros(n, dtype=np.bool_)
    for place in range(n - 1, -1, -1):
        least, chosen = 0.0, -1
        for v in range(n):
            if sink[v]:
                continue
            price = 2.0
            while pick[v] < offsets[v + 1]:
                f = pick[v]
                free = True
                for k in range(starts[f], starts[f + 1]):
                    if sink[parents[k]]:
                        free = False
                        break
                if free:
                    price = 1.0 - dense[f] - lost[v]
                    break
                lost[v] += dense[f]
                pick[v] += 1
            price += noise[place, v]
            if chosen < 0 or price < least:
                least, chosen = price, v
        order[place] = chosen
        sink[chosen] = True
