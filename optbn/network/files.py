"""Writing a file in one step: what was there stays until the new content is complete."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path

from optbn.errors import OptbnError


@contextmanager
def replacing(path: str | PathLike[str]) -> Iterator[Path]:
    """A path to write to; it becomes `path` at the end, or goes away if the block fails.

    A device or a pipe is written to directly.
    """
    path = Path(path)
    if path.exists() and not path.is_file() and not path.is_dir():
        yield path
        return
    if path.is_dir():
        raise OptbnError(f"{path}: is a folder, expected a file")
    if not path.parent.is_dir():
        raise OptbnError(f"{path}: there is no folder {path.parent}")
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        yield partial
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)
