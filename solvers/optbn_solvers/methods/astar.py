"""Search of the order graph with lower bounds: for dense tables of some twenty to forty variables.

A state is a set U of placed variables, its g the least cost of an acyclic graph on U; a step places one variable more
with its best family inside U (Yuan and Malone 2013). Costs are (best units of the variable) - (units of the family),
so whole numbers from 0. A state is dropped when g + h is not below the cost of the graph in hand, h being a lower bound
on what is left to be placed. The search goes layer by layer, by the number of placed variables: the graph in hand is
nearly always the optimum, and then A* would have to expand the same states, and keep a queue as well.

The bound is what makes it work. Let y_C >= 0 be multipliers of clusters and c'(v, P) = c(v, P) - sum of y_C over the
clusters C of v that P is disjoint from. A cluster that does not meet U has a first member still to be placed, so

    clusters   sum over v outside U of min c'(v, .)  +  sum of y_C over all C that do not meet U
    patterns   the variables cut into groups, for each group a table over its subsets of what placing them costs at
               least when parents outside the group are free (Yuan and Malone's pattern databases), on costs from which
               only the clusters across groups are taken  +  these clusters' y_C as above

are both lower bounds. The multipliers are those of the linear program over clusters at its optimum: with ones of a
plain dual ascent hardly anything is dropped. Families that the same program excludes are left out.

Whoever stops it gets the least g + h of the layer as a bound: all better graphs pass through it. Memory: 16 bytes per
state that is kept, some 50 per state of the layer at work; when it ends, so does the search. 2^n is never needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from optbn_solvers.base.protocol import Capabilities
from optbn_solvers.base.run import Method, Run
from optbn_solvers.base.solution import Evidence, Exhausted
from optbn_solvers.base.table import ScoreTable
from optbn_solvers.methods.kernels import ordergraph
from optbn_solvers.relaxation.evidence import row_bound
from optbn_solvers.relaxation.ledger import Ledger
from optbn_solvers.relaxation.orders import search
from optbn_solvers.relaxation.rows import Cluster, Opening
from optbn_solvers.relaxation.strengthen import ROUNDS_OF_CLUSTERS, Begin, cluster_root

MOST = 62  # variables: a state is one number
GROUP = 17  # variables of a pattern database
FIRST = 8  # entries of a new hash table per state of the layer
SLICE = 1 << 14  # states between looks at the budget

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class OrderSearch(Method):
    """Layer by layer through the order graph.

    greedy  begin with the graph of a local search
    rounds  of the linear program over clusters, at most
    seed    of the local search and the linear program
    states  at most; the search ends before a layer that has more, with the bound so far
    """

    greedy: bool = True
    rounds: int = ROUNDS_OF_CLUSTERS
    seed: int = 0
    states: int = 1 << 62
    capabilities: ClassVar = Capabilities("astar", largest=MOST)

    def search(self, run: Run) -> Evidence | None:
        """The optimum; a bound and the best graph met when time or memory end first."""
        return _Search(self, run).solve()


class _Search:
    """Layers of states, from the graph and the bound of the run."""

    def __init__(self, settings: OrderSearch, run: Run) -> None:
        self.settings, self.run, self.table, self.budget = settings, run, run.table, run.budget
        self.memory = run.budget.bytes

    def solve(self) -> Evidence | None:
        table, settings, run = self.table, self.settings, self.run
        if settings.greedy or run.start is None:
            count = {} if settings.greedy else {"starts": 1, "kicks": 0}
            run.take(search(table, seed=settings.seed, start=run.start, budget=self.budget, **count))
        ledger = cluster_root(Begin(table, run.best, self.budget, self.news), settings.rounds, settings.seed)
        run.take(ledger.rows, ledger.bound)
        evidence: Evidence | None = None
        if ledger.closed or run.ended:
            evidence = row_bound(ledger) if run.bound < run.plain else None
        elif self.layers(ledger):
            evidence = Exhausted("the order graph, with bounds in exact integers", rows=row_bound(ledger))
        else:
            evidence = Exhausted("layers of the order graph, with bounds in exact integers", rows=row_bound(ledger))
        run.statistics = {"states": run.nodes, **run.statistics}
        return evidence

    def layers(self, ledger: Ledger) -> bool:
        """Search; False when that was ended."""
        table, n = self.table, self.table.n
        heuristic = Heuristic(table, ledger, self.memory)
        run = self.run
        upper = run.plain - table.total_units(run.best)
        states, g = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
        kept: list[tuple[Ints, Ints]] = []
        for layer in range(n):
            h = np.zeros(len(states), dtype=np.int64)
            for begin in range(0, len(states), SLICE):
                heuristic.bounds(states[begin : begin + SLICE], h[begin : begin + SLICE])
                if self.budget.exhausted():
                    return False
            alive = g + h < upper
            states, g = states[alive], g[alive]
            self.lower(min(upper, int((g + h[alive]).min(initial=upper))))
            if not len(states):
                return True
            if run.content or run.nodes + len(states) > self.settings.states:
                return False
            kept.append((states, g))
            run.nodes += len(states)
            run.report(f"{layer} of {n} placed, {len(states):,} ways")
            following = self.expanded(heuristic, states, g, upper)
            if following is None:
                return False
            states, g = following
        if len(states):
            run.take(heuristic.graph([*kept, (states, g)]))
        run.settle(run.best)
        return True

    def expanded(self, heuristic: Heuristic, states: Ints, g: Ints, upper: int) -> tuple[Ints, Ints] | None:
        """The next layer; None when time or memory are used up."""
        keys = values = used = np.zeros(0, dtype=np.int64)
        size = 1 << (FIRST * len(states) + 2 * self.table.n).bit_length()
        at = end = 0
        while at < len(states):
            if not len(keys) or at < end:  # the table is full
                if 48 * size + 16 * self.run.nodes > self.memory:
                    self.run.statistics["stopped"] = f"the layer does not fit into {self.memory:,} bytes"
                    return None
                more_keys, more_values, used = _table(size)
                ordergraph.copy(keys, values, more_keys, more_values, used)
                keys, values, size = more_keys, more_values, 2 * size
            end = min(len(states), at + SLICE)
            at = heuristic.expand(at, states[:end], g, upper, keys, values, used)
            if self.budget.exhausted():
                return None
        full = keys != ordergraph.EMPTY
        return keys[full], values[full]

    def lower(self, cost: int) -> None:
        """No graph costs less."""
        self.run.lower(self.run.plain - cost)

    def news(self, rows: Ints, bound: int) -> None:
        """From the linear program."""
        self.run.take(rows, bound)
        self.run.report("clusters")


class Heuristic:
    """The families that can still matter, and bounds on what is left to be placed (see the module's header)."""

    def __init__(self, table: ScoreTable, ledger: Ledger, memory: int) -> None:
        families, n = ledger.families, table.n
        self.rows = families.rows[ledger.alive]
        self.offsets = np.searchsorted(table.children[self.rows], np.arange(n + 1))
        self.masks = table.masks[self.rows, 0].astype(np.int64)
        self.costs = table.units[table.offsets[:-1]][table.children[self.rows]] - table.units[self.rows]
        stage = ledger.stages[-1] if ledger.stages else None
        weights = (
            [(row.members, y >> stage.bits) for row, y in stage.rows if isinstance(row, Cluster | Opening)]
            if stage
            else []
        )
        self.clusters = np.array([sum(1 << v for v in members) for members, _ in weights], dtype=np.int64)
        self.weight = np.array([y for _, y in weights], dtype=np.int64)
        self.group, self.place = self._groups(n, memory)
        inside = np.array([len({self.group[v] for v in members}) == 1 for members, _ in weights], dtype=np.bool_)
        self.across = np.where(inside, 0, self.weight)
        self.least = np.minimum.reduceat(self._reduced(self.weight), self.offsets[:-1])
        self.patterns = np.zeros((int(self.group.max()) + 1, 1 << int(self.place.max()) + 1), dtype=np.int64)
        costs = self._reduced(self.across)
        for k, row in enumerate(self.patterns):
            members = np.flatnonzero(self.group == k)
            row[: 1 << len(members)] = self._database(members, costs)

    def bounds(self, states: Ints, h: Ints) -> None:
        """What is left costs at least h."""
        ordergraph.bounds(
            states, h, self.least, self.clusters, self.weight, self.across, self.group, self.place, self.patterns
        )

    def expand(self, at: int, states: Ints, g: Ints, upper: int, keys: Ints, values: Ints, used: Ints) -> int:
        """See the kernel."""
        done: int = ordergraph.expand(at, states, g, self.offsets, self.masks, self.costs, upper, keys, values, used)
        return done

    def graph(self, layers: list[tuple[Ints, Ints]]) -> Ints:
        """The rows of a graph on all variables, back through the layers."""
        n = len(self.offsets) - 1
        rows = np.empty(n, dtype=np.int64)
        state, cost = int(layers[-1][0][0]), int(layers[-1][1][0])
        for states, g in layers[-2::-1]:
            for v in range(n):
                before = state & ~(1 << v)
                at = np.flatnonzero(states == before)
                fits = np.flatnonzero(self.masks[self.offsets[v] : self.offsets[v + 1]] & ~before == 0)
                if before == state or not len(at) or not len(fits):
                    continue
                own = int(self.offsets[v] + fits[0])
                if int(g[at[0]] + self.costs[own]) == cost:
                    rows[v], state, cost = self.rows[own], before, int(g[at[0]])
                    break
            else:
                raise AssertionError("a state has no way back to the beginning")
        return rows

    def _groups(self, n: int, memory: int) -> tuple[Ints, Ints]:
        """The group of each variable and its place there: swaps, until none puts more weight inside groups."""
        largest = GROUP
        while largest > 1 and 8 * (largest + 1) << largest > memory:
            largest -= 1
        count = -(-n // largest)
        group = np.arange(n) * count // n

        def crossing(of: Ints) -> float:
            sides = [((self.clusters & sum(1 << int(v) for v in np.flatnonzero(of == k))) != 0) for k in range(count)]
            return float(self.weight[np.sum(sides, axis=0) > 1].sum()) if len(self.weight) else 0.0

        best, improved = crossing(group), count > 1
        while improved:
            improved = False
            for u in range(n):
                for v in range(u):
                    if group[u] != group[v]:
                        group[u], group[v] = group[v], group[u]
                        if (value := crossing(group)) < best:
                            best, improved = value, True
                        else:
                            group[u], group[v] = group[v], group[u]
        place = np.array([int((group[:v] == group[v]).sum()) for v in range(n)], dtype=np.int64)
        return group.astype(np.int64), place

    def _reduced(self, weight: Ints) -> Ints:
        """c' for these weights of the clusters."""
        child = np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))
        reduced = self.costs.copy()
        for cluster, y in zip(self.clusters.tolist(), weight.tolist(), strict=True):
            if y:
                reduced[((cluster >> child & 1) == 1) & (self.masks & cluster == 0)] -= y
        return reduced

    def _database(self, members: Ints, costs: Ints) -> Ints:
        """What each subset of the group costs at least when it comes last."""
        m = len(members)
        best = np.full((m, 1 << m), ordergraph.FAR, dtype=np.int64)
        for i, v in enumerate(members):
            own = slice(self.offsets[v], self.offsets[v + 1])
            within = sum((self.masks[own] >> u & 1) << j for j, u in enumerate(members))
            np.minimum.at(best[i], within, costs[own])
            for j in range(m):
                halves = best[i].reshape(-1, 2, 1 << j)
                np.minimum(halves[:, 1], halves[:, 0], out=halves[:, 1])
        left = np.full(1 << m, ordergraph.FAR, dtype=np.int64)
        left[0] = 0
        ordergraph.fill(left, best)
        return left


def _table(size: int) -> tuple[Ints, Ints, Ints]:
    """An empty hash table: keys, values, how many."""
    return np.full(size, ordergraph.EMPTY, dtype=np.int64), np.zeros(size, dtype=np.int64), np.zeros(1, dtype=np.int64)
