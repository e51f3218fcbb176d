"""The order in which a count tree asks its conditioning variables: those that tell most about the child first.

Back-off drops the last questions, so the first must matter most. Variables are sorted by falling mutual information
with the child, conditional on the `first` ones when some are fixed (a class); equal ones stay in their given order.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def information_order(
    configurations: NDArray[np.integer], counts: NDArray[np.float64], sizes: Sequence[int], first: int = 0
) -> tuple[int, ...]:
    """A permutation of the variables that leaves the first `first` in front.

    configurations  int[c, k], distinct rows;  counts  float64[c, K]
    """
    given = np.zeros(len(configurations), dtype=np.int64)
    for i in range(first):
        given = given * sizes[i] + configurations[:, i]
    given = np.unique(given, return_inverse=True)[1]
    information = [_information(given, configurations[:, i], sizes[i], counts) for i in range(first, len(sizes))]
    return (*range(first), *(first + i for i in sorted(range(len(information)), key=lambda i: -information[i])))


def _information(
    given: NDArray[np.int64], values: NDArray[np.integer], size: int, counts: NDArray[np.float64]
) -> float:
    """sum over cells of n log(n N_g / (N_gv N_gx)): the mutual information of value and child given g, times N."""
    groups = int(given.max(initial=-1)) + 1
    rows = np.zeros((groups * size, counts.shape[1]))
    np.add.at(rows, given * size + values, counts)
    table = rows.reshape(groups, size, counts.shape[1])
    expected = table.sum(axis=2, keepdims=True) * table.sum(axis=1, keepdims=True)
    cells = table > 0
    whole = np.broadcast_to(table.sum(axis=(1, 2), keepdims=True), table.shape)
    return float((table[cells] * np.log(table[cells] * whole[cells] / expected[cells])).sum())
