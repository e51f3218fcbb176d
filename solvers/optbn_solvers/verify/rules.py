"""Constraints as the checker reads them: its own words and other algorithms than the solvers use.

Ancestors by squaring the relation, orders by taking away what nothing precedes, d-separation in the moral graph of the
ancestors (Lauritzen et al. 1990). `optbn_solvers.base.constraints` says what each constraint means.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import combinations, pairwise

from optbn_solvers.base.constraints import Constraints
from optbn_solvers.base.solution import ClauseRow, LimitRow, Literal

Arc = tuple[int, int]  # parent, child


class Rules:
    """The constraints on graphs over `names`."""

    def __init__(self, constraints: Constraints, names: Sequence[str]) -> None:
        self.constraints, self.names = constraints, names
        self.number = {name: v for v, name in enumerate(names)}
        self.n = len(names)
        self.never, self.always = self._arcs()

    @property
    def demanding(self) -> bool:
        """A graph may need more arcs than the constraints on single arcs demand."""
        settled = {(u, v) for u, v in self._closure(self.always)}
        paths = any((self.number[u], self.number[v]) not in settled for u, v in self.constraints.ancestors)
        edges = ((self.number[u], self.number[v]) for u, v in self.constraints.required_edges)
        return paths or any((u, v) not in self.always and (v, u) not in self.always for u, v in edges)

    def allows(self, child: int, parents: Iterable[int]) -> bool:
        """Whether the constraints on single arcs allow a family."""
        arcs = {(u, child) for u in parents}
        return not arcs & self.never and {arc for arc in self.always if arc[1] == child} <= arcs

    def wrong(self, arcs: set[Arc]) -> str | None:
        """What an acyclic graph breaks, or None."""
        for u, v in sorted(self.always - arcs):
            return f"the arc {self.names[u]} -> {self.names[v]} is missing"
        for u, v in sorted(self.never & arcs):
            return f"the arc {self.names[u]} -> {self.names[v]} may not be"
        return self._demanded(arcs) or self._broken(arcs)

    @property
    def before(self) -> list[int]:
        """Per variable, as bits, what some order that the graph goes with has before it."""
        closed = self._closure(self._order())
        return [sum(1 << u for u, w in closed if w == v) for v in range(self.n)]

    @property
    def adjacent(self) -> list[int]:
        """Per variable, as bits, what must be adjacent to it."""
        pairs = {pair for u, v in self._numbered(self.constraints.required_edges) for pair in ((u, v), (v, u))}
        return [sum(1 << u for u, w in pairs if w == v) for v in range(self.n)]

    def limits(self) -> list[tuple[int, int]]:
        """(variables as bits, how many arcs may begin there)."""
        found = [(1 << u, most) for u in range(self.n) if (most := self._most_children(u)) < self.n - 1]
        if self.constraints.max_arcs is not None:
            found.append(((1 << self.n) - 1, self.constraints.max_arcs))
        return found

    def clause(self, ordered: Sequence[Arc]) -> tuple[Literal, ...] | None:
        """What an acyclic graph breaks, as literals: they are false for it, one is true for every graph that obeys.

        None where it obeys. The graph must have the adjacencies that are required. Literals about few arcs are made,
        if possible about the last ones.
        """
        arcs = set(ordered)
        paths = self._closure(arcs)
        for u, v in self._numbered(self.constraints.ancestors):
            if (u, v) not in paths:
                above = {v} | {a for a, w in paths if w == v}
                below = {u} | {w for a, w in paths if a == u}
                outside = min(above, set(range(self.n)) - below, key=len)  # some arc leads into it
                inside = tuple(sorted(set(range(self.n)) - outside))
                return tuple(Literal(w, inside, True) for w in sorted(outside))
        breaks = next((test for _, test in self._hereditary() if test(arcs)), None)
        if breaks is None:
            return None
        needed = set(arcs)
        for arc in ordered:
            if breaks(needed - {arc}):
                needed.discard(arc)
        children = sorted({v for _, v in needed})
        return tuple(Literal(v, tuple(sorted(u for u, w in needed if w == v)), False) for v in children)

    def valid_clause(self, row: ClauseRow) -> bool:
        """Whether every graph that obeys makes a literal true, as far as this checker sees."""
        children = [literal.child for literal in row.literals]
        if len(set(children)) < len(children):
            return False
        if not any(literal.meets for literal in row.literals):  # the arcs that are left when all are false
            return self._broken({(u, literal.child) for literal in row.literals for u in literal.others}) is not None
        if not all(literal.meets for literal in row.literals):
            return False
        literals = {(literal.child, literal.others) for literal in row.literals}
        for a, b in self._numbered(self.constraints.required_edges):
            if literals >= {(a, (b,)), (b, (a,))}:
                return True
        inside = set(row.literals[0].others)
        if any(set(literal.others) != inside for literal in row.literals):
            return False
        outside = set(children) == set(range(self.n)) - inside
        return outside and any(u in inside and v not in inside for u, v in self._numbered(self.constraints.ancestors))

    def valid_limit(self, row: LimitRow) -> bool:
        """Whether the constraints have that limit."""
        most = self.constraints.max_arcs
        if row.parents == tuple(range(self.n)) and most is not None and most <= row.rhs:
            return True
        return len(row.parents) == 1 and self._most_children(row.parents[0]) <= row.rhs

    def _arcs(self) -> tuple[set[Arc], set[Arc]]:
        """(arcs that can never be, arcs that must always be)."""
        constraints = self.constraints
        always, never = set(self._numbered(constraints.required)), set(self._numbered(constraints.forbidden))
        never |= {(v, u) for u, v in self._numbered(constraints.ancestors)}
        never |= set(self._numbered(constraints.no_ancestors))
        for u, v in self._numbered(constraints.forbidden_edges):
            never |= {(u, v), (v, u)}
        for early, late in combinations(constraints.tiers, 2):
            never |= {(self.number[v], self.number[u]) for u in early for v in late}
        never |= {(v, u) for u, v in self._closure(self._order())}
        others = range(self.n)
        never |= {(u, self.number[name]) for name in constraints.roots for u in others if u != self.number[name]}
        childless = {self.number[name] for name in constraints.leaves}
        childless |= {u for u in others if self._most_children(u) == 0}
        never |= {(u, v) for u in childless for v in others if u != v}
        for one, two, _ in constraints.independences:
            for a, b in self._numbered([(a, b) for a in one for b in two]):
                never |= {(a, b), (b, a)}
        for u, v in self._numbered(constraints.required_edges):
            if (u, v) in never:
                always.add((v, u))
            if (v, u) in never:
                always.add((u, v))
        never |= {(v, u) for u, v in always}
        return never, always

    def _demanded(self, arcs: set[Arc]) -> str | None:
        paths = self._closure(arcs)
        for u, v in self._numbered(self.constraints.ancestors):
            if (u, v) not in paths:
                return f"no path leads from {self.names[u]} to {self.names[v]}"
        for u, v in self._numbered(self.constraints.required_edges):
            if (u, v) not in arcs and (v, u) not in arcs:
                return f"{self.names[u]} and {self.names[v]} are not adjacent"
        return None

    def _broken(self, arcs: set[Arc]) -> str | None:
        """A constraint that these arcs break, and with them every graph that has them."""
        return next((what for what, test in self._hereditary() if test(arcs)), None)

    def _hereditary(self) -> Iterator[tuple[str, Callable[[set[Arc]], bool]]]:
        """Rule by rule: what is wrong with a graph that breaks it, and a test whether some arcs break it."""
        for u, v in self._numbered(self.constraints.no_ancestors):
            yield f"a path leads from {self.names[u]} to {self.names[v]}", partial(self._path, u, v)
        names = dict.fromkeys(name for chain in self.constraints.order for name in chain)
        yield f"no order puts {', '.join(names) or 'parents first'} as it must", self._unordered
        for u in range(self.n):
            most = self._most_children(u)
            yield f"{self.names[u]} has more than {most} children", partial(self._more, 1 << u, most)
        if (most_arcs := self.constraints.max_arcs) is not None:
            yield f"there are more than {most_arcs} arcs", partial(self._more, -1, most_arcs)
        for one, two, given in self.constraints.independences:
            a, b, c = ({self.number[name] for name in side} for side in (one, two, given))
            what = f"{', '.join(one)} and {', '.join(two)} are not separated by {', '.join(given) or 'nothing'}"
            yield what, partial(self._connected, a, b, c)

    def _path(self, u: int, v: int, arcs: set[Arc]) -> bool:
        return (u, v) in self._closure(arcs)

    def _unordered(self, arcs: set[Arc]) -> bool:
        left, ordered = set(range(self.n)), arcs | self._order()
        while free := left - {v for u, v in ordered if u in left}:
            left -= free
        return bool(left)

    def _more(self, parents: int, most: int, arcs: set[Arc]) -> bool:
        return sum(parents >> u & 1 for u, _ in arcs) > most

    def _connected(self, one: set[int], two: set[int], given: set[int], arcs: set[Arc]) -> bool:
        """Whether a path in the moral graph of the ancestors leads from one side to the other around what is given."""
        paths = self._closure(arcs)
        involved = one | two | given
        there = involved | {u for u, v in paths if v in involved}
        inner = [(u, v) for u, v in arcs if v in there]
        linked = {frozenset(arc) for arc in inner}
        linked |= {frozenset((a, b)) for a, v in inner for b, w in inner if v == w and a != b}
        reached, new = set(one), set(one)
        while new:
            new = {w for pair in linked if pair & new for w in pair} - reached - given
            reached |= new
        return bool(reached & two)

    def _order(self) -> set[Arc]:
        return {arc for chain in self.constraints.order for arc in self._numbered(pairwise(chain))}

    def _most_children(self, u: int) -> int:
        limits = self.constraints.max_children
        return limits.get(self.names[u], limits.get("*", self.n))

    def _numbered(self, pairs: Iterable[tuple[str, str]]) -> list[Arc]:
        return [(self.number[u], self.number[v]) for u, v in pairs]

    def _closure(self, arcs: set[Arc]) -> set[Arc]:
        """All (u, v) with a path from u to v."""
        reach = [0] * self.n
        for u, v in arcs:
            reach[u] |= 1 << v
        for middle in range(self.n):
            for u in range(self.n):
                if reach[u] >> middle & 1:
                    reach[u] |= reach[middle]
        return {(u, v) for u in range(self.n) for v in range(self.n) if reach[u] >> v & 1}
