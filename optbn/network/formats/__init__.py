"""Reading and writing networks: one module per format, listed in FORMATS and imported when used.

A format module has `read(content, source, rescale) -> BayesianNetwork` and `write(network) -> bytes` (those of bare
graphs only the latter). `source` is the name errors begin with. Adding a format: a module and a line in FORMATS.
"""

from __future__ import annotations

import gzip
import importlib
import io
import os
import zlib
from os import PathLike
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from optbn.base.errors import NetworkError
from optbn.base.files import saving
from optbn.base.registry import unknown

if TYPE_CHECKING:
    from optbn.network.network import BayesianNetwork

FORMATS: dict[str, tuple[str, ...]] = {
    "bif": ("optbn.network.formats.bif", ".bif"),
    "xmlbif": ("optbn.network.formats.xmlbif", ".xmlbif", ".xml", ".bifxml"),
    "net": ("optbn.network.formats.net", ".net", ".hugin", ".oobn"),
    "xdsl": ("optbn.network.formats.xdsl", ".xdsl"),
    "json": ("optbn.network.formats.json", ".json"),
    "graphml": ("optbn.network.formats.graphml", ".graphml"),
    "dot": ("optbn.network.formats.dot", ".dot", ".gv"),
    "csv": ("optbn.network.formats.matrix", ".csv"),
    "edges": ("optbn.network.formats.edges", ".edges"),
    "tetrad": ("optbn.network.formats.tetrad", ".tetrad"),
    "modelstring": ("optbn.network.formats.modelstring", ".modelstring"),
}
"""The module of a format, and the endings of its files."""

EXTENSIONS: dict[str, str] = {ending: name for name, (_, *endings) in FORMATS.items() for ending in endings}

LARGEST = 1 << 30  # bytes; the largest published network has 6 million
SMALL = 1 << 26  # bytes that any file may unpack to
PACKED = 200  # times what it takes packed; networks pack to a tenth, the most repetitive of them to a hundredth


def format_of(path: str | PathLike[str]) -> str:
    """The format a file name stands for, `.gz` aside."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
    if not suffixes or suffixes[-1] not in EXTENSIONS:
        raise NetworkError(
            f"{path}: cannot tell the format by the name; the extensions are {' '.join(EXTENSIONS)}, or name a format"
        )
    return EXTENSIONS[suffixes[-1]]


def decode(content: bytes, format: str, source: str = "input", rescale: bool = False) -> BayesianNetwork:
    """A network from the bytes of a file; gzip is recognised. See `read_network`."""
    if content[:2] == b"\x1f\x8b":
        content = _unpacked(content, source)
    module = _module(format)
    if not hasattr(module, "read"):
        readable = ", ".join(name for name in FORMATS if hasattr(_module(name), "read"))
        raise NetworkError(f"{source}: {format} can only be written; the formats that can be read are {readable}")
    network: BayesianNetwork = module.read(content, source, rescale)
    return network


def _unpacked(content: bytes, source: str) -> bytes:
    """What is in a gzip file, unless that is larger than any network, or than any that packs so small."""
    most = min(LARGEST, max(SMALL, PACKED * len(content)))
    try:
        with gzip.open(io.BytesIO(content)) as file:
            unpacked = file.read(most + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise NetworkError(f"{source}: broken gzip file ({error})") from None
    if len(unpacked) > most:
        raise NetworkError(f"{source}: unpacks to more than {most / 1e6:,.0f} MB, which is not a network file")
    return unpacked


def encode(network: BayesianNetwork, format: str, reader: str | None = None) -> bytes:
    """The bytes of a network's file, in words that the `reader` (pgmpy, pyagrum ...) can read if one is named."""
    module = _module(format)
    if reader is not None:
        from optbn.network.formats.dialects import dialect, legal

        if format not in dialect(reader).formats:
            raise NetworkError(f"for {reader}, choose {' or '.join(dialect(reader).formats)}, not {format}")
        network = legal(network, reader)
    content: bytes = module.write(network)
    return content


def read_network(path: str | PathLike[str], format: str | None = None, rescale: bool = False) -> BayesianNetwork:
    """The network in the file at `path`; the format is that of the extension unless given.

    A row of probabilities may be off by 1e-5 (printed with six digits, say) and is kept as it stands. One that is
    off by more is refused with its place; `rescale` divides such rows by their sum instead.
    """
    format = format or format_of(path)
    size = os.path.getsize(path)
    if size > LARGEST:
        raise NetworkError(f"{path}: {size / 1e9:.1f} GB is not a network file")
    return decode(Path(path).read_bytes(), format, str(path), rescale)


def write_network(
    network: BayesianNetwork, path: str | PathLike[str], format: str | None = None, reader: str | None = None
) -> None:
    """Write a network to a file, in one step: a failure leaves what was there.

    path     where to
    format   a name in FORMATS; by default that of the extension
    reader   the program that shall read it (pgmpy, pyagrum, bnlearn, hugin, genie, tetrad): names and levels that it
             could not read are changed, and changed back when `read_network` reads the file
    """
    content = encode(network, format or format_of(path), reader)
    if Path(path).suffix.lower() == ".gz":
        content = gzip.compress(content, mtime=0)
    with saving(path) as partial:
        partial.write_bytes(content)


def _module(format: str) -> ModuleType:
    if format not in FORMATS:
        raise unknown("network format", format, FORMATS)
    return importlib.import_module(FORMATS[format][0])
