"""What verbs that write networks have in common: what a format cannot say is not lost."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from itertools import chain, count
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from optbn.base.errors import NetworkError, UnsupportedError
from optbn.base.files import check_writable
from optbn.base.numbers import counted
from optbn.network.formats import format_of, write_network

if TYPE_CHECKING:
    from optbn.network.network import BayesianNetwork


def check_network_file(path: str | PathLike[str], data: str | PathLike[str] = "") -> None:
    """Refuse a name with an unknown ending, a folder that cannot be written to, and the data's own file, before any
    work is done."""
    format_of(path)
    check_writable(path)
    if os.path.exists(path) and os.path.exists(data) and os.path.samefile(path, data):
        raise UnsupportedError(f"{path} holds the data, which the network would overwrite; choose another name")


def write_or_beside(network: BayesianNetwork, path: str | PathLike[str]) -> tuple[str, str | None]:
    """Write a network in the format of the file's name, or as JSON beside it if that format cannot say it.

    What was written, and the reason if it is not `path`.
    """
    check_network_file(path)  # so that what is refused below is the network
    try:
        write_network(network, path)
    except NetworkError as error:
        beside = f"{path}.json"  # not model.json for model.bif: that may well be the structure, or the report
        write_network(network, beside)
        return beside, str(error)
    return str(path), None


def write_network_file(network: BayesianNetwork, output: str) -> str:
    """A line on what was written; what the format cannot say goes to JSON with a warning."""
    written, reason = write_or_beside(network, output)
    if reason is not None:
        print(f"optbn: warning: {reason}; written to {written}", file=sys.stderr)
    sizes = {"variable": network.n_variables, "arc": network.n_arcs, "parameter": network.n_parameters}
    return f"{written}: {', '.join(counted(number, thing) for thing, number in sizes.items())}"


def write_each(labels: Sequence[str], networks: Sequence[BayesianNetwork], output: str) -> list[str]:
    """Networks in files beside `output`, the label before the ending; a line on each."""
    names = names_beside(output, labels)
    return [write_network_file(network, name) for network, name in zip(networks, names, strict=True)]


def names_beside(output: str, labels: Sequence[str]) -> list[str]:
    """A file name for each label, before the ending of `output`."""
    path = Path(output)
    ending = "".join(path.suffixes[-2:]) if path.suffix.lower() == ".gz" else path.suffix
    return [str(path.with_name(f"{path.name.removesuffix(ending)}.{name}{ending}")) for name in safe_names(labels)]


def safe_names(labels: Sequence[str]) -> list[str]:
    """What stands for each label in the name of its file: "s t" is s_t, or s_t-2 beside a label of that name."""
    safe = ["".join(c if c.isalnum() or c in "-_" else "_" for c in label) for label in labels]
    own = {label for label, name in zip(labels, safe, strict=True) if label == name}
    taken: set[str] = set()
    names = []
    for label, name in zip(labels, safe, strict=True):
        if label != name or name in taken:
            numbered = (f"{name}-{number}" for number in count(2))
            free = chain([name] if name not in own else [], numbered)
            name = next(each for each in free if each not in own | taken)
        taken.add(name)
        names.append(name)
    return names
