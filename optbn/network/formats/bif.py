"""The Bayesian Interchange Format (BIF 0.15), as JavaBayes defined it and as bnlearn, pgmpy and others write it.

    network NAME { property TEXT ; ... }      (NAME is `unknown` for a network without a name)
    variable NAME { type discrete [ r ] { level, ... }; property TEXT ; ... }
    probability ( CHILD | PARENT, ... ) { (level, ...) p, ... ;  default p, ... ;  table p, ... ;  property TEXT ; }

A `table` of a conditional distribution lists the child slowest and the last parent fastest (the format's definition);
some programs write it with the child fastest. When the defined order gives no distribution and the other one does, the
other one was meant, and a warning says so.

Commas are optional, names with spaces are quoted, comments are // and /* */. Blocks may come in any order.
"""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Iterable, Mapping

import numpy as np

from optbn.network.formats.draft import Draft, Factor, number_text, tables
from optbn.network.formats.lists import names_in, readings
from optbn.network.formats.scanner import QUOTED, Scanner, decode_text, quote, unquote
from optbn.network.leaves import SUM_TOLERANCE
from optbn.network.network import BayesianNetwork

_WORD = re.compile(rf"{QUOTED}|[^\s(){{}}\[\];,|=\"]++")
_KEYWORD = re.compile(r"[A-Za-z]+")
_TO_BRACE = re.compile(rf'(?:[^"}}]++|{QUOTED})*+\}}')
_TO_SEMICOLON = re.compile(rf'((?:[^";]++|{QUOTED})*+);')
_BRACED = re.compile(rf'\{{((?:[^"{{}};]++|{QUOTED})*+)\}}')
_HEAD = re.compile(rf'\(((?:[^"(){{}};]++|{QUOTED})*+)\)')
_ROW = re.compile(rf'\(((?:[^"(){{}};]++|{QUOTED})*+)\)([^;(){{}}"]*+);')
_VALUES = re.compile(r'([^;(){}"]*+);')
_PROPERTY, _TYPE, _DISCRETE, _TABLE = map(re.compile, (r"property\b", r"type\b", r"discrete\b", r"(?:table|default)\b"))
_BAR = re.compile(rf'((?:[^"|]++|{QUOTED})*+)\|')
_COUNT = re.compile(r"[0-9]{1,9}")
_BARE = re.compile(r"[^\s(){}\[\];,|=\"]+")

log = logging.getLogger(__name__)


def read(content: bytes, source: str, rescale: bool = False) -> BayesianNetwork:
    """The network in a BIF file."""
    scan = Scanner(decode_text(content, source), source)
    draft = Draft(source)
    later: list[int] = []  # probability blocks: their levels may be declared after them
    while not scan.at_end():
        if scan.take(";"):  # some programs end a block so
            continue
        begin = scan.pos
        keyword = scan.need(_KEYWORD, "'network', 'variable' or 'probability'")[0]
        if keyword == "network":
            draft.name = _network(scan, draft)
        elif keyword == "variable":
            _variable(scan, draft)
        elif keyword == "probability":
            later.append(scan.pos)
            scan.need(_TO_BRACE, "a '}' that ends this block")
        else:
            scan.fail("'network', 'variable' or 'probability'", begin)
    codes = {
        name: {level: code for code, level in enumerate(variable.levels)} for name, variable in draft.variables.items()
    }
    for begin in later:
        scan.pos = begin
        _probability(scan, draft, codes)
    return draft.build(rescale)


def _network(scan: Scanner, draft: Draft) -> str:
    name = scan.match(_WORD)
    scan.expect("{")
    while not scan.take("}"):
        _property(scan, draft, "", "'property' or '}'")
    return "" if name is None or name[0] == "unknown" else unquote(name[0])


def _property(scan: Scanner, draft: Draft, variable: str, expected: str) -> None:
    if scan.match(_PROPERTY) is None:
        scan.fail(expected)
    begin = scan.skip()
    text = scan.need(_TO_SEMICOLON, "text and ';'")[1].strip()
    if re.fullmatch(QUOTED, text):
        text = unquote(text)
    if not text:
        scan.fail("the property's text", begin)
    draft.note(variable, text)


