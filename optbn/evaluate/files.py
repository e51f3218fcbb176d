"""Files that hold a graph, read by what is in them. Beside our own and those of networks (see `network.formats`):

matrix      csv or tsv: a line of names, then a row per variable (the name may stand in front), not 0 at [u, v] for an
            arc u -> v and at both for a line
edge list   a line per edge: `a -> b`, `a <- b`, `a -- b`, or two columns for a -> b (commas, tabs or blanks; the names
            "from, to" or "source, target" may stand on top, a third column may say "arc" or "line"); a name alone is a
            variable without edges; `#` begins a remark
bnlearn     a model string, `[a][b|a][c|a:b]`
Tetrad      "Graph Nodes:" and "Graph Edges:" with `-->` and `---`
DOT         `digraph` and `graph` with `a -> b`, `a -- b`, and `[dir=none]` for a line
GraphML     directed or undirected

Edges with circles or two heads (of ancestral graphs) are refused by name: they are neither arcs nor lines.
"""

from __future__ import annotations

import csv
import re
from os import PathLike
from pathlib import Path

import numpy as np

from optbn.base.errors import NetworkError
from optbn.base.files import saving
from optbn.evaluate.graphs import Graph, from_edges, from_matrix
from optbn.network.catalog import catalog, load_network
from optbn.network.structure_files import read_structure

TEXTS = (".csv", ".tsv", ".txt", ".edges", ".tetrad", ".modelstring", ".dot", ".gv")
LARGEST = 100_000_000  # bytes
TOPS = ({"from", "to"}, {"source", "target"}, {"parent", "child"})
WORD = r"""(?:"(?:[^"\\]|\\.)*"|[^\s"\[\];,{}=]+)"""
EDGE = re.compile(r"^(.+?)\s+(-->|->|<--|<-|---|--|<->|[o<]-[o>]|o--o|o-o|o->|<-o)\s+(.+?)$")
MARKS = {"-->": "arc", "->": "arc", "<--": "back", "<-": "back", "---": "line", "--": "line"}


def read_graph(source: str | PathLike[str]) -> Graph:
    """The graph in a file, or of the bundled network of that name."""
    path = Path(source)
    if str(source) in catalog() or not path.is_file():
        structure = load_network(str(source)).structure  # says which names there are
        return Graph(structure.names, structure.to_adjacency())
    suffix = path.suffix.lower()
    if suffix in TEXTS:
        if path.stat().st_size > LARGEST:
            raise NetworkError(f"{path}: {path.stat().st_size / 1e6:,.0f} MB is too large for the file of a graph")
        try:
            text = path.read_text(encoding="utf-8-sig")
        except UnicodeDecodeError as error:
            raise NetworkError(f"{path}: {error}; expected UTF-8") from None
        try:
            return _of_text(text, suffix)
        except NetworkError as error:
            raise NetworkError(f"{path}: {error}") from None
    if suffix == ".graphml" and b"undirected" in path.read_bytes()[:100_000]:
        return _of_graphml(path)

    structure = read_structure(path)
    return Graph(structure.names, structure.to_adjacency())


def write_matrix(graph: Graph, path: str | PathLike[str]) -> None:
    """A csv matrix with a line of names: 1 at [u, v] for an arc u -> v, at both for a line."""
    with saving(path) as partial, partial.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(graph.names)
        writer.writerows(graph.matrix.astype(int).tolist())


def _of_text(text: str, suffix: str) -> Graph:
    lines = [line for line in (raw.partition("#")[0].strip() for raw in text.splitlines()) if line]
    if not lines:
        raise NetworkError("the file is empty; expected the graph's matrix or its edges")
    if suffix in (".dot", ".gv"):
        return _of_dot(text)
    if any(line.lower().startswith("graph edges") for line in lines):
        return _of_tetrad(lines)
    if re.fullmatch(r"(\s*\[[^\[\]]+\])+\s*", text):
        return _of_model_string(text)
    if matrix := _of_matrix(text, suffix):
        return matrix
    return _of_edges(lines)


def _of_matrix(text: str, suffix: str) -> Graph | None:
    """A square table of numbers below a line of names; None for anything else."""
    rows = [row for row in csv.reader(text.splitlines(), delimiter="\t" if suffix == ".tsv" else ",") if any(row)]
    head, body = [name.strip() for name in rows[0]], rows[1:]
    if len(body) and all(len(row) == len(body) + 1 for row in body):  # the names in front as well
        head, first = head[-len(body) :], [row[0].strip() for row in body]
        if first != head:
            return None
        body = [row[1:] for row in body]
    if not body or len(head) != len(body) or any(len(row) != len(head) for row in body):
        return None
    try:
        values = np.array([[float(field) for field in row] for row in body])
    except ValueError:
        return None
    if not np.isfinite(values).all():
        raise NetworkError("an entry of the adjacency matrix is not a number")
    return from_matrix(values, head)


def _of_edges(lines: list[str]) -> Graph:
    names: dict[str, None] = {}
    pairs: dict[str, list[tuple[str, str]]] = {"arc": [], "line": []}
    for number, line in enumerate(lines, 1):
        u, kind, v = _edge(line, number == 1)
        if kind == "top":
            continue
        names.update(dict.fromkeys(name for name in (u, v) if name))
        if kind in pairs:
            pairs[kind].append((u, v))
    return from_edges(names, pairs["arc"], pairs["line"])


