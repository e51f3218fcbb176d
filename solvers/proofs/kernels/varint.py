"""Zigzag varints: int64 to bytes and back. Twin: solvers.proofs.format.numbers."""

from __future__ import annotations

import numpy as np

from solvers.compiled import kernel

LONGEST = 10  # bytes of one number


@kernel
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


@kernel
def decode(body, out):
    """Read uint8[k] into out int64[>= k]; how many numbers, -1 if one is cut off or does not fit 64 bits."""
    count = 0
    z = np.uint64(0)
    shift = 0
    for byte in body:
        if shift == 63 and byte > 1:
            return -1
        z |= np.uint64(byte & 127) << np.uint64(shift)
        shift += 7
        if byte < 128:
            out[count] = np.int64(z >> np.uint64(1)) ^ -np.int64(z & np.uint64(1))
            count += 1
            z = np.uint64(0)
            shift = 0
        elif shift > 63:
            return -1
    return -1 if shift else count
