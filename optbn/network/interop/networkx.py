"""networkx: a DiGraph over the names. A network's nodes carry `domain` and `cpd`, so that nothing is lost.

The arcs into a node are put in the order in which its distribution lists the parents.
"""

from __future__ import annotations

from typing import Any

from optbn.base.errors import NetworkError
from optbn.network.equivalence import Cpdag
from optbn.network.interop import required
from optbn.network.network import BayesianNetwork
from optbn.network.structure import Structure


def structure_to_networkx(structure: Structure) -> Any:
    graph = required("networkx", "networkx").DiGraph()
    graph.add_nodes_from(structure.names)
    graph.add_edges_from(structure.arcs)
    return graph


def structure_from_networkx(graph: Any) -> Structure:
    if not graph.is_directed():
        raise NetworkError("an undirected graph is no structure; expected a networkx DiGraph without cycles")
    return Structure.from_arcs(map(str, graph.nodes), ((str(u), str(v)) for u, v in graph.edges()))


def network_to_networkx(network: BayesianNetwork) -> Any:
    graph = structure_to_networkx(network.structure)
    graph.graph["name"] = network.name
    for name, domain, cpd in zip(network.names, network.domains, network.cpds, strict=True):
        graph.nodes[name].update(domain=domain, cpd=cpd)
    return graph


def network_from_networkx(graph: Any) -> BayesianNetwork:
    structure = structure_from_networkx(graph)
    for name, content in graph.nodes(data=True):
        if "cpd" not in content:
            raise NetworkError(
                f"node {name!r} has no 'cpd'; Structure.from_networkx takes a bare graph, and optbn.fit gives it "
                "parameters"
            )
        if set(content["cpd"].parents) != set(structure.parents(str(name))):
            raise NetworkError(f"the arcs into {name!r} are not from the parents of its CPD")
    cpds = tuple(content["cpd"] for _, content in graph.nodes(data=True))
    return BayesianNetwork(structure.names, tuple(c.domain for c in cpds), cpds, str(graph.graph.get("name", "")))


def cpdag_to_networkx(cpdag: Cpdag) -> Any:
    graph = required("networkx", "networkx").DiGraph()
    graph.add_nodes_from(cpdag.names)
    graph.add_edges_from((cpdag.names[u], cpdag.names[v]) for u, v in sorted(cpdag.arcs))
    for u, v in sorted(cpdag.edges):
        graph.add_edge(cpdag.names[u], cpdag.names[v])
        graph.add_edge(cpdag.names[v], cpdag.names[u])
    return graph
