"""Words that name a box, one per predictor: the mask of levels (categorical), lowest and highest level (ordinal), the
part (real). Nothing has to fit into 64 bits but the levels of one unordered column.
"""

from __future__ import annotations

import numpy as np

from optbn.scores.kernels.kinds import CATEGORICAL, ORDINAL
from optbn_solvers.base.compiled import kernel


@kernel
def name_of_site(kind, cell, part):
    """A predictor's word in the name of one site; a real part stays what it is in the box."""
    if kind == CATEGORICAL:
        return np.int64(1) << np.int64(cell)
    if kind == ORDINAL:
        return (np.int64(cell) << 32) | np.int64(cell)
    return np.int64(part)


@kernel
def joined(kind, a, b):
    """A predictor's word in the name of the smallest box that holds two others."""
    if kind == CATEGORICAL:
        return a | b
    if kind == ORDINAL:
        return (min(a >> 32, b >> 32) << 32) | max(a & 0xFFFFFFFF, b & 0xFFFFFFFF)
    return a


@kernel
def first_cell(kind, size, word):
    """The lowest cell of a part."""
    if kind == CATEGORICAL:
        c = 0
        while not (word >> c) & 1:
            c += 1
        return c
    if kind == ORDINAL:
        return word >> 32
    while word >= size:
        word = 2 * word - 2 * size
    return word


@kernel
def holds(kind, size, word, cell):
    """Whether a finest cell lies in a part."""
    if kind == CATEGORICAL:
        return (word >> cell) & 1 == 1
    if kind == ORDINAL:
        return word >> 32 <= cell <= word & 0xFFFFFFFF
    up = np.int64(cell)
    while up < word:  # from a part to the one it is a half of
        up = size + up // 2
    return up == word


@kernel
def bits_below(word, cell):
    """How many levels of a mask lie below one."""
    n = 0
    for c in range(cell):
        n += (word >> c) & 1
    return n
