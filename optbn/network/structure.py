"""A DAG over named variables: what learning finds, before it gets parameters."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from optbn.base.errors import NetworkError
from optbn.base.files import saving
from optbn.base.registry import unknown
from optbn.network.equivalence import Cpdag, essential_graph, interventional_graph
from optbn_solvers.base.errors import repeated

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


FORMAT = "optbn-structure"


@dataclass(frozen=True)
class Structure:
    """names, and per variable its parents' positions in the order a CPD would list them; acyclic."""

    names: tuple[str, ...]
    parent_sets: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        n = len(self.names)
        if len(set(self.names)) != n:
            raise NetworkError(f"variable {repeated(self.names)!r} is named twice")
        if len(self.parent_sets) != n:
            raise NetworkError(f"{n} variables but parents for {len(self.parent_sets)}")
        for name, parents in zip(self.names, self.parent_sets, strict=True):
            if any(not 0 <= p < n for p in parents):
                raise NetworkError(f"variable {name!r} has a parent number outside 0..{n - 1}")
            if len(set(parents)) != len(parents):
                raise NetworkError(f"variable {name!r} lists a parent twice")
        if len(self.order) != n:
            raise NetworkError(f"the parents form a cycle: {' -> '.join(self._cycle())}")

    @classmethod
    def from_parents(cls, parents: Mapping[str, Sequence[str]]) -> Structure:
        """From {name: names of its parents}; every variable is a key."""
        names = tuple(parents)
        index = {name: i for i, name in enumerate(names)}
        for child, sources in parents.items():
            for name in sources:
                if name not in index:
                    raise NetworkError(f"variable {child!r} has the parent {name!r}, which is not a variable")
        return cls(names, tuple(tuple(index[p] for p in parents[name]) for name in names))

    @classmethod
    def from_arcs(cls, names: Iterable[str], arcs: Iterable[tuple[str, str]]) -> Structure:
        """From the names of the variables and arcs, (parent, child) pairs."""
        parents: dict[str, list[str]] = {name: [] for name in names}
        for source, child in arcs:
            if child not in parents:
                raise NetworkError(f"the arc {source!r} -> {child!r} ends in {child!r}, which is not a variable")
            parents[child].append(source)
        return cls.from_parents(parents)

    @cached_property
    def _index(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.names)}

    def index(self, name: str) -> int:
        """The position of a variable; an unknown name lists the nearest."""
        if not isinstance(name, Hashable):
            raise NetworkError(f"expected the name of a variable first, not a {type(name).__name__}")
        if name not in self._index:
            raise unknown("variable", name, self.names)
        return self._index[name]

    @cached_property
    def order(self) -> tuple[int, ...]:
        """A topological order, parents first: smallest number first among those that are ready at the same time."""
        waiting = [len(p) for p in self.parent_sets]
        ready = deque(v for v, k in enumerate(waiting) if k == 0)
        out = []
        while ready:
            v = ready.popleft()
            out.append(v)
            for child in self.child_sets[v]:
                waiting[child] -= 1
                if waiting[child] == 0:
                    ready.append(child)
        return tuple(out)

    @cached_property
    def child_sets(self) -> tuple[tuple[int, ...], ...]:
        """Per variable its children's positions, ascending."""
        out: list[list[int]] = [[] for _ in self.names]
        for child, parents in enumerate(self.parent_sets):
            for p in parents:
                out[p].append(child)
        return tuple(tuple(children) for children in out)

    @property
    def n_arcs(self) -> int:
        return sum(map(len, self.parent_sets))

    @property
    def arcs(self) -> tuple[tuple[str, str], ...]:
        """(parent, child) pairs by child, in the parents' order."""
        return tuple((self.names[p], self.names[v]) for v, ps in enumerate(self.parent_sets) for p in ps)

    def parents(self, name: str) -> tuple[str, ...]:
        """The names of the parents of `name`."""
        return tuple(self.names[p] for p in self.parent_sets[self.index(name)])

    def children(self, name: str) -> tuple[str, ...]:
        """The names of the children of `name`."""
        return tuple(self.names[c] for c in self.child_sets[self.index(name)])

    def markov_blanket(self, name: str) -> tuple[str, ...]:
        """Parents, children and the children's other parents of `name`, in the order of `names`."""
        v = self.index(name)
        members = {*self.parent_sets[v], *self.child_sets[v]}
        for child in self.child_sets[v]:
            members.update(self.parent_sets[child])
        members.discard(v)
        return tuple(self.names[u] for u in sorted(members))

    def save(self, path: str | PathLike[str]) -> None:
        """Write it to the file at `path` as JSON, which `optbn fit` and `compare` read: the parents by name."""
        content = {"format": FORMAT, "parents": {name: self.parents(name) for name in self.names}}
        with saving(path) as partial:
            partial.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")

    def to_cpdag(self, targets: Iterable[Iterable[str]] = ()) -> Cpdag:
        """The essential graph: what all Markov-equivalent DAGs share.

        `targets` are the sets of variables that experiments set together; they tell more directions.
        """
        if not (numbered := [[self.index(name) for name in target] for target in targets]):
            return Cpdag(self.names, *essential_graph(self.order, self.parent_sets))
        return Cpdag(self.names, *interventional_graph(self.order, self.parent_sets, numbered))

    def to_networkx(self) -> Any:
        """A networkx DiGraph over the names."""
        from optbn.network.interop.networkx import structure_to_networkx

        return structure_to_networkx(self)

    @classmethod
    def from_networkx(cls, graph: Any) -> Structure:
        """From a graph of networkx, a DiGraph: its nodes and arcs."""
        from optbn.network.interop.networkx import structure_from_networkx

        return structure_from_networkx(graph)

    def to_igraph(self) -> Any:
        """A directed igraph Graph; its vertices have a `name`."""
        from optbn.network.interop.igraph import structure_to_igraph

        return structure_to_igraph(self)

    @classmethod
    def from_igraph(cls, graph: Any) -> Structure:
        """From a graph of igraph, directed: its vertices (by `name`, else by number) and arcs."""
        from optbn.network.interop.igraph import structure_from_igraph

        return structure_from_igraph(graph)

    def to_causallearn(self) -> Any:
        """A GeneralGraph of causal-learn."""
        from optbn.network.interop.causallearn import structure_to_causallearn

        return structure_to_causallearn(self)

    @classmethod
    def from_causallearn(cls, graph: Any) -> Structure:
        """From a graph of causal-learn whose edges are all directed."""
        from optbn.network.interop.causallearn import structure_from_causallearn

        return structure_from_causallearn(graph)

    def to_adjacency(self) -> NDArray[np.bool_]:
        """bool[n, n]: true at [u, v] for every arc u -> v, by position in `names`."""
        matrix = np.zeros((len(self.names), len(self.names)), dtype=np.bool_)
        for child, parents in enumerate(self.parent_sets):
            matrix[list(parents), child] = True
        return matrix

    @classmethod
    def from_adjacency(cls, matrix: ArrayLike, names: Sequence[str] | None = None) -> Structure:
        """From a square matrix, not zero at [u, v] where there is an arc u -> v (weights will do).

        names   X1, X2, ... or the columns of a data frame unless given
        """
        array = np.asarray(matrix)
        if array.ndim != 2 or array.shape[0] != array.shape[1]:
            raise NetworkError(f"an adjacency matrix is square, this one has the shape {array.shape}")
        if names is None:
            names = [str(name) for name in getattr(matrix, "columns", ())] or [f"X{i + 1}" for i in range(len(array))]
        if len(names) != len(array):
            raise NetworkError(f"{len(names)} names for an adjacency matrix of {len(array)} variables")
        return cls(tuple(names), tuple(tuple(np.flatnonzero(column).tolist()) for column in (array != 0).T))

    def _cycle(self) -> list[str]:
        """The names along one cycle, first = last."""
        done = set(self.order)
        path: list[int] = []
        v = next(v for v in range(len(self.names)) if v not in done)
        while v not in path:
            path.append(v)
            v = next(p for p in self.parent_sets[v] if p not in done)
        around = [v, *reversed(path[path.index(v) :])]  # we walked from child to parent
        return [self.names[u] for u in around]

    def __repr__(self) -> str:
        return f"Structure({len(self.names)} variables, {self.n_arcs} arcs)"
