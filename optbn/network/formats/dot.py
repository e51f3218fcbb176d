"""Graphviz DOT, to draw a network: `dot -Tsvg network.dot -o network.svg`. Written only."""

from __future__ import annotations

from optbn.network.formats.scanner import quote
from optbn.network.network import BayesianNetwork


def write(network: BayesianNetwork) -> bytes:
    """The graph: a node per variable and an arc from each parent."""
    lines = [f"digraph {quote(network.name)} {{", "  node [shape=ellipse];"]
    lines += [f"  {quote(name)};" for name in network.names]
    lines += [f"  {quote(parent)} -> {quote(child)};" for parent, child in network.structure.arcs]
    return ("\n".join([*lines, "}"]) + "\n").encode()
