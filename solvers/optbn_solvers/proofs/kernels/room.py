"""What the subset rows of a tree take before anything is checked: the compiled checker has a number per pattern."""

from __future__ import annotations

import numpy as np

from optbn_solvers.base.compiled import leaf
from optbn_solvers.proofs.kernels.rows import BRANCH, CLUSTER, FILTER, LARGEST_SUBSET, LEAF, SUBSET
from optbn_solvers.proofs.kernels.varint import read


@leaf
def coefficients_of_subset_rows(stream, left):
    """Coefficients of all subset rows, listed or not, in a stream uint8[...] of `left` numbers.

    Counts to where the stream makes no sense: nobody reads on there.
    """
    total = np.int64(0)
    at = 0
    while left >= 2:
        kind, at = read(stream, at)
        many, at = read(stream, at)
        left -= 2
        if many < 0 or many > left:
            return total
        if kind in (CLUSTER, SUBSET):
            skip = many
            if kind == SUBSET:
                if many > LARGEST_SUBSET:
                    return total
                total += many << many
                if left < many + 2:
                    return total
                for _ in range(many + 1):
                    _, at = read(stream, at)
                listed, at = read(stream, at)
                left -= many + 2
                if listed < 0 or listed > left:
                    return total
                skip = 3 * listed
        elif kind in (LEAF, FILTER, BRANCH):
            skip = 2 * many + (3 if kind == BRANCH else 0)
        else:
            return total
        if skip > left:
            return total
        for _ in range(skip):
            _, at = read(stream, at)
        left -= skip
    return total
