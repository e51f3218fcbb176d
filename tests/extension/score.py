"""Toy: BDeu, less a fine for each parent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn.data.dataset import Dataset
from optbn.scores.bdeu import BDeu
from optbn.scores.protocol import BoundScore


@dataclass(frozen=True)
class Toy:
    """Its setting: `fine` for each parent."""

    fine: float = 0.5

    def bind(self, data: Dataset) -> BoundScore:
        return Bound(BDeu().bind(data), self.fine)


@dataclass(frozen=True)
class Bound:
    inner: BoundScore
    fine: float

    def block(
        self, sets: NDArray[np.int32], wanted: NDArray[np.bool_], floor: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        return self.inner.block(sets, wanted, floor) - self.fine * sets.shape[1]

    def fitted(self, child: int, parents: tuple[int, ...]) -> Any:
        return self.inner.fitted(child, parents)
