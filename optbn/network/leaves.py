"""What stands in the cells of a local distribution: a categorical, normal or Student-t distribution per cell, or one of
the latter two beside a probability of no number at all.

A CPD is a partition of the parents' space into cells (see `cpds`) and one of these. Given the cell of every row, each
knows the log density of the child's values and how to draw them. Randomness: a categorical leaf spends one 64-bit word
per row (so a sample is a prefix of a longer one, and has the same bits on every machine), the others use the
Generator's own normal and Student-t variates.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import NetworkError
from optbn.data.dataset import Categorical, Domain, Real
from optbn.data.support import EVERYWHERE, Support
from optbn.network.cut import masses, matched
from optbn.network.kernels import draw

SUM_TOLERANCE = 1e-5
"""How far a row may be from one. Programs print six or seven digits: three times .333333 is off by 1e-6, the worst row
of the published networks by 3e-7, twenty levels of six digits by at most 1e-5. Rows are kept as they are; `log_density`
uses them unchanged, sampling divides by their sum."""


def _frozen(values: Any, dimensions: int, what: str) -> NDArray[np.float64]:
    """The values as a read-only contiguous float64 array; another shape is refused."""
    array = np.ascontiguousarray(values, dtype=np.float64)
    if array.ndim != dimensions:
        raise NetworkError(f"{what} have {array.ndim} dimensions, expected {dimensions}")
    if array.flags.writeable:
        array = array.copy()  # the caller may go on writing into it
    array.setflags(write=False)
    return array


@dataclass(frozen=True, eq=False)
class CategoricalLeaves:
    """float64[cells, r], each row a distribution over the child's r levels.

    runs    int[cells, r], ascending from 0: the run each level is in, where neighbours in a run are equally likely by
            the model; None where the model says nothing of the kind
    """

    probabilities: NDArray[np.float64]
    runs: NDArray[np.int32] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "probabilities", _frozen(self.probabilities, 2, "probabilities"))
        bad = self.invalid_row(self.probabilities)
        if bad is not None:
            raise NetworkError(f"row {bad[0]}: {bad[1]}")
        if self.runs is not None:
            runs = np.array(self.runs, np.int32)
            steps = np.diff(runs, axis=1) if runs.shape == self.probabilities.shape else np.full((1, 1), 2)
            if runs.size and (runs[:, 0].any() or ((steps != 0) & (steps != 1)).any()):
                raise NetworkError(
                    "runs need a number for every level of every cell: 0, then as the level before or one more"
                )
            runs.setflags(write=False)
            object.__setattr__(self, "runs", runs)

    @classmethod
    def pooled(cls, rows: NDArray[np.float64], runs: NDArray[np.int32]) -> CategoricalLeaves:
        """These distributions, made equal within each run."""
        cells, r = rows.shape
        place = np.arange(cells)[:, None] * r + runs
        total, length = np.bincount(place.ravel(), rows.ravel()), np.bincount(place.ravel())
        return cls(total[place] / length[place], runs)

    @staticmethod
    def invalid_row(rows: NDArray[np.float64]) -> tuple[int, str] | None:
        """The first row of float64[cells, r] that is no distribution, and why; None when all are."""
        outside = ~((rows >= 0.0) & (rows <= 1.0 + SUM_TOLERANCE))  # also true of nan
        totals = rows.sum(axis=1)
        off = outside.any(axis=1) | ~(np.abs(totals - 1.0) <= SUM_TOLERANCE)
        if not off.any():
            return None
        row = int(np.argmax(off))
        if outside[row].any():
            return row, f"{rows[row][np.argmax(outside[row])]} is not a probability"
        return row, f"probabilities sum to {totals[row]:.10g}, not 1"

    @property
    def cells(self) -> int:
        return len(self.probabilities)

    @property
    def n_parameters(self) -> int:
        """Free parameters."""
        if self.runs is not None:
            return int(self.runs[:, -1].sum())
        cells, r = self.probabilities.shape
        return int(cells * (r - 1))

    def check_child(self, domain: Domain) -> None:
        """Refuse a child these leaves cannot describe."""
        if not isinstance(domain, Categorical):
            raise NetworkError("categorical leaves but the variable is real")
        if self.probabilities.shape[1] != len(domain.levels):
            raise NetworkError(
                f"{self.probabilities.shape[1]} probabilities per row but the variable has {len(domain.levels)} levels"
            )

    @cached_property
    def _log(self) -> NDArray[np.float64]:
        with np.errstate(divide="ignore"):
            logarithms: NDArray[np.float64] = np.log(self.probabilities)
        return logarithms

    @cached_property
    def _cumulative(self) -> NDArray[np.float64]:
        """Running sums over the total, and 2 from the last level with any probability on: the kernel always stops."""
        sums: NDArray[np.float64] = np.cumsum(self.probabilities, axis=1)
        sums /= sums[:, -1:]
        r = self.probabilities.shape[1]
        last = r - 1 - np.argmax(self.probabilities[:, ::-1] > 0.0, axis=1)
        sums[np.arange(r) >= last[:, None]] = 2.0
        return sums

    def log_density(self, cells: NDArray[np.int64], values: NDArray[Any]) -> NDArray[np.float64]:
        """float64[N]: log probability of the codes `values`; -inf where it is zero."""
        density: NDArray[np.float64] = self._log[cells, values]
        return density

    def sample(self, cells: NDArray[np.int64], generator: np.random.Generator) -> NDArray[np.int64]:
        """int64[N]: a level code per row."""
        out = np.empty(len(cells), dtype=np.int64)
        draw(cells, self._cumulative, generator.bit_generator.random_raw(len(cells)), out)
        return out

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CategoricalLeaves) or (self.runs is None) != (other.runs is None):
            return False
        same = self.runs is None or other.runs is None or np.array_equal(self.runs, other.runs)
        return same and np.array_equal(self.probabilities, other.probabilities)

    def __hash__(self) -> int:
        return hash(self.probabilities.tobytes())


@dataclass(frozen=True, eq=False)
class NormalLeaves:
    """A mean and a standard deviation per cell, both float64[cells], of a normal distribution that is cut to the
    support; `fitting` makes one whose part inside has the wanted ones (see `cut`). Whole numbers are the nearest ones.
    """

    mean: NDArray[np.float64]
    sd: NDArray[np.float64]
    support: Support = EVERYWHERE

    def __post_init__(self) -> None:
        _check_columns(self, positive=("sd",))

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
        if not isinstance(domain, Real):
            raise NetworkError("normal leaves but the variable is categorical")
        _always_a_number(domain)

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
        return isinstance(other, NormalLeaves) and _same(self, other) and self.support == other.support

    def __hash__(self) -> int:
        return hash((self.mean.tobytes(), self.sd.tobytes()))


@dataclass(frozen=True, eq=False)
class StudentLeaves:
    """Location, scale and degrees of freedom per cell, float64[cells] each: what a normal-inverse-gamma posterior
    predicts for the next value."""

    location: NDArray[np.float64]
    scale: NDArray[np.float64]
    dof: NDArray[np.float64]

    def __post_init__(self) -> None:
        _check_columns(self, positive=("scale", "dof"))

    @property
    def cells(self) -> int:
        return len(self.location)

    @property
    def n_parameters(self) -> int:
        return 3 * self.cells

    def check_child(self, domain: Domain) -> None:
        """Refuse a child these leaves cannot describe."""
        if not isinstance(domain, Real):
            raise NetworkError("Student-t leaves but the variable is categorical")
        _always_a_number(domain)

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
        return isinstance(other, StudentLeaves) and _same(self, other)

    def __hash__(self) -> int:
        return hash((self.location.tobytes(), self.scale.tobytes(), self.dof.tobytes()))


@dataclass(frozen=True, eq=False)
class MixedLeaves:
    """A number or none: the probability of none, float64[cells], and the distribution of the numbers."""

    absent: NDArray[np.float64]
    numbers: NormalLeaves | StudentLeaves

    def __post_init__(self) -> None:
        object.__setattr__(self, "absent", _frozen(self.absent, 1, "probabilities of no number"))
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


Leaves = CategoricalLeaves | NormalLeaves | StudentLeaves | MixedLeaves


def within(leaves: Leaves, support: Support) -> Leaves:
    """Leaves of numbers with estimated means and deviations, cut to the support; Student-t leaves are not."""
    if isinstance(leaves, MixedLeaves):
        numbers = within(leaves.numbers, support)
        assert isinstance(numbers, NormalLeaves | StudentLeaves)
        return replace(leaves, numbers=numbers)
    return NormalLeaves.fitting(leaves.mean, leaves.sd, support) if isinstance(leaves, NormalLeaves) else leaves


def _always_a_number(domain: Real) -> None:
    if domain.absent:
        raise NetworkError("the variable may have no number, so its leaves must allow for that (MixedLeaves)")


def _check_columns(leaves: NormalLeaves | StudentLeaves, positive: tuple[str, ...]) -> None:
    """Freeze the arrays of real-valued leaves; they have one length, are finite, and scales are above zero."""
    lengths = set()
    for field in _columns(leaves):
        array = _frozen(getattr(leaves, field), 1, f"{field} values")
        object.__setattr__(leaves, field, array)
        lengths.add(len(array))
        bad = ~np.isfinite(array) | ((array <= 0.0) if field in positive else False)
        if bad.any():
            row = int(np.argmax(bad))
            wanted = "a finite number above 0" if field in positive else "a finite number"
            raise NetworkError(f"leaf {row}: {field} is {array[row]}, expected {wanted}")
    if len(lengths) != 1:
        raise NetworkError(f"{', '.join(_columns(leaves))} have different lengths")


def _same(a: NormalLeaves | StudentLeaves, b: NormalLeaves | StudentLeaves) -> bool:
    return all(np.array_equal(getattr(a, field), getattr(b, field)) for field in _columns(a))


def _columns(leaves: NormalLeaves | StudentLeaves) -> tuple[str, ...]:
    return ("mean", "sd") if isinstance(leaves, NormalLeaves) else ("location", "scale", "dof")
