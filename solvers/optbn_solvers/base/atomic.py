"""Files that are there whole or not at all: written beside their place, flushed to the disk, then renamed into it."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import BinaryIO


def check_place(path: str | PathLike[str]) -> None:
    """Raise OSError now if no file of this name could be written: hours of work should not end there."""
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "is a folder, expected a file", str(path))
    if not path.absolute().parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, f"there is no folder {path.parent}", str(path))
    device = path.exists() and not path.is_file()
    if not os.access(path if device else path.absolute().parent, os.W_OK):
        raise PermissionError(errno.EACCES, "permission denied; choose a folder that you may write to", str(path))
    if not device and len(os.fsencode(_part(path).name)) > os.pathconf(path.absolute().parent, "PC_NAME_MAX"):
        raise OSError(errno.ENAMETOOLONG, "the name is too long for this folder", str(path))


def _part(path: Path) -> Path:
    """Where the file is written first."""
    return path.with_name(f".{path.name}.{os.getpid()}.part")


@contextlib.contextmanager
def beside(path: str | PathLike[str]) -> Iterator[Path]:
    """Where to write what takes `path`'s place when the block ends well and vanishes when it does not."""
    path = Path(path)
    if path.exists() and not path.is_file():  # a device or pipe cannot be replaced by renaming
        yield path
        return
    part = _part(path)
    try:
        yield part
        with open(part, "rb") as file:
            os.fsync(file.fileno())
        os.replace(part, path)
    except BaseException as error:
        part.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename in (None, str(part), part):
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise


@contextlib.contextmanager
def replacing(path: str | PathLike[str]) -> Iterator[BinaryIO]:
    """A binary file that takes `path`'s place when the block ends well and vanishes when it does not."""
    with beside(path) as part, open(part, "wb") as file:
        yield file
