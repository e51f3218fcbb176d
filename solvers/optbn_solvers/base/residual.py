"""Constraints that no choice of families can say, and the clauses by which solvers meet them.

`broken(parents)` looks at an acyclic graph (a mask of parents per variable) and returns None, or a *clause*: literals
about different children, one of which holds in every graph that satisfies the constraint and none in this one. There
are two kinds of literal, both about one child's family and so a filter of families:

    lacks   the family does not contain all of a set.  A graph that breaks a hereditary constraint has some arcs that do
            so by themselves (a path, too many arcs, a d-connecting walk); some child must lack its share of them.
    meets   the family has a parent in a set.  If u must be an ancestor of w and S is a set with u and without w, then
            some arc leads out of S: some child outside has a parent inside.

A clause over k children is the valid inequality: sum over its literals of x(families for which it is false) <= k - 1.
Limits on numbers of arcs also are inequalities themselves, stronger than all their clauses together. Where a clause is
a walk along arcs, `cheapest` looks for one in a fractional point too.
"""

from __future__ import annotations

import heapq
import itertools
import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Protocol, TypeVar

from optbn_solvers.base.solution import Literal

Clause = tuple[Literal, ...]
State = TypeVar("State")


class Residual(Protocol):
    """`hereditary`: it still holds with fewer arcs."""

    @property
    def hereditary(self) -> bool: ...

    def broken(self, parents: Sequence[int]) -> Clause | None: ...


@dataclass(frozen=True)
class Adjacency:
    """u -> v or v -> u."""

    u: int
    v: int
    hereditary: ClassVar[bool] = False

    def broken(self, parents: Sequence[int]) -> Clause | None:
        if parents[self.v] >> self.u & 1 or parents[self.u] >> self.v & 1:
            return None
        return Literal(self.u, (self.v,), True), Literal(self.v, (self.u,), True)


@dataclass(frozen=True)
class Ancestor:
    """A directed path leads from u to v."""

    n: int
    u: int
    v: int
    hereditary: ClassVar[bool] = False

    def broken(self, parents: Sequence[int]) -> Clause | None:
        above, below = _ancestors(parents, self.v), descendants(parents, self.u)
        if above >> self.u & 1:
            return None
        everything = (1 << self.n) - 1
        inside = everything & ~above if above.bit_count() <= self.n - below.bit_count() else below
        return tuple(Literal(w, _members(inside), True) for w in _members(everything & ~inside))


@dataclass(frozen=True)
class NoAncestor:
    """No directed path leads from u to v."""

    n: int
    u: int
    v: int
    hereditary: ClassVar[bool] = True

    def broken(self, parents: Sequence[int]) -> Clause | None:
        return self.cheapest(Graph.of(parents), math.inf)

    def cheapest(self, graph: Graph, most: float) -> Clause | None:
        walk = _shortest([self.u], graph.down, lambda w: w == self.v, most)
        return None if walk is None else _lacking(itertools.pairwise(walk))


@dataclass(frozen=True)
class Order:
    """Some topological order has u before v for all `pairs` (u, v), which are closed under transitivity."""

    n: int
    pairs: tuple[tuple[int, int], ...]
    hereditary: ClassVar[bool] = True

    def broken(self, parents: Sequence[int]) -> Clause | None:
        return self.cheapest(Graph.of(parents), math.inf)

    def cheapest(self, graph: Graph, most: float) -> Clause | None:
        after: list[list[tuple[int, float]]] = [[] for _ in range(self.n)]
        for u, v in self.pairs:
            after[u].append((v, 0.0))
        best: Clause | None = None
        for first, second in self.pairs:  # a cycle has one of the pairs
            walk = _shortest([second], lambda w: graph.down(w) + after[w], partial(operator.eq, first), most)
            if walk is not None:
                clause = _lacking(arc for arc in itertools.pairwise(walk) if arc not in self.pairs)
                if best is None or len(clause) < len(best):
                    best = clause
        return best


@dataclass(frozen=True)
class ChildLimit:
    """u has at most `limit` children."""

    n: int
    u: int
    limit: int
    hereditary: ClassVar[bool] = True

    def broken(self, parents: Sequence[int]) -> Clause | None:
        children = [v for v in range(self.n) if parents[v] >> self.u & 1]
        return None if len(children) <= self.limit else _lacking((self.u, v) for v in children[: self.limit + 1])


@dataclass(frozen=True)
class ArcLimit:
    """The graph has at most `limit` arcs."""

    n: int
    limit: int
    hereditary: ClassVar[bool] = True

    def broken(self, parents: Sequence[int]) -> Clause | None:
        largest = sorted(range(self.n), key=lambda v: -parents[v].bit_count())
        arcs = [(u, v) for v in largest for u in _members(parents[v])]
        return None if len(arcs) <= self.limit else _lacking(arcs[: self.limit + 1])


