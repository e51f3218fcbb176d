"""A Dataset's columns as responses, with their leaves' priors: what the kernels count, and look up by the counts."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import DataError, UnsupportedError
from optbn.data.dataset import Categorical, Dataset
from optbn.scores.kernels.simd import WIDTH
from optbn.scores.trees.columns import Columns
from optbn.scores.trees.leaves import (
    LeafContent,
    LeafPrior,
    LeafTables,
    best_runs,
    dirichlet_log_marginals,
    dirichlet_tables,
    normal_log_marginals,
    normal_tables,
    penalised_log_likelihoods,
    penalised_tables,
    share_log_marginals,
)
from optbn.scores.trees.scratch import aligned
from optbn.scores.units import standardised

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
MOST_UNITS, UNITS_PER_ROW = 1 << 20, 8
"""Of weighted data in all, or per row if that is more: leaves look terms up in tables by units."""
LARGEST = 1e140
FEW_LEVELS = 4
"""Of a real response on the scale of its prior; sums of squares of larger ones are no floating-point numbers."""


def tabulated(data: Dataset) -> Dataset:
    """The data with weights of so few units that tables by units are small."""
    return data.with_units(max(MOST_UNITS, UNITS_PER_ROW * data.n_rows))


class Responses(NamedTuple):
    """See kernels/trees.py; onehot is padded with columns of zeros to whole vectors, and a column of ones at the end;
    where rows have weights, its rows are multiplied by their units. `there` is where the columns of
    onehot "has a number" and "has none" begin, -1 where all rows of a variable have one."""

    order: Ints
    onehot: NDArray[np.uint8]
    start: Ints
    levels: Ints
    row: Ints
    values: Floats
    real: Ints
    there: Ints
    there_row: Ints


@dataclass(frozen=True, eq=False)
class BoundLeaves:
    """A leaf prior tied to data."""

    prior: LeafPrior
    columns: Columns

    def __post_init__(self) -> None:
        for field in ("alpha", "nu", "lambda_", "mean", "a"):
            self.prior.of_columns(field, self.data.names)  # names that do not exist are refused at once
        if (self.penalised or self.by_share) and self.is_real.any():
            name = self.data.names[int(np.argmax(self.is_real))]
            raise UnsupportedError(
                f"column {name!r} is real, and leaf={self.prior.leaf!r} is for categorical columns: discretise it, or "
                "leave leaf at 'dirichlet'"
            )

    @property
    def penalised(self) -> bool:
        """Whether leaves have maximum likelihoods less their parameters' weights, see leaves.py."""
        return self.prior.leaf in ("bic", "aic")

    @property
    def by_share(self) -> bool:
        """Whether a leaf's prior is the greater, the more of the parents' configurations lie in it."""
        return self.prior.leaf == "bdeu"

    @cached_property
    def in_runs(self) -> NDArray[np.bool_]:
        """bool[n]: the ordered responses whose leaves have runs."""
        ordered = [isinstance(domain, Categorical) and domain.ordered for domain in self.data.domains]
        return np.array(ordered, np.bool_) & (self.prior.leaf == "runs")

    @property
    def data(self) -> Dataset:
        return self.columns.data

    @property
    def _units(self) -> NDArray[np.int32] | None:
        """Of every row; None: 1."""
        return None if self.data.weights is None else self.data.weights.units

    @property
    def unit(self) -> float:
        """How many rows a unit is."""
        return 1.0 if self.data.weights is None else self.data.weights.unit

    @property
    def whole(self) -> bool:
        """Whether units are rows."""
        return self.unit == 1.0

    @property
    def total_units(self) -> int:
        """Of all rows."""
        return self.data.n_rows if self.data.weights is None else self.data.weights.total_units

    @cached_property
    def is_real(self) -> NDArray[np.bool_]:
        """bool[n]."""
        return np.array([not r for r in self.data.cardinalities], np.bool_)

    @cached_property
    def is_mixed(self) -> NDArray[np.bool_]:
        """bool[n]: real, and rows may have no number."""
        absent = set(self.data.with_absent)
        return np.array([name in absent for name in self.data.names], np.bool_)

    @cached_property
    def widths(self) -> Ints:
        """int64[n]: how many columns of counts each response takes."""
        return np.asarray(self.responses.levels + 2 * self.is_mixed)

    @cached_property
    def _there_alpha(self) -> list[float]:
        """Per variable that of whether there is a number."""
        alphas: list[float] = self.prior.of_columns("alpha", self.data.names).tolist()
        return alphas

    @cached_property
    def _mixed_alphas(self) -> list[float]:
        return sorted({self._there_alpha[v] for v in np.flatnonzero(self.is_mixed).tolist()})

    @cached_property
    def alpha(self) -> Floats:
        """float64[n]; where leaves are penalised, the weight of a parameter in its place."""
        if self.penalised:
            return np.full(
                self.data.n_variables, 1.0 if self.prior.leaf == "aic" else math.log(self.data.total_weight) / 2
            )
        return self.prior.of_columns("alpha", self.data.names)

    @cached_property
    def keys(self) -> tuple[tuple[float, float], ...]:
        """Per variable what its tables depend on: (alpha, declared levels) or (nu, a)."""
        nu, a = (self.prior.of_columns(field, self.data.names).tolist() for field in ("nu", "a"))
        alpha, levels = self.alpha.tolist(), self.data.cardinalities
        return tuple((nu[v], a[v]) if real else (alpha[v], levels[v]) for v, real in enumerate(self.is_real))

    @cached_property
    def rows(self) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
        """The distinct keys of categorical and of real variables: the rows of their tables."""
        pairs = list(zip(self.keys, self.is_real, strict=True))
        return sorted({key for key, real in pairs if not real}), sorted({key for key, real in pairs if real})

    @cached_property
    def _scaled(self) -> tuple[Floats, Floats]:
        """(t float64[N, R] by columns and columns of zeros up to whole vectors, log unit float64[n]); see leaves.py."""
        data, prior = self.data, self.prior
        means, variances = (prior.of_columns(field, data.names) for field in ("mean", "lambda_"))
        weights = None if data.weights is None else data.weights.values
        values = aligned(data.n_rows, -(-int(self.is_real.sum()) // WIDTH) * WIDTH, np.float64, np.zeros)
        log_unit = np.zeros(data.n_variables)
        for r, v in enumerate(np.flatnonzero(self.is_real).tolist()):
            t, log_scale = data.columns[v], 0.0
            there = ~np.isnan(t)
            t = t[there]
            if not len(t):
                continue
            if prior.real_prior == "unit-free":
                column = standardised(t, None if weights is None else weights[there])
                t, log_scale = column.values, column.log_scale
            with np.errstate(over="ignore"):
                t = (t - means[v]) / math.sqrt(variances[v])
            if not np.abs(t).max() < LARGEST:
                raise DataError(
                    f"column {data.names[v]!r} has values whose squares no floating-point number holds on the scale of "
                    "its prior (mean, lambda): rescale it, or leave real_prior at 'unit-free'"
                )
            log_unit[v] = log_scale + 0.5 * math.log(variances[v])
            values[there, r] = t
        return values, log_unit

    @cached_property
    def jacobian(self) -> Floats:
        """float64[n]: what is added to every score of a response because kernels see it on another scale."""
        units = self._units
        numbers = np.full(self.data.n_variables, self.total_units)
        for v in np.flatnonzero(self.is_mixed).tolist():
            numbers[v] = _counts(~np.isnan(self.data.columns[v]), units, 2)[1]
        return np.asarray(-numbers * self.unit * self._scaled[1])

    @cached_property
    def responses(self) -> Responses:
        """Every variable as a response."""
        data, is_real = self.data, self.is_real
        observed = self.columns.observed
        levels = np.array([len(codes) for codes in observed], np.int64)
        start = np.cumsum(levels) - levels
        mixed = np.flatnonzero(self.is_mixed).tolist()
        there = np.full(data.n_variables, -1, np.int64)
        there[mixed] = int(levels.sum()) + 2 * np.arange(len(mixed))
        units = self._units
        kind = np.uint8 if units is None else np.min_scalar_type(int(units.max(initial=1)))
        onehot = np.zeros((data.n_rows, -(-(int(levels.sum()) + 2 * len(mixed) + 1) // 32) * 32), kind)
        onehot[:, -1] = 1
        for v in mixed:
            onehot[np.arange(data.n_rows), there[v] + np.isnan(data.columns[v])] = 1
        there_row = np.array([self._mixed_alphas.index(a) if m else -1 for a, m in zip(
            self._there_alpha, self.is_mixed, strict=True)], np.int64)  # fmt: skip
        row = np.array([self.rows[real].index(self.keys[v]) for v, real in enumerate(is_real.astype(int))], np.int64)
        for v in np.flatnonzero(~is_real).tolist():
            for i, code in enumerate(observed[v].tolist()) if len(observed[v]) <= FEW_LEVELS else ():
                onehot[:, start[v] + i] = data.columns[v] == code
            if len(observed[v]) > FEW_LEVELS:
                onehot[np.arange(data.n_rows), start[v] + np.searchsorted(observed[v], data.columns[v])] = 1
        if units is not None:
            onehot *= units[:, None].astype(kind)
        order = np.array(
            sorted(range(data.n_variables), key=lambda v: (-levels[v], there[v] >= 0, row[v], v)), np.int64
        )
        real = np.where(is_real, np.cumsum(is_real) - 1, -1)
        return Responses(np.array(order, np.int64), onehot, start, levels, row, self._scaled[0], real, there, there_row)

    @cached_property
    def tables(self) -> LeafTables:
        """See leaves.py; rows in the order of `Responses.row`."""
        rows, unit = self.total_units, self.unit
        tabulate = penalised_tables if self.penalised else dirichlet_tables
        per_level, total = np.empty((2, len(self.rows[0]), rows + 1))
        for i, (alpha, r) in enumerate(self.rows[0]):
            one = i and self.rows[0][i - 1][0] == alpha
            per_level[i], total[i] = tabulate(alpha, int(r), rows, unit, per_level[i - 1] if one else None)
        constant, power, shrink = np.empty((3, len(self.rows[1]), rows + 1))
        for i, (nu, a) in enumerate(self.rows[1]):
            constant[i], power[i], shrink[i] = normal_tables(nu, a, rows, unit)
        there = [dirichlet_tables(alpha, 2, rows, unit) for alpha in self._mixed_alphas]
        there_level, there_total = np.array(there).reshape(-1, 2, rows + 1).swapaxes(0, 1).copy()
        scale = np.array([nu / unit for nu, _ in self.rows[1]])
        return LeafTables(per_level, total, constant, power, shrink, scale, there_level, there_total)

    def together(self, wanted: NDArray[np.bool_]) -> list[NDArray[np.bool_]]:
        """`wanted` in parts that kernels/climb.py can run side by side: categorical responses of one alpha."""
        alphas = np.unique(self.alpha[~self.is_real])
        if len(alphas) < 2:
            return [wanted]
        groups = [wanted & (~self.is_real & (self.alpha == alpha)) for alpha in alphas]
        return [part for part in (*groups, wanted & self.is_real) if part.any()]

    def tables_of(self, some: Ints) -> tuple[Any, ...]:
        """What kernels/climb.py looks up for some responses of one alpha."""
        counted = some[~self.is_real[some]]
        at = self.responses.row[counted[0]] if len(counted) else 0
        per_level = self.tables.per_level[at] if len(self.tables.per_level) else np.zeros(1)
        return (per_level, *self.tables[1:])

    def content(self, v: int, leaf: Ints, leaves: int) -> LeafContent:
        """What variable v looks like in each leaf, given the leaf of every row; a real one as it comes."""
        return self._content(v, self.data.columns[v], leaf, leaves)

    def log_likelihood(self, v: int, leaf: Ints, leaves: int, share: Floats | None = None) -> float:
        """The sum of log m of all leaves, straight from the rows and the formulas: what kernels are checked against."""
        if not self.is_real[v]:
            return float(np.sum(self.log_marginals(v, replace(self.content(v, leaf, leaves), share=share))))
        values = self._scaled[0][:, self.responses.real[v]]
        content = self._content(v, values, leaf, leaves)
        return float(np.sum(self.log_marginals(v, content)) + self.jacobian[v])

    def log_marginals(self, v: int, content: LeafContent) -> Floats:
        """float64[leaves]; the content of a real response on the scale of t, without the jacobian."""
        first, second = self.keys[v]
        if self.is_real[v]:
            numbers = normal_log_marginals(content.numbers, first, second)
            there = content.counts is not None
            return numbers + dirichlet_log_marginals(content, self._there_alpha[v]) if there else numbers
        if self.by_share:
            return share_log_marginals(content, self.prior.ess)  # type: ignore[attr-defined]
        if self.in_runs[v]:
            assert content.counts is not None
            return np.array([best_runs(counts, first)[0] for counts in content.counts * content.unit])
        return (penalised_log_likelihoods if self.penalised else dirichlet_log_marginals)(content, first)

    def _content(self, v: int, values: NDArray[Any], leaf: Ints, leaves: int) -> LeafContent:
        units, unit, r = self._units, self.unit, self.data.cardinalities[v]
        rows = _counts(leaf, units, leaves)
        if r:
            table = _counts(leaf * r + values, units, leaves * r).reshape(leaves, r)
            return LeafContent(rows, counts=table, unit=unit)
        if self.is_mixed[v]:
            absent = np.isnan(self.data.columns[v])
            there = None if units is None else units[~absent]
            numbers = _moments(values[~absent], leaf[~absent], leaves, there, unit)
            counts = _counts(leaf * 2 + absent, units, leaves * 2).reshape(leaves, 2)
            return LeafContent(rows, counts, numbers.mean, numbers.spread, unit)
        return _moments(values, leaf, leaves, units, unit)


def _counts(where: NDArray[Any], units: NDArray[np.int32] | None, length: int) -> Ints:
    """The units in each place; their sums are exact as floating-point numbers."""
    return np.bincount(where, units, minlength=length).astype(np.int64)


def _moments(
    values: NDArray[Any], leaf: Ints, leaves: int, units: NDArray[np.int32] | None, unit: float
) -> LeafContent:
    rows = _counts(leaf, units, leaves)
    with np.errstate(over="ignore"):
        each = values if units is None else units * values
        mean = np.bincount(leaf, each, minlength=leaves) / np.maximum(rows, 1)
        squares = (values - mean[leaf]) ** 2
        spread = np.bincount(leaf, squares if units is None else units * squares, minlength=leaves)
    return LeafContent(rows, mean=mean, spread=np.asarray(spread, dtype=np.float64), unit=unit)
