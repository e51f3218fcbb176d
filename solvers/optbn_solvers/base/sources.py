"""The sources that compiled code is made of: its own file and, through the imports at their top, those of the kernels
and numbers that it uses. numba looks at the first alone: code with an old kernel within would be used for ever."""

from __future__ import annotations

import functools
import os
import re
import sys

OURS = ("optbn", "optbn_solvers")
_IMPORT = re.compile(r"^(?:from ([\w.]+) )?import (\([^)]*\)|[^\n#]*)", re.M)


@functools.cache
def stamp(path: str, root: str) -> frozenset[tuple[str, float, int]]:
    """Name, time and size of the file and of all that it imports from these packages or the package `root`."""
    found: set[str] = set()
    waiting = [path]
    while waiting:
        file = waiting.pop()
        if file not in found:
            found.add(file)
            waiting += _imported(file, root)
    return frozenset((os.path.basename(file), *_written(file)) for file in found)


@functools.cache
def _imported(path: str, root: str) -> tuple[str, ...]:
    """The files of the modules that a file imports; they are loaded before its first kernel is made."""
    with open(path, encoding="utf-8") as source:
        text = source.read()
    files = []
    for package, names in _IMPORT.findall(text):
        words = re.findall(r"[\w.]+", names)
        for name in (package, *(f"{package}.{word}" for word in words)) if package else words:
            if name.partition(".")[0] in (root, *OURS):
                files.append(getattr(sys.modules.get(name), "__file__", None))
    return tuple(file for file in files if file)


@functools.cache
def _written(path: str) -> tuple[float, int]:
    found = os.stat(path)
    return found.st_mtime, found.st_size
