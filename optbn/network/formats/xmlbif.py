"""XMLBIF 0.3, the XML version of BIF (JavaBayes, SamIam, Weka, GeNIe, pgmpy).

    <BIF VERSION="0.3"> <NETWORK> <NAME>..</NAME> <PROPERTY>..</PROPERTY>
      <VARIABLE TYPE="nature"> <NAME>..</NAME> <OUTCOME>..</OUTCOME>.. <PROPERTY>..</PROPERTY> </VARIABLE>
      <DEFINITION> <FOR>child</FOR> <GIVEN>parent</GIVEN>.. <TABLE>p ..</TABLE> </DEFINITION>
    </NETWORK> </BIF>

TABLE lists the child fastest, then the last GIVEN. Files carry an internal DTD; it is read over. Nothing is ever
resolved or fetched, and a file that declares or uses an entity is refused. White space around a text does not belong
to it unless the element says xml:space="preserve", which `write` uses for names that begin or end with a space.
"""

from __future__ import annotations

import logging
import math
import re
from bisect import bisect_right
from dataclasses import dataclass, field
from itertools import accumulate, islice
from xml.sax.saxutils import escape

import numpy as np

from optbn.base.errors import NetworkError
from optbn.network.formats.draft import Draft, Factor, number_text, tables
from optbn.network.formats.markup import NOT_XML, MarkupReader
from optbn.network.formats.scanner import NUMBER, NUMBERS
from optbn.network.network import BayesianNetwork

_INSIDE = {  # element -> the elements it may stand in; text elements are leaves
    "BIF": ("",),
    "NETWORK": ("BIF",),
    "VARIABLE": ("NETWORK",),
    "DEFINITION": ("NETWORK",),
    "NAME": ("NETWORK", "VARIABLE"),
    "OUTCOME": ("VARIABLE",),
    "VALUE": ("VARIABLE",),  # what OUTCOME was called in XMLBIF 0.1
    "FOR": ("DEFINITION",),
    "GIVEN": ("DEFINITION",),
    "TABLE": ("DEFINITION",),
    "PROPERTY": ("NETWORK", "VARIABLE", "DEFINITION"),
}
_TEXTS = {"NAME", "OUTCOME", "VALUE", "FOR", "GIVEN", "TABLE", "PROPERTY"}
_ITEM = re.compile(r"[^\s,]+")

log = logging.getLogger(__name__)


@dataclass
class _Text:
    """The characters of an element, with the place of each piece that the parser handed over."""

    source: str
    pieces: list[str] = field(default_factory=list)
    places: list[tuple[int, int]] = field(default_factory=list)

    def add(self, piece: str, line: int, column: int) -> None:
        self.pieces.append(piece)
        self.places.append((line, column))

    def __str__(self) -> str:
        return "".join(self.pieces)

    def where(self, at: int) -> str:
        """ "file:line:column" of a character."""
        starts = [0, *accumulate(map(len, self.pieces))]
        piece = min(bisect_right(starts, at), len(self.pieces)) - 1
        line, column = self.places[piece]
        return f"{self.source}:{line}:{column + at - starts[piece]}"

    def number_at(self, number: int) -> str:
        """The place of the n-th number in it."""
        token = next(islice(_ITEM.finditer(str(self)), number, None), None)
        return self.where(token.start() if token else 0)


@dataclass
class _Block:
    """What a NETWORK, VARIABLE or DEFINITION holds: its texts by element, its tables, and where it begins."""

    where: str
    texts: dict[str, list[str]] = field(default_factory=dict)
    tables: list[_Text] = field(default_factory=list)

    def all(self, *tags: str) -> list[str]:
        return [text for tag in tags for text in self.texts.get(tag, ())]


