"""Any score on data in which variables were set: a variable's families are scored on the rows where it was not.

    score(v | P) = the score of v | P on the rows in which nobody set v          (Cooper and Yoo 1999)

Variables that were set in the same rows share one bound score on the others, so data without interventions cost what
they always did. A variable that was set in every row has nothing to learn from: it scores 0 without parents.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import DataError
from optbn.data.dataset import Dataset
from optbn.data.interventions import Interventions
from optbn.scores.protocol import BoundScore, Floats, LocalScore


@dataclass(frozen=True)
class Interventional:
    """`method` on the rows that count for each variable."""

    method: LocalScore
    interventions: Interventions = field(repr=False, compare=False)
    digest: str = ""  # of the interventions: what is kept of one experiment is not taken for another's

    @classmethod
    def of(cls, method: LocalScore, interventions: Interventions) -> Interventional:
        return cls(method, interventions, interventions.digest)

    @property
    def paper(self) -> str:
        return getattr(self.method, "paper", "")

    def bind(self, data: Dataset) -> InterventionalBound:
        """A bound score per group of variables whose rows are the same."""
        groups: dict[bytes, list[int]] = {}
        masks: dict[bytes, NDArray[np.bool_]] = {}
        everything = np.ones(data.n_rows, dtype=np.bool_)
        for v, name in enumerate(data.names):
            mask = self.interventions.counting(name)
            mask = everything if mask is None else mask
            if len(mask) != data.n_rows:
                raise DataError(f"the interventions are of {len(mask):,} rows, and the data have {data.n_rows:,}")
            groups.setdefault(mask.tobytes(), []).append(v)
            masks[mask.tobytes()] = mask
        parts = []
        for key, members in groups.items():
            mask = masks[key]
            children = np.zeros(data.n_variables, dtype=np.bool_)
            children[members] = True
            rows = data if mask.all() else data.take(np.flatnonzero(mask))
            parts.append((children, self.method.bind(rows) if rows.n_rows else None))
        return InterventionalBound(parts)


class InterventionalBound:
    """Parts of (which children, their bound score), None where no row counts."""

    def __init__(self, parts: list[tuple[NDArray[np.bool_], BoundScore | None]]) -> None:
        self.parts = parts

    def limit_memory(self, size: int) -> None:
        """Each part gets its share."""
        for _, bound in self.parts:
            if bound is not None and hasattr(bound, "limit_memory"):
                bound.limit_memory(size // len(self.parts))

    def block(self, sets: NDArray[np.int32], wanted: NDArray[np.bool_], floor: Floats | None = None) -> Floats:
        """Each child's scores from its own part."""
        scores = np.full(wanted.shape, -np.inf)
        for children, bound in self.parts:
            chosen = wanted & children
            if not chosen.any():
                continue
            if bound is None:
                scores[chosen] = 0.0 if sets.shape[1] == 0 else -np.inf
            else:
                scores[:, children] = bound.block(sets, chosen, floor)[:, children]
        return scores

    @property
    def ends(self) -> bool:
        """Whether every part can end an enumeration."""
        return all(bound is None or getattr(bound, "ends", False) for _, bound in self.parts)

    def bounded_block(
        self, sets: NDArray[np.int32], wanted: NDArray[np.bool_], floor: NDArray[np.float64] | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """See optbn.scores.protocol."""
        scores, ceilings = self.block(sets, wanted & ~self._counting, None), np.full(wanted.shape, -np.inf)
        for children, bound in self.parts:
            chosen = wanted & children
            if bound is not None and chosen.any():
                found = bound.bounded_block(sets, chosen, floor)  # type: ignore[attr-defined]
                scores[:, children], ceilings[:, children] = found[0][:, children], found[1][:, children]
        return scores, ceilings

    @property
    def _counting(self) -> NDArray[np.bool_]:
        """bool[n]: the children with rows that count."""
        return np.logical_or.reduce([children & (bound is not None) for children, bound in self.parts])

    def fitted(self, child: int, parents: tuple[int, ...]) -> Any:
        """The local structure, of the rows that count for the child."""
        for children, bound in self.parts:
            if children[child] and bound is not None:
                return bound.fitted(child, parents)
        return None  # set in every row: there is no local structure to learn
