"""GraphML: the graph for yEd, Gephi, Cytoscape, igraph and networkx, with the whole network inside.

    <graphml> <key id="variable" ../> <key id="distribution" ../>
      <graph edgedefault="directed">
        <node id="NAME"> <data key="variable">JSON</data> <data key="distribution">JSON</data> </node> ..
        <edge source="PARENT" target="CHILD"/> ..

The two texts of a node are its records in optbn's JSON (see `json`), so reading gives back the same bits. A GraphML
file without them is a structure: `read_structure` takes it, and `optbn fit` gives it parameters. Nothing is ever
resolved or fetched, and a file that declares an entity is refused.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from xml.sax.saxutils import escape, quoteattr

import msgspec

from optbn.base.errors import NetworkError
from optbn.network.formats import json
from optbn.network.formats.markup import NOT_XML, MarkupReader
from optbn.network.network import BayesianNetwork
from optbn.network.structure import Structure


@dataclass
class _Graph:
    """What a file says: per node its texts by key, the arcs, the keys' names, the graph's name."""

    nodes: dict[str, dict[str, str]] = field(default_factory=dict)
    arcs: list[tuple[str, str]] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    name: str = ""
    properties: str = "{}"


class _Reader(MarkupReader):
    def __init__(self, source: str) -> None:
        super().__init__(source, separator="}")
        self.graph = _Graph()
        self.node: str | None = None
        self.key: str | None = None
        self.pieces: list[str] = []
        self.seen = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        tag = tag.rpartition("}")[2]
        self.pieces.clear()
        if not self.seen and tag != "graphml":
            self.fail(f"expected <graphml>, found <{tag}>")
        self.seen += 1
        if tag == "key":
            self.graph.names[attributes.get("id", "")] = attributes.get("attr.name", "")
        elif tag == "graph":
            if attributes.get("edgedefault") != "directed":
                self.fail("expected a directed graph (edgedefault)")
            self.graph.name = attributes.get("id", "")
        elif tag == "node":
            self.node = attributes.get("id", "")
            if self.node in self.graph.nodes:
                self.fail(f"expected one node {self.node!r}, found a second")
            self.graph.nodes[self.node] = {}
        elif tag == "edge":
            self.graph.arcs.append((attributes.get("source", ""), attributes.get("target", "")))
        elif tag == "data":
            self.key = attributes.get("key", "")

    def characters(self, piece: str) -> None:
        self.pieces.append(piece)

    def end(self, tag: str) -> None:
        tag = tag.rpartition("}")[2]
        if tag == "node":
            self.node = None
        elif tag == "data" and self.key is not None:
            name, text = self.graph.names.get(self.key, self.key), "".join(self.pieces)
            if self.node is not None:
                self.graph.nodes[self.node][name] = text
            elif name == "properties":
                self.graph.properties = text
        self.pieces.clear()


def _parse(content: bytes, source: str) -> _Graph:
    reader = _Reader(source)
    reader.parse(content)
    if not reader.graph.nodes:
        raise NetworkError(f"{source}:1:1: expected a graph, found no node")
    return reader.graph


def read(content: bytes, source: str, rescale: bool = False) -> BayesianNetwork:
    """The network in a GraphML file that carries one. `rescale` has nothing to do: the numbers are exact."""
    graph = _parse(content, source)
    for name, texts in graph.nodes.items():
        if not {"variable", "distribution"} <= texts.keys():
            raise NetworkError(
                f"{source}: node {name!r} has no distribution; optbn fit gives a bare graph its parameters"
            )
    variables = ",".join(texts["variable"] for texts in graph.nodes.values())
    cpds = ",".join(texts["distribution"] for texts in graph.nodes.values())
    head = msgspec.json.encode({"format": json.FORMAT, "version": json.VERSION, "name": graph.name}).decode()
    text = f'{head[:-1]},"properties":{graph.properties},"variables":[{variables}],"cpds":[{cpds}]}}'
    network = json.read(text.encode(), source)
    if network.names != tuple(graph.nodes):
        raise NetworkError(f"{source}: the nodes and the variables that they carry have different names")
    if set(network.structure.arcs) != set(graph.arcs):
        raise NetworkError(f"{source}: the edges and the distributions do not tell of the same parents")
    return network


def read_structure(content: bytes, source: str) -> Structure:
    """The graph alone, of any directed GraphML file without cycles; a node's "label" is its name where all have one."""
    graph = _parse(content, source)
    label = {node: texts.get("label", node) for node, texts in graph.nodes.items()}
    for node in (node for arc in graph.arcs for node in arc):
        if node not in label:
            raise NetworkError(f"{source}: an edge ends in {node!r}, which is not a node")
    try:
        return Structure.from_arcs(label.values(), [(label[u], label[v]) for u, v in graph.arcs])
    except NetworkError as error:
        raise NetworkError(f"{source}: {error}") from None


def write(network: BayesianNetwork) -> bytes:
    """The network as GraphML."""
    for name in (network.name, *network.names):
        if NOT_XML.search(name):
            raise NetworkError(f"{name!r} has a character that XML cannot say; write optbn's JSON (.json)")
    properties = escape(msgspec.json.encode(network.properties).decode())
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">',
        '  <key id="variable" for="node" attr.name="variable" attr.type="string"/>',
        '  <key id="distribution" for="node" attr.name="distribution" attr.type="string"/>',
        '  <key id="properties" for="graph" attr.name="properties" attr.type="string"/>',
        f'  <graph id={_attribute(network.name)} edgedefault="directed">',
        f'    <data key="properties">{properties}</data>',
    ]
    for name in network.names:
        variable = escape(json.variable_json(network, name).decode())
        distribution = escape(json.cpd_json(network, name).decode())
        lines.append(f"    <node id={_attribute(name)}>")
        lines.append(f'      <data key="variable">{variable}</data>')
        lines.append(f'      <data key="distribution">{distribution}</data>')
        lines.append("    </node>")
    for parent, child in network.structure.arcs:
        lines.append(f"    <edge source={_attribute(parent)} target={_attribute(child)}/>")
    return ("\n".join([*lines, "  </graph>", "</graphml>"]) + "\n").encode()


def _attribute(text: str) -> str:
    return quoteattr(text, {"\n": "&#10;", "\t": "&#9;", "\r": "&#13;"})
