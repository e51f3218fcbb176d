"""Markov equivalence: the essential graph (CPDAG) of a DAG.

Two DAGs say the same independences iff they have the same skeleton and the same v-structures (Verma and Pearl 1990).
The essential graph keeps an arc's direction iff all members of the class agree on it ("compelled"); the others become
undirected edges. Computed by the arc-labelling algorithm of Chickering (1995, "A transformational characterization of
equivalent Bayesian network structures"): arcs x -> y are visited by y ascending, then x descending, in a topological
order; the first unlabelled arc into y is compelled if something forces it from above (a compelled w -> x with w not
adjacent to y, or a parent z of y that is neither x nor a parent of x), and what is forced or free with it is labelled
along. Cost O(sum over arcs of the degrees at both ends). Twin: enumeration of the class, tests/naive/network.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Cpdag:
    """A partially directed graph over names; variables are their positions.

    arcs   (u, v): every DAG of the class has u -> v
    edges  (u, v) with u < v: both directions occur
    """

    names: tuple[str, ...]
    arcs: frozenset[tuple[int, int]]
    edges: frozenset[tuple[int, int]]

    @property
    def skeleton(self) -> frozenset[tuple[int, int]]:
        """All adjacent pairs (u, v), u < v."""
        return self.edges | {(min(a), max(a)) for a in self.arcs}

    def to_networkx(self) -> Any:
        """A networkx DiGraph; an undirected edge becomes two arcs."""
        from optbn.network.interop.networkx import cpdag_to_networkx

        return cpdag_to_networkx(self)

    def to_causallearn(self) -> Any:
        """A GeneralGraph of causal-learn."""
        from optbn.network.interop.causallearn import cpdag_to_causallearn

        return cpdag_to_causallearn(self)

    @classmethod
    def from_causallearn(cls, graph: Any) -> Cpdag:
        """From a graph of causal-learn with directed and undirected edges, such as PC or GES return."""
        from optbn.network.interop.causallearn import cpdag_from_causallearn

        return cpdag_from_causallearn(graph)

    def __repr__(self) -> str:
        return f"Cpdag({len(self.names)} variables, {len(self.arcs)} arcs, {len(self.edges)} undirected edges)"


def essential_graph(
    order: Sequence[int], parent_sets: Sequence[Sequence[int]]
) -> tuple[frozenset[tuple[int, int]], frozenset[tuple[int, int]]]:
    """(compelled arcs, reversible edges u < v) of the DAG whose variable v has the parents parent_sets[v].

    `order` is a topological order of its variables.
    """
    position = {v: i for i, v in enumerate(order)}
    parents = [frozenset(p) for p in parent_sets]
    compelled: list[set[int]] = [set() for _ in parents]  # compelled[y]: the x with x -> y compelled
    reversible: list[set[int]] = [set() for _ in parents]
    for y in order:
        into = sorted(parents[y], key=position.__getitem__, reverse=True)
        for x in into:
            if x in compelled[y] or x in reversible[y]:
                continue
            if not compelled[x] <= parents[y]:
                forced = True  # a compelled w -> x with w not adjacent to y: reversing x -> y would hide a v-structure
            else:
                compelled[y] |= compelled[x]
                forced = not parents[y] <= parents[x] | {x}
            rest = compelled[y] if forced else reversible[y]
            rest.update(z for z in into if z not in compelled[y] and z not in reversible[y])
    arcs = frozenset((x, y) for y, xs in enumerate(compelled) for x in xs)
    edges = frozenset((min(x, y), max(x, y)) for y, xs in enumerate(reversible) for x in xs)
    return arcs, edges
