"""What Phase I works on: data, a score bound to them, and the parent sets that are candidates, each made once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from optbn.base.errors import DataError
from optbn.base.memory import parse_memory
from optbn.data.dataset import Dataset
from optbn.scores.left_out import Hurried
from optbn.scores.parent_sets import Limit, ParentSets
from optbn.scores.protocol import BoundScore, LocalScore
from optbn.scores.selection import likeliest
from optbn_solvers.base.constraints import Constraints


@dataclass(frozen=True, eq=False)
class Scoring:
    """Make it with `of`.

    candidates  how many likeliest parents of each variable were chosen, None for all
    memory      bytes that scoring may use
    unlimited   whether sets of every size are wanted, and the score has bounds that end them (growing.py)
    """

    data: Dataset
    method: LocalScore
    bound: BoundScore
    sets: ParentSets
    memory: int
    candidates: int | None = None
    unlimited: bool = False

    @classmethod
    def of(
        cls,
        data: Dataset,
        method: LocalScore,
        max_parents: Limit | Mapping[str, Limit] | None = None,
        constraints: Constraints | None = None,
        candidates: int | None = None,
        memory: int | str | None = None,
    ) -> Scoring:
        """Bind the score and list the candidates; what the score cannot take is refused by name."""
        check_data(data)
        sets, limit = ParentSets.of(data.names, max_parents, constraints), parse_memory(memory)
        bound = bind(method, data, limit)
        if candidates is not None:
            sets = sets.narrowed(likeliest(bound, sets, candidates))
        limits = max_parents.values() if isinstance(max_parents, Mapping) else [max_parents]
        unlimited = "all" in limits and candidates is None and getattr(bound, "ends", False)
        return cls(data, method, bound, sets, limit, candidates, unlimited)

    def hurried(self, most: float) -> Scoring:
        """The same without sets that the score expects to take more than `most` seconds, as far as it has a notion."""
        return replace(self, bound=Hurried(self.bound, most)) if hasattr(self.bound, "seconds") else self

    def at_most(self, size: int) -> Scoring:
        """The same for sets of at most `size` parents."""
        return replace(self, sets=self.sets.at_most(size), unlimited=self.unlimited and size >= self.sets.largest)


def check_data(data: Dataset) -> None:
    """Refuse data without columns or rows, for all scores."""
    if data.n_variables == 0:
        raise DataError("the data have no columns, there is nothing to score")
    if data.n_rows == 0:
        raise DataError("the data have no rows, there is nothing to score")


def bind(method: LocalScore, data: Dataset, memory: int) -> BoundScore:
    """The score tied to its data and told how much memory its tables may take."""
    bound = method.bind(data)
    if hasattr(bound, "limit_memory"):
        bound.limit_memory(memory // 4)
    return bound
