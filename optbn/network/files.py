"""Writing a file in one step: what was there stays until the new content is complete."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path

from optbn.errors import OptbnError, UnsupportedError
from solvers.files.atomic import beside


@contextmanager
def saving(path: str | PathLike[str]) -> Iterator[Path]:
    """A path to write to; it becomes `path` at the end, or goes away if the block fails.

    A device or a pipe is written to directly.
    """
    check_writable(path)
    try:
        with beside(path) as partial:
            yield partial
    except OSError as error:
        if error.filename in (None, str(path)):
            raise OptbnError(f"{path}: cannot be written ({error.strerror or error})") from None
        raise


def check_writable(path: str | PathLike[str]) -> None:
    """Refuse a path whose folder does not exist or may not be written to, before any work is done for it."""
    path = Path(path)
    if path.is_dir():
        raise UnsupportedError(f"{path}: is a folder, expected a file")
    if not path.absolute().parent.is_dir():
        raise UnsupportedError(f"{path}: there is no folder {path.parent}")
    if not os.access(path.absolute().parent, os.W_OK) and not (path.exists() and os.access(path, os.W_OK)):
        raise UnsupportedError(f"{path}: permission denied; choose a folder that you may write to")
