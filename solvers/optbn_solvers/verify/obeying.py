"""Is there a graph above a bound that obeys the constraints? The checker's own search.

Orders and required adjacencies are exact in the recursion over subsets. What else the constraints ask for is left out
of it at first, so its best graph is a bound. Where that graph breaks something, a clause says so: literal 1, or
literal 2, ... holds in every graph that obeys, and none in this one. The cases "literals 1 to i - 1 are false, literal
i is true" are filters of families; they share out all graphs, and none has the graph in hand.

A limit on arcs also has a price per arc, found by subgradient steps: families pay it, and the bound gets it back as
often as the limit allows arcs. And where families must have some of the arcs, there is that much less room for others.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from optbn_solvers.base.solution import Literal
from optbn_solvers.verify.families import FITS, Bools, Families, Ints, members_of, worth_of_arcs
from optbn_solvers.verify.layers import Work, best_above
from optbn_solvers.verify.rules import Rules

CASE = 2e5  # steps that a case counts besides those of the recursion
FIRST, LATER = 40, 6  # changes of prices, of all families and of a case
SHORTER = 0.95  # of one change against the one before


@dataclass(order=True)
class _Case:
    """Some of the families, with the prices of the case around it; `bound` is negative, for a heap."""

    bound: int
    ticket: int
    keep: Bools
    prices: Ints


class Obeying:
    """The search among graphs that obey the rules."""

    def __init__(
        self, families: Families, rules: Rules, target: int, work: Work, clusters: Sequence[tuple[int, int]] = ()
    ) -> None:
        before, adjacent = (np.array(sets, dtype=np.int64) for sets in (rules.before, rules.adjacent))
        families = replace(families, before=before, adjacent=adjacent)
        self.families, self.rules, self.target, self.work, self.clusters = families, rules, target, work, clusters
        limits = rules.limits()
        self.most = np.array([most for _, most in limits], dtype=np.int64)
        # int64[limits, m]: the arcs of a family that count
        self.arcs = np.array([np.bitwise_count(families.masks & which) for which, _ in limits], dtype=np.int64)
        self.arcs = self.arcs.reshape(len(limits), len(families.child))
        self.ticket = itertools.count()
        self.worth = worth_of_arcs(families)

    def most_units(self) -> int:
        """The units of the best graph that obeys, or the target where none has more."""
        everything = np.ones(len(self.families.child), dtype=np.bool_)
        cases = [_Case(-(1 << 62), next(self.ticket), everything, np.zeros(len(self.most), dtype=np.int64))]
        while cases and -cases[0].bound > self.target:
            for case in self.split(heapq.heappop(cases)):
                heapq.heappush(cases, case)
        return self.target

    def split(self, case: _Case) -> list[_Case]:
        """Settle a case, or cut it into smaller ones."""
        self.work.count(CASE)
        keep = case.keep.copy()
        if not self.tighten(keep):
            return []
        bound, graphs, prices = self.bounded(keep, case)
        clause = self.clause(graphs)
        if bound > self.target and clause is None:  # only prices keep the bound up
            _, graph = self.relaxed(keep, 0 * prices)
            clause = self.clause([graph])
        if bound <= self.target or clause is None:
            return []
        cases = []
        for literal in sorted(clause, key=lambda each: -self.loss(each, keep)):
            true = self.true(literal)
            cases.append(_Case(-bound, next(self.ticket), keep & true, prices))
            keep = keep & (~true | (self.families.child != literal.child))
        return cases

    def clause(self, graphs: Sequence[Ints]) -> tuple[Literal, ...] | None:
        """What one of the graphs breaks; of those that obey, takes the best as the one to beat."""
        found = None
        for graph in graphs:
            if len(graph):
                arcs = [(u, v) for v, row in enumerate(graph) for u in members_of(int(self.families.masks[row]))]
                broken = self.rules.clause(sorted(arcs, key=lambda arc: self.worth[arc[1], arc[0]]))
                if broken is None:
                    self.target = max(self.target, int(self.families.units[graph].sum()))
                elif found is None:
                    found = broken
        return found

    def bounded(self, keep: Bools, case: _Case) -> tuple[int, list[Ints], Ints]:
        """(bound, graphs, prices): of prices that were tried, the best; graphs that attained bounds, the best first."""
        prices, tried = case.prices, []
        steps = 0 if not len(self.most) else FIRST if case.ticket == 0 else LATER
        for step in range(steps + 1):
            bound, graph = self.relaxed(keep, prices)
            tried.append((bound, step, graph, prices))
            if bound <= self.target or step == steps:
                break
            over = self.arcs[:, graph].sum(axis=1) - self.most
            over[(over < 0) & (prices == 0)] = 0
            if not over.any():
                break
            size = (bound - self.target) / float((over * over).sum()) * SHORTER**step
            prices = np.clip(prices + np.rint(size * over).astype(np.int64), 0, FITS // (4 * self.families.n**2))
        tried.sort(key=lambda each: each[:2])
        return tried[0][0], [graph for _, _, graph, _ in tried], tried[0][3]

    def relaxed(self, keep: Bools, prices: Ints) -> tuple[int, Ints]:
        """(bound, the graph that attains it) at these prices; no graph where the bound is no better than the target."""
        rest = int((prices * self.most).sum())
        case, rows = self.families.kept(keep, self.families.units - prices @ self.arcs)
        found = best_above(case, self.target - rest, self.work, self.clusters)
        graph = np.empty(len(found.order), dtype=np.int64)
        for v, row in found.order:
            graph[v] = rows[row]
        return found.units + rest, graph

    def tighten(self, keep: Bools) -> bool:
        """Drop families that the limits leave no room for; False where a variable has none left."""
        families, changed = self.families, True
        while changed:
            changed = False
            left = np.bincount(families.child[keep], minlength=families.n)
            if (left == 0).any():
                return False
            starts = np.cumsum(left) - left
            for arcs, most in zip(self.arcs, self.most, strict=True):
                least = np.minimum.reduceat(arcs[keep], starts)
                over = keep & (arcs - least[families.child] > most - least.sum())
                if over.any():
                    keep &= ~over
                    changed = True
                    break
        return True

    def true(self, literal: Literal) -> Bools:
        """The families that a graph for which the literal is true may have."""
        others = sum(1 << u for u in literal.others)
        common = self.families.masks & others
        return (self.families.child != literal.child) | ((common != 0) if literal.meets else (common != others))

    def loss(self, literal: Literal, keep: Bools) -> int:
        """What its child loses, of what it could have, when the literal is true."""
        own = keep & (self.families.child == literal.child)
        left = own & self.true(literal)
        best = int(self.families.units[own].max(initial=-(1 << 58)))
        return best - int(self.families.units[left].max(initial=-(1 << 58)))