@dataclass(frozen=True)
class Independence:
    """`given` d-separates `one` from `other`."""

    n: int
    one: tuple[int, ...]
    other: tuple[int, ...]
    given: tuple[int, ...]
    hereditary: ClassVar[bool] = True

    def broken(self, parents: Sequence[int]) -> Clause | None:
        return self.cheapest(Graph.of(parents), math.inf)

    def cheapest(self, graph: Graph, most: float) -> Clause | None:
        """The arcs of a walk that conditioning leaves open, and from its colliders down to what is given."""
        down: dict[int, list[int] | None] = {}

        def to_given(v: int) -> float:
            """What it costs to get from v down to what is given."""
            if v not in down:
                down[v] = _shortest([v], graph.down, lambda w: w in self.given, most)
            walk = down[v]
            return math.inf if walk is None else sum(graph.cost[arc] for arc in itertools.pairwise(walk))

        def onward(state: tuple[int, bool]) -> list[tuple[tuple[int, bool], float]]:
            """From a variable, entered along an arc into it (True) or against one out of it."""
            v, entered = state
            steps: list[tuple[tuple[int, bool], float]] = []
            if v not in self.given:
                steps += [((c, True), cost) for c, cost in graph.down(v)]
                if not entered:
                    steps += [((p, False), cost) for p, cost in graph.up(v)]
            if entered and (more := to_given(v)) < math.inf:
                steps += [((p, False), cost + more) for p, cost in graph.up(v)]
            return steps

        walk = _shortest([(a, False) for a in self.one], onward, lambda state: state[0] in self.other, most)
        if walk is None:
            return None
        arcs = []
        for (u, entered), (v, into) in itertools.pairwise(walk):
            arcs.append((u, v) if into else (v, u))
            if entered and not into:  # a collider
                arcs += itertools.pairwise(down[u] or ())
        return _lacking(arcs)


class Graph:
    """Arcs with costs: those of a graph cost 1, those of a fractional point the less the more of them there is."""

    def __init__(self, n: int, cost: Mapping[tuple[int, int], float]) -> None:
        self.cost = cost
        self._down: list[list[tuple[int, float]]] = [[] for _ in range(n)]
        self._up: list[list[tuple[int, float]]] = [[] for _ in range(n)]
        for (u, v), price in cost.items():
            self._down[u].append((v, price))
            self._up[v].append((u, price))

    @classmethod
    def of(cls, parents: Sequence[int]) -> Graph:
        """A graph, from masks of parents."""
        return cls(len(parents), {(u, v): 1.0 for v, mask in enumerate(parents) for u in _members(mask)})

    def down(self, v: int) -> list[tuple[int, float]]:
        """Children with what the arcs to them cost."""
        return self._down[v]

    def up(self, v: int) -> list[tuple[int, float]]:
        """Parents."""
        return self._up[v]


def _lacking(arcs: Iterable[tuple[int, int]]) -> Clause:
    """Some child lacks one of the arcs (parent, child) that lead to it."""
    share: dict[int, set[int]] = {}
    for parent, child in arcs:
        share.setdefault(child, set()).add(parent)
    return tuple(Literal(child, tuple(sorted(parents)), False) for child, parents in sorted(share.items()))


def _shortest(
    begin: Iterable[State],
    onward: Callable[[State], Iterable[tuple[State, float]]],
    done: Callable[[State], bool],
    most: float,
) -> list[State] | None:
    """A cheapest walk from one of `begin` to a state that is `done`, if it costs less than `most` (Dijkstra)."""
    came: dict[State, State | None] = {}
    ticket = itertools.count()
    queue: list[tuple[float, int, State, State | None]] = [(0.0, next(ticket), state, None) for state in begin]
    while queue:
        cost, _, state, before = heapq.heappop(queue)
        if state in came:
            continue
        came[state] = before
        if done(state):
            walk = [state]
            while (previous := came[walk[-1]]) is not None:
                walk.append(previous)
            return walk[::-1]
        for following, more in onward(state):
            if following not in came and cost + more < most:
                heapq.heappush(queue, (cost + more, next(ticket), following, state))
    return None


def _members(mask: int) -> tuple[int, ...]:
    return tuple(v for v in range(mask.bit_length()) if mask >> v & 1)


def _ancestors(parents: Sequence[int], v: int) -> int:
    """v and its ancestors."""
    found = rest = 1 << v
    while rest:
        w = rest.bit_length() - 1
        rest ^= 1 << w
        rest |= parents[w] & ~found
        found |= parents[w]
    return found


def descendants(parents: Sequence[int], u: int) -> int:
    """u and its descendants, as bits."""
    found, grown = 1 << u, True
    while grown:
        grown = False
        for v, mask in enumerate(parents):
            if mask & found and not found >> v & 1:
                found |= 1 << v
                grown = True
    return found
