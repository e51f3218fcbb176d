"""`optbn show`: a network, or one of its distributions, as text or JSON."""

from __future__ import annotations

from typing import Annotated

import typer

import optbn
from optbn.cli.networks import complete_network


def show(
    network: Annotated[
        str,
        typer.Argument(
            help="A network file, or the name of a bundled network.", autocompletion=complete_network, metavar="NETWORK"
        ),
    ],
    cpd: Annotated[
        str | None, typer.Option("--cpd", help="Show the distribution of this variable.", metavar="VARIABLE")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show a network's variables and arcs, or the distribution of one variable.

    Example: optbn show alarm --cpd PRESS
    """
    from optbn.network.render import cpd_text, network_text

    found = optbn.load_network(network)
    if as_json:
        from optbn.network.formats.json import cpd_json, summary_json

        print((cpd_json(found, cpd) if cpd is not None else summary_json(found)).decode())
    elif cpd is not None:
        print(cpd_text(cpd, found.cpd(cpd)))
    else:
        print(network_text(found))