def _edge(line: str, first: bool) -> tuple[str, str, str]:
    """(u, kind, v); kind is arc, line, top (of columns) or node."""
    if match := EDGE.match(line):
        u, mark, v = (part.strip().strip('"') for part in match.groups())
        if mark not in MARKS:
            raise NetworkError(f"the edge {line!r} is neither an arc (->) nor a line (--)")
        return (v, "arc", u) if MARKS[mark] == "back" else (u, MARKS[mark], v)
    mark = next((mark for mark in ",\t" if mark in line), None)
    found = next(csv.reader([line], delimiter=mark)) if mark else [line] if line.startswith('"') else line.split()
    fields = [field.strip().strip('"') for field in found]
    if first and any(top <= {field.lower() for field in fields} for top in TOPS):
        return "", "top", ""
    if len(fields) == 1:
        return fields[0], "node", ""
    if len(fields) == 2 or (len(fields) == 3 and fields[2] in ("arc", "line")):
        return fields[0], fields[2] if len(fields) == 3 else "arc", fields[1]
    raise NetworkError(f"{line[:60]!r} is no edge; expected `a -> b`, `a -- b` or two columns, or a square matrix")


def _of_model_string(text: str) -> Graph:
    parents: dict[str, list[str]] = {}
    for part in re.findall(r"\[([^\[\]]+)\]", text):
        child, _, listed = (each.strip() for each in part.partition("|"))
        if child in parents:
            raise NetworkError(f"the model string has the variable {child!r} twice")
        parents[child] = [name.strip() for name in listed.split(":") if name.strip()]
    return from_edges(parents, [(parent, child) for child, listed in parents.items() for parent in listed])


def _of_tetrad(lines: list[str]) -> Graph:
    names: list[str] = []
    pairs: dict[str, list[tuple[str, str]]] = {"arc": [], "line": []}
    part = ""
    for line in lines:
        if line.lower().startswith("graph nodes"):
            part, line = "nodes", line.partition(":")[2]
        elif line.lower().startswith("graph edges"):
            part, line = "edges", line.partition(":")[2]
        elif line.lower().startswith(("graph attributes", "graph node attributes", "ambiguous triples", "underlin")):
            part = ""
        if part == "nodes":
            names += [name.strip() for name in re.split("[;,]", line) if name.strip()]
        elif part == "edges" and (match := re.match(r"\d+\.\s*(.*)", line.strip())):
            edge = re.match(r"(.+?\s+\S{3}\s+\S+)", match[1])
            u, kind, v = _edge(edge[1] if edge else match[1], False)
            if kind not in pairs:
                raise NetworkError(f"{line!r} is no edge; expected `1. a --> b` or `1. a --- b`")
            pairs[kind].append((u, v))
    return from_edges(names, pairs["arc"], pairs["line"])


def _of_dot(text: str) -> Graph:
    """The subset of DOT that programs write: a statement per node and per edge."""
    body = re.sub(r"//.*|/\*.*?\*/", "", text, flags=re.DOTALL if "/*" in text else 0)
    match = re.match(r"\s*(?:strict\s+)?(digraph|graph)\b[^{]*\{(.*)\}\s*$", body, flags=re.DOTALL)
    if not match:
        raise NetworkError("expected `digraph { .. }` or `graph { .. }`")
    names: dict[str, None] = {}
    pairs: dict[str, list[tuple[str, str]]] = {"arc": [], "line": []}
    statement = re.compile(rf"\s*({WORD})((?:\s*(?:->|--)\s*{WORD})*)\s*(\[[^\]]*\])?\s*(?:;|\n|$)")
    for found in statement.finditer(match[2]):
        first, rest, look = found.groups()
        if first in ("node", "edge", "graph", "rankdir"):
            continue
        chain = [_unquoted(first)]
        names[chain[0]] = None
        for mark, word in re.findall(rf"(->|--)\s*({WORD})", rest):
            chain.append(_unquoted(word))
            names[chain[-1]] = None
            plain = mark == "--" or re.search(r"dir\s*=\s*\"?none", look or "")
            pairs["line" if plain else "arc"].append((chain[-2], chain[-1]))
    return from_edges(names, pairs["arc"], pairs["line"], skeleton=match[1] == "graph")


def _unquoted(word: str) -> str:
    return re.sub(r"\\(.)", r"\1", word[1:-1]) if word.startswith('"') else word


def _of_graphml(path: Path) -> Graph:
    """An undirected GraphML file, or one of which some edges are."""
    import networkx

    if b"<!ENTITY" in path.read_bytes():
        raise NetworkError(f"{path}: expected no entity declarations (they are not read, for safety)")
    try:
        graph = networkx.read_graphml(path)
    except Exception as error:
        raise NetworkError(f"{path}: {error}") from None
    label = {node: str(texts.get("label", node)) for node, texts in graph.nodes(data=True)}
    edges = [(label[u], label[v]) for u, v in graph.edges()]
    if graph.is_directed():
        return from_edges(label.values(), edges)
    return from_edges(label.values(), (), edges, skeleton=True)
