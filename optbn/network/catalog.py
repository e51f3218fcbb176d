"""The bundled networks: `networks/` of a source checkout, `optbn/_networks/` of an installed wheel.

catalog.json says per network its file, counts, source, licence, and the sha256 of the file's text (before gzip).
"""

from __future__ import annotations

import errno
import functools
import json
import os
import sys
from os import PathLike
from pathlib import Path
from typing import Any

from optbn.base.errors import NetworkError, UnsupportedError
from optbn.base.registry import unknown
from optbn.network.formats import decode, read_network
from optbn.network.network import BayesianNetwork


def folder() -> Path:
    """Where the bundled networks are."""
    package = Path(__file__).parent.parent
    for candidate in (package / "_networks", package.parent / "networks"):
        if (candidate / "catalog.json").is_file():
            return candidate
    raise NetworkError(f"the bundled networks are missing from {package}; install optbn again")


@functools.cache
def catalog() -> dict[str, dict[str, Any]]:
    """What is known of each bundled network, by name."""
    entries: dict[str, dict[str, Any]] = json.loads((folder() / "catalog.json").read_text(encoding="utf-8"))
    return entries


def load_network(name: str | PathLike[str]) -> BayesianNetwork:
    """A bundled network by its name, or the network in a file ("-": JSON from stdin); an unknown name lists what
    exists."""
    if not isinstance(name, str | PathLike):
        raise UnsupportedError(f"expected the name of a bundled network or a path, got {type(name).__name__}")
    text, path = os.fspath(name), Path(name)
    if text == "-":
        return decode(sys.stdin.buffer.read(), "json", "stdin")
    if text in catalog() and isinstance(name, str):
        return read_network(folder() / catalog()[text]["file"])
    if "/" in text or "\\" in text or path.suffix or path.is_file() or not isinstance(name, str):
        if not path.exists():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), text)
        return read_network(path)
    raise unknown("bundled network", text, catalog())
