"""Families left out because a score expects them to take too long, scored after all in the time that is left.

They are tried one parent set at a time, the cheapest first, for what a score expects is often many times too much. A
set is begun while what others took says that it ends in time, and while the trees of those that may be chosen can be
made once more. What memory does not hold stays left out.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from optbn.base.errors import LimitError
from optbn.base.threads import spread
from optbn.scores.left_out import Hurried, dear_sets, too_dear
from optbn_solvers.base.clock import working
from optbn_solvers.base.kernels.masks import pack_sets

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from optbn.scores.scoring import Scoring
    from optbn_solvers.base.table import ScoreTable

    Scores = NDArray[np.float64]

MOST_SETS = 4096  # that wait: no limit of time is so long that more dear ones are done
LEAST_SLOWER = 0.5  # what cheap sets took, as a share of what the score expects, says little about dearer ones


@dataclass(frozen=True)
class Waits:
    """A parent set, the children in question, and the seconds and bytes that the score expects."""

    seconds: float
    members: tuple[int, ...]
    children: tuple[int, ...]
    memory: int


@dataclass
class Waiting:
    """Make it with `of_sizes`; `score` takes from `sets` what there is time for."""

    scoring: Scoring
    sets: list[Waits]  # the cheapest first
    slower: float = 1.0  # than the score expects
    families: int = 0  # that were scored
    again: dict[int, float] = field(default_factory=dict)  # by child: seconds to make the tree of its best family

    @classmethod
    def of_sizes(cls, scoring: Scoring) -> Waiting:
        """All that the score leaves out of the candidates."""
        found: list[Waits] = []
        if _tells(scoring):
            for sets in dear_sets(scoring.bound, scoring.sets):
                found = _cheapest([*found, *_waits(scoring, sets, scoring.sets.wanted(sets))])
        return cls(scoring, found)

    def add(self, children: NDArray[np.int64], sets: NDArray[np.int32]) -> None:
        """These families, left out as well: child `children[i]` with the parents `sets[i]`, int32[m, k]."""
        if _tells(self.scoring) and len(sets):
            distinct, at = np.unique(sets, axis=0, return_inverse=True)
            wanted = np.zeros((len(distinct), self.scoring.sets.n), np.bool_)
            wanted[at.reshape(-1), children] = True
            self.sets = _cheapest([*self.sets, *_waits(self.scoring, distinct, wanted)])

    @property
    def seconds(self) -> float:
        """What all that wait are expected to take, on one thread."""
        return self.slower * sum(waits.seconds for waits in self.sets)

    def score(
        self, table: ScoreTable, until: float, spare: float, jobs: int, listen: Callable[[int, int], None]
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.uint64], Scores]]:
        """Children, masks and scores of the families that are done by `until` (of `working`). Trees of those that beat
        all others of their child are made once more in the end, which may take `spare` seconds."""
        best = np.array([table.scores[table.offsets[v]] for v in range(table.n)])
        total, dearest = len(self.sets), max((waits.memory for waits in self.sets), default=0)
        jobs = max(1, min(jobs, self.scoring.memory // 2 // max(1, dearest)))
        for tried, (waits, scores, took) in enumerate(spread(self._begun(until, spare), self._of_set, jobs), 1):
            listen(tried, total)
            self.slower = took / max(1e-6, waits.seconds)
            if scores is None:
                continue
            children = np.array(waits.children, np.int64)
            better = children[scores > best[children]]
            self.again.update(dict.fromkeys(better.tolist(), took))
            best[children] = np.maximum(best[children], scores)
            self.families += len(children)
            yield children, np.repeat(pack_sets([waits.members], self.scoring.sets.n), len(children), axis=0), scores

    def _begun(self, until: float, spare: float) -> Iterator[Waits]:
        while self.sets:
            guess = self.sets[0].seconds * max(LEAST_SLOWER, self.slower)
            if working() + guess > until or sum(self.again.values()) + guess > spare:
                return
            yield self.sets.pop(0)

    def _of_set(self, waits: Waits) -> tuple[Waits, Scores | None, float]:
        """What the children score, None where there are more trees than can be gone through, and the seconds."""
        children, begun = list(waits.children), time.perf_counter()
        wanted = np.zeros((1, self.scoring.sets.n), np.bool_)
        wanted[0, children] = True
        try:
            scores = self.scoring.bound.block(np.array([waits.members], np.int32), wanted)[0, children]
        except LimitError:
            return waits, None, time.perf_counter() - begun
        return waits, scores, time.perf_counter() - begun


def _tells(scoring: Scoring) -> bool:
    """Whether the score knows what its sets take."""
    return hasattr(scoring.bound, "seconds") and hasattr(scoring.bound, "bytes")


def _waits(scoring: Scoring, sets: NDArray[np.int32], wanted: NDArray[np.bool_]) -> list[Waits]:
    """Those of the sets, all left out, that may be tried."""
    if not len(sets):
        return []
    bound: Hurried = scoring.bound  # type: ignore[assignment]
    expected = bound.seconds(sets)
    refused = too_dear(bound.bound if isinstance(bound, Hurried) else bound, sets)  # however much time there is
    patient = getattr(scoring.method, "fits_dear_sets", False)
    found = []
    for i in np.argsort(expected, kind="stable")[:MOST_SETS].tolist():
        memory, children = int(bound.bytes(sets[i : i + 1])), tuple(np.flatnonzero(wanted[i]).tolist())
        possible = patient and 0 < memory <= scoring.memory // 4
        if children and (possible or not refused[i]):
            found.append(Waits(float(expected[i]), tuple(sets[i].tolist()), children, memory))
    return found


def _cheapest(found: Iterable[Waits]) -> list[Waits]:
    return sorted(found, key=lambda waits: (waits.seconds, waits.members))[:MOST_SETS]
