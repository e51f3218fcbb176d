"""Larger parent sets of the likeliest parents alone, in the time that is left once no whole size fits into it.

The table of the sizes that were scored says how much each single parent explains; the k parents of a variable that
explain most are its likeliest ones. Sets of one member more are scored among the 3 likeliest of each variable (or
as many as they have members), then among one more, and so on. A round that does not end in time leaves nothing
behind. The network is therefore the best of all whose families have at most the size that was scored whole, or one
parent more among the k likeliest.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from optbn.base.threads import check_jobs
from optbn.learning.affordable import Scored
from optbn.scores.families import Families
from optbn.scores.left_out import too_dear
from optbn.scores.listed import scores_of
from optbn_solvers.base.clock import working
from optbn_solvers.base.files.rows import member_lists

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from optbn.scores.scoring import Scoring

FEWEST, MOST = 3, 16  # likeliest parents, of the first round and of the last
LEAST_SECONDS = 0.2  # for a round to begin


def with_likeliest(
    scored: Scored, scoring: Scoring, largest: int, until: float, jobs: int | None, listen: Callable[[int, int], None]
) -> Scored:
    """What was scored, and larger sets among likeliest parents as far as there is time until `until` (of `working`);
    no set has more than `largest` members."""
    size = scored.size + 1
    if not 1 <= scored.size < largest or scored.unscored or scoring.candidates is not None:
        return scored
    work = _Work(scored, scoring, size, check_jobs(jobs))
    before, seconds_each = 0, 0.0
    for k in range(max(FEWEST, size), MOST + 1):
        families = work.families(before, k)
        left = until - working()
        if left < LEAST_SECONDS or len(families) * seconds_each > left or (before and work.exhausted(before)):
            break
        begun = working()
        if not work.score(families, until, listen):
            break
        if len(families):
            seconds_each = (working() - begun) / len(families)
        before = k
    return work.found(before) if any(map(len, work.children)) else scored


def left_out(scored: Scored, scoring: Scoring) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Of what `with_likeliest` found, the children and the parent sets that were left out as too dear."""
    size, k = scored.likeliest or (1, 0)
    families = _Work(scored, scoring, size, 1).families(0, k)
    sets = _sets(families, size)
    dear = too_dear(scoring.bound, sets)
    return families.children[dear], sets[dear]


def _sets(families: Families, size: int) -> NDArray[np.int32]:
    """int32[m, size]: the parents."""
    return member_lists(families.masks, len(families.names))[0].astype(np.int32).reshape(len(families), size)


@dataclass
class _Work:
    scored: Scored
    scoring: Scoring
    size: int
    jobs: int
    left_out: int = 0
    children: list[NDArray[np.int64]] = field(default_factory=list)
    masks: list[NDArray[np.uint64]] = field(default_factory=list)
    scores: list[NDArray[np.float64]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.likely = [self._likely(v) for v in range(self.scored.table.n)]

    def _likely(self, v: int) -> list[int]:
        """The parents that explain something alone, those that explain most first."""
        table = self.scored.table
        found = [(float(table.scores[row]), table.parents(row)) for row in table.rows(v)]
        alone = [(-score, parents[0]) for score, parents in found if len(parents) == 1]
        allowed = self.scoring.sets.allowed[v]
        return [u for _, u in sorted(alone) if allowed[u]]

    def exhausted(self, k: int) -> bool:
        """Whether no variable has more likely parents than these."""
        return all(len(parents) <= k for parents in self.likely)

    def families(self, before: int, k: int) -> Families:
        """The sets among the k likeliest that were not among the first ones before."""
        names = self.scored.table.names

        def sets() -> Iterator[tuple[str, Sequence[str]]]:
            for v, parents in enumerate(self.likely):
                if self.scoring.sets.max_parents[v] >= self.size:
                    for members in itertools.combinations(range(min(k, len(parents))), self.size):
                        if members[-1] >= before:
                            yield names[v], [names[parents[i]] for i in members]

        return Families.build(names, sets())

    def score(self, families: Families, until: float, listen: Callable[[int, int], None]) -> bool:
        """Score them; whether all were done in time."""
        bound, memory = self.scoring.bound, self.scoring.memory
        kept = families.without_dear(bound)
        found = scores_of(bound, kept, self.jobs, memory, listen, lambda: working() > until)
        if np.isnan(found).any():
            return False
        self.left_out += len(families) - len(kept)
        self.children.append(kept.children)
        self.masks.append(kept.masks)
        self.scores.append(found)
        return True

    def found(self, k: int) -> Scored:
        """The table with all that was scored in whole rounds."""
        more = (np.concatenate(self.children), np.concatenate(self.masks), np.concatenate(self.scores))
        return replace(self.scored.with_families(*more), likeliest=(self.size, k), dear=self.left_out)
