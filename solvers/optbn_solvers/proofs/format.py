"""The file of a proof: a line of JSON and a zlib stream of zigzag varints (README.md in this folder).

Nothing here knows what the numbers mean. Everything that is wrong with a file is a CheckFailed.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from optbn_solvers.base.errors import CheckFailed
from optbn_solvers.base.table import ScoreTable

CLUSTER, SUBSET, LEAF, FILTER, BRANCH = range(5)
VERSION = 1
LONGEST_HEADER = 1 << 26
LARGEST_BODY = 1 << 30  # bytes unpacked
MOST_PACKED = 40  # bytes unpacked per byte of a file: those that are meant have fewer than 20, as a rule 1.2
LITTLE = 1 << 14  # bytes unpacked that any file may have
LONGEST_NUMBER = 1 << 12  # bits; what writers make has 64

Late = Callable[[], bool]


def never() -> bool:
    """There is time."""
    return False


@dataclass(frozen=True)
class ProofFile:
    """A proof as it was read: the rows of its graph, the number of its nodes, the bytes of its numbers.

    Multipliers count 1/denominator units.
    """

    choice: tuple[int, ...]
    records: int
    denominator: int
    body: bytes


def read_proof(table: ScoreTable, path: str | Path) -> ProofFile:
    """Read a proof that belongs to the table; CheckFailed says what is wrong with it."""
    try:
        with open(path, "rb") as file:
            line, packed = file.readline(LONGEST_HEADER), file.read()
        header = json.loads(line)
        if not isinstance(header, dict) or header["format"] != "optbn-proof" or header["version"] != VERSION:
            raise CheckFailed(f"{path} is not a proof of version {VERSION}")
        body = unpacked(packed, str(path))
        choice, records = header["choice"], header["records"]
        denominator = header["denominator"]
        whole = all(isinstance(number, int) for number in [*choice, records, denominator])
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise CheckFailed(f"{path} cannot be read as a proof: {error}") from None
    if header.get("table") != table.digest:
        raise CheckFailed(f"{path} proves something about another score table (its digest is not {table.digest[:12]})")
    if not whole or denominator < 1 or not all(0 <= row < len(table) for row in choice):
        raise CheckFailed(
            f"{path}: the rows of the graph are not rows of the table, or the denominator is not a whole number >= 1"
        )
    return ProofFile(tuple(choice), records, denominator, body)


def unpacked(packed: bytes, name: str) -> bytes:
    """The bytes of the numbers; messages call them `name`."""
    unpacker = zlib.decompressobj()
    largest = min(LARGEST_BODY, MOST_PACKED * len(packed) + LITTLE)
    try:
        body = unpacker.decompress(packed, largest)
    except zlib.error as error:
        raise CheckFailed(f"{name} cannot be read as a proof: {error}") from None
    if len(body) == largest:
        raise CheckFailed(f"{name} unpacks to more than {largest:,} bytes; no proof of its size that optbn writes does")
    if not unpacker.eof or unpacker.unused_data:
        raise CheckFailed(f"{name} is cut off, or goes on after its end")
    return body


def header_line(table: ScoreTable, choice: tuple[int, ...], records: int, denominator: int) -> bytes:
    """The first line of the file."""
    header = {
        "format": "optbn-proof",
        "version": VERSION,
        "table": table.digest,
        "choice": list(choice),
        "records": records,
        "denominator": denominator,
    }
    return json.dumps(header).encode() + b"\n"


def numbers(body: bytes) -> Iterator[int]:
    """The numbers of the stream."""
    value = shift = 0
    for byte in body:
        value |= (byte & 127) << shift
        shift += 7
        if shift > LONGEST_NUMBER:
            raise CheckFailed(f"the proof has a number of more than {LONGEST_NUMBER} bits")
        if byte < 128:
            yield value >> 1 if value & 1 == 0 else -(value >> 1) - 1
            value = shift = 0
    if shift:
        raise CheckFailed("the proof ends in the middle of a number")
