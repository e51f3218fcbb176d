"""The larger parent sets of all children, for a score whose tables are urns: a descent for each, and a word first on
how long they will take. Beside the families that are scored in the end they take next to no memory."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import LimitError
from optbn.base.threads import spread
from optbn.scores.descent import Descent, Known, Urns
from optbn.scores.families import Families
from optbn.scores.listed import scores_of
from optbn.scores.scoring import Scoring
from optbn.scores.without_end import MOST_SECONDS
from optbn_solvers.base.clock import working

log = logging.getLogger(__name__)

NODES = 2048
"""Nodes of one child at a time, for some tenths of a second."""
DIVES = 32
WORTH_A_WORD = 60.0  # seconds
MOST_CANDIDATES = 64  # a word has as many bits
BYTES_PER_PLACE = 12  # of a stack: the row, its block and its cell

Rows = tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.float64]]


@dataclass
class Larger:
    """All families of more than `size` parents that an optimal graph can need; make it with `of`.

    known    of each child that may have so many
    nodes    how many there may be, after `expect`; visited, how many there were
    """

    scoring: Scoring
    urns: Urns
    size: int
    known: dict[int, Known]
    jobs: int
    nodes: float = 0.0
    visited: int = 0
    _tables: tuple[NDArray[np.float64], ...] = field(init=False)

    def __post_init__(self) -> None:
        self._tables = self.urns.tables

    @classmethod
    def of(cls, scoring: Scoring, size: int, rows: Rows, jobs: int) -> Larger | None:
        """Above `rows`, what is left of all sets of up to `size` parents; None where bounds on urns do not help."""
        urns, sets = getattr(scoring.bound, "urns", None), scoring.sets
        if urns is None or sets.required.any():
            return None
        allowed = sets.allowed & (urns.levels > 1)  # a member of one level leaves every score as it is
        if allowed.sum(axis=1).max() > MOST_CANDIDATES:
            return None
        if (sets.largest + 2) * len(urns.weight) * BYTES_PER_PLACE * jobs > scoring.memory // 4:
            return None
        children, masks, scores = rows
        known = {}
        for v in np.flatnonzero((sets.max_parents > size) & (urns.levels > 1)).tolist():
            candidates, of = np.flatnonzero(allowed[v]), children == v
            if len(candidates) > size:
                most = int(sets.max_parents[v])
                known[v] = Known(candidates, _gathered(masks[of], candidates), scores[of], size, most)
        return cls(scoring, urns, size, known, jobs)

    def expect(self) -> float:
        """Roughly the seconds that it will take."""
        rng, begin, visited = np.random.default_rng(0), working(), 0
        self.nodes = 0.0
        for v in self.known:
            nodes, here = self._descent(v).nodes_above(rng, DIVES)
            self.nodes, visited = self.nodes + nodes, visited + here
        return self.nodes * (working() - begin) / max(visited, 1) / self.jobs

    def announce(self, seconds: float) -> None:
        """Warn where it takes long; LimitError where that is more than a day."""
        how_long = f"about {seconds / 60:,.0f} min" if seconds < 2 * 3600 else f"about {seconds / 3600:,.0f} h"
        about = (
            f"bounds leave about {self.nodes:,.0f} sets of more than {self.size} parents to be looked at, {how_long}"
        )
        remedy = f"max_parents={self.size}, or bic or aic as the score, takes far less"
        if seconds > MOST_SECONDS:
            raise LimitError(f"{about}: {remedy}")
        if seconds > WORTH_A_WORD:
            log.warning("%s; %s", about, remedy)

    def families(self, listen: Callable[[int], None]) -> Rows:
        """The families that bounds leave, with their scores; `listen` hears of the nodes that are done."""
        waiting, active, found = list(self.known), list[Descent](), list[Descent]()
        while waiting or active:
            while waiting and len(active) < self.jobs:
                active.append(self._descent(waiting.pop()))
            before = sum(each.visited for each in active)
            for _ in spread(active, lambda each: each.go(NODES), self.jobs):
                pass
            self.visited += sum(each.visited for each in active) - before
            found += [each for each in active if not each.open]
            active = [each for each in active if each.open]
            listen(self.visited)
        return self._scored([(each.child, np.concatenate(each.found)) for each in found if each.found])

    def _descent(self, v: int) -> Descent:
        return Descent.above(self.urns, v, self.known[v], self._tables)

    def _scored(self, found: list[tuple[int, NDArray[np.uint64]]]) -> Rows:
        names, words = self.scoring.data.names, max(1, -(-self.scoring.sets.n // 64))
        children = np.repeat(np.array([v for v, _ in found], np.int64), [len(masks) for _, masks in found])
        whole = [_spread_out(masks, self.known[v].candidates, words) for v, masks in found]
        masks = np.concatenate(whole) if whole else np.empty((0, words), np.uint64)
        families = Families(names, children, masks)
        return children, masks, scores_of(self.scoring.bound, families, self.jobs, self.scoring.memory)


def _gathered(masks: NDArray[np.uint64], candidates: NDArray[np.int64]) -> NDArray[np.uint64]:
    """uint64[m]: bit i is that of candidates[i]."""
    out = np.zeros(len(masks), np.uint64)
    for i, u in enumerate(candidates.tolist()):
        out |= (masks[:, u // 64] >> np.uint64(u % 64) & np.uint64(1)) << np.uint64(i)
    return out


def _spread_out(masks: NDArray[np.uint64], candidates: NDArray[np.int64], words: int) -> NDArray[np.uint64]:
    """uint64[m, words], the inverse."""
    out = np.zeros((len(masks), words), np.uint64)
    for i, u in enumerate(candidates.tolist()):
        out[:, u // 64] |= (masks >> np.uint64(i) & np.uint64(1)) << np.uint64(u % 64)
    return out
