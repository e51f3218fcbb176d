"""The bundled networks: `networks/` of a source checkout, `optbn/_networks/` of an installed wheel.

catalog.json says per network its file, counts, source, licence, and the sha256 of the file's text (before gzip).
"""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import optbn
from optbn.errors import NetworkError
from optbn.network.network import BayesianNetwork
from optbn.registry import unknown


def folder() -> Path:
    """Where the bundled networks are."""
    package = Path(optbn.__file__).parent
    for candidate in (package / "_networks", package.parent / "networks"):
        if (candidate / "catalog.json").is_file():
            return candidate
    raise NetworkError(f"the bundled networks are missing from {package}; install optbn again")


@functools.cache
def catalog() -> dict[str, dict[str, Any]]:
    """What is known of each bundled network, by name."""
    entries: dict[str, dict[str, Any]] = json.loads((folder() / "catalog.json").read_text(encoding="utf-8"))
    return entries


def load_network(name: str) -> BayesianNetwork:
    """A bundled network; an unknown name lists what exists."""
    from optbn.network.formats import read_network

    if name not in catalog():
        raise unknown("bundled network", name, catalog())
    return read_network(folder() / catalog()[name]["file"])


def find_network(name_or_path: str) -> BayesianNetwork:
    """A network by the name of a bundled one, or by the path of a file."""
    from optbn.network.formats import EXTENSIONS, read_network

    path = Path(name_or_path)
    looks_like_file = "/" in name_or_path or "\\" in name_or_path or bool(EXTENSIONS.keys() & set(path.suffixes))
    if name_or_path not in catalog() and (looks_like_file or path.is_file()):
        return read_network(path)
    return load_network(name_or_path)