def _variable(scan: Scanner, draft: Draft) -> None:
    begin = scan.skip()
    name = unquote(scan.need(_WORD, "a variable's name")[0])
    levels = None
    scan.expect("{")
    while not scan.take("}"):
        at = scan.skip()
        if scan.match(_TYPE) is None:
            _property(scan, draft, name, "'type', 'property' or '}'")
            continue
        if levels is not None:
            scan.fail(f"one type of {name!r}", at, "a second")
        levels = _levels(scan, name)
    if levels is None:
        scan.fail(f"'type discrete [ r ] {{ level, ... }};' in variable {name!r}", begin, "none")
    draft.declare(name, levels, scan.where(begin))


def _levels(scan: Scanner, name: str) -> list[str]:
    """The levels of "discrete [ r ] { level, ... };"."""
    scan.need(_DISCRETE, "'discrete' (the only type a BIF table can describe)")
    count = None
    if scan.take("["):
        count = int(scan.need(_COUNT, "the number of levels")[0])
        scan.expect("]")
    at = scan.skip()
    inside = scan.need(_BRACED, "the levels in { }")
    levels = names_in(inside[1], lambda names: count is None or len(names) == count)
    if levels is None:
        found = len(readings(inside[1])[0])
        scan.fail(f"{count} levels of {name!r}", at, str(found))
    scan.take(";")
    return levels


def _probability(scan: Scanner, draft: Draft, codes: Mapping[str, Mapping[str, int]]) -> None:
    begin = scan.skip()
    head = scan.need(_HEAD, "( CHILD | PARENT, ... )")
    child, parents = _family(scan, head, draft)
    sizes = draft.sizes(child, parents, scan.where(begin))
    cells, r = math.prod(sizes[:-1]), sizes[-1]
    levels = [codes[p] for p in parents]
    rows = np.empty((cells, r))
    starts: dict[int, int] = {}  # cell -> where its row stands
    whole: dict[str, tuple[int, list[float]]] = {}  # "table", "default" -> where it stands, its numbers
    scan.expect("{")
    while not scan.take("}"):
        at = scan.skip()
        row = scan.match(_ROW)
        if row is not None:
            cell = _cell(scan, row, parents, levels, sizes)
            if cell in starts:
                scan.fail(
                    f"one row for ({row[1].strip()})", at, f"a second (the first is at {scan.where(starts[cell])})"
                )
            values = scan.numbers(row.start(2), row.end(2))
            if len(values) != r:
                scan.fail(f"{r} probabilities, one per level of {child!r}", row.start(2), str(len(values)))
            rows[cell] = values
            starts[cell] = at
        elif scan.match(_TABLE):
            kind = scan.text[at : scan.pos]
            body = scan.need(_VALUES, "numbers and ';'")
            values = scan.numbers(body.start(1), body.end(1))
            if kind == "default" and len(values) == cells * r != r:  # some programs call a whole table so
                kind = "table"
            wanted = r if kind == "default" else cells * r
            if len(values) != wanted:
                scan.fail(f"{wanted} probabilities of {child!r}", body.start(1), str(len(values)))
            if kind in whole:
                scan.fail(f"one '{kind}'", at, "a second")
            whole[kind] = (at, values)
        elif scan.text[at] == "(":
            scan.need(_HEAD, "parent levels and ')'")
            scan.need(_VALUES, "numbers and ';'")
        else:
            _property(scan, draft, child, "a row '(level, ...) p, ... ;', 'table', 'default', 'property' or '}'")
    if "table" in whole:
        begin, values = whole["table"]
        if starts or "default" in whole:
            scan.fail("either a 'table' or rows", begin, "both")
        rows = _oriented(child, np.array(values), cells, r, scan.where(begin))
    elif len(starts) < cells:
        missing = np.ones(cells, dtype=np.bool_)
        missing[list(starts)] = False
        if "default" not in whole:
            codes_there = np.unravel_index(int(np.argmax(missing)), sizes[:-1])
            names = ", ".join(draft.variables[p].levels[int(c)] for p, c in zip(parents, codes_there, strict=True))
            wanted_text = f"a row for ({names}), or a default," if parents else "'table'"
            scan.fail(f"{wanted_text} in the distribution of {child!r}", scan.pos - 1)
        begin, values = whole["default"]
        rows[missing] = values
    draft.factors[child] = Factor(parents, rows, lambda cell: scan.where(starts.get(cell, begin)))


