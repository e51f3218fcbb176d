"""causal-learn: a GeneralGraph, whose edges have an end mark on either side (tail - tail is undirected)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from optbn.base.errors import NetworkError
from optbn.network.equivalence import Cpdag
from optbn.network.interop import required
from optbn.network.structure import Structure


def structure_to_causallearn(structure: Structure) -> Any:
    index = {name: i for i, name in enumerate(structure.names)}
    return _graph(structure.names, [(index[u], index[v]) for u, v in structure.arcs], [])


def cpdag_to_causallearn(cpdag: Cpdag) -> Any:
    return _graph(cpdag.names, sorted(cpdag.arcs), sorted(cpdag.edges))


def structure_from_causallearn(graph: Any) -> Structure:
    names = tuple(graph.get_node_names())
    arcs = []
    for a, b, marks in _edges(graph):
        if marks == ("TAIL", "ARROW"):
            arcs.append((a, b))
        elif marks == ("ARROW", "TAIL"):
            arcs.append((b, a))
        else:
            raise NetworkError(
                f"the edge between {a!r} and {b!r} is no arc ({marks[0]} - {marks[1]}); Cpdag.from_causallearn takes "
                "graphs with undirected edges"
            )
    return Structure.from_arcs(names, arcs)


def cpdag_from_causallearn(graph: Any) -> Cpdag:
    names = tuple(graph.get_node_names())
    index = {name: i for i, name in enumerate(names)}
    arcs, edges = set(), set()
    for a, b, marks in _edges(graph):
        u, v = index[a], index[b]
        if marks == ("TAIL", "TAIL"):
            edges.add((min(u, v), max(u, v)))
        elif marks == ("TAIL", "ARROW"):
            arcs.add((u, v))
        elif marks == ("ARROW", "TAIL"):
            arcs.add((v, u))
        else:
            raise NetworkError(f"the edge between {a!r} and {b!r} ({marks[0]} - {marks[1]}) has no place in a CPDAG")
    return Cpdag(names, frozenset(arcs), frozenset(edges))


def _graph(names: tuple[str, ...], arcs: list[tuple[int, int]], edges: list[tuple[int, int]]) -> Any:
    package = "causal-learn"
    node = required("causallearn.graph.GraphNode", package).GraphNode
    edge = required("causallearn.graph.Edge", package).Edge
    end = required("causallearn.graph.Endpoint", package).Endpoint
    graph = required("causallearn.graph.GeneralGraph", package).GeneralGraph([node(name) for name in names])
    nodes = graph.get_nodes()
    for u, v in arcs:
        graph.add_edge(edge(nodes[u], nodes[v], end.TAIL, end.ARROW))
    for u, v in edges:
        graph.add_edge(edge(nodes[u], nodes[v], end.TAIL, end.TAIL))
    return graph


def _edges(graph: Any) -> Iterator[tuple[str, str, tuple[str, str]]]:
    for edge in graph.get_graph_edges():
        ends = (edge.get_endpoint1().name, edge.get_endpoint2().name)
        yield edge.get_node1().get_name(), edge.get_node2().get_name(), ends
