"""Scores of real data under linear-Gaussian models, all from residuals in one matrix of cross products.

Both the Gaussian BIC and BGe are, for a predictor set P of k members,

    score(v, P) = constant_k - determinant_k log |M_P| - residual_k log (residual of v on P in M)

with a matrix M and three coefficients per size. kernels/gaussian.py finds the residuals of all v at once. The matrix is
made of standardised columns (units.py), unless a prior is on the scale of the columns as they come: then of their
deviations from the mean. Either way log of the child's unit, N times, comes off.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import DataError, UnsupportedError
from optbn.data.dataset import Categorical, Dataset, Real
from optbn.scores.kernels.gaussian import residuals
from optbn.scores.protocol import Floats
from optbn.scores.units import RealPrior, check_range, standardised

SMALLEST_SQUARE = 1e-280  # below, digits of the cross products of columns as they come are lost

# A residual below this fraction of the variance is rounding noise of the cross products, not information.
SMALLEST_RESIDUAL = 1e-10

WORST_CONDITION = 1e10  # of a matrix whose inverse has a few digits for sure


class Coefficients(NamedTuple):
    """See the module's header."""

    constant: float
    determinant: float
    residual: float


@dataclass(frozen=True, eq=False)
class LinearGaussian:
    """The local structure: child = intercept + coefficients . parents + noise, by maximum likelihood."""

    child: int
    parents: tuple[int, ...]
    intercept: float
    coefficients: NDArray[np.float64]
    variance: float


