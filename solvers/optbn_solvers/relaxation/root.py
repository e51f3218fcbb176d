"""The root: price, bound, filter, separate and polish around one warm linear program until nothing more comes.

A round: solve the LP; hand its multipliers to the ledger, which makes an exact bound and drops families; bring in
columns that price out; read a better graph off the point; look for violated clusters, and for local cuts when small
clusters run dry; add the best rows of either kind, avoiding near-parallel ones. (Large clusters are never dry for long,
and have so few entries that they outdo local cuts when both are ranked together: dna.test then stays 1,400 short of
where local cuts bring it.) Whenever the families left fall into small parts, the end game settles the matter. The loop
ends when the ledger is closed, when no row is found, or when the LP has gained less than `stall_gain` of the gap in
`stall_rounds` rounds (or one round per `stall_variables` variables, if that is more: the more there are, the less does
one round's share of rows move the bound). Rounds count from the one in which the LP says more than the ascent did:
before, its bound is no measure.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from optbn_solvers.base.protocol import Budget
from optbn_solvers.base.table import mask_members
from optbn_solvers.relaxation.ascent import dual_ascent, reduced_costs
from optbn_solvers.relaxation.families import Families
from optbn_solvers.relaxation.finish import LARGEST_PART, finish
from optbn_solvers.relaxation.improve import Improver
from optbn_solvers.relaxation.ledger import Ledger, Stage
from optbn_solvers.relaxation.localcuts import LocalCuts, overlapping
from optbn_solvers.relaxation.orders import FamilyIndex
from optbn_solvers.relaxation.polish import polish
from optbn_solvers.relaxation.program import Relaxation
from optbn_solvers.relaxation.rows import Cluster, Entries, Opening, Pattern, Row
from optbn_solvers.relaxation.separate import SMALL, Point, Separator, stuck_cluster

NEW_COLUMNS = 15  # per child and round
FIRST_COLUMNS = 60  # per child at most
FIRST_ROWS = 600, 10  # of each kind at most; and per child, where that is more
PRICED_ENOUGH = 0.02  # of the gap: what missing columns may be worth before the LP is solved again at once
DEAD_ENOUGH = 0.1  # of the columns
STRONG, MANY = 0.2, 30  # with MANY small clusters violated by STRONG or more, local cuts wait
SPARSE_ENOUGH = 0.6  # of the families: when fewer are needed the others are forgotten
MUCH_ASCENT = 10**8  # clusters times families: another ascent would take seconds


@dataclass(frozen=True)
class RootSettings:
    """How the root loop goes about it (measured: solvers/optbn_solvers/methods/ilp/README.md)."""

    most_rows: int = 60
    most_parallel: float = 0.9
    stall_rounds: int = 6
    stall_variables: int = 32
    stall_gain: float = 0.1
    near: float = 0.15  # of the gap: first columns have a reduced cost below that after the dual ascent
    largest_part: int = LARGEST_PART
    most_rounds: int = 1_000_000
    keep: bool = False  # dropped families: below the root other nodes need them
    large: bool = True  # clusters of any size
    smooth: float = 0.7  # see Separator
    dry_rounds: int = 0  # without a row: separation is random, and finds some at the next try
    overlaps: bool = False  # local cuts on unions of rows that hold the bound up


# where a tree would be long
THOROUGH = RootSettings(stall_rounds=20, stall_gain=0.08, overlaps=True, dry_rounds=3)


@dataclass(eq=False)
class Root:
    """The loop's state; `run` may be called again with other settings. `relaxation` holds the rows that matter."""

    ledger: Ledger
    index: FamilyIndex
    local: LocalCuts
    rng: np.random.Generator
    settings: RootSettings
    relaxation: Relaxation
    rounds: int = 0
    clusters_added: int = 0
    local_added: int = 0
    improver: Improver | None = None  # local search between the rounds
    parts_tried_at: int = -1

    def run(self, budget: Budget) -> None:
        """Until closed, dry, stalled or out of budget."""
        ledger, lp, settings = self.ledger, self.relaxation, self.settings
        self._separator = Separator(self.rng, settings.large, settings.smooth)
        self._fruitful = False
        values: list[float] = []  # of the LP, once it says more than the ascent
        best, dry = ledger.bound, 0
        while not ledger.closed and self.rounds < settings.most_rounds and not budget.exhausted() and lp.solve(budget):
            self.rounds += 1
            which, x = lp.support()
            point = Point(ledger.families, which, x)
            costs = settle(ledger, lp)
            if self._end_game():
                break
            short = self._price(costs)
            if short > PRICED_ENOUGH * ledger.gap:
                continue
            if point.integral and stuck_cluster(point) is None and ledger.offer(ledger.families.rows[np.sort(which)]):
                settle(ledger, lp)
            if polish(ledger, self.index, point, self.rng):
                settle(ledger, lp)
                if self._end_game():
                    break
            if self.improver is not None and self.improver.work(point):
                settle(ledger, lp)
                if self._end_game():
                    break
            level = self.local.level
            rows = self._separate(point, budget)
            if self.local.level != level:
                values = []
            if not rows:
                dry += 1
                if dry > settings.dry_rounds:
                    break
                continue
            dry = 0
            if ledger.bound < best or values:
                values.append(lp.value)
            if self._stalled(values):
                break
            if len(lp.point) == len(lp.columns):
                lp.drop_idle_rows()
            if not settings.keep and ledger.needed().mean() < SPARSE_ENOUGH:
                self.compact()
                rows = [(row, row.entries(ledger.families)) for row, _ in rows]
            lp.add_rows([row for row, _ in rows], [entries for _, entries in rows])

    def _stalled(self, values: list[float]) -> bool:
        """The LP has gained too little of the gap in the last rounds, and strong clusters have become few: while there
        are many, it may stay where it is for dozens of rounds (plants.test then ends 40 short)."""
        settings = self.settings
        back = max(settings.stall_rounds, self.ledger.families.n // settings.stall_variables)
        if self._fruitful or len(values) <= back:
            return False
        left = max(1.0, self.relaxation.above(self.ledger.rows))
        return values[-1] - values[-1 - back] < settings.stall_gain * left

    def compact(self) -> None:
        """Forget the families that have been dropped."""
        keep = self.ledger.restrict()
        self.relaxation.compact(self.ledger.families, keep)
        self._separator.compact(keep)
        self.parts_tried_at = -1

    def _end_game(self) -> bool:
        alive = int(self.ledger.alive.sum())
        if alive != self.parts_tried_at:
            self.parts_tried_at = alive
            finish(self.ledger, self.settings.largest_part)
        return self.ledger.closed

    def _price(self, costs: NDArray[np.int64]) -> float:
        """Delete dead columns, bring in families that price out; returns what those were worth, in units."""
        ledger, lp = self.ledger, self.relaxation
        families = ledger.families
        # what a child pays in the LP: its cheapest column among those that count in the bound
        usable = lp.columns[ledger.alive[lp.columns]]
        far = np.iinfo(np.int64).max // 4
        column_costs = np.full(len(families), far)
        column_costs[usable] = costs[usable]
        least = np.minimum.reduceat(column_costs, families.offsets[:-1])
        keep = ledger.needed()
        if not self.settings.keep:
            own = families.positions(ledger.rows)
            lp.add_columns(own[~lp.has(own)])  # or the LP might be infeasible once those of older graphs are gone
        if not self.settings.keep and (~keep[lp.columns]).mean() > DEAD_ENOUGH:
            lp.delete_columns(~keep)
        tolerance = 1e-7 * lp.scale
        absent = ledger.alive & ~lp.has(np.arange(len(families)))
        missing = np.flatnonzero(absent & (costs < least[families.children] - tolerance))
        if not len(missing):
            return 0.0  # complete: what a rounded reduced cost still lacks is not to be had from columns
        child = families.children[missing]
        order = np.lexsort((costs[missing], child))
        missing, child = missing[order], child[order]
        rank = np.arange(len(missing)) - np.searchsorted(child, child)
        lp.add_columns(missing[rank < NEW_COLUMNS])
        return float(least.astype(np.float64).sum())

    def _separate(self, point: Point, budget: Budget) -> list[tuple[Row, Entries]]:
        """The rows to add this round."""
        lp, n = self.relaxation, self.ledger.families.n
        if self.ledger.rules is not None:
            self.ledger.rules.separate(point.arcs)
        clusters = self._separator.clusters(point)
        candidates: list[Row] = self.ledger.rule_rows()
        candidates += [cluster.lean(n) for cluster in clusters]
        most, parallel = self.settings.most_rows, self.settings.most_parallel
        rows = select_rows(point, candidates, most, parallel)
        strong = sum(by >= STRONG and len(cluster.members) <= SMALL for cluster, by in clusters.items())
        self._fruitful = max(clusters.values(), default=0.0) >= STRONG and len(clusters) >= MANY
        if strong < MANY:
            tight = [(row.members, y) for row, y in zip(lp.rows, lp.duals.tolist(), strict=False) if y > 0]
            hints = overlapping(tight, n) if self.settings.overlaps else None
            cuts = self.local.round(point, budget, hints, urgent=not rows)
            rows += select_rows(point, [*cuts], most // 2, parallel)
        self.ledger.check_rows([row for row, _ in rows])
        self.clusters_added += sum(isinstance(row, Cluster | Opening) for row, _ in rows)
        self.local_added += sum(isinstance(row, Pattern) for row, _ in rows)
        return rows


def settle(ledger: Ledger, lp: Relaxation) -> NDArray[np.int64]:
    """Give the ledger the LP's rows with their multipliers, rounded; returns the families' reduced costs."""
    whole = np.rint(lp.duals).tolist()
    used = [(row, int(y), e) for row, y, e in zip(lp.rows, whole, lp.entries, strict=False) if y > 0]
    return ledger.settle(Stage([(row, y) for row, y, _ in used]), [e for _, _, e in used])


def select_rows(
    point: Point, rows: list[Row], most: int, parallel: float, least: float = 1e-4
) -> list[tuple[Row, Entries]]:
    """The violated rows with the largest efficacy (violation / norm on the support), no two of them near-parallel."""
    place = np.full(len(point.families), -1, dtype=np.int64)
    place[point.which] = np.arange(len(point.which))
    ranked = []
    for number, row in enumerate(rows):
        entries = row.entries(point.families)
        index, value = entries
        at = place[index]
        vector = np.zeros(len(point.which))
        vector[at[at >= 0]] = value[at >= 0]
        norm = float(np.sqrt(vector @ vector))
        violation = float(vector @ point.x) - row.rhs
        if norm > 0 and violation > least * max(abs(row.rhs), 0.01):
            ranked.append((violation / norm, number, vector / norm, entries))
    ranked.sort(key=lambda item: -item[0])
    chosen: list[tuple[Row, Entries]] = []
    taken = np.zeros((0, len(point.which)))
    for _, number, vector, entries in ranked:
        if len(chosen) == most:
            break
        if not len(taken) or float((taken @ vector).max()) <= parallel:
            chosen.append((rows[number], entries))
            taken = np.vstack([taken, vector])
    return chosen


def ascend(
    ledger: Ledger, ascents: int, rng: np.random.Generator, budget: Budget
) -> tuple[NDArray[np.int64], list[Cluster]]:
    """First bounds; each family's least reduced cost in any ascent, and all clusters met."""
    table = ledger.table
    costs = reduced_costs(table.offsets, table.units)
    nearness = costs
    clusters: dict[Cluster, None] = {}
    for _ in range(ascents):
        if ledger.closed or budget.exhausted() or len(clusters) * len(table) > MUCH_ASCENT:
            break
        ascent = dual_ascent(table.offsets, table.masks, costs, rng.permutation(table.n), stop=budget.exhausted)
        ledger.settle_ascent(ascent)
        nearness = np.minimum(nearness, ascent.costs)
        clusters |= {Cluster(mask_members(mask)): None for mask in ascent.clusters}
    return nearness, list(clusters)


def first_relaxation(
    ledger: Ledger, nearness: NDArray[np.int64], clusters: list[Cluster], near: float, typical: float
) -> Relaxation:
    """The LP to begin with: families of small reduced cost, each child's best and smallest, pairs and clusters."""
    families = ledger.families
    by_child = np.lexsort((nearness, families.children))
    rank = np.empty(len(families), dtype=np.int64)
    rank[by_child] = np.arange(len(families)) - np.repeat(families.offsets[:-1], np.diff(families.offsets))
    start = (nearness < near * max(1, ledger.gap)) & (rank < FIRST_COLUMNS)
    smallest = np.lexsort((families.sizes, families.children))
    start[smallest[families.offsets[:-1]]] = True
    start[families.offsets[:-1]] = True
    start[families.positions(ledger.rows)] = True
    costs = reduced_costs(families.offsets, families.units)
    lp = Relaxation(families, np.flatnonzero(start), costs, typical)
    by_size = sorted(clusters, key=lambda cluster: len(cluster.members))
    larger = [cluster.lean(families.n) for cluster in by_size if len(cluster.members) > 2]
    most = max(FIRST_ROWS[0], FIRST_ROWS[1] * families.n)
    lp.add_rows([*two_cycles(families, lp.columns)[:most], *larger[:most], *ledger.rule_rows()])
    return lp


def two_cycles(families: Families, columns: NDArray[np.int64]) -> list[Cluster]:
    """The clusters {u, v} of pairs with arcs in both directions among the columns."""
    starts, parents = families.lists(columns)
    child = np.repeat(families.children[columns], np.diff(starts))
    arc = np.zeros((families.n, families.n), dtype=np.bool_)
    arc[parents, child] = True
    return [Cluster((int(u), int(v))) for u, v in np.argwhere(np.triu(arc & arc.T, 1))]
