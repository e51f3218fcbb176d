"""Tetrad's text of a graph, as causal-cmd, py-tetrad and causal-learn write and read it.

    Graph Nodes:
    A;B;C

    Graph Edges:
    1. A --> B

Written only; `optbn compare` reads it.
"""

from __future__ import annotations

from optbn.network.formats.dialects import checked_names
from optbn.network.network import BayesianNetwork


def write(network: BayesianNetwork) -> bytes:
    """The graph; probabilities are not in it."""
    checked_names(network, r"[^\s;,]+", "Tetrad's text", "tetrad")
    arcs = [f"{number}. {u} --> {v}" for number, (u, v) in enumerate(network.structure.arcs, 1)]
    return "\n".join(["Graph Nodes:", ";".join(network.names), "", "Graph Edges:", *arcs, ""]).encode()