class GaussianScore:
    """A score of the form above tied to its data; a BoundScore."""

    def __init__(
        self,
        data: Dataset,
        matrix: NDArray[np.float64],
        coefficients: Callable[[int], Coefficients],
        jacobian: NDArray[np.float64],
        ends: bool = False,
    ) -> None:
        self._data = data
        self.ends = ends
        self._jacobian = jacobian
        self._matrix = np.ascontiguousarray(matrix)
        self._coefficients = coefficients
        self._smallest = SMALLEST_RESIDUAL * np.diag(matrix)

    def block(self, sets: NDArray[np.int32], wanted: NDArray[np.bool_], floor: Floats | None = None) -> Floats:
        """See BoundScore; no floor is needed, a family costs a few multiplications."""
        sets = np.ascontiguousarray(sets, dtype=np.int32)
        log_det, residual, bad = residuals(sets, self._matrix, self._smallest)
        if bad >= 0:
            raise self._dependent(sets[bad].tolist())
        weak = wanted & ~(residual > self._smallest)
        if weak.any():
            row, child = np.argwhere(weak)[0]
            raise self._dependent([*sets[row].tolist(), int(child)])
        at = self._coefficients(sets.shape[1])
        out = np.full(wanted.shape, -np.inf)
        scores = at.constant - at.determinant * log_det[:, None] - at.residual * np.log(np.where(wanted, residual, 1.0))
        out[wanted] = (scores + self._jacobian)[wanted]
        return out

    def bounded_block(
        self,
        sets: NDArray[np.int32],
        wanted: NDArray[np.bool_],
        floor: NDArray[np.float64] | None = None,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """See optbn.scores.protocol: no regression leaves less than the one on all other columns."""
        at = self._coefficients(sets.shape[1] + 1)  # the constant falls with the size
        most = at.constant - at.residual * np.log(self._least_residuals) + self._jacobian
        return self.block(sets, wanted, floor), np.broadcast_to(most, wanted.shape)

    @cached_property
    def _least_residuals(self) -> NDArray[np.float64]:
        """float64[n]: what the regression of each column on all others leaves, or less: `block` refuses less than the
        smallest, and half of the residual makes up for an inverse that is not exact."""
        if np.linalg.cond(self._matrix) > WORST_CONDITION:
            return self._smallest
        return np.asarray(np.maximum(0.5 / np.diag(np.linalg.inv(self._matrix)), self._smallest))

    def fitted(self, child: int, parents: tuple[int, ...]) -> LinearGaussian:
        """The maximum-likelihood regression of the child on its parents."""
        weights = None if self._data.weights is None else self._data.weights.values
        y, *x = (standardised(self._data.columns[u], weights) for u in (child, *parents))
        design = np.column_stack([np.ones(len(y.values)), *(column.values for column in x)])
        root = np.ones(len(design)) if weights is None else np.sqrt(weights)
        found = np.linalg.lstsq(design * root[:, None], y.values * root, rcond=None)[0]
        with np.errstate(all="ignore"):
            slopes = np.array([b * (y.scale / column.scale) for b, column in zip(found[1:], x, strict=True)])
            intercept = (
                y.centre + y.scale * found[0] - sum(b * column.centre for b, column in zip(slopes, x, strict=True))
            )
            variance = np.average((y.values - design @ found) ** 2, weights=weights) * np.float64(y.scale) ** 2
        if not np.isfinite([intercept, variance, *slopes]).all() or variance == 0:
            names = ", ".join(repr(self._data.names[u]) for u in (child, *parents))
            raise DataError(
                f"the regression among {names} has coefficients that no floating-point number holds: rescale them"
            )
        return LinearGaussian(child, parents, float(intercept), slopes, float(variance))

    def _dependent(self, members: list[int]) -> DataError:
        names = [repr(self._data.names[u]) for u in members]
        return DataError(
            f"the columns {', '.join(names)} are linearly dependent (to within {SMALLEST_RESIDUAL:g} of a variance), "
            "so their likelihood has no bound: leave one of them out"
        )


class CrossProducts(NamedTuple):
    """Of real columns: float64[n] means, float64[n, n] products of what is left, and what a child's unit adds."""

    means: NDArray[np.float64]
    products: NDArray[np.float64]
    jacobian: NDArray[np.float64]


def cross_products(score: Any, data: Dataset, real_prior: RealPrior = "unit-free") -> CrossProducts:
    """Those of standardised columns, or of columns as they come; data that are not real are refused by name."""
    name = type(score).__name__
    if data.n_rows == 0:
        raise DataError("the data have no rows, there is nothing to score")
    for column, domain, values in zip(data.names, data.domains, data.columns, strict=True):
        if isinstance(domain, Real) and domain.absent:
            raise UnsupportedError(
                f"column {column!r}: {name} needs a number in every row; fill in the missing ones or drop their rows "
                "(missing = impute or drop), or use a score for mixed data (pcart, ft)"
            )
        if isinstance(domain, Categorical):
            raise UnsupportedError(
                f"column {column!r} is categorical, {name} cannot score it together with real columns: use a score for "
                "mixed data (pcart, ft), or leave it out"
            )
        if values.min() == values.max():
            raise DataError(f"column {column!r} has one distinct value, so {name} is not defined: leave it out")
        check_range(column, domain)
    weights = None if data.weights is None else data.weights.values
    if real_prior == "unit-free":
        columns = [standardised(column, weights) for column in data.columns]
        x = np.column_stack([column.values for column in columns])
        logs = np.array([column.log_scale for column in columns])
        y = x if weights is None else x * weights[:, None]
        return CrossProducts(np.zeros(len(columns)), x.T @ y, -data.total_weight * logs)
    x = np.column_stack(data.columns)
    means = np.average(x, axis=0, weights=weights)
    x -= means
    x -= np.average(x, axis=0, weights=weights)  # what rounding left of a mean that is large beside its deviations
    with np.errstate(over="ignore"):
        products = x.T @ (x if weights is None else x * weights[:, None])
    for column, square in zip(data.names, np.diag(products).tolist(), strict=True):
        if not SMALLEST_SQUARE < square < math.inf:
            raise DataError(
                f"column {column!r} has squares that no floating-point number holds (they sum to {square:g}): "
                "rescale it, or leave real_prior at 'unit-free'"
            )
    return CrossProducts(means, products, np.zeros(len(means)))
