"""Finished blocks of Phase I on disk, so that a run that is killed goes on where it was.

    DIR/run.json      what is being scored: data, score, constraints; another run is refused by what differs. And that
                      sets are kept that no subset beats ("sets": "undominated", as tables in files have it)
    DIR/lock          held (flock) by the process at work, so the system frees it however that process ends
    DIR/blocks/*.block  the survivors of one block of predictor sets each

A block is written beside its place, flushed and renamed, so it is there whole or not at all. It begins with the sha256
of the run, of the sets it covers and of the numbers that follow (rows, children, scores, 8 bytes each), so a block that
is damaged, or was put in the place of another, is computed again. Survivors are enough to go on: a pruned family's
score is never needed, because what pruned it is there.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import json
import logging
import os
import re
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import OptbnError, StoppedEarly
from optbn_solvers.base.atomic import replacing
from optbn_solvers.base.whole import UNDOMINATED

log = logging.getLogger(__name__)

VERSION = 2

DIGEST = 32  # bytes of a sha256


class StoreError(OptbnError, ValueError):
    """A store that belongs to another run or is in use."""


class Block(NamedTuple):
    """The predictor sets of `size` members with ranks first..last-1, for the responses of one group."""

    group: int
    size: int
    first: int
    last: int


class Survivors(NamedTuple):
    """Families that no proper subset beats: position of the set within its block, child, score."""

    rows: NDArray[np.int64]
    children: NDArray[np.int64]
    scores: NDArray[np.float64]


class Store:
    """Use it as `with Store.open(directory, run) as store`."""

    def __init__(self, directory: Path, lock: Any, run: dict[str, Any]) -> None:
        self._directory = directory
        self._run = json.dumps(run, sort_keys=True).encode()
        self._blocks = directory / "blocks"
        self._lock = lock
        self._written = 0

    @classmethod
    def open(cls, directory: str | PathLike[str], run: dict[str, Any]) -> Store:
        """Take the store for this run, making it if it does not exist.

        `run` maps what is scored ("data", "score", ...) to JSON values; each is named when it differs.
        """
        path = Path(directory)
        if path.exists() and not path.is_dir():
            raise StoreError(f"the store {path} is a file, expected a folder")
        existing = path / "run.json"
        if path.is_dir() and not existing.exists() and any(p.name not in ("lock", "blocks") for p in path.iterdir()):
            raise StoreError(f"the folder {path} holds other files and is no store: choose an empty or new one")
        with _disk(path, 0):
            (path / "blocks").mkdir(parents=True, exist_ok=True)
            lock = open(path / "lock", "a+")  # noqa: SIM115  held as long as the store
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                lock.seek(0)
                owner = lock.read().strip() or "another process"
                lock.close()
                raise StoreError(f"the store {path} is in use by {owner}: wait for it or use another folder") from None
            try:
                lock.truncate(0)
                lock.write(f"process {os.getpid()}")
                lock.flush()
                run = {"version": VERSION, "sets": UNDOMINATED, **run}
                if existing.exists():
                    _check_same(path, _read_run(existing), run)
                else:
                    with replacing(existing) as file:
                        file.write(json.dumps(run, indent=1).encode())
            except BaseException:
                lock.close()
                raise
        for left in (path / "blocks").glob(".*.part"):  # a block in flight when its process was killed
            left.unlink()
        return cls(path, lock, run)

    def finished(self, group: int, size: int) -> list[Block]:
        """The blocks on disk for one group and size, by rank."""
        found = []
        for path in self._blocks.iterdir():
            match = re.fullmatch(r"([0-9]+)-([0-9]+)-([0-9]+)-([0-9]+)\.block", path.name)
            block = Block(*map(int, match.groups())) if match else None
            if block and block[:2] == (group, size) and self._path(block).name == path.name:
                found.append(block)
        return sorted(found)

    def read(self, block: Block) -> Survivors | None:
        """A finished block; None (and the block forgotten) when the file is damaged."""
        path = self._path(block)
        content = path.read_bytes()
        numbers = content[DIGEST:]
        if content[:DIGEST] != self._digest(block, numbers) or len(numbers) % 24:
            log.warning("%s is damaged and will be computed again", path)
            path.unlink()
            return None
        rows, children, scores = np.frombuffer(numbers, dtype="<i8").reshape(3, -1)
        return Survivors(rows.astype(np.int64), children.astype(np.int64), scores.view("<f8").astype(np.float64))

    def write(self, block: Block, survivors: Survivors) -> None:
        """Keep a block; on a full disk everything written before stays and the message says so."""
        kinds = ("<i8", "<i8", "<f8")
        numbers = b"".join(part.astype(kind).tobytes() for part, kind in zip(survivors, kinds, strict=True))
        with _disk(self._directory, self._written), replacing(self._path(block)) as file:
            file.write(self._digest(block, numbers) + numbers)
        self._written += 1

    def _digest(self, block: Block, numbers: bytes) -> bytes:
        return hashlib.sha256(b"\0".join((self._run, repr(tuple(block)).encode(), numbers))).digest()

    def close(self) -> None:
        self._lock.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _path(self, block: Block) -> Path:
        return self._blocks / f"{block.group:04d}-{block.size:02d}-{block.first:012d}-{block.last:012d}.block"


def _read_run(path: Path) -> dict[str, Any]:
    """What a store says that it is for."""
    try:
        run = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        run = None
    if not isinstance(run, dict):
        raise StoreError(f"{path} is damaged, so nobody knows what the store is for: use another folder")
    return run


def _check_same(path: Path, theirs: dict[str, Any], ours: dict[str, Any]) -> None:
    """Refuse the store of another run, naming all that differs."""
    different = [
        f"{key} (there {_short(theirs.get(key))}, here {_short(ours.get(key))})"
        for key in {**ours, **theirs}
        if theirs.get(key) != ours.get(key)
    ]
    if different:
        raise StoreError(
            f"the store {path} belongs to another run, which differs in {', '.join(different)}: use another folder"
        )


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."


@contextlib.contextmanager
def _disk(path: Path, written: int) -> Iterator[None]:
    """Turn a full disk into a message that says what is kept."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        raise StoppedEarly(
            f"the store {path} cannot grow: {error.strerror}. The blocks before it ({written} of this run) are kept: "
            "free some space and run the same command again to go on"
        ) from error
