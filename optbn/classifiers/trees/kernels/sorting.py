"""The rows of a node by an attribute's codes, sorted there and then.

Where few of many attributes are drawn at a node, this costs less than to keep all of them sorted.
"""

from __future__ import annotations

import numpy as np

from optbn_solvers.base.compiled import kernel

FEW = 24
"""Rows that are put in one after the other; more are dealt into 256 heaps by a byte of their code, the lowest first."""


@kernel
def _key(code, unknown):
    return unknown if code < 0 else np.int64(code)


@kernel
def sorted_rows(segment, code, unknown, spare):
    """The rows of the segment by code[row], unknown ones last, equal ones in their order: a part of `spare`.

    unknown  more than any code;  spare  int32[2, at least the rows]
    """
    n = len(segment)
    rows, other = spare[0, :n], spare[1, :n]
    rows[:] = segment
    if n <= FEW:
        for i in range(1, n):
            r = rows[i]
            key, at = _key(code[r], unknown), i
            while at > 0 and _key(code[rows[at - 1]], unknown) > key:
                rows[at] = rows[at - 1]
                at -= 1
            rows[at] = r
        return rows
    begin = np.empty(257, dtype=np.int64)
    shift = 0
    while unknown >> shift > 0:
        begin[:] = 0
        for r in rows:
            begin[1 + (_key(code[r], unknown) >> shift & 255)] += 1
        for b in range(1, 256):
            begin[b] += begin[b - 1]
        for r in rows:
            b = _key(code[r], unknown) >> shift & 255
            other[begin[b]] = r
            begin[b] += 1
        rows, other = other, rows
        shift += 8
    return rows
