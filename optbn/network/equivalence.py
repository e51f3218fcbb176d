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

from collections.abc import Iterable, Sequence
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


def interventional_graph(
    order: Sequence[int], parent_sets: Sequence[Sequence[int]], targets: Iterable[Iterable[int]]
) -> tuple[frozenset[tuple[int, int]], frozenset[tuple[int, int]]]:
    """The same for the interventional class: experiments that set the variables of each target tell more apart.

    A member of the class has the same adjacencies and v-structures, and the same direction of every arc of which some
    target contains exactly one end (Hauser and Buehlmann 2012, theorem 10). What follows from these directions is what
    Meek's four rules give, which are complete for directions known beforehand (Meek 1995). Twin: enumeration of the
    class, tests/naive/network.py.
    """
    arcs, edges = essential_graph(order, parent_sets)
    directed, undirected = set(arcs), set(edges)
    parents = [set(p) for p in parent_sets]

    def direct(u: int, v: int) -> None:
        undirected.discard((min(u, v), max(u, v)))
        directed.add((u, v))

    for target in map(frozenset, targets):
        for u, v in list(undirected):
            if (u in target) != (v in target):
                direct(*((u, v) if u in parents[v] else (v, u)))
    adjacent = {frozenset(pair) for pair in (*arcs, *edges)}
    while found := next(
        (
            (a, b)
            for u, v in sorted(undirected)
            for a, b in ((u, v), (v, u))
            if _follows(a, b, directed, undirected, adjacent, len(parents))
        ),
        None,
    ):
        direct(*found)
    return frozenset(directed), frozenset(undirected)


def _follows(
    a: int,
    b: int,
    directed: set[tuple[int, int]],
    undirected: set[tuple[int, int]],
    adjacent: set[frozenset[int]],
    n: int,
) -> bool:
    """Whether one of Meek's rules directs a - b as a -> b."""

    def line(x: int, y: int) -> bool:
        return (min(x, y), max(x, y)) in undirected

    def joined(x: int, y: int) -> bool:
        return frozenset((x, y)) in adjacent

    others = [c for c in range(n) if c not in (a, b)]
    if any((c, a) in directed and not joined(c, b) for c in others):  # a <- b would be a new v-structure
        return True
    if any((a, c) in directed and (c, b) in directed for c in others):  # a <- b would close a cycle
        return True
    lines = [c for c in others if line(a, c)]
    for c in lines:
        for d in lines:
            if c != d and not joined(c, d) and (c, b) in directed and (d, b) in directed:
                return True  # a <- b would force c -> a <- d
        for d in others:  # c - a, c -> d -> b, a and d adjacent, c and b not
            if (c, d) in directed and (d, b) in directed and joined(a, d) and not joined(c, b):
                return True
    return False
