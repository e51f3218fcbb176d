"""XDSL, the files of GeNIe and SMILE.

    <smile version="1.0" id="NAME"> <nodes>
      <cpt id="CHILD"> <state id="LEVEL"/> ..  <property id="KEY">TEXT</property> ..
        <parents>A B ..</parents> <probabilities>p ..</probabilities> </cpt>
      <deterministic id="CHILD"> <state id="LEVEL"/> .. <parents>..</parents>
        <resultingstates>LEVEL ..</resultingstates> </deterministic>
    </nodes> <extensions> .. </extensions> </smile>

Probabilities list the child fastest, then the last parent. Ids are identifiers: `write` renames what is none (see
`dialects`), and puts the nodes where our own pictures have them. The extensions say how a network looks; of them the
order of the nodes is read, which are above in an order with parents first.
Nothing is ever resolved or fetched, and a file that declares an entity is refused.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from optbn.base.errors import NetworkError
from optbn.network.formats.dialects import legal
from optbn.network.formats.draft import Draft, Factor, number_text, split_property, tables
from optbn.network.formats.markup import NOT_XML, MarkupReader
from optbn.network.layout import BOX, layered
from optbn.network.network import BayesianNetwork

LETTER, LONGEST = 8.0, 30  # the width of a letter, and how many a box is wide at most
_NODES = ("cpt", "deterministic")
_TEXTS = ("property", "parents", "probabilities", "resultingstates")
_PLAIN = "optbn_property"  # the key of a property that is not "key = value"


@dataclass
class _Node:
    kind: str
    name: str
    where: str
    levels: list[str] = field(default_factory=list)
    properties: list[str] = field(default_factory=list)
    texts: dict[str, list[str]] = field(default_factory=dict)


class _Reader(MarkupReader):
    def __init__(self, source: str) -> None:
        super().__init__(source)
        self.draft = Draft(source)
        self.nodes: list[_Node] = []
        self.shown: dict[str, int] = {}  # the place of each node among those that GeNIe shows: the variables' order
        self.path: list[str] = []
        self.pieces: list[str] = []
        self.key = ""

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if not self.path and tag != "smile":
            self.fail(f"expected <smile>, found <{tag}>")
        if tag == "smile":
            self.draft.name = attributes.get("id", "")
        inside = self.path[-1] if self.path else ""
        self.path.append(tag)
        self.pieces.clear()
        self.key = attributes.get("id", "")
        if inside == "nodes":
            if tag not in _NODES:
                self.fail(f"expected a node with a table (<cpt> or <deterministic>), found <{tag}>")
            self.nodes.append(_Node(tag, self.key, self.where()))
        elif inside == "genie" and tag == "node":
            self.shown.setdefault(self.key, len(self.shown))
        elif inside in _NODES and tag == "state":
            self.nodes[-1].levels.append(self.key)

    def characters(self, piece: str) -> None:
        self.pieces.append(piece)

    def end(self, tag: str) -> None:
        self.path.pop()
        inside = self.path[-1] if self.path else ""
        if tag in _TEXTS and inside in (*_NODES, "properties"):
            text = "".join(self.pieces)
            if tag != "property":
                self.nodes[-1].texts[tag] = text.split()
            else:
                written = text if self.key == _PLAIN else f"{self.key} = {text}"
                if inside == "properties":
                    self.draft.note("", written)
                else:
                    self.nodes[-1].properties.append(written)
        self.pieces.clear()

    def table(self, node: _Node) -> None:
        parents = tuple(node.texts.get("parents", ()))
        sizes = self.draft.sizes(node.name, parents, node.where)
        cells, r = math.prod(sizes[:-1]), sizes[-1]
        if node.kind == "deterministic":
            words = self.listed(node, "resultingstates", cells)
            unknown = next((word for word in words if word not in node.levels), None)
            if unknown is not None:
                raise NetworkError(f"{node.where}: expected a state of {node.name!r}, found {unknown[:40]!r}")
            rows = np.eye(r)[[node.levels.index(word) for word in words]]
        else:
            words = self.listed(node, "probabilities", cells * r)
            try:
                rows = np.array([*map(float, words)]).reshape(cells, r)
            except ValueError:
                raise NetworkError(f"{node.where}: expected numbers in the table of {node.name!r}") from None
        self.draft.factors[node.name] = Factor(parents, rows, lambda cell: node.where)

    def listed(self, node: _Node, tag: str, wanted: int) -> Sequence[str]:
        words = node.texts.get(tag, ())
        if len(words) != wanted:
            raise NetworkError(f"{node.where}: expected {wanted} {tag} of {node.name!r}, found {len(words)}")
        return words


def read(content: bytes, source: str, rescale: bool = False) -> BayesianNetwork:
    """The network in an XDSL file."""
    reader = _Reader(source)
    reader.parse(content)
    for node in sorted(reader.nodes, key=lambda node: reader.shown.get(node.name, len(reader.shown))):
        reader.draft.declare(node.name, node.levels, node.where)
        for text in node.properties:
            reader.draft.note(node.name, text)
    for node in reader.nodes:
        reader.table(node)
    return reader.draft.build(rescale)


def write(network: BayesianNetwork) -> bytes:
    """The network as XDSL, in words that GeNIe reads."""
    plain = legal(network, "genie")
    title = quoteattr(plain.name or "network")
    out = ['<?xml version="1.0" encoding="UTF-8"?>\n', f'<smile version="1.0" id={title}>\n']
    if texts := plain.properties.get("", ()):
        out += ["<properties>\n", *map(_property, texts), "</properties>\n"]
    out.append("<nodes>\n")
    families = {name: (cpd, properties) for name, cpd, properties in tables(plain, "XDSL")}
    for name in (plain.names[v] for v in plain.structure.order):  # parents first
        cpd, properties = families[name]
        out.append(f'<cpt id="{name}">\n')
        out += [f'  <state id="{level}" />\n' for level in cpd.domain.levels]
        out += map(_property, properties)
        if cpd.parents:
            out.append(f"  <parents>{' '.join(cpd.parents)}</parents>\n")
        numbers = number_text(cpd.leaves.probabilities.ravel().tolist())
        out.append(f"  <probabilities>{' '.join(numbers)}</probabilities>\n</cpt>\n")
    out.append(f'</nodes>\n<extensions>\n<genie version="1.0" name={title}>\n')
    out += _places(network, plain)
    out.append("</genie>\n</extensions>\n</smile>\n")
    return "".join(out).encode()


def _property(text: str) -> str:
    bad = NOT_XML.search(text)
    if bad:
        raise NetworkError(f"{text!r} holds the character {bad[0]!r}, which XML cannot say; write optbn's JSON (.json)")
    key, value = split_property(text) or (_PLAIN, text)
    if key == _PLAIN:
        value = text
    return f'  <property id="{key}">{escape(value, {chr(13): "&#13;"})}</property>\n'


def _places(network: BayesianNetwork, plain: BayesianNetwork) -> list[str]:
    """Where GeNIe draws each node (left, top, right, bottom) and what it writes there, in the variables' order."""
    widths = [LETTER * min(len(name), LONGEST) + BOX for name in network.names]
    index = network.structure.index
    arcs = [(index(u), index(v)) for u, v in network.structure.arcs]
    out = []
    for name, identifier, width, (x, y) in zip(
        network.names, plain.names, widths, layered(widths, arcs).positions, strict=True
    ):
        corners = (x - width / 2, y - BOX / 2, x + width / 2, y + BOX / 2)
        shown = escape(NOT_XML.sub("?", name))
        place = " ".join(str(round(corner)) for corner in corners)
        out.append(f'  <node id="{identifier}"><name>{shown}</name><position>{place}</position></node>\n')
    return out
