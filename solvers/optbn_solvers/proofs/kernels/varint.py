"""Zigzag varints: int64 to bytes and back. Twin: optbn_solvers.proofs.format.numbers."""

from __future__ import annotations

import numpy as np

from optbn_solvers.base.compiled import leaf

LONGEST = 10  # bytes of one number
CUT_OFF, TOO_LARGE = -1, -2


@leaf
def encode(values, out):
    """Write int64[k] into out uint8[>= LONGEST * k]; returns the number of bytes."""
    at = 0
    for x in values:
        z = (np.uint64(x) << np.uint64(1)) ^ np.uint64(x >> 63)
        while z >= np.uint64(128):
            out[at] = np.uint8((z & np.uint64(127)) | np.uint64(128))
            z >>= np.uint64(7)
            at += 1
        out[at] = np.uint8(z)
        at += 1
    return at


@leaf
def count(body):
    """How many numbers are in uint8[k]: CUT_OFF if the last one has no end, TOO_LARGE if 64 bits do not hold one."""
    found = 0
    begin = 0
    fits = True
    for at in range(len(body)):
        if body[at] < 128:
            fits &= at - begin < LONGEST - 1 or (at - begin == LONGEST - 1 and body[at] < 2)
            found += 1
            begin = at + 1
    if begin < len(body):
        return CUT_OFF
    return found if fits else TOO_LARGE


@leaf
def read(body, at):
    """(the number that begins there, where the next one does); both are of the numbers that `count` counted."""
    z = np.uint64(0)
    shift = np.uint64(0)
    while body[at] >= 128:
        z |= np.uint64(body[at] & 127) << shift
        shift += np.uint64(7)
        at += 1
    z |= np.uint64(body[at]) << shift
    return np.int64(z >> np.uint64(1)) ^ -np.int64(z & np.uint64(1)), at + 1
