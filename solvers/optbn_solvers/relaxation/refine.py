"""The last digits: from a bound that is the score up to rounding to a bound that is the score.

When the LP's value meets the incumbent, its duals are good to nine digits, and the exact bound of their roundings stays
a few hundred units above the score. So solve the *residual* problem: with the rounded multipliers y, every graph has
    score(graph) = B - (reduced costs of its families) - sum y (slack of the rows),
and a better graph can afford less than the gap g = B - score in all. Families with reduced costs of g or more are
gone already. In the residual LP slack costs y, so that a multiplier can go down by y, and no more (a thousand gaps are
enough: larger prices are no good for floating point). With rows that have multipliers as equations instead, the duals
of a degenerate point can be anything, and what must not be negative is worth nothing then. The costs are small whole
numbers, so the same arithmetic gives the next nine digits.
The optimal duals are fractions: they are kept to 2^-12 units, which leaves far less than one unit of rounding.
This is iterative refinement (Gleixner, Steffy and Wolter 2016) with reduced-cost fixing in between.

If the residual LP is fractional, or a whole graph better by a few units shows up, separation and polishing go on here
as in the root, on the handful of families that are left.
"""

from __future__ import annotations

import numpy as np

from optbn_solvers.base.protocol import Budget
from optbn_solvers.relaxation.finish import finish
from optbn_solvers.relaxation.ledger import Ledger, Stage
from optbn_solvers.relaxation.localcuts import LocalCuts
from optbn_solvers.relaxation.orders import FamilyIndex
from optbn_solvers.relaxation.polish import polish
from optbn_solvers.relaxation.program import Relaxation
from optbn_solvers.relaxation.rows import Row
from optbn_solvers.relaxation.separate import Point, stuck_cluster, violated_clusters

BITS = 12
MOST_PRICE = 1024  # of the gap: of slack, and of families that no better graph uses, which keep the LP feasible
ROUNDS = 40
TINY = 2.0**-20  # of the LP's typical 1000: what its rounding may leave of the gap


def within_rounding(ledger: Ledger, relaxation: Relaxation) -> bool:
    """Whether the gap is what the rounding of the LP's duals leaves."""
    return ledger.gap <= max(1.0, TINY * 1024.0 * relaxation.scale)


def refine(
    ledger: Ledger,
    relaxation: Relaxation,
    index: FamilyIndex,
    local: LocalCuts,
    rng: np.random.Generator,
    budget: Budget,
    largest_part: int,
    bits: int = BITS,
) -> bool:
    """Try to close a gap of rounding size; returns whether it is closed. Multipliers count 2^-bits units."""
    rows: list[Row] = list(relaxation.rows)
    known = set(rows)
    entries = list(relaxation.entries)
    base = np.zeros(len(rows))
    base[: len(relaxation.duals)] = np.maximum(0.0, np.rint(relaxation.duals))
    for _ in range(ROUNDS):
        if ledger.closed or budget.exhausted():
            break
        costs = ledger.settle(Stage([(row, int(y)) for row, y in zip(rows, base.tolist(), strict=True)]), entries)
        most = MOST_PRICE * ledger.gap
        costs = np.where(ledger.alive, costs, most)
        residual = Relaxation(ledger.families, np.flatnonzero(ledger.needed()), costs, float(ledger.gap))
        residual.add_rows(rows, entries, np.minimum(base, float(most)))
        if not residual.solve(budget):
            break
        before = ledger.gap
        fine = [
            (row, (int(y) << bits) + round(dual * (1 << bits)))
            for row, y, dual in zip(rows, base.tolist(), residual.duals.tolist(), strict=True)
        ]
        ledger.settle(Stage([(row, max(0, y)) for row, y in fine], bits), entries)
        if ledger.closed or finish(ledger, largest_part):
            break
        point = Point(ledger.families, *residual.support())
        better = False
        if point.integral and stuck_cluster(point) is None:
            better = ledger.offer(ledger.families.rows[np.sort(point.which)])
        better |= polish(ledger, index, point, rng)
        base = np.maximum(0.0, np.rint(base + residual.duals))
        new: list[Row] = [*violated_clusters(point, rng), *(row for row in ledger.rule_rows() if row not in known)]
        known.update(new)
        new += local.round(point, budget) if not new else []
        ledger.check_rows(new)
        rows += new
        entries += [row.entries(ledger.families) for row in new]
        base = np.concatenate([base, np.zeros(len(new))])
        if not new and not better and ledger.gap >= before:
            break
    return ledger.closed
