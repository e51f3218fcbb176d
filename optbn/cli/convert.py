"""`optbn convert`: a network from one file format to another."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from optbn.cli.networks import complete_network


def _complete_format(incomplete: str) -> list[str]:
    from optbn.network.formats import FORMATS

    return [name for name in FORMATS if name.startswith(incomplete)]


def convert(
    source: Annotated[
        str,
        typer.Argument(
            help="A file, a bundled network's name, or - for stdin.", metavar="IN", autocompletion=complete_network
        ),
    ],
    target: Annotated[str, typer.Argument(help="A file, or - for stdout.", metavar="OUT")],
    source_format: Annotated[
        str | None,
        typer.Option(
            "--from",
            help="bif, xmlbif, net, json or graphml; default: by IN's extension.",
            autocompletion=_complete_format,
        ),
    ] = None,
    target_format: Annotated[
        str | None,
        typer.Option(
            "--to",
            help="bif, xmlbif, net, json, graphml or dot; default: by OUT's extension.",
            autocompletion=_complete_format,
        ),
    ] = None,
    rescale: Annotated[
        bool, typer.Option("--rescale", help="Divide rows of probabilities that do not sum to one by their sum.")
    ] = False,
) -> None:
    """Convert a network between BIF, XMLBIF, Hugin NET, JSON, GraphML and (to draw it) DOT.

    Example: optbn convert model.bif model.net
    """
    from optbn.base.errors import NetworkError
    from optbn.network.catalog import load_network
    from optbn.network.formats import decode, encode, read_network, write_network

    if source == "-":
        if source_format is None:
            raise NetworkError("reading from stdin needs --from with the format")
        network = decode(sys.stdin.buffer.read(), source_format, "stdin", rescale)
    elif source_format is not None or rescale:
        network = read_network(source, source_format, rescale)
    else:
        network = load_network(source)
    if target == "-":
        if target_format is None:
            raise NetworkError("writing to stdout needs --to with the format")
        sys.stdout.buffer.write(encode(network, target_format))
        sys.stdout.buffer.flush()
    else:
        write_network(network, target, target_format)
