"""Writing a file in one step: what was there stays until the new content is complete."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path

from optbn.base.errors import OptbnError, UnsupportedError
from optbn_solvers.base.atomic import beside, check_place


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
    """Refuse a path that could not be written to, before any work is done for it."""
    try:
        check_place(path)
    except OSError as error:
        raise UnsupportedError(f"{path}: {error.strerror}") from None
