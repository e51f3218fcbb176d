"""Hugin NET: what Hugin, SamIam, GeNIe and bnlearn write.

    net { key = value; ... }
    node NAME { states = ("level" ...); key = value; ... }     (some programs leave out the quotes)
    potential ( CHILD | PARENT ... ) { data = (( p ... )( p ... )); key = value; ... }

`data` is nested by the parents in their order, the child innermost, so without its parentheses it is the table with
the child fastest. Comments: %, // and /* */. `class NAME { ... }` around everything is the newer form. A node's name is
an identifier; `write` keeps any other name in the attributes `label` (for people) and `optbn_name` (for `read`).
Unknown keys are kept as properties "key = value", and written as strings unless they are lists of numbers.
"""

from __future__ import annotations

import math
import re

import numpy as np

from optbn.network.formats.draft import NUMBER_LIST, Draft, Factor, number_text, split_property, tables, tidy_property
from optbn.network.formats.scanner import QUOTED, Scanner, decode_text, quote, unquote
from optbn.network.network import BayesianNetwork

_WORD = re.compile(rf"{QUOTED}|[^\s(){{}}\[\];,|=\"]++")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_KEY = re.compile(r"[A-Za-z_][\w.-]*")
_VALUE = re.compile(rf"((?:[^\";{{}}]++|{QUOTED})*+);")
_LEVELS = re.compile(rf"\(((?:{QUOTED}|[^();{{}}\"]++)*+)\)")
_LEVEL = re.compile(rf"{QUOTED}|[^\s,\"]++")
_NUMBERS = re.compile(r"([^;{}\"]*+);")
_DATA, _MODEL, _STATES, _NAME = map(
    re.compile, (r"data\s*=", r"model_(?:nodes|data)\b", r"states\s*=", r"optbn_name\s*=")
)
_NODE = re.compile(r"node\b")
_RESERVED = {"states", "data", "optbn_name", "optbn_property"}


def read(content: bytes, source: str, rescale: bool = False) -> BayesianNetwork:
    """The network in a NET file."""
    scan = Scanner(decode_text(content, source), source, "//|%")
    draft = Draft(source)
    names: dict[str, str] = {}  # identifier -> the variable's name
    in_class = False
    while not scan.at_end():
        if scan.take(";"):  # some programs end a block so
            continue
        begin = scan.pos
        if in_class and scan.take("}"):
            in_class = False
            continue
        keyword = scan.need(_WORD, "'net', 'node' or 'potential'")[0]
        if keyword == "net":
            scan.expect("{")
            _attributes(scan, draft, "")
        elif keyword == "class" and not in_class:
            draft.name = unquote(scan.need(_WORD, "the class's name")[0])
            scan.expect("{")
            in_class = True
        elif keyword == "potential":
            _potential(scan, draft, names)
        elif keyword == "node" or (keyword == "discrete" and scan.match(_NODE)):
            _node(scan, draft, names)
        elif in_class and scan.take("="):
            scan.pos = begin
            _attribute(scan, draft, "")
        elif keyword in ("continuous", "decision", "utility", "function", "instance", "interval", "boolean"):
            scan.fail("a chance node with states (the only kind a table can describe)", begin)
        else:
            scan.fail("'net', 'node' or 'potential'", begin)
    if in_class:
        scan.fail("'}'")
    return draft.build(rescale)


def _attributes(scan: Scanner, draft: Draft, variable: str) -> None:
    while not scan.take("}"):
        _attribute(scan, draft, variable)


def _attribute(scan: Scanner, draft: Draft, variable: str) -> None:
    """One `key = value;`, kept as a property; the network's `name` is its name."""
    key = scan.need(_KEY, "'key = value;' or '}'")[0]
    scan.expect("=")
    text = unquote(scan.need(_VALUE, "a value and ';'")[1].strip())
    if key == "name" and not variable:
        draft.name = text
    else:
        draft.note(variable, text if key == "optbn_property" else f"{key} = {text}")


def _node(scan: Scanner, draft: Draft, names: dict[str, str]) -> None:
    begin = scan.skip()
    identifier = name = unquote(scan.need(_WORD, "a node's name")[0])
    scan.expect("{")
    states = None
    kept = Draft(scan.source)
    while not scan.take("}"):
        at = scan.skip()
        if scan.match(_STATES):
            if states is not None:
                scan.fail(f"one list of states of {identifier!r}", at, "a second")
            listed = scan.need(_LEVELS, '("level" "level" ...)')[1]
            states = [unquote(token) for token in _LEVEL.findall(listed)]
            scan.expect(";")
        elif scan.match(_NAME):
            name = unquote(scan.need(re.compile(QUOTED), "a quoted name")[0])
            scan.expect(";")
        else:
            _attribute(scan, kept, "node")
    if states is None:
        scan.fail(f"'states = ...;' in node {identifier!r}", begin, "none")
    if identifier in names:
        scan.fail(f"one node {identifier!r}", begin, "a second")
    names[identifier] = name
    draft.declare(name, states, scan.where(begin))
    properties = kept.properties.get("node", [])
    label = tidy_property(f"label = {name}")
    if name != identifier and label in properties:
        properties.remove(label)
    for text in properties:
        draft.note(name, text)


