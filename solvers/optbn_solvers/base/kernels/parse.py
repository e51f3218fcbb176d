"""Scanning score files: bytes in, parent masks out, without a Python object per token.

Lines are spans `starts[i]:ends[i]` of a byte buffer. Names are looked up by their bytes in an open-addressing hash
table. A score's characters are only checked here and copied to `digits`, one score per line, because correct rounding
belongs to a real number parser. Twin: tests/naive/phase1.py `read_jkl`.
"""

from __future__ import annotations

import numpy as np

from optbn_solvers.base.compiled import kernel

OK, NO_NUMBER, NOT_FINITE, NO_COUNT, WRONG_COUNT, UNKNOWN_PARENT, SELF_PARENT, TWICE = range(8)
NEWLINE = 10


@kernel
def nonblank_lines(buffer):
    """(int64[m] starts, int64[m] ends, int64[m] line numbers from 1) of the lines that hold more than white space."""
    total = 1
    for byte in buffer:
        total += byte == NEWLINE
    starts = np.empty(total, np.int64)
    ends = np.empty(total, np.int64)
    numbers = np.empty(total, np.int64)
    kept, start, blank = 0, 0, True
    number = 1
    for i in range(len(buffer) + 1):
        if i == len(buffer) or buffer[i] == NEWLINE:
            if not blank:
                starts[kept], ends[kept], numbers[kept] = start, i, number
                kept += 1
            start, blank = i + 1, True
            number += 1
        elif buffer[i] > 32:
            blank = False
    return starts[:kept], ends[:kept], numbers[:kept]


@kernel
def hash_names(text, offsets):
    """int64[slots]: an open-addressing table of the names text[offsets[v]:offsets[v + 1]], -1 where empty."""
    slots = 4
    while slots < 2 * len(offsets):
        slots *= 2
    table = np.full(slots, -1, np.int64)
    for v in range(len(offsets) - 1):
        slot = _hash(text, offsets[v], offsets[v + 1]) & (slots - 1)
        while table[slot] >= 0:
            slot = (slot + 1) & (slots - 1)
        table[slot] = v
    return table


@kernel
def parse_rows(buffer, starts, ends, children, counted, table, text, offsets, masks, digits):
    """Parse "score [k] p1 .. pk" lines into `masks` (uint64[m, W], zeros on entry) and `digits` (a score per line).

    counted   whether the second token is the number of parents (the .jkl way) or parents follow at once (.pss)
    returns   (OK, 0, 0, 0, bytes of `digits` used) or (what is wrong, line, start and end of the token, 0)
    """
    used = 0
    for i in range(len(starts)):
        lo, hi = _token(buffer, starts[i], ends[i])
        kind = _number(buffer, lo, hi)
        if kind != OK:
            return kind, i, lo, hi, 0
        for at in range(lo, hi):
            digits[used] = buffer[at]
            used += 1
        digits[used] = NEWLINE
        used += 1
        announced = np.int64(-1)
        if counted:
            lo, hi = _token(buffer, hi, ends[i])
            if lo == hi:
                return NO_COUNT, i, lo, hi, 0
            announced = np.int64(0)
            for at in range(lo, hi):
                if not (48 <= buffer[at] <= 57) or announced > 10**9:
                    return NO_COUNT, i, lo, hi, 0
                announced = 10 * announced + np.int64(buffer[at]) - 48
        found = 0
        while True:
            lo, hi = _token(buffer, hi, ends[i])
            if lo == hi:
                break
            v = _find(buffer, lo, hi, table, text, offsets)
            if v < 0:
                return UNKNOWN_PARENT, i, lo, hi, 0
            if v == children[i]:
                return SELF_PARENT, i, lo, hi, 0
            bit = np.uint64(1) << np.uint64(v & 63)
            if masks[i, v >> 6] & bit:
                return TWICE, i, lo, hi, 0
            masks[i, v >> 6] |= bit
            found += 1
        if counted and found != announced:
            return WRONG_COUNT, i, announced, found, 0
    return OK, 0, 0, 0, used


@kernel
def _token(buffer, at, end):
    """The next run of non-blank bytes in buffer[at:end]; empty at the end of the line."""
    while at < end and buffer[at] <= 32:
        at += 1
    stop = at
    while stop < end and buffer[stop] > 32:
        stop += 1
    return at, stop


@kernel
def _number(buffer, lo, hi):
    """Whether buffer[lo:hi] is a decimal number: OK, NOT_FINITE (it spells nan or inf) or NO_NUMBER."""
    at = lo
    if at < hi and (buffer[at] == 43 or buffer[at] == 45):  # + -
        at += 1
    if at < hi and buffer[at] | 32 in (105, 110):  # i n
        return NOT_FINITE
    seen = 0
    while at < hi and 48 <= buffer[at] <= 57:
        at += 1
        seen += 1
    if at < hi and buffer[at] == 46:  # .
        at += 1
        while at < hi and 48 <= buffer[at] <= 57:
            at += 1
            seen += 1
    if seen and at < hi and buffer[at] | 32 == 101:  # e
        at += 1
        if at < hi and (buffer[at] == 43 or buffer[at] == 45):
            at += 1
        seen = 0
        while at < hi and 48 <= buffer[at] <= 57:
            at += 1
            seen += 1
    return OK if seen and at == hi else NO_NUMBER


@kernel
def _hash(buffer, lo, hi):
    h = np.uint64(14695981039346656037)
    for at in range(lo, hi):
        h = (h ^ np.uint64(buffer[at])) * np.uint64(1099511628211)
    return np.int64((h ^ (h >> np.uint64(29))) & np.uint64(0x7FFFFFFF))


@kernel
def _find(buffer, lo, hi, table, text, offsets):
    """The variable whose name is buffer[lo:hi], or -1."""
    slots = len(table)
    slot = _hash(buffer, lo, hi) & (slots - 1)
    while table[slot] >= 0:
        v = table[slot]
        if offsets[v + 1] - offsets[v] == hi - lo:
            same = True
            for i in range(hi - lo):
                if text[offsets[v] + i] != buffer[lo + i]:
                    same = False
                    break
            if same:
                return v
        slot = (slot + 1) & (slots - 1)
    return np.int64(-1)
