"""What verbs that write networks have in common: what a format cannot say is not lost."""

from __future__ import annotations

import os
from os import PathLike
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from optbn.network.network import BayesianNetwork


def check_network_file(path: str | PathLike[str], data: str | PathLike[str] = "") -> None:
    """Refuse a name with an unknown ending, a folder that cannot be written to, and the data's own file, before any
    work is done."""
    from optbn.base.errors import UnsupportedError
    from optbn.base.files import check_writable
    from optbn.network.formats import format_of

    format_of(path)
    check_writable(path)
    if os.path.exists(path) and os.path.exists(data) and os.path.samefile(path, data):
        raise UnsupportedError(f"{path} holds the data, which the network would overwrite; choose another name")


def write_or_beside(network: BayesianNetwork, path: str | PathLike[str]) -> tuple[str, str | None]:
    """Write a network in the format of the file's name, or as JSON beside it if that format cannot say it.

    What was written, and the reason if it is not `path`.
    """
    from optbn.base.errors import NetworkError
    from optbn.network.formats import write_network

    check_network_file(path)  # so that what is refused below is the network
    try:
        write_network(network, path)
    except NetworkError as error:
        beside = f"{path}.json"  # not model.json for model.bif: that may well be the structure, or the report
        write_network(network, beside)
        return beside, str(error)
    return str(path), None
