"""Graphviz DOT, to draw a network: `dot -Tsvg network.dot -o network.svg`. Written only.

Whatever else is drawn (the graph of a solution, a tree) is made of the same `statements`, `digraph` and `quoted`.
"""

from __future__ import annotations

from collections.abc import Iterable

from optbn.network.formats.scanner import quote
from optbn.network.network import BayesianNetwork


def write(network: BayesianNetwork) -> bytes:
    """The graph: a node per variable and an arc from each parent."""
    lines = ["node [shape=ellipse]", *statements(network.names, network.structure.arcs)]
    return digraph(lines, quoted(network.name)).encode()


def statements(
    names: Iterable[str], arcs: Iterable[tuple[str, str]], edges: Iterable[tuple[str, str]] = ()
) -> list[str]:
    """A node per name, an arrow per arc (parent, child), a plain line per edge."""
    return [
        *(quoted(name) for name in names),
        *(f"{quoted(parent)} -> {quoted(child)}" for parent, child in arcs),
        *(f"{quoted(one)} -> {quoted(other)} [dir=none]" for one, other in edges),
    ]


def digraph(body: Iterable[str], title: str = "") -> str:
    """The text of a graph of such statements; title and body are DOT, with the words in them `quoted`."""
    lines = [f"digraph {title} {{" if title else "digraph {", *(f"  {each};" for each in body), "}"]
    return "\n".join(lines) + "\n"


def quoted(words: str) -> str:
    """Words as DOT has them; a line ends where it does in the words."""
    return quote(words).replace("\n", "\\n")