class _Reader(MarkupReader):
    def __init__(self, source: str) -> None:
        super().__init__(source)
        self.path: list[str] = []
        self.preserve: list[bool] = []
        self.text = _Text(source)
        self.draft = Draft(source)
        self.network = _Block(source)
        self.definitions: list[_Block] = []
        self.block = self.network

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        tag = tag.upper()
        inside = self.path[-1] if self.path else ""
        if tag not in _INSIDE or inside not in _INSIDE[tag]:
            if inside in ("NETWORK", "VARIABLE", "DEFINITION"):
                expected = ", ".join(name for name, at in _INSIDE.items() if inside in at)
                self.fail(f"expected one of {expected} in {inside}, found <{tag}>")
            self.fail(
                f"expected {'<BIF>' if not inside else '<NETWORK>' if inside == 'BIF' else 'text'}, found <{tag}>"
            )
        if tag == "NETWORK" and self.network.where != self.source:
            self.fail("expected one NETWORK, found a second")
        if tag == "NETWORK":
            self.network.where = self.where()
        if tag == "VARIABLE":
            kind = attributes.get("TYPE", "nature")
            if kind.lower() != "nature":
                self.fail(f'expected a variable of TYPE="nature", found {kind!r}')
        if tag in ("VARIABLE", "DEFINITION"):
            self.block = _Block(self.where())
        self.path.append(tag)
        self.preserve.append(attributes.get("xml:space") == "preserve")
        self.text = _Text(self.source)

    def characters(self, text: str) -> None:
        if self.path and self.path[-1] in _TEXTS:
            self.text.add(text, self.parser.CurrentLineNumber, self.parser.CurrentColumnNumber + 1)
        elif text.strip():
            self.fail(f"expected an element, found {text.strip()[:40]!r}")

    def end(self, tag: str) -> None:
        tag = self.path.pop()
        preserve = self.preserve.pop()
        if tag == "TABLE":
            self.block.tables.append(self.text)
        elif tag in _TEXTS:
            text = str(self.text)
            self.block.texts.setdefault(tag, []).append(text if preserve else text.strip())
        elif tag == "VARIABLE":
            self.variable(self.block)
            self.block = self.network
        elif tag == "DEFINITION":
            self.definitions.append(self.block)
            self.block = self.network

    def variable(self, block: _Block) -> None:
        names = block.all("NAME")
        if len(names) != 1:
            raise NetworkError(f"{block.where}: expected one NAME in this VARIABLE, found {len(names)}")
        self.draft.declare(names[0], block.all("OUTCOME", "VALUE"), block.where)
        for text in block.all("PROPERTY"):
            self.draft.note(names[0], text)

    def definition(self, block: _Block) -> None:
        children, parents = block.all("FOR"), tuple(block.all("GIVEN"))
        if len(children) != 1:
            raise NetworkError(f"{block.where}: expected one FOR in this DEFINITION, found {len(children)}")
        sizes = self.draft.sizes(children[0], parents, block.where)
        if len(block.tables) != 1:
            raise NetworkError(f"{block.where}: expected one TABLE for {children[0]!r}, found {len(block.tables)}")
        table = block.tables[0]
        values = _numbers(table)
        if len(values) != math.prod(sizes):
            raise NetworkError(
                f"{table.number_at(0) if table.pieces else block.where}: "
                f"expected {math.prod(sizes)} probabilities of {children[0]!r}, found {len(values)}"
            )
        rows = np.array(values).reshape(-1, sizes[-1])
        self.draft.factors[children[0]] = Factor(parents, rows, lambda cell: table.number_at(cell * sizes[-1]))
        for text in block.all("PROPERTY"):
            self.draft.note(children[0], text)


def _numbers(table: _Text) -> list[float]:
    text = str(table).replace(",", " ")
    if NUMBERS.fullmatch(text):
        try:
            return [*map(float, text.split())]
        except ValueError:
            pass
    bad = next(token for token in _ITEM.finditer(text) if not NUMBER.fullmatch(token[0]))
    raise NetworkError(f"{table.where(bad.start())}: expected a number, found {bad[0][:40]!r}")


def read(content: bytes, source: str, rescale: bool = False) -> BayesianNetwork:
    """The network in an XMLBIF file, in the encoding that the file declares."""
    reader = _Reader(source)
    reader.parse(content)
    names = reader.network.all("NAME")
    reader.draft.name = names[0] if names else ""
    for text in reader.network.all("PROPERTY"):
        reader.draft.note("", text)
    for block in reader.definitions:
        reader.definition(block)
    return reader.draft.build(rescale)


_HEADER = '<?xml version="1.0" encoding="UTF-8"?>\n<BIF VERSION="0.3">\n'  # no DTD: some readers stumble over it


def write(network: BayesianNetwork) -> bytes:
    """The network as XMLBIF, in UTF-8."""
    out = [_HEADER, "<NETWORK>\n", _element("NAME", network.name)]
    out += [_element("PROPERTY", text) for text in network.properties.get("", ())]
    families = list(tables(network, "XMLBIF"))
    for name, cpd, properties in families:
        out += ['<VARIABLE TYPE="nature">\n', _element("NAME", name)]
        out += [_element("OUTCOME", level) for level in cpd.domain.levels]
        out += [_element("PROPERTY", text) for text in properties]
        out.append("</VARIABLE>\n")
    for name, cpd, _ in families:
        out += ["<DEFINITION>\n", _element("FOR", name)]
        out += [_element("GIVEN", parent) for parent in cpd.parents]
        lines = [" ".join(number_text(row)) for row in cpd.leaves.probabilities.tolist()]
        out.append("  <TABLE>\n" + "\n".join(lines) + "\n  </TABLE>\n</DEFINITION>\n")
    out.append("</NETWORK>\n</BIF>\n")
    return "".join(out).encode()


def _element(tag: str, text: str) -> str:
    bad = NOT_XML.search(text)
    if bad:
        raise NetworkError(f"{text!r} holds the character {bad[0]!r}, which XML cannot say; write optbn's JSON (.json)")
    space = ' xml:space="preserve"' if text != text.strip() else ""
    return f"  <{tag}{space}>{escape(text, {chr(13): '&#13;'})}</{tag}>\n"
