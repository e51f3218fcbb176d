"""Scores of listed families: for those who bring their own candidates.

Families are sorted by predictor set, so that a set listed for many children is counted once, and go to the score in
the same blocks as a full Phase I: the scores are the same to the last bit. Nothing is pruned and the order is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import DataError, OptbnError, UnsupportedError
from optbn.base.memory import parse_memory
from optbn.base.threads import check_jobs, spread
from optbn.data.anything import DataLike, as_dataset
from optbn.scores import load_score
from optbn.scores.families import Families
from optbn.scores.family_blocks import BYTES_PER_FAMILY, FamilyBlock, blocks_of
from optbn.scores.protocol import BoundScore, LocalScore
from optbn.scores.scoring import bind, check_data
from optbn_solvers.base.files.rows import Rows, member_lists


@dataclass(frozen=True, eq=False)
class FamilyScores:
    """Families with their scores, float64[m], in the order they were given."""

    families: Families
    scores: NDArray[np.float64]
    bound: BoundScore

    def fitted(self, row: int) -> Any:
        """The local structure behind one score (the optimal tree, or the table)."""
        return self.bound.fitted(int(self.families.children[row]), self.parents(row))

    def parents(self, row: int) -> tuple[int, ...]:
        """The parents of one family, ascending."""
        members, _ = member_lists(self.families.masks[row : row + 1], len(self.families.names))
        return tuple(members.tolist())

    def rows(self) -> Rows:
        """As the rows of a score file."""
        return Rows(self.families.names, self.families.children, self.families.masks, self.scores)

    def __len__(self) -> int:
        return len(self.scores)


def score_families(
    data: DataLike,
    families: Families | Iterable[tuple[str, Iterable[str]]],
    score: str | LocalScore = "pcartp",
    *,
    jobs: int | None = None,
    memory: int | str | None = None,
    progress: Callable[[int, int], None] | None = None,
    **settings: Any,
) -> FamilyScores:
    """The scores of the given families, (child, parents) pairs of names or a `Families`.

    data          a file, a Dataset or a data frame
    score         a name in optbn.scores.SCORES (with its `settings`, ess=10 say) or a score itself
    jobs, memory  as in `score_table`
    progress      called with (families done, families in all)
    """
    data = as_dataset(data, missing="value")
    check_data(data)
    if not isinstance(families, Families):
        families = Families.build(data.names, families)
    elif families.names != data.names:
        raise DataError("the families are over other variables than the data")
    method = load_score(score, caller=score_families, **settings)
    limit, threads = parse_memory(memory), check_jobs(jobs)
    bound = bind(method, data, limit)
    return FamilyScores(families, scores_of(bound, families, threads, limit, progress), bound)


def scores_of(
    bound: BoundScore,
    families: Families,
    jobs: int,
    memory: int,
    progress: Callable[[int, int], None] | None = None,
    enough: Callable[[], bool] | None = None,
) -> NDArray[np.float64]:
    """The scores of the families, in their order; nan where `enough` was true before they were begun."""
    scores = np.full(len(families), np.nan)
    done = 0
    most = max(1, memory // 4 // jobs // (BYTES_PER_FAMILY * len(families.names)))

    def blocks() -> Iterator[FamilyBlock]:
        for block in blocks_of(families, most, getattr(bound, "seconds", None)):
            if enough is not None and block.sets.shape[1] and enough():
                return
            yield block

    for rows, values in spread(blocks(), lambda block: _score(bound, block), jobs):
        bad = np.flatnonzero(~np.isfinite(values))
        if len(bad):
            found = FamilyScores(families, scores, bound)
            row = int(rows[bad[0]])
            parents = ", ".join(families.names[u] for u in found.parents(row))
            raise OptbnError(
                f"the score of "
                f"{families.names[families.children[row]]!r} with parents {{{parents}}} is {values[bad[0]]}; "
                "scores must be finite numbers"
            )
        scores[rows] = values
        done += len(rows)
        if progress is not None:
            progress(done, len(families))
    return scores


def score(
    data: DataLike,
    child: str,
    parents: Iterable[str] = (),
    score: str | LocalScore = "pcartp",
    **settings: Any,
) -> float:
    """The score of one family: the child with its parents, names of columns of the data.

    score   a name in optbn.scores.SCORES (with its `settings`, ess=10 say) or a score itself
    """
    if isinstance(parents, str):
        raise UnsupportedError(f"parents is {parents!r}, expected a list of names: [{parents!r}]")
    return float(score_families(data, [(child, parents)], score, jobs=1, **settings).scores[0])


def _score(bound: BoundScore, block: FamilyBlock) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    wanted = np.zeros((len(block.sets), block.n), dtype=np.bool_)
    wanted[block.at, block.children] = True
    return block.rows, bound.block(block.sets, wanted, None)[block.at, block.children]