def _family(scan: Scanner, head: re.Match[str], draft: Draft) -> tuple[str, tuple[str, ...]]:
    """Child and parents of "CHILD | PARENT, ..."; without the bar the first name is the child."""
    at = head.start(1)

    def names(text: str, offset: int) -> list[str]:
        found = names_in(text, lambda some: all(name in draft.variables for name in some))
        if found is None:
            other = next(name for name in readings(text)[0] if name not in draft.variables)
            scan.fail("a declared variable", at + offset + max(text.find(other), 0), repr(other))
        return found

    bar = _BAR.match(head[1])
    if bar is None:
        family = names(head[1], 0)
        if not family:
            scan.fail("a variable's name", at)
        return family[0], tuple(family[1:])
    child = names(bar[1], 0)
    if len(child) != 1:
        scan.fail("one variable before '|'", at, str(len(child)))
    return child[0], tuple(names(head[1][bar.end() :], bar.end()))


def _cell(
    scan: Scanner,
    row: re.Match[str],
    parents: tuple[str, ...],
    levels: list[Mapping[str, int]],
    sizes: tuple[int, ...],
) -> int:
    """The cell of a row's parent levels."""

    def fits(names: list[str]) -> bool:
        return len(names) == len(parents) and all(n in known for n, known in zip(names, levels, strict=True))

    names = names_in(row[1], fits)
    if names is None:
        names = names_in(row[1], lambda some: len(some) == len(parents))
        if names is None:
            scan.fail(f"{len(parents)} levels, one per parent", row.start(), str(len(readings(row[1])[0])))
        name, parent, known = next(
            (name, parent, known)
            for name, parent, known in zip(names, parents, levels, strict=True)
            if name not in known
        )
        at = row.start(1) + max(row[1].find(name), 0)
        scan.fail(f"a level of {parent!r} ({', '.join(known)})", at, repr(name))
    cell = 0
    for name, known, size in zip(names, levels, sizes, strict=False):
        cell = cell * size + known[name]
    return cell


def _oriented(child: str, values: np.ndarray, cells: int, r: int, where: str) -> np.ndarray:
    """float64[cells, r] from a `table`: child slowest as defined, or child fastest if that sums to one far better."""
    defined: np.ndarray = np.ascontiguousarray(values.reshape(r, cells).T)
    other: np.ndarray = values.reshape(cells, r)
    off, other_off = (np.abs(rows.sum(axis=1) - 1.0).max() for rows in (defined, other))
    if off <= SUM_TOLERANCE or 2.0 * other_off >= off:
        return defined
    log.warning("%s: the table of %r has the child fastest, against the format's definition; read so", where, child)
    return other


def write(network: BayesianNetwork) -> bytes:
    """The network as BIF; names that are not plain words are quoted."""
    out = [f"network {_word(network.name or 'unknown')} {{\n"]
    out += _properties(network.properties.get("", ()))
    out.append("}\n")
    families = list(tables(network, "BIF"))
    words = {name: _word(name) for name in network.names}
    levels = {name: [_word(level) for level in cpd.domain.levels] for name, cpd, _ in families}
    for name, _, properties in families:
        listed = ", ".join(levels[name])
        out.append(f"variable {words[name]} {{\n  type discrete [ {len(levels[name])} ] {{ {listed} }};\n")
        out += _properties(properties)
        out.append("}\n")
    for name, cpd, _ in families:
        given = f" | {', '.join(words[p] for p in cpd.parents)}" if cpd.parents else ""
        out.append(f"probability ( {words[name]}{given} ) {{\n")
        rows = cpd.leaves.probabilities.tolist()
        if cpd.parents:
            labels = [levels[p] for p in cpd.parents]
            for row, codes in zip(rows, np.ndindex(*map(len, labels)), strict=True):
                label = ", ".join([some[code] for some, code in zip(labels, codes, strict=True)])
                out.append(f"  ({label}) {', '.join(number_text(row))};\n")
        else:
            out.append(f"  table {', '.join(number_text(rows[0]))};\n")
        out.append("}\n")
    return "".join(out).encode()


def _word(name: str) -> str:
    return name if _BARE.fullmatch(name) and "//" not in name and "/*" not in name else quote(name)


def _properties(texts: Iterable[str]) -> list[str]:
    out = []
    for text in texts:
        plain = re.fullmatch(r'[^";{}\n\r]+', text) and "//" not in text and "/*" not in text
        out.append(f"  property {text if plain else quote(text)} ;\n")
    return out
