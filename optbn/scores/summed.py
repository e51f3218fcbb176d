"""Any score on related data sets that share a graph: a family scores the sum of its scores in each of them.

    score(v | P) = sum over domains d of the score of v | P on the rows of d

which is the evidence of one graph with parameters of its own in each domain, nothing of them shared. What two variables
have in common only because both depend on the domain is not taken for an arc between them, as it is in pooled rows.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import DataError
from optbn.data.dataset import Dataset
from optbn.scores.left_out import too_dear
from optbn.scores.protocol import BoundScore, Floats, LocalScore


@dataclass(frozen=True)
class Summed:
    """`method` on the rows of each domain; `domain` numbers them, int[rows]."""

    method: LocalScore
    domain: NDArray[np.integer] = field(repr=False, compare=False)
    digest: str = ""  # of the domains: what is kept of some is not taken for that of others

    @classmethod
    def of(cls, method: LocalScore, domain: NDArray[np.integer]) -> Summed:
        content = np.ascontiguousarray(domain, dtype=np.int64).tobytes()
        return cls(method, domain, hashlib.sha256(content).hexdigest()[:16])

    def bind(self, data: Dataset) -> BoundSum:
        """A bound score for each domain that has rows."""
        if len(self.domain) != data.n_rows:
            raise DataError(f"the domains are those of {len(self.domain):,} rows, but the data have {data.n_rows:,}")
        parts = [self.method.bind(data.take(np.flatnonzero(self.domain == d))) for d in np.unique(self.domain)]
        return BoundSum(parts, self.method, data)


class BoundSum:
    """One bound score for each domain."""

    def __init__(self, parts: list[BoundScore], method: LocalScore, data: Dataset) -> None:
        self.parts = parts
        self._method, self._data = method, data

    def limit_memory(self, size: int) -> None:
        """Each part gets its share."""
        for bound in self.parts:
            if hasattr(bound, "limit_memory"):
                bound.limit_memory(size // len(self.parts))

    def too_dear(self, sets: NDArray[np.int32]) -> NDArray[np.bool_]:
        """What one of the parts leaves out is left out."""
        return np.logical_or.reduce([too_dear(bound, sets) for bound in self.parts])

    def block(self, sets: NDArray[np.int32], wanted: NDArray[np.bool_], floor: Floats | None = None) -> Floats:
        """The sum; the floor is that of sums and says nothing of a part."""
        return np.asarray(sum(bound.block(sets, wanted, None) for bound in self.parts))

    def fitted(self, child: int, parents: tuple[int, ...]) -> Any:
        """The local structure, of all rows together."""
        return self._method.bind(self._data).fitted(child, parents)
