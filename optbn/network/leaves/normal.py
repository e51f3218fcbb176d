"""A normal distribution per cell, cut to where the numbers can lie."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn.data.dataset import Domain
from optbn.data.support import EVERYWHERE, Support
from optbn.network.cut import masses, matched
from optbn.network.leaves.columns import check_columns, check_real, same

COLUMNS = ("mean", "sd")


@dataclass(frozen=True, eq=False)
class NormalLeaves:
    """A mean and a standard deviation per cell, both float64[cells], of a normal distribution that is cut to the
    support; `fitting` makes one whose part inside has the wanted ones (see `cut`). Whole numbers are the nearest ones.
    """

    mean: NDArray[np.float64]
    sd: NDArray[np.float64]
    support: Support = EVERYWHERE

    def __post_init__(self) -> None:
        check_columns(self, COLUMNS, positive=("sd",))

    @classmethod
    def fitting(cls, mean: NDArray[np.float64], sd: NDArray[np.float64], support: Support) -> NormalLeaves:
        """Numbers with this mean and standard deviation within the support."""
        if not support.bounded:
            return cls(mean, sd, support)
        return cls(*matched(mean, sd, *support.ends), support)

    @property
    def cells(self) -> int:
        return len(self.mean)

    @property
    def n_parameters(self) -> int:
        return 2 * self.cells

    def check_child(self, domain: Domain) -> None:
        """Refuse a child these leaves cannot describe."""
        check_real(domain, "normal")

    def log_density(self, cells: NDArray[np.int64], values: NDArray[Any]) -> NDArray[np.float64]:
        """float64[N]: log density at the values, where they are whole the probability of a unit. Outside a support
        that was only concluded from data it is that of the whole normal: a surprise has an answer."""
        z = (values - self.mean[cells]) / self.sd[cells]
        density: NDArray[np.float64] = -0.5 * z * z - np.log(self.sd)[cells] - 0.5 * math.log(2.0 * math.pi)
        if self.support.bounded:
            low, high = self.support.ends
            inside, outside = density - self._log_mass[cells], -np.inf if self.support.declared else density
            density = np.where((values >= low) & (values <= high), inside, outside)
        return density

    @cached_property
    def _log_mass(self) -> NDArray[np.float64]:
        """Of the support under the whole normals."""
        from scipy.stats import norm

        low, high = ((end - self.mean) / self.sd for end in self.support.ends)
        logarithms: NDArray[np.float64] = np.log(masses(norm, low, high))
        return logarithms

    def sample(self, cells: NDArray[np.int64], generator: np.random.Generator) -> NDArray[np.float64]:
        """float64[N]: a value per row."""
        if not self.support.bounded:
            drawn = self.mean[cells] + self.sd[cells] * generator.standard_normal(len(cells))
            return self.support.nearest(drawn) if self.support.whole else drawn
        from optbn.network.moments import draw_inside

        return draw_inside(self, np.empty(0), cells, np.zeros(len(cells), np.int64), generator)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NormalLeaves) and same(self, other, COLUMNS) and self.support == other.support

    def __hash__(self) -> int:
        return hash((self.mean.tobytes(), self.sd.tobytes()))
