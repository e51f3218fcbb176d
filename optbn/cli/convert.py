"""`optbn convert`: a network from one file format to another."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

import optbn
from optbn.base.errors import NetworkError
from optbn.cli.networks import complete_network
from optbn.network.formats import FORMATS, decode, encode, read_network, write_network

if TYPE_CHECKING:
    from optbn.network.network import BayesianNetwork


def _complete_format(incomplete: str) -> list[str]:
    return [name for name in FORMATS if name.startswith(incomplete)]


def _complete_reader(incomplete: str) -> list[str]:
    from optbn.network.formats.dialects import DIALECTS

    return [name for name in DIALECTS if name.startswith(incomplete)]


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
            help="The format of IN; by default that of its ending.",
            autocompletion=_complete_format,
        ),
    ] = None,
    target_format: Annotated[
        str | None,
        typer.Option(
            "--to",
            help="The format of OUT; by default that of its ending.",
            autocompletion=_complete_format,
        ),
    ] = None,
    reader: Annotated[
        str | None,
        typer.Option(
            "--for",
            help="Write what pgmpy, pyagrum, bnlearn, hugin, genie or tetrad can read: names and levels are changed "
            "where they must be, and changed back when the file is read here.",
            autocompletion=_complete_reader,
        ),
    ] = None,
    bins: Annotated[
        int | None,
        typer.Option("--discretise", help="Cut every real variable into this many equally likely intervals.", min=2),
    ] = None,
    rescale: Annotated[
        bool, typer.Option("--rescale", help="Divide rows of probabilities that do not sum to one by their sum.")
    ] = False,
) -> None:
    """Convert a network: BIF, XMLBIF, Hugin NET, XDSL, JSON, GraphML; the graph alone as DOT, matrix (.csv), list of
    arcs (.edges), for Tetrad (.tetrad) or bnlearn (.modelstring).

    Example: optbn convert model.json model.bif --for pyagrum --discretise 5
    """
    network = _read(source, source_format, rescale)
    if bins is not None:
        from optbn.network.discretised import discretised

        network, losses = discretised(network, bins)
        for line in _lost(losses, bins):
            print(f"optbn: {line}", file=sys.stderr)
    if target == "-":
        if target_format is None:
            raise NetworkError("writing to stdout needs --to with the format")
        sys.stdout.buffer.write(encode(network, target_format, reader))
        sys.stdout.buffer.flush()
    else:
        write_network(network, target, target_format, reader)


def _read(source: str, format: str | None, rescale: bool) -> BayesianNetwork:
    if source == "-":
        if format is None:
            raise NetworkError("reading from stdin needs --from with the format")
        return decode(sys.stdin.buffer.read(), format, "stdin", rescale)
    if format is not None or rescale:
        return read_network(source, format, rescale)
    return optbn.load_network(source)


def _lost(losses: dict[str, float], bins: int) -> list[str]:
    """What the intervals lose, the dearest variables first."""
    if not losses:
        return ["no variable is real, so nothing was cut"]
    worst = sorted(losses.items(), key=lambda item: -item[1])[:3]
    shown = ", ".join(f"{name} {loss:.3f}" for name, loss in worst if loss >= 0.0005)
    return [
        f"real variables cut into {bins} intervals; {sum(losses.values()):.3f} nats per row of what parents tell lost"
        + (f" ({shown})" if shown else "")
    ]
