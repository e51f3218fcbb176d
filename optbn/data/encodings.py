"""In which encoding a text is, by its first bytes, and where these leave it open by all of it."""

from __future__ import annotations

import codecs
import re
from typing import Any

from optbn.data.findings import Finding

HEAD = 1 << 16
"""Bytes in which a dialect is looked for (more when rows are long)."""
MARK = codecs.BOM_UTF8


def wide_encoding(first: bytes) -> str:
    """The name of the encoding if the bytes are two (or four) a letter; else nothing."""
    if first.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return "utf-32"
    if first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    some = first[: min(len(first), 400) // 2 * 2]
    if len(some) <= 7 or not any(some) or (any(some[::2]) and any(some[1::2])):
        return ""
    return "utf-16-le" if any(some[::2]) else "utf-16-be"


def encoding_of(stream: Any) -> tuple[str, tuple[Finding, ...]]:
    first = stream.read(HEAD) or b""
    if not isinstance(first, bytes):
        return "utf-8", ()  # refused where it is read
    if wide := wide_encoding(first):
        return wide, (Finding("certain", f"{wide[:6].upper()} text, found by its first bytes"),)
    decoder = codecs.getincrementaldecoder("utf-8")()
    part, done, marks = first, 0, -int(first.startswith(MARK))
    while part and b"\0" not in part:
        try:
            if not part.isascii() or decoder.getstate()[0]:
                decoder.decode(part)
        except UnicodeDecodeError as error:
            at = done + error.start
            return _eight_bits(part, at, error.object[error.start])
        marks += part.count(MARK)
        done += len(part)
        part = stream.read(1 << 20) or b""
    if marks > 0:
        what = "marks of UTF-8 stand within the text, as where files are put together, and are left out"
        return "utf-8", (Finding("certain", what),)
    return "utf-8", ()


_HIGH = re.compile(rb"[\x80-\xff]+")


def _eight_bits(part: bytes, at: int, byte: int) -> tuple[str, tuple[Finding, ...]]:
    """The encoding of a text that is not UTF-8: Windows' western one where single letters have accents; whole words in
    other letters, or signs that this encoding has none for, say that it is another."""
    try:
        part.decode("cp1252")
        unknown = False
    except UnicodeDecodeError:
        unknown = True
    runs = _HIGH.findall(part)
    words = sum(len(run) for run in runs if len(run) > 2)
    what = f"byte 0x{byte:02x} at {at:,} is not UTF-8"
    if unknown or 2 * words > sum(map(len, runs)):
        remedy = "--encoding says which it is: cp1251 (Cyrillic), cp437 (DOS), shift_jis, gb18030, latin-1 .."
        kind = "latin-1" if unknown else "cp1252"
        return kind, (Finding("doubtful", f"{what}, and hardly Western", remedy=remedy, settle=("--encoding", kind)),)
    what += "; read as cp1252, the usual encoding of western Windows"
    return "cp1252", (Finding("probable", what, remedy="--encoding for another one"),)
