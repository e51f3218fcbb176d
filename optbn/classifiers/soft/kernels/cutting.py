"""Coding many numbers by few cuts, for all columns of a network in one call."""

from __future__ import annotations

import numpy as np

from optbn_solvers.base.compiled import kernel


@kernel
def cut(places, cuts, begin, missing, codes):
    """codes[r, i] = how many cuts of attribute i are below places[i, r], or missing[i] where that is NaN.

    cuts   of all attributes, those of i are begin[i] .. begin[i + 1] - 1;  missing  int32[a], -2: leave it out
    Counting goes over all rows for each cut: there are few cuts, and a search guesses wrong at half of its steps.
    """
    a, n = places.shape
    count = np.empty(n, dtype=np.int32)
    for i in range(a):
        if missing[i] < -1:
            continue
        place = places[i]
        count[:] = 0
        for j in range(begin[i], begin[i + 1]):
            for r in range(n):
                count[r] += cuts[j] < place[r]
        for r in range(n):
            codes[r, i] = count[r] if place[r] == place[r] else missing[i]
