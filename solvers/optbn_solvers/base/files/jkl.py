"""Jaakkola's score files, the format GOBNILP reads (.jkl, .jaa).

    n
    name count          for each of the n variables
    score k p1 .. pk    for each of its `count` parent sets

After the first `name count`, a "#" and JSON say what the scores are (which score of which data, and whether the sets
that a subset beats are there): other programs read two words of that line. Lines that begin with "# " are comments.
Scores are written as the shortest decimal that reads back as the same float. Python walks the n header lines; the
rows between them go through one compiled scan.
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from optbn_solvers.base.atomic import replacing
from optbn_solvers.base.errors import TableError, repeated
from optbn_solvers.base.files.rows import Rows, empty_masks, member_lists
from optbn_solvers.base.kernels import parse
from optbn_solvers.base.table import ScoreTable

CHUNK = 1 << 16  # rows formatted at a time


def read(data: bytes, source: str) -> Rows:
    """The rows of a .jkl file given its bytes; `source` names it in messages."""
    lines = Lines(data, source, comments=True)
    if not len(lines):
        raise TableError(f"{source}: the file is empty, expected the number of variables")
    first = lines.text(0).split()
    if len(first) != 1 or not _is_count(first[0]) or int(first[0]) == 0:
        raise lines.error(0, f"expected the number of variables, found {lines.text(0)!r}")
    names: list[str] = []
    blocks: list[range] = []
    at = 1
    about: dict[str, Any] = {}
    for _ in range(int(first[0])):
        if at >= len(lines):
            raise TableError(f"{source}: {first[0]} variables are announced, the file ends after {len(names)}")
        header = lines.text(at).split()
        if "#" in header[2:3] and not names:
            about = _about(lines.text(at))
            header = header[:2]
        if len(header) != 2 or not _is_count(header[1]) or (names and _is_number(header[0]) and header[1] == "0"):
            wanted = "'name count' of the next variable"
            if names:
                wanted += f" (after the {len(blocks[-1])} parent sets that {names[-1]!r} announces)"
            raise lines.error(at, f"expected {wanted}, found {lines.text(at)!r}")
        names.append(header[0])
        blocks.append(range(at + 1, at + 1 + int(header[1])))
        at = blocks[-1].stop
        if at > len(lines):
            there = len(lines) - blocks[-1].start
            raise lines.error(
                blocks[-1].start - 1, f"{header[0]!r} announces {header[1]} parent sets, the file holds {there} more"
            )
    if at < len(lines):
        raise lines.error(at, f"all {len(names)} variables are complete, but the file goes on: {lines.text(at)!r}")
    children = np.repeat(np.arange(len(names)), [len(block) for block in blocks])
    rows = np.concatenate([np.arange(block.start, block.stop) for block in blocks])
    return replace(lines.parse(names, children, rows, counted=True), about=about)


def write(table: ScoreTable, path: str | Path, about: Mapping[str, Any]) -> None:
    """Write a table in the .jkl form; "-" is standard output."""
    rows = Rows.of(table)
    write_rows(replace(rows, about={**about, **rows.about}), path)


def write_rows(rows: Rows, path: str | Path) -> None:
    """Write rows as they stand, in their order within each child."""
    for name in rows.names:
        if not name or any(c <= " " for c in name):
            raise TableError(
                f"{path}: the name {name!r} is empty or has white space, which this format cannot hold; "
                "rename the variable or write .parquet"
            )
    target: Any = contextlib.nullcontext(sys.stdout.buffer) if str(path) == "-" else replacing(path)
    with target as file:
        _write(rows, file)
        file.flush()


def _write(rows: Rows, file: BinaryIO) -> None:
    names = rows.names
    file.write(f"{len(names)}\n".encode())
    order = np.argsort(rows.children, kind="stable")
    ends = np.searchsorted(rows.children[order], np.arange(len(names) + 1))
    for child, name in enumerate(names):
        own = order[ends[child] : ends[child + 1]]
        about = f" # {json.dumps(dict(rows.about))}" if rows.about and child == 0 else ""
        file.write(f"{name} {len(own)}{about}\n".encode())
        for start in range(0, len(own), CHUNK):
            part = own[start : start + CHUNK]
            members, offsets = member_lists(rows.masks[part], len(names))
            parents = [names[u] for u in members.tolist()]
            at = offsets.tolist()
            file.write(
                "".join(
                    f"{score!r} {hi - lo} {' '.join(parents[lo:hi])}".rstrip() + "\n"
                    for score, lo, hi in zip(rows.scores[part].tolist(), at, at[1:], strict=False)
                ).encode()
            )


class Lines:
    """The non-blank lines of a text file, for the formats made of them."""

    def __init__(self, data: bytes, source: str, comments: bool = False) -> None:
        self.source = source
        self.buffer: NDArray[np.uint8] = np.frombuffer(data.removeprefix(b"\xef\xbb\xbf"), dtype=np.uint8)
        self.starts, self.ends, self.numbers = parse.nonblank_lines(self.buffer)
        blank = self.buffer[np.minimum(self.starts + 1, len(self.buffer) - 1)] <= ord(" ")
        if comments and (comment := (self.buffer[self.starts] == ord("#")) & blank).any():
            self.starts, self.ends, self.numbers = (each[~comment] for each in (self.starts, self.ends, self.numbers))

    def __len__(self) -> int:
        return len(self.starts)

    def text(self, line: int) -> str:
        return self.token(int(self.starts[line]), int(self.ends[line])).strip()

    def token(self, start: int, end: int) -> str:
        return self.buffer[start:end].tobytes().decode("utf-8", "replace")

    def error(self, line: int, what: str) -> TableError:
        return TableError(f"{self.source}, line {self.numbers[line]}: {what}")

    def parse(
        self, names: Sequence[str], children: NDArray[np.integer], rows: NDArray[np.integer], counted: bool
    ) -> Rows:
        """Score lines `rows`, belonging to `children`, in one compiled scan."""
        if len(set(names)) < len(names):
            raise TableError(f"{self.source}: variable {repeated(names)!r} appears twice")
        encoded = [name.encode() for name in names]
        text = np.frombuffer(b"".join(encoded), dtype=np.uint8)
        offsets = np.concatenate([[0], np.cumsum([len(name) for name in encoded])]).astype(np.int64)
        of: NDArray[np.int64] = np.ascontiguousarray(children, dtype=np.int64)
        starts, ends = self.starts[rows], self.ends[rows]
        masks = empty_masks(len(rows), len(names), len(self.buffer), self.source)
        digits = np.empty(int((ends - starts + 1).sum()), dtype=np.uint8)
        wrong, row, start, end, used = parse.parse_rows(
            self.buffer, starts, ends, of, counted, parse.hash_names(text, offsets), text, offsets, masks, digits
        )
        if wrong != parse.OK:
            raise self.error(rows[row], self._complaint(wrong, names[of[row]], start, end))
        scores = np.fromstring(digits[:used].tobytes(), dtype=np.float64, sep="\n")
        huge = np.flatnonzero(~np.isfinite(scores))
        if len(huge):
            raise self.error(rows[huge[0]], "the score is too large for a 64-bit float")
        return Rows(tuple(names), of, masks, scores)

    def _complaint(self, wrong: int, child: str, start: int, end: int) -> str:
        if wrong == parse.WRONG_COUNT:
            return f"{start} parents are announced, {end} are listed"
        token = self.token(start, end)
        return {
            parse.NO_NUMBER: f"expected a score (of a parent set of {child!r}), found {token!r}",
            parse.NOT_FINITE: f"the score is {token}; scores must be finite numbers",
            parse.NO_COUNT: f"expected the number of parents after the score, found {token or 'nothing'!r}",
            parse.UNKNOWN_PARENT: f"{child!r} has an unknown parent {token!r}",
            parse.SELF_PARENT: f"{child!r} is listed as a parent of itself",
            parse.TWICE: f"{child!r} has the parent {token!r} twice",
        }[wrong]


def read_about(path: str | Path) -> dict[str, Any]:
    """What a file says of its scores, without reading them."""
    with open(path, "rb") as file:
        lines = (line for line in file if line.split()[:1] not in ([], [b"#"]))
        next(lines, b"")
        return _about(next(lines, b"").decode("utf-8", "replace"))


def _about(header: str) -> dict[str, Any]:
    """The JSON after "name count #"; of a comment that is none, nothing."""
    try:
        about = json.loads(header.split(None, 3)[3].strip()) if header.split()[2:3] == ["#"] else {}
    except (ValueError, IndexError, RecursionError):
        return {}
    return about if isinstance(about, dict) else {}


def _is_count(text: str) -> bool:
    return text.isdecimal() and len(text) < 19


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
