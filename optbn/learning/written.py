"""The graph of a solution as text, in the forms that `optbn.learning.FORMATS` lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

from optbn.base.registry import lookup
from optbn.learning import FORMATS
from optbn.learning.solving import structure_of
from optbn.network.formats.dot import digraph, statements
from optbn_solvers.base.solution_json import to_json

if TYPE_CHECKING:
    from optbn_solvers import ScoreTable, Solution


def written(table: ScoreTable, solution: Solution, format: str) -> str:
    """The solution in one of FORMATS."""
    text: str = lookup("format", FORMATS, format)(table, solution)
    return text


def as_json(table: ScoreTable, solution: Solution) -> str:
    """Everything, evidence included; what `optbn verify` reads."""
    return to_json(table, solution).decode()


def as_dot(table: ScoreTable, solution: Solution) -> str:
    """Graphviz."""
    structure = structure_of(table, solution)
    return digraph(statements(structure.names, structure.arcs))


def as_adjacency(table: ScoreTable, solution: Solution) -> str:
    """A line per variable: its name, a colon, its parents with commas between."""
    graph = table.graph(solution.choice or ())
    return "".join(f"{child}: {', '.join(parents)}".rstrip() + "\n" for child, parents in graph.items())


def as_cpdag(table: ScoreTable, solution: Solution) -> str:
    """The graph's equivalence class in Graphviz: undirected where its members disagree."""
    cpdag = structure_of(table, solution).to_cpdag()
    names = cpdag.names
    arcs = [(names[u], names[v]) for u, v in sorted(cpdag.arcs)]
    edges = [(names[u], names[v]) for u, v in sorted(cpdag.edges)]
    return digraph(statements(names, arcs, edges))
