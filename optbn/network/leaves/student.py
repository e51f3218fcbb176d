"""A Student-t distribution per cell."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn.data.dataset import Domain
from optbn.network.leaves.columns import check_columns, check_real, same

COLUMNS = ("location", "scale", "dof")


@dataclass(frozen=True, eq=False)
class StudentLeaves:
    """Location, scale and degrees of freedom per cell, float64[cells] each: what a normal-inverse-gamma posterior
    predicts for the next value."""

    location: NDArray[np.float64]
    scale: NDArray[np.float64]
    dof: NDArray[np.float64]

    def __post_init__(self) -> None:
        check_columns(self, COLUMNS, positive=("scale", "dof"))

    @property
    def cells(self) -> int:
        return len(self.location)

    @property
    def n_parameters(self) -> int:
        return 3 * self.cells

    def check_child(self, domain: Domain) -> None:
        """Refuse a child these leaves cannot describe."""
        check_real(domain, "Student-t")

    def log_density(self, cells: NDArray[np.int64], values: NDArray[Any]) -> NDArray[np.float64]:
        """float64[N]: log density at the values."""
        from scipy.special import gammaln

        half = 0.5 * (self.dof + 1.0)
        constant = gammaln(half) - gammaln(0.5 * self.dof) - 0.5 * np.log(self.dof * math.pi) - np.log(self.scale)
        z = (values - self.location[cells]) / self.scale[cells]
        density: NDArray[np.float64] = constant[cells] - half[cells] * np.log1p(z * z / self.dof[cells])
        return density

    def sample(self, cells: NDArray[np.int64], generator: np.random.Generator) -> NDArray[np.float64]:
        """float64[N]: a value per row."""
        return self.location[cells] + self.scale[cells] * generator.standard_t(self.dof[cells])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StudentLeaves) and same(self, other, COLUMNS)

    def __hash__(self) -> int:
        return hash((self.location.tobytes(), self.scale.tobytes(), self.dof.tobytes()))