def _potential(scan: Scanner, draft: Draft, names: dict[str, str]) -> None:
    begin = scan.skip()
    scan.expect("(")
    family: list[str] = []
    bar = None
    while not scan.take(")"):
        if bar is None and scan.take("|"):
            bar = len(family)
            continue
        at = scan.skip()
        node = unquote(scan.need(_WORD, "a node's name, '|' or ')'")[0])
        if node not in names:
            scan.fail("a declared node", at)
        family.append(names[node])
        scan.take(",")
    if not family or bar not in (1, None) or (bar is None and len(family) > 1):
        scan.fail("( CHILD | PARENT ... ) with one child", begin)
    child, parents = family[0], tuple(family[1:])
    sizes = draft.sizes(child, parents, scan.where(begin))
    scan.expect("{")
    values: list[float] | None = None
    while not scan.take("}"):
        at = scan.skip()
        if scan.match(_MODEL):
            scan.fail("'data = ...;' with numbers", at)
        if not scan.match(_DATA):
            _attribute(scan, draft, child)
            continue
        if values is not None:
            scan.fail("one 'data'", at, "a second")
        body = scan.need(_NUMBERS, "numbers in parentheses and ';'")
        values = scan.numbers(body.start(1), body.end(1), ",()")
        if body[1].count("(") != body[1].count(")"):
            scan.fail("as many '(' as ')'", at, f"{body[1].count('(')} and {body[1].count(')')}")
        if len(values) != math.prod(sizes):
            scan.fail(f"{math.prod(sizes)} probabilities of {child!r}", at, str(len(values)))
        begin = at
    if values is None:
        scan.fail(f"'data = ...;' in the potential of {child!r}", begin, "none")
    rows = np.array(values).reshape(-1, sizes[-1])
    draft.factors[child] = Factor(parents, rows, lambda cell: scan.where(begin))


def write(network: BayesianNetwork) -> bytes:
    """The network as NET."""
    out = ["net\n{\n"]
    if network.name:
        out.append(f"  name = {quote(network.name)};\n")
    out += _lines(network.properties.get("", ()), taken={"name"})
    out.append("}\n")
    families = list(tables(network, "NET"))
    identifiers = _identifiers(network.names)
    for name, cpd, properties in families:
        out.append(f"node {identifiers[name]}\n{{\n")
        out.append(f"  states = ({' '.join(map(quote, cpd.domain.levels))});\n")
        if identifiers[name] != name:
            label = [] if any(text.startswith("label = ") for text in properties) else [f"label = {name}"]
            out += _lines(label, set())
            out.append(f"  optbn_name = {quote(name)};\n")
        out += _lines(properties, set())
        out.append("}\n")
    for name, cpd, _ in families:
        given = "".join(f" {identifiers[p]}" for p in cpd.parents)
        out.append(f"potential ( {identifiers[name]} |{given} )\n{{\n  data = ")
        out.append(_nested(cpd.leaves.probabilities, cpd.probabilities.shape[:-1]))
        out.append(";\n}\n")
    return "".join(out).encode()


def _identifiers(names: tuple[str, ...]) -> dict[str, str]:
    """An identifier per name: itself where it is one."""
    keywords = {"net", "node", "class", "potential", "discrete"}
    taken = {name for name in names if _IDENTIFIER.fullmatch(name) and name not in keywords}
    out = {}
    for number, name in enumerate(names):
        identifier = name
        if name not in taken:
            identifier = f"node_{number}"
            while identifier in taken:
                identifier += "_"
            taken.add(identifier)
        out[name] = identifier
    return out


def _nested(rows: np.ndarray, sizes: tuple[int, ...]) -> str:
    """The table in parentheses, one pair per configuration and one around each parent's levels."""
    lines = [f"({' '.join(number_text(row))})" for row in rows.tolist()]
    for size in reversed(sizes):
        lines = ["(" + "\n".join(lines[i : i + size]) + ")" for i in range(0, len(lines), size)]
    return lines[0]


def _lines(properties: list[str] | tuple[str, ...], taken: set[str]) -> list[str]:
    """Properties as attributes where they have the form "key = value" and a free key, else under a key of ours."""
    out = []
    for text in properties:
        key, value = split_property(text) or ("", "")
        if not key or key in _RESERVED | taken:
            key, value = "optbn_property", text
        written = value.replace(",", "") if NUMBER_LIST.fullmatch(value) else quote(value)
        out.append(f"  {key} = {written};\n")
    return out
