"""Constraints on graphs as rows of the pseudo-Boolean problem, and the rows of evidence that rest on them.

    a<u>_<v>   the graph has the arc u -> v: exactly if the family of v contains u
    f<i>_<u>_<v>   ancestor i: its path may use this arc. The descendant has one more arc in than out, nobody but the
               ancestor more out than in; as the graph has no cycle, the path begins at the ancestor
    r<i>_<v>   forbidden ancestor i: a path leads from it to v
    n<i>_<v>, m<i>_<v>, t<i>_<v>   independence i: v is among the ancestors of its variables, or one of them; v is
               reached from its first side in the moral graph of those, around what is given; one of the parents of v
               is. Whoever is reached, so are its parents, children and the other parents of its children
Required ancestors and chains of an order come before in the order that the problem has anyway.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

from optbn_solvers.base.constraints import Constraints
from optbn_solvers.base.errors import NoProofError
from optbn_solvers.base.solution import ClauseRow, LimitRow
from optbn_solvers.proofs.lines import Lines
from optbn_solvers.proofs.opb import Encoding, Terms, at_least, before, opposite

Arc = tuple[int, int]


class Demands:
    """The rows, as they stand behind the others of the problem, and what proofs need to know of them."""

    def __init__(self, encoding: Encoding, constraints: Constraints) -> None:
        self.encoding, self.constraints = encoding, constraints
        self.n, self.number = encoding.n, {name: v for v, name in enumerate(encoding.table.names)}
        self.arcs: list[Arc] = sorted(encoding.link)  # that some family has
        self.rows: list[str] = []
        self.no_more: dict[Arc, int] = {}  # the row "the arc is there if a family with it is"
        self.limits: dict[int | None, int] = {}  # variable (None: all) -> the row of its limit
        self.flow: list[tuple[Arc, dict[int, int]]] = []  # (ancestor, descendant), variable -> its row
        self.paths: list[dict[Arc, str]] = []  # arc -> whether the path uses it
        self.implied: list[tuple[list[str], str]] = []  # (premises, what follows): the least values are the right ones
        self._arcs()
        self._single()
        self._limits()
        for pair in self._pairs(constraints.ancestors):
            self._ancestor(*pair)
        for i, pair in enumerate(self._pairs(constraints.no_ancestors)):
            self._no_ancestor(i, *pair)
        for i, sides in enumerate(constraints.independences):
            self._independence(i, *({self.number[name] for name in side} for side in sides))

    @property
    def chains(self) -> list[Arc]:
        """Who comes before whom, whatever the graph is."""
        chains = [pair for chain in self.constraints.order for pair in self._pairs(itertools.pairwise(chain))]
        return [*chains, *self._pairs(self.constraints.ancestors)]

    @property
    def variables(self) -> list[str]:
        """All that is not in the problem without constraints."""
        known = [arc(*each) for each in self.arcs] + [f for path in self.paths for f in path.values()]
        implied = (x for premises, what in self.implied for x in (*premises, what) if x)
        return list(dict.fromkeys([*known, *implied]))

    def true(self, families: Sequence[int]) -> list[str]:
        """Values of these variables for a graph (sets of parents as bits), as literals."""
        there = {(u, v) for u, v in self.arcs if families[v] >> u & 1}
        true = {arc(*each) for each in there}
        for ((u, v), _), path in zip(self.flow, self.paths, strict=True):
            true |= {path[each] for each in way(there, u, v)}
        changed = True
        while changed:
            new = {what for premises, what in self.implied if what and what not in true and true.issuperset(premises)}
            true |= new
            changed = bool(new)
        return [x if x in true else opposite(x) for x in self.variables]

    def _row(self, terms: Terms, rhs: int = 1) -> int:
        self.rows.append(at_least(terms, rhs))
        return self.encoding.own_rows + len(self.rows)

    def _if(self, premises: list[str], what: str) -> None:
        """What follows, "" if it is a contradiction."""
        self.implied.append((premises, what))
        self._row([*((1, opposite(x)) for x in premises), *([(1, what)] if what else [])])

    def _pairs(self, pairs: Iterable[tuple[str, str]]) -> list[Arc]:
        return [(self.number[u], self.number[v]) for u, v in pairs]

    def _arcs(self) -> None:
        for u, v in self.arcs:
            families = self.encoding.families[v]
            there = [self.encoding.choice(row) for row, parents in families if parents >> u & 1]
            self.no_more[u, v] = self._row([*((1, opposite(x)) for x in there), (1, arc(u, v))], len(there))
            self._row([(1, opposite(arc(u, v))), *((1, x) for x in there)])

    def _single(self) -> None:
        """Constraints on arcs and on the order."""
        constraints = self.constraints
        never = {*self._pairs(constraints.forbidden)}
        for u, v in self._pairs(constraints.forbidden_edges):
            never |= {(u, v), (v, u)}
        for early, late in itertools.combinations(constraints.tiers, 2):
            never |= {(self.number[v], self.number[u]) for u in early for v in late}
        roots, leaves = ({self.number[name] for name in names} for names in (constraints.roots, constraints.leaves))
        for u, v in self.arcs:
            if (u, v) in never or u in leaves or v in roots:
                self._row([(1, opposite(arc(u, v)))])
        for pair in self._pairs(constraints.required):
            self._one_of([pair])
        for u, v in self._pairs(constraints.required_edges):
            self._one_of([(u, v), (v, u)])
        for u, v in self.chains:
            self._row([(1, before(u, v))])

    def _one_of(self, arcs: list[Arc]) -> None:
        self._row([(1, arc(*each)) for each in arcs if each in self.no_more])

    def _limits(self) -> None:
        children = self.constraints.max_children
        limits = {u: children.get(name, children.get("*")) for name, u in self.number.items()}
        for which, most in [*limits.items(), (None, self.constraints.max_arcs)]:
            counted = [each for each in self.arcs if which in (None, each[0])]
            if most is not None:
                terms: Terms = [(1, opposite(arc(*each))) for each in counted]
                self.limits[which] = self._row(terms, max(0, len(counted) - most))

    def _ancestor(self, u: int, v: int) -> None:
        """A path from u to v."""
        i = len(self.paths)
        path = {(a, b): f"f{i}_{a}_{b}" for a, b in self.arcs if b != u and a != v}
        self.paths.append(path)
        for each, uses in path.items():
            self._row([(1, opposite(uses)), (1, arc(*each))])
        rows = {}
        for w in range(self.n):
            if w != u:
                into = [(1, uses) for (_, b), uses in path.items() if b == w]
                out = [(1, opposite(uses)) for (a, _), uses in path.items() if a == w]
                rows[w] = self._row([*into, *out], len(out) + (w == v))
        self.flow.append(((u, v), rows))

    def _no_ancestor(self, i: int, u: int, v: int) -> None:
        """No path from u to v."""
        for a, b in self.arcs:
            if b != u:
                self._if([arc(a, b), *([] if a == u else [f"r{i}_{a}"])], "" if b == v else f"r{i}_{b}")

    def _independence(self, i: int, one: set[int], two: set[int], given: set[int]) -> None:
        """No path between the sides in the moral graph of the ancestors, around what is given."""
        inner, met, child = (lambda v, kind=kind: f"{kind}{i}_{v}" for kind in "nmt")
        for v in sorted(one | two | given):
            self._if([], inner(v))
        for v in sorted(one):
            self._if([], met(v))
        for v in sorted(two):
            self._if([met(v)], "")
        for u, v in self.arcs:
            self._if([inner(v), arc(u, v)], inner(u))
            self._if([met(u), arc(u, v), inner(v)], child(v))
            if u not in given:
                self._if([child(v), arc(u, v)], met(u))
                self._if([met(v), arc(u, v)], met(u))
        for v in range(self.n):
            if v not in given:
                self._if([child(v)], met(v))


class DemandedRows:
    """Rows of evidence that constraints make valid."""

    def __init__(self, demands: Demands, lines: Lines) -> None:
        self.demands, self.lines, self.encoding = demands, lines, demands.encoding
        self.cuts: set[tuple[int, tuple[int, ...]]] = set()
        self.seen: set[Arc] = set()

    def row(self, row: ClauseRow | LimitRow) -> int:
        """The number of the row."""
        return self._clause(row) if isinstance(row, ClauseRow) else self._limit(row)

    def _clause(self, row: ClauseRow) -> int:
        """One of the literals is true; so there are fewer families for which they are false than literals."""
        self._cut({literal.child for literal in row.literals})
        for literal in row.literals:
            if not literal.meets:
                self._there(literal.child, literal.others)
        true = [
            (1, self.encoding.choice(each))
            for literal in row.literals
            for each, parents in self.encoding.families[literal.child]
            if literal.true(parents)
        ]
        number = self.lines.rup(true)
        return self.lines.pol(" ".join([str(number), *(f"{self.encoding.only[x.child]} +" for x in row.literals)]))

    def _there(self, v: int, others: Sequence[int]) -> None:
        """An arc is there, or the family of v is one without it: where all of those are excluded, the arc is seen."""
        for u in others:
            if (u, v) in self.demands.no_more and (u, v) not in self.seen:
                self.seen.add((u, v))
                self.lines.pol(f"{self.demands.no_more[u, v]} {self.encoding.some[v]} +")

    def _cut(self, outside: set[int]) -> None:
        """A path to one of these variables from another has an arc from the others to them."""
        for i, ((u, v), rows) in enumerate(self.demands.flow):
            key = i, tuple(sorted(outside))
            if v in outside and u not in outside and key not in self.cuts:
                self.cuts.add(key)
                first, *more = (rows[w] for w in key[1])
                self.lines.pol(" ".join([str(first), *(f"{each} +" for each in more)]))

    def _limit(self, row: LimitRow) -> int:
        """Arcs are counted by the families that have them."""
        which = row.parents[0] if len(row.parents) == 1 and row.parents[0] in self.demands.limits else None
        if which not in self.demands.limits:
            raise NoProofError("the evidence has a limit that the constraints do not name, it cannot be exported")
        counted = [self.demands.no_more[each] for each in self.demands.arcs if which in (None, each[0])]
        return self.lines.pol(" ".join([str(self.demands.limits[which]), *(f"{each} +" for each in counted)]))


def arc(u: int, v: int) -> str:
    """The literal that says that an arc is there."""
    return f"a{u}_{v}"


def way(arcs: set[Arc], u: int, v: int) -> list[Arc]:
    """The arcs of a path from u to v."""
    came: dict[int, int] = {u: u}
    waiting = [u]
    while waiting:
        a = waiting.pop()
        for b in sorted(w for x, w in arcs if x == a and w not in came):
            came[b] = a
            waiting.append(b)
    found = []
    while v != u:
        found.append((came[v], v))
        v = came[v]
    return found
