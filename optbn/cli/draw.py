"""`optbn draw`: a network, its essential graph, or one distribution, as a picture or for LaTeX."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

import optbn
from optbn.base.errors import UnsupportedError
from optbn.base.files import check_writable, saving
from optbn.cli.networks import complete_network
from optbn.network.drawing import ENDINGS, Picture

TEXT = (".tex", ".dot", ".gv")


def draw(
    network: Annotated[
        str,
        typer.Argument(
            help="A network file, or the name of a bundled network.", autocompletion=complete_network, metavar="NETWORK"
        ),
    ],
    output: Annotated[
        str,
        typer.Option(
            "--output", "-o", help="The picture: .svg, .png, .pdf, .tex or .dot; - is svg on stdout.", metavar="FILE"
        ),
    ] = "-",
    cpd: Annotated[
        str | None, typer.Option("--cpd", help="Draw the distribution of this variable.", metavar="VARIABLE")
    ] = None,
    cpdag: Annotated[
        bool, typer.Option("--cpdag", help="Draw arcs whose direction is open without an arrowhead.")
    ] = False,
    chances: Annotated[bool, typer.Option("--chances", help="Show the distribution of each variable.")] = False,
    given: Annotated[
        list[str] | None,
        typer.Option(
            "--given",
            help="Show the distributions given this finding, NAME=VALUE. May be repeated.",
            metavar="NAME=VALUE",
        ),
    ] = None,
) -> None:
    """Draw a network's graph, or the table or tree of one variable.

    png and pdf need pip install 'optbn\\[pictures]'; the rest needs nothing.

    Example: optbn draw asia --given smoke=yes -o asia.svg
    """
    ending = ".svg" if output == "-" else Path(output).suffix.lower()
    if ending not in (*ENDINGS, *TEXT):
        raise UnsupportedError(f"{output}: a picture is {', '.join((*ENDINGS, *TEXT[:-1]))}")
    if output != "-":
        check_writable(Path(output))
    found = optbn.load_network(network)
    if ending in TEXT:
        content: str | Picture = _text(found, ending, cpd, cpdag)
    elif cpd is not None:
        from optbn.network.drawing.local import draw_cpd

        content = draw_cpd(cpd, found.cpd(cpd))
    else:
        content = found.draw(_evidence(given or []), chances=chances, essential=cpdag)
    if output == "-":
        sys.stdout.write(content.svg if isinstance(content, Picture) else content)
    elif isinstance(content, Picture):
        content.save(output)
    else:
        with saving(Path(output)) as partial:
            partial.write_text(content, encoding="utf-8")


def _text(network: object, ending: str, cpd: str | None, cpdag: bool) -> str:
    """For LaTeX or Graphviz."""
    from optbn.network.drawing.latex import cpd_latex, graph_latex
    from optbn.network.formats.dot import digraph, quoted, statements

    assert isinstance(network, optbn.BayesianNetwork)
    arcs = network.structure.arcs
    compelled = {(network.names[u], network.names[v]) for u, v in network.to_cpdag().arcs} if cpdag else set(arcs)
    open_arcs = set(arcs) - compelled
    if ending == ".tex":
        return cpd_latex(cpd, network.cpd(cpd)) if cpd is not None else graph_latex(network.names, arcs, open_arcs)
    lines = statements(network.names, [arc for arc in arcs if arc in compelled], sorted(open_arcs))
    return digraph(["node [shape=ellipse]", *lines], quoted(network.name))


def _evidence(pairs: list[str]) -> dict[str, str]:
    for pair in pairs:
        if "=" not in pair:
            raise UnsupportedError(f"--given {pair}: expected NAME=VALUE")
    return {name: value for name, _, value in (pair.partition("=") for pair in pairs)}
