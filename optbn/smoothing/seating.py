"""The sampler that seats every row: hierarchical Pitman-Yor smoothing, and rows predicted by all others.

A Pitman-Yor process PY(d, alpha, phi) is a Dirichlet process whose tables give up a part of their weight: a row with
level k at node u, N_u rows there already, n of level k at t tables, T tables in all, sits

    at one of the old tables of k   with probability proportional to   n - d t       (its size - d)
    at a fresh one                                                     (alpha + d T) P(k at the parent)

and a fresh table is a row of the parent's. With 0 < d < 1 the number of tables grows as a power of the rows, so what is
rare leans more on the parent than what is frequent; d = 0 is the Dirichlet model. For d > 0 the phi have no density to
draw them from, so here all are integrated out and what is kept is who sits where: no Stirling numbers, memory for each
row at each level, and a sweep seats each row anew (Teh 2006). That is slower than `blocks`, which has d = 0 alone, and
its draws are more alike, but while a row is away its level is predicted from the others with nothing of it left:
E 1 / P(row | seats of the others) over the posterior is P(all but the row) / P(all), so leaving out is exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import LimitError
from optbn.smoothing.blocks import groups_of
from optbn.smoothing.convergence import Record
from optbn.smoothing.kernels.seating import Floor, Kept, Seated, admit, seat
from optbn.smoothing.m_estimate import whole_counts
from optbn.smoothing.tree import CountTree

if TYPE_CHECKING:
    from optbn.smoothing.hdp import HDP

MOST_SEATS = 1 << 27
"""1 GB."""


def floor_of(tree: CountTree, tying: str) -> Floor:
    """A count tree laid out for seating."""
    counts = whole_counts(tree, "hdp").ravel()
    if float(tree.counts.sum()) > MOST_SEATS:
        raise LimitError(
            f"hdp with a discount seats every row at every level, {tree.counts.sum():,.0f} of at most {MOST_SEATS:,}; "
            "use discount=0"
        )
    group, groups = groups_of(tree, tying)
    return Floor(
        parent=tree.parent.astype(np.int64),
        group=group,
        group_start=1 + np.searchsorted(group[1:], np.arange(groups + 1)),
        is_leaf=np.diff(tree.first_child) == 0,
        first=np.concatenate([[0], np.cumsum(counts)[:-1]]),
    )


@dataclass
class Seats:
    """Where one chain stands: its random bits, who sits where, and the steps of its random walks."""

    floor: Floor
    random: NDArray[np.uint64]
    seated: Seated
    step: NDArray[np.float64]
    longest: int

    @classmethod
    def start(
        cls, tree: CountTree, floor: Floor, seed: NDArray[np.uint64], generator: np.random.Generator, prior: HDP
    ) -> Seats:  # fmt: skip
        """Rows come in one after the other; concentrations from their prior, so that chains begin apart."""
        m, groups, longest = len(floor.parent), len(floor.group_start) - 1, int(tree.depth[-1]) + 1
        counts = whole_counts(tree, "hdp").ravel()
        alpha = np.maximum(generator.gamma(prior.shape, 1.0 / prior.rate, groups), 1e-2)
        discount = generator.random(groups) if isinstance(prior.discount, str) else np.full(groups, prior.discount)
        seated = Seated(
            np.zeros(int(counts.sum()), dtype=np.int64), np.zeros_like(counts), np.zeros_like(counts),
            np.zeros(m, dtype=np.int64), np.zeros(m, dtype=np.int64), alpha, discount,
        )  # fmt: skip
        chain = cls(floor, seed.copy(), seated, np.full((2, groups), 0.5), longest)
        admit(counts, floor, seated, prior.alpha0, *chain._way(), chain.random)
        return chain

    def advance(self, prior: HDP, sweeps: int, record: Record, number: int | None) -> None:
        """Run some sweeps; as chain `number` of the record their estimates make one batch of it."""
        size, keep = len(self.seated.n), number is not None
        kept = Kept(
            np.zeros(size), np.zeros(size), record.within, record.surprise, record.concentration, record.discount,
            np.empty(size), np.empty(len(record.within)),
        )  # fmt: skip
        seat(
            sweeps, keep, isinstance(prior.discount, str), self.floor, self.seated, self.step,
            (prior.shape, prior.rate, prior.alpha0), kept, *self._way(), self.random,
        )  # fmt: skip
        if number is not None:
            record.looks += sweeps
            record.moments.add(number, kept.sums, kept.squares)

    def _way(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Room for the nodes between a leaf and the root, and for their probabilities."""
        return np.empty(self.longest, dtype=np.int64), np.empty(self.longest)
