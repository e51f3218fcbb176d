"""Finished blocks of Phase I on disk, so that a run that is killed goes on where it was.

    DIR/run.json      what is being scored: data, score, constraints; another run is refused by what differs
    DIR/lock          held (flock) by the process at work, so the system frees it however that process ends
    DIR/blocks/*.npz  the survivors of one block of predictor sets each

A block is written beside its place, flushed and renamed, so it is there whole or not at all, and its name says which
sets it covers. Survivors are enough to go on: a pruned family's score is never needed, because what pruned it is there.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import io
import json
import logging
import os
import re
import zipfile
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from optbn.errors import OptbnError, StoppedEarly
from solvers.files.atomic import replacing

log = logging.getLogger(__name__)

VERSION = 1


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

    def __init__(self, directory: Path, lock: Any) -> None:
        self._directory = directory
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
                run = {"version": VERSION, **run}
                if existing.exists():
                    _check_same(path, json.loads(existing.read_text()), run)
                else:
                    with replacing(existing) as file:
                        file.write(json.dumps(run, indent=1).encode())
            except BaseException:
                lock.close()
                raise
        for left in (path / "blocks").glob(".*.part"):  # a block in flight when its process was killed
            left.unlink()
        return cls(path, lock)

    def finished(self, group: int, size: int) -> list[Block]:
        """The blocks on disk for one group and size, by rank."""
        found = []
        for path in self._blocks.iterdir():
            match = re.fullmatch(r"(\d+)-(\d+)-(\d+)-(\d+)\.npz", path.name)
            if match and (int(match[1]), int(match[2])) == (group, size):
                found.append(Block(*(int(part) for part in match.groups())))
        return sorted(found)

    def read(self, block: Block) -> Survivors | None:
        """A finished block; None (and the block forgotten) when the file is damaged."""
        path = self._path(block)
        try:
            with np.load(path, allow_pickle=False) as file:
                return Survivors(file["rows"], file["children"], file["scores"])
        except (ValueError, KeyError, EOFError, zipfile.BadZipFile):
            log.warning("%s is damaged and will be computed again", path)
            path.unlink()
            return None

    def write(self, block: Block, survivors: Survivors) -> None:
        """Keep a block; on a full disk everything written before stays and the message says so."""
        content = io.BytesIO()
        np.savez(content, **survivors._asdict())
        with _disk(self._directory, self._written), replacing(self._path(block)) as file:
            file.write(content.getvalue())
        self._written += 1

    def close(self) -> None:
        self._lock.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _path(self, block: Block) -> Path:
        return self._blocks / f"{block.group:04d}-{block.size:02d}-{block.first:012d}-{block.last:012d}.npz"


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
