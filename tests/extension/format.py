"""Toy: optbn's JSON below a line of its own."""

from __future__ import annotations

from optbn.base.errors import NetworkError
from optbn.network.formats import json
from optbn.network.network import BayesianNetwork

HEAD = b"a toy network\n"


def read(content: bytes, source: str, rescale: bool = False) -> BayesianNetwork:
    """The network in a file."""
    if not content.startswith(HEAD):
        raise NetworkError(f"{source}:1:1: expected {HEAD.decode().strip()!r}")
    return json.read(content.removeprefix(HEAD), source, rescale)


def write(network: BayesianNetwork) -> bytes:
    """Its file."""
    return HEAD + json.write(network)
