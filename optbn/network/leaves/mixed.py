"""A number or none per cell: a normal or Student-t distribution beside a probability of no number at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import NetworkError
from optbn.data.dataset import Domain, Real
from optbn.network.leaves.columns import frozen
from optbn.network.leaves.normal import NormalLeaves
from optbn.network.leaves.student import StudentLeaves


@dataclass(frozen=True, eq=False)
class MixedLeaves:
    """A number or none: the probability of none, float64[cells], and the distribution of the numbers."""

    absent: NDArray[np.float64]
    numbers: NormalLeaves | StudentLeaves

    def __post_init__(self) -> None:
        object.__setattr__(self, "absent", frozen(self.absent, 1, "probabilities of no number"))
        if len(self.absent) != self.numbers.cells:
            raise NetworkError(f"{len(self.absent)} probabilities of no number for {self.numbers.cells} leaves")
        bad = ~((self.absent >= 0.0) & (self.absent <= 1.0))
        if bad.any():
            raise NetworkError(f"leaf {np.argmax(bad)}: {self.absent[np.argmax(bad)]} is not a probability")

    @property
    def cells(self) -> int:
        return len(self.absent)

    @property
    def n_parameters(self) -> int:
        return self.cells + self.numbers.n_parameters

    def check_child(self, domain: Domain) -> None:
        """Refuse a child these leaves cannot describe."""
        if not (isinstance(domain, Real) and domain.absent):
            raise NetworkError("leaves that allow for no number but the variable always has one")

    def log_density(self, cells: NDArray[np.int64], values: NDArray[Any]) -> NDArray[np.float64]:
        """float64[N]: log probability of none where the value is NaN, else log density at it."""
        none = np.isnan(values)
        there = np.where(none, 0.0, values)
        with np.errstate(divide="ignore"):
            density = np.log1p(-self.absent[cells]) + self.numbers.log_density(cells, there)
            return np.where(none, np.log(self.absent[cells]), density)

    def sample(self, cells: NDArray[np.int64], generator: np.random.Generator) -> NDArray[np.float64]:
        """float64[N]: a value per row, NaN where it is none. Every row takes the variates of both draws."""
        values = self.numbers.sample(cells, generator)
        return np.where(generator.random(len(cells)) < self.absent[cells], np.nan, values)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, MixedLeaves)
            and np.array_equal(self.absent, other.absent)
            and self.numbers == other.numbers
        )

    def __hash__(self) -> int:
        return hash((self.absent.tobytes(), self.numbers))
