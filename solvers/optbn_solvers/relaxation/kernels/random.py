"""Random integers inside kernels, from a state that the caller keeps (splitmix64)."""

from __future__ import annotations

import numpy as np

from optbn_solvers.base.compiled import kernel


@kernel
def random_below(state, n):
    """A random integer of 0..n-1 from `state` uint64[1] (the bias for small n is below 2^-40)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return np.int64(z >> np.uint64(1)) % n
