"""Structures in files: our own JSON, a solver's answer, GraphML, and the graph of a network in any format."""

from __future__ import annotations

import json
from os import PathLike
from pathlib import Path
from typing import Any

import msgspec

from optbn.base.errors import NetworkError
from optbn.network.formats import graphml, read_network
from optbn.network.structure import Structure
from optbn_solvers.base.errors import repeated


def read_structure(path: str | PathLike[str]) -> Structure:
    """The structure in a structure file, a solver's answer or a GraphML file, or of a network in any format."""
    if Path(path).suffix.lower() == ".graphml":
        return graphml.read_structure(Path(path).read_bytes(), str(path))
    return read_parents(path) or read_network(path).structure


def read_parents(path: str | PathLike[str]) -> Structure | None:
    """What a structure file, or the answer of a solver, says on parents; None for any other file."""
    if Path(path).suffix.lower() != ".json" or not Path(path).is_file():
        return None
    try:
        raw = msgspec.json.decode(Path(path).read_bytes(), type=dict[str, msgspec.Raw])["parents"]
        parents = msgspec.json.decode(raw, type=dict[str, list[str]])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, KeyError):
        return None
    try:
        json.loads(bytes(raw), object_pairs_hook=_different)
        return Structure.from_parents(parents)
    except NetworkError as error:
        raise NetworkError(f"{path}: {error}") from None


def _different(entries: list[tuple[str, Any]]) -> None:
    """Refuse a variable with two lists of parents, of which JSON would take the last."""
    names = [name for name, _ in entries]
    if len(set(names)) < len(names):
        raise NetworkError(f"variable {repeated(names)!r} is named twice")
