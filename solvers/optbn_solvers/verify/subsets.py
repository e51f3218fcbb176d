"""The checker's own recursion over subsets: the best score of an acyclic choice, from the families alone.

    f({}) = 0,    f(U + v) = max over v of f(U) + b_v(U),    b_v(U) = the best family of v with its parents in U

Where a solver left no evidence for few variables, only its word, this is evidence enough: another algorithm in other
code (plain numpy, whole numbers) that comes to the same optimum. It needs 8 bytes x 2^n and about n^2 2^n steps.

The subsets are cut in two: for each set H of the upper variables, all sets L of the LOW lower ones at once. b(H, L) is
filled from the families whose upper parents are in H, then made monotone in L, bit by bit; f moves up in L layer by
layer of equal size, and from H to H + v for upper v. Twin: tests/naive/solvers.py `optimum_by_subsets`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

import numpy as np

LARGEST = 28  # variables: 2 GB, a minute
LOW = 14  # measured: 2^14 subsets of 26 variables are 3 MB
NEVER = -(1 << 60)  # below every score, and two of them can be added up
FITS = 1 << 58


def best_choice(
    families: Sequence[Sequence[tuple[int, int]]], out_of_time: Callable[[], bool] = lambda: False
) -> int | None:
    """The most units of an acyclic choice of one family (parents as bits, units) per variable.

    NEVER if there is none; None when there was no time.
    """
    n = len(families)
    if n > LARGEST or any(abs(units) > FITS // n for own in families for _, units in own):
        return None
    low = min(n, LOW)
    size = 1 << low
    child = np.repeat(np.arange(n), [len(own) for own in families])
    masks = np.array([mask for own in families for mask, _ in own], dtype=np.int64)
    units = np.array([score for own in families for _, score in own], dtype=np.int64)
    lower, upper = masks & (size - 1), masks >> low
    subsets = np.arange(size)
    layers = [subsets[np.bitwise_count(subsets) == count] for count in range(low)]
    steps = [(v, layer[layer >> v & 1 == 0]) for layer, v in product(layers, range(low))]
    f = np.full((1 << (n - low), size), NEVER, dtype=np.int64)
    f[0, 0] = 0
    best = np.empty((size, n), dtype=np.int64)
    for above in range(1 << (n - low)):
        if out_of_time():
            return None
        best.fill(NEVER)
        usable = upper & ~above == 0
        np.maximum.at(best, (lower[usable], child[usable]), units[usable])
        for bit in range(low):
            halves = best.reshape(-1, 2, n << bit)
            np.maximum(halves[:, 1], halves[:, 0], out=halves[:, 1])
        here = f[above]
        for v, without in steps:
            larger = without | 1 << v
            here[larger] = np.maximum(here[larger], here[without] + best[without, v])
        np.maximum(here, NEVER, out=here)
        for v in range(low, n):
            after = above | 1 << (v - low)
            if after != above:
                f[after] = np.maximum(f[after], here + best[:, v])
    return int(f[-1, -1])
