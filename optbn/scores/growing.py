"""Phase I without a limit on parents: every child's parent sets grow until bounds prove the larger ones needless.

A family (v, P) is *closed* when no set above P scores more than the best one within P. A score knows it by a ceiling on
whatever is above P (BoundScore.bounded_block). A set is looked at only if all its subsets one smaller are open: the
others have a closed subset, so a set within them scores at least as much, and no optimal graph needs them. What is left
is pruned as in candidates.py, and is the table that scoring all 2^(n-1) sets of every child would give.

A score whose tables are urns (BDeu) has weaker ceilings for a size at a time than it has for one child's sets depth
first: above SHALLOW parents these take over (larger.py), unless they would take longer than there is time.

With required parents sets grow by the others. Then not every subset is a candidate, so the score gets no floors (it
might compare with a set that the constraints forbid), and only ceilings close a family.

Cost: the families looked at, times what a score takes; memory: those of two sizes in turn.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import LimitError
from optbn.base.memory import readable
from optbn.base.threads import spread
from optbn.scores.kernels.growing import grown, ranks
from optbn.scores.kernels.sets import binomials
from optbn.scores.larger import Larger
from optbn_solvers.base.clock import working
from optbn_solvers.base.table import ScoreTable

if TYPE_CHECKING:
    from optbn.scores.scoring import Scoring

Floats = NDArray[np.float64]
Sets = NDArray[np.int32]

SHALLOW = 3
"""Parents up to which sets go size by size in any case."""
MARGIN = 1e-9
"""Relative room left for rounding: a ceiling closes nothing that is nearer than this."""
TOGETHER = 4096
"""Parent sets scored in one block."""
BYTES_PER_FAMILY = 96
"""Beside twice its members: child, rank, place in the order, floor, score, ceiling, mask, flags."""


class Frontier(NamedTuple):
    """The families of one child and size: the parents that are not required, int32[m, .] in lexicographic order, and
    the best score within each set but its own, float64[m]."""

    free: Sets
    floor: Floats


class Block(NamedTuple):
    """Distinct parent sets, and the families on them: family rows[i] is (sets[at[i]], its child)."""

    sets: Sets
    rows: NDArray[np.int64]
    at: NDArray[np.int64]


@dataclass
class Growth:
    """`step` scores one size after another; `table` is of the sizes so far.

    listen   called with (families done, families begun) as a step goes on
    until    the time, of `working`, that there is
    size     the largest that is done, -1 before the first step
    scored   families so far; those that bounds discarded do not count
    """

    scoring: Scoring
    jobs: int
    listen: Callable[[int, int], None] = lambda done, begun: None
    until: float = math.inf
    size: int = -1
    scored: int = 0
    looked_at: int = 0
    kept: int = 0
    _frontiers: list[Frontier] = field(default_factory=list)
    _rows: list[tuple[NDArray[np.int64], NDArray[np.uint64], Floats]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._frontiers = [self._from_nothing(v, 0) for v in range(self.scoring.sets.n)]

    @property
    def open(self) -> bool:
        """Whether larger sets are left."""
        return self.size < int(self.scoring.sets.needs.max()) or any(len(part.free) for part in self._frontiers)

    @property
    def needless(self) -> int:
        """How many families that the constraints allow were not scored; proved needless once nothing is open."""
        sets = self.scoring.sets
        return sum(sets.count(size) for size in range(sets.largest + 1)) - self.scored

    def step(self) -> None:
        """Score the next size, or all that are left. An exception on the way leaves everything as it was."""
        if self.size == SHALLOW and self._ended():
            return
        size = self.size + 1
        children = np.repeat(np.arange(len(self._frontiers)), [len(part.free) for part in self._frontiers])
        floor = np.concatenate([part.floor for part in self._frontiers])
        sets = self._whole_sets(size)
        scores, ceilings = self._score(sets, children, floor)
        best = np.maximum(scores, floor)
        closed = np.isneginf(scores) | (ceilings <= best - MARGIN * (1.0 + np.abs(best)))
        ends = np.cumsum([len(part.free) for part in self._frontiers])[:-1]
        parts = zip(np.split(best, ends), np.split(~closed, ends), strict=True)
        frontiers = [self._larger(v, size, top, going) for v, (top, going) in enumerate(parts)]
        survives = scores > floor
        self._rows.append((children[survives], _masks(sets[survives], len(frontiers)), scores[survives]))
        self.scored += int(np.isfinite(scores).sum())
        self.looked_at += len(scores)
        self.kept += int(survives.sum())
        self._frontiers, self.size = frontiers, size
        self.listen(self.looked_at, self.looked_at)

    def table(self) -> ScoreTable:
        """What survived: all that an optimal graph can need, once nothing is open."""
        return ScoreTable.build(self.scoring.data.names, *self._so_far(), whole=False)

    def _ended(self) -> bool:
        """Score all larger sets, where they can be searched depth first in time."""
        larger = Larger.of(self.scoring, self.size, self._so_far(), self.jobs)
        if larger is None:
            return False
        seconds = larger.expect()
        if math.isfinite(self.until):
            if seconds > self.until - working():
                return False
        else:
            larger.announce(seconds)
        done = self.looked_at
        rows = larger.families(lambda nodes: self.listen(done + nodes, done + max(nodes + 1, int(larger.nodes))))
        self._rows.append(rows)
        self.scored += len(rows[0])
        self.looked_at += larger.visited
        self.kept += len(rows[0])
        self._frontiers = [Frontier(part.free[:0], part.floor[:0]) for part in self._frontiers]
        self.size = self.scoring.sets.largest
        self.listen(self.looked_at, self.looked_at)
        return True

    def _so_far(self) -> tuple[NDArray[np.int64], NDArray[np.uint64], Floats]:
        children, masks, scores = (np.concatenate(part) for part in zip(*self._rows, strict=True))
        return children, masks, scores

    def _from_nothing(self, v: int, size: int) -> Frontier:
        """The required parents alone, if they are as many; else no family."""
        begins = int(self.scoring.sets.needs[v] == size)
        return Frontier(np.empty((begins, 0), np.int32), np.full(begins, -np.inf))

    def _larger(self, v: int, size: int, best: Floats, is_open: NDArray[np.bool_]) -> Frontier:
        """The families of one child that are one larger and have no closed subset."""
        sets = self.scoring.sets
        if size < sets.needs[v]:
            return self._from_nothing(v, size + 1)
        some, top = np.ascontiguousarray(self._frontiers[v].free[is_open]), best[is_open]
        k = some.shape[1]
        if not len(some) or size >= sets.max_parents[v]:
            return Frontier(np.empty((0, k + 1), np.int32), np.empty(0))
        if k == 0:
            singles = np.flatnonzero(sets.allowed[v] & ~sets.required[v]).astype(np.int32)[:, None]
            return Frontier(singles, np.full(len(singles), top[0]))
        choose = self._choose(k)
        return Frontier(*grown(some, ranks(some, sets.n, choose), top, sets.n, choose))

    def _whole_sets(self, size: int) -> Sets:
        """The parent sets of all frontiers, one child after another, with what is required."""
        total = sum(len(part.free) for part in self._frontiers)
        need = total * (8 * size + BYTES_PER_FAMILY)
        if need > self.scoring.memory // 2:
            raise LimitError(
                f"bounds leave {total:,} families of {size} parents, which take {readable(need)}, and "
                f"{readable(self.scoring.memory)} of memory may be used: set max_parents to {size - 1}, or raise the "
                "memory"
            )
        required = self.scoring.sets.required
        out = np.empty((total, size), np.int32)
        end = 0
        for v, part in enumerate(self._frontiers):
            begin, end = end, end + len(part.free)
            if begin < end:
                out[begin:end, : part.free.shape[1]] = part.free
                out[begin:end, part.free.shape[1] :] = np.flatnonzero(required[v])
                if required[v].any():
                    out[begin:end].sort(axis=1)
        return out

    def _score(self, sets: Sets, children: NDArray[np.int64], floor: Floats) -> tuple[Floats, Floats]:
        """The scores of the families, -inf where a bound discards them, and a ceiling on what is above each."""
        n, bound, needs = self.scoring.sets.n, self.scoring.bound, self.scoring.sets.needs
        scores, ceilings = np.empty(len(sets)), np.empty(len(sets))

        def work(block: Block) -> tuple[Block, Floats, Floats]:
            wanted = np.zeros((len(block.sets), n), np.bool_)
            below = np.full(wanted.shape, -np.inf)
            at = block.at, children[block.rows]
            wanted[at], below[at] = True, np.where(needs[at[1]] > 0, -np.inf, floor[block.rows])
            found = bound.bounded_block(block.sets, wanted, below)  # type: ignore[attr-defined]
            return block, found[0][at], found[1][at]

        done = 0
        for block, found, ceiling in spread(self._blocks(sets), work, self.jobs):
            scores[block.rows], ceilings[block.rows] = found, ceiling
            done += len(block.rows)
            self.listen(self.looked_at + done, self.looked_at + len(sets))
        return scores, ceilings

    def _blocks(self, sets: Sets) -> Iterator[Block]:
        """The families by parent set, so that what several children share is counted once."""
        if not len(sets):
            return
        number = ranks(sets, self.scoring.sets.n, self._choose(sets.shape[1]))
        order = np.argsort(number, kind="stable")
        fresh = np.concatenate([[True], np.diff(number[order]) > 0])
        first = np.flatnonzero(fresh)
        which = np.cumsum(fresh) - 1
        for begin in range(0, len(first), TOGETHER):
            low, high = np.searchsorted(which, [begin, begin + TOGETHER])
            yield Block(sets[order[first[begin : begin + TOGETHER]]], order[low:high], which[low:high] - begin)

    def _choose(self, size: int) -> NDArray[np.int64]:
        """binomials(n, size), which must number the sets."""
        n = self.scoring.sets.n
        choose: NDArray[np.int64] = binomials(n, size)
        if choose[n, size] < 0:
            raise LimitError(
                f"the sets of {size} of {n} variables are too many to be numbered: set max_parents to {size - 1}"
            )
        return choose


def _masks(sets: Sets, n: int) -> NDArray[np.uint64]:
    """uint64[m, W]."""
    masks = np.zeros((len(sets), max(1, -(-n // 64))), dtype=np.uint64)
    for member in sets.T.astype(np.uint64):
        masks[np.arange(len(sets)), (member // 64).astype(np.int64)] |= np.uint64(1) << (member % 64)
    return masks
