"""Growing sets by one member, for one child: those all of whose subsets one smaller are there.

Sets are int32[m, k], members ascending, in lexicographic order, so two sets with the same prefix stand near each other
and what comes out is in that order again. `ranks` are their numbers in the order of all k-subsets (see sets.py), by
which the other subsets are looked up. Cost: per candidate k - 1 binary searches. Twin: tests/naive/phase1.py `grown`.
"""

from __future__ import annotations

import numpy as np

from optbn.scores.kernels.sets import rank_without
from optbn_solvers.base.compiled import kernel


@kernel
def ranks(sets, n, choose):
    """int64[m]: the number of every set among the k-subsets of n variables."""
    out = np.empty(len(sets), np.int64)
    for i in range(len(sets)):
        out[i] = rank_without(sets[i], -1, n, choose)
    return out


@kernel
def grown(sets, ranks, best, n, choose):
    """(larger int32[c, k + 1], floor float64[c]): the grown sets, and the greatest `best` (float64[m]) within each."""
    m, k = sets.shape
    room, count = 16, 0
    larger, floor = np.empty((room, k + 1), np.int32), np.empty(room)
    fresh = np.empty(k + 1, np.int32)
    for i in range(m):
        fresh[:k] = sets[i]
        for other in range(i + 1, m):
            if (sets[other, : k - 1] != sets[i, : k - 1]).any():
                break
            fresh[k] = sets[other, k - 1]
            most = max(best[i], best[other])
            whole = True
            for skip in range(k - 1):
                rank = rank_without(fresh, skip, n, choose)
                at = np.searchsorted(ranks, rank)
                if at == m or ranks[at] != rank:
                    whole = False
                    break
                most = max(most, best[at])
            if not whole:
                continue
            if count == room:
                room *= 2
                larger = np.concatenate((larger, np.empty((room - count, k + 1), np.int32)))
                floor = np.concatenate((floor, np.empty(room - count)))
            larger[count], floor[count] = fresh, most
            count += 1
    return larger[:count], floor[:count]
