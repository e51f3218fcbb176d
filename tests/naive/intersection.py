"""Intersection-validation transcribed from its definition, over networkx graphs and pairs."""

from __future__ import annotations

import itertools

import networkx as nx


def relation(graph: nx.DiGraph, u: str, v: str) -> str:
    """What a partially directed graph says of one pair."""
    return {(True, True): "line", (True, False): "to", (False, True): "from", (False, False): "nothing"}[
        graph.has_edge(u, v), graph.has_edge(v, u)
    ]


def agreed(graphs: list[nx.DiGraph]) -> dict[tuple[str, str], str]:
    """pair -> relation, for the pairs on which all graphs say the same."""
    found = {}
    for u, v in itertools.combinations(sorted(graphs[0].nodes), 2):
        said = {relation(g, u, v) for g in graphs}
        if len(said) == 1:
            found[u, v] = said.pop()
    return found


def distance(known: dict[tuple[str, str], str], graph: nx.DiGraph) -> int:
    return sum(relation(graph, u, v) != said for (u, v), said in known.items())
