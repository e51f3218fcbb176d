"""Damage to files: each edit replaces a stretch of bytes by something else.

The replacement is noise, a word of the target's own language, a number at the edge of what numbers can be, a piece of
this or of another valid file, or the stretch repeated many times (deep nesting, long rows, huge counts).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

NUMBERS = [
    "0",
    "-1",
    "1",
    "2",
    "255",
    "256",
    "65536",
    "99999999",
    "2147483647",
    "2147483648",
    "-2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551616",
    "1e308",
    "1e309",
    "-1e309",
    "1e-320",
    "5e-324",
    "nan",
    "inf",
    "-inf",
    "0.1",
    "-0.0",
    "1e999999999",
    "1e-999999999",
]
WORDS = [word.encode() for word in NUMBERS] + [
    b"",
    b"\x00",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b'"',
    b"'",
    b"\n",
    b"\r\n",
    b"\\",
    b"\x1b[2J",
    b"null",
    b"true",
    b"[]",
    b"{}",
    b'""',
    b"\xed\xa0\x80",
    b"\xf0\x9f\x92\xa9",
    b"../../../etc/passwd",
]
_DIGITS = re.compile(rb"-?\d+\.?\d*")


@dataclass(frozen=True)
class Edit:
    """Replace `length` bytes from the fraction `at` of the file by `content`."""

    at: float
    length: int
    content: bytes

    def apply(self, file: bytes) -> bytes:
        begin = min(len(file), int(self.at * (len(file) + 1)))
        return file[:begin] + self.content + file[begin + self.length :]


def damaged(file: bytes, others: Sequence[bytes], words: Sequence[bytes], rng: np.random.Generator) -> bytes:
    """The file after one to four edits."""
    for _ in range(int(rng.integers(1, 5))):
        file = _edited(file, others, words, rng)
    return file


def _edited(file: bytes, others: Sequence[bytes], words: Sequence[bytes], rng: np.random.Generator) -> bytes:
    at, length = float(rng.random()), int(rng.integers(0, 1 + rng.choice([1, 4, 16, 64])))
    kind = int(rng.integers(8))
    if kind == 0:
        return Edit(at, int(rng.integers(0, 3)), rng.bytes(int(rng.integers(1, 4)))).apply(file)
    if kind == 1:
        return Edit(at, length, bytes(_pick(words, rng))).apply(file)
    if kind == 2:
        return Edit(at, int(rng.integers(0, 2)), bytes(_pick(WORDS, rng))).apply(file)
    if kind == 3:  # another number in place of one
        found = [match.span() for match in _DIGITS.finditer(file[: 1 << 16])]
        if found:
            begin, end = found[int(rng.integers(len(found)))]
            return file[:begin] + bytes(_pick(WORDS[: len(NUMBERS)], rng)) + file[end:]
    if kind == 4:  # a piece of a valid file
        other = bytes(_pick(others, rng))
        begin = int(rng.integers(0, len(other) + 1))
        return Edit(at, length, other[begin : begin + int(rng.integers(1, 200))]).apply(file)
    if kind == 5:  # a stretch repeated
        begin = int(at * len(file))
        times = int(rng.choice([2, 3, 30, 3000])) if len(file) < 10_000 else 2
        return Edit(at, 0, file[begin : begin + 1 + length % 20] * times).apply(file)
    if kind == 6:
        return file[: int(at * len(file))]
    begin = int(at * len(file))
    bits = bytearray(file[begin : begin + 1] or b"\0")
    bits[0] ^= 1 << int(rng.integers(8))
    return file[:begin] + bytes(bits) + file[begin + 1 :]


def _pick(items: Sequence[bytes], rng: np.random.Generator) -> bytes:
    return items[int(rng.integers(len(items)))]
