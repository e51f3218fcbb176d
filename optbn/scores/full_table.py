"""FT: the log marginal likelihood of a full table, every configuration of the parents a leaf of its own.

    score(v, P) = max over tables on P of sum over cells R of log m(R)

with leaves as in trees/leaves.py and no structure prior; FTP adds log pi_v(P), pi_v(P) being 1 / binom(n-1, |P|). A
categorical or ordinal parent is split into its levels; a real parent into 2..max_bins bins of about as many rows each,
whichever number is best jointly with those of the other real parents (trees/cuts.py).

Families of purely categorical data need no choice: their sums over cells are those of scores/counting.py.
Source: Talvitie, Eggeling, Koivisto, "Learning Bayesian networks with local structure, mixed variables, and exact
algorithms", International Journal of Approximate Reasoning 115, 2019. Twin: tests/naive/pcart.py.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import CheckError, LimitError, UnsupportedError
from optbn.base.settings import check_whole
from optbn.data.dataset import Categorical, Dataset, Real
from optbn.data.weights import Weights
from optbn.scores.by_evidence import bound_by_evidence
from optbn.scores.counting import CountScore, CountTerms
from optbn.scores.kernels.tables import score_tables
from optbn.scores.parent_priors import BoundWithPrior, bound_prior
from optbn.scores.protocol import BoundScore, one_family
from optbn.scores.terms import Term, log_gamma
from optbn.scores.trees.columns import Columns
from optbn.scores.trees.cuts import quantiles, with_numbers
from optbn.scores.trees.leaves import LeafContent, LeafPrior
from optbn.scores.trees.responses import BoundLeaves, tabulated
from optbn.scores.trees.space import table_space

Floats = NDArray[np.float64]
MOST_TABLES = 10**6
"""A predictor set with more joint choices of bins than this is refused."""
MOST_CELLS = 1 << 30
"""A table of more cells is not written down by `fitted`; scoring has no such limit."""


@dataclass(frozen=True)
class FT(LeafPrior, CountTerms):
    """Full tables; see optbn/scores/trees/leaves.py for alpha, nu, lambda, mean and a.

    max_bins  the most bins a real parent may be cut into, at least 2
    """

    paper: ClassVar[str] = (
        "Trees and bins: Talvitie, Eggeling, Koivisto (2019), Learning Bayesian networks with local "
        "structure, mixed variables, and exact algorithms, International Journal of Approximate Reasoning "
        "115."
    )

    max_bins: int = 7

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole(self, "max_bins", 2)
        if self.max_bins > 1000:
            raise UnsupportedError(f"max-bins is {self.max_bins}; it may be at most 1000")

    def bind(self, data: Dataset) -> BoundScore:
        return bound_by_evidence(self, data, FT._bind) if self.by_evidence else self._bind(data)

    def _bind(self, data: Dataset) -> BoundScore:
        leaves = BoundLeaves(self, Columns(data, 0))
        if not leaves.is_real.any() and not isinstance(self.alpha, Mapping) and not leaves.penalised:
            return CountedTables(self, leaves)
        return BinnedTables(self, BoundLeaves(self, Columns(tabulated(data), 0)))

    # What counting.py asks of a score of categorical data; one alpha
    def joint(self, cells: float) -> Term:
        return log_gamma(float(self.alpha))  # type: ignore[arg-type]

    def parent(self, configurations: float, levels: int) -> Term:
        return log_gamma(float(self.alpha) * levels)  # type: ignore[arg-type]


@dataclass(frozen=True)
class FTP(FT):
    """FT with the prior 1 / binom(n-1, |P|) over parent sets."""

    def bind(self, data: Dataset) -> BoundWithPrior:
        return BoundWithPrior(super().bind(data), bound_prior("size", data.names))


@dataclass(frozen=True, eq=False)
class FittedTable:
    """The table of a family.

    child, parents  variable numbers; parents ascending
    score           the family's score
    cuts            per parent its ascending cut points (x < cut goes left); none for a categorical one
    content         what each cell's rows look like; cells in mixed radix, the last parent fastest
    """

    child: int
    parents: tuple[int, ...]
    score: float
    cuts: tuple[Floats, ...]
    content: LeafContent


class Cuts(NamedTuple):
    """All ways to cut each variable; see kernels/tables.py. points[v] has one array of cut points per way."""

    cells: NDArray[np.int32]
    sizes: NDArray[np.int64]
    first: NDArray[np.int64]
    options: NDArray[np.int64]


def _ways(domain: Real, column: Floats, weights: Weights | None, most: int) -> Iterator[Floats]:
    """The cuts into 2.. bins; rows without a number have a bin of their own, above infinity."""
    numbers, weights = with_numbers(column, weights)
    for bins in range(2, most + 1):
        cuts = quantiles(numbers, bins, weights) if len(numbers) else np.zeros(0)
        yield np.append(cuts, np.inf) if domain.absent else cuts


@dataclass(frozen=True, eq=False)
class BinnedTables:
    """FT tied to data with real columns. It keeps nothing, so threads may share it."""

    score: FT
    leaves: BoundLeaves

    def block(self, sets: NDArray[np.int32], wanted: NDArray[np.bool_], floor: Floats | None = None) -> Floats:
        """See optbn.scores.protocol.BoundScore; tables have no bound cheaper than themselves."""
        return self._scores(sets, wanted)[0]

    def fitted(self, child: int, parents: tuple[int, ...]) -> FittedTable:
        """The best table of one family."""
        parents = tuple(sorted(parents))
        scores, chosen = self._scores(*one_family(child, parents, self.leaves.data.n_variables))
        number, cuts = int(chosen[0, child]), []
        for u in reversed(parents):
            number, way = divmod(number, len(self.points[u]))
            cuts.append(self.points[u][way])
        return _table(self.score, self.leaves, child, parents, float(scores[0, child]), tuple(reversed(cuts)))

    def _scores(self, sets: NDArray[np.int32], wanted: NDArray[np.bool_]) -> tuple[Floats, NDArray[np.int64]]:
        sets = np.ascontiguousarray(sets, dtype=np.int32)
        self._check(sets)
        out, chosen, responses = np.empty(wanted.shape), np.zeros(wanted.shape, np.int64), self.leaves.responses
        score_tables(
            sets,
            np.ascontiguousarray(wanted, dtype=np.bool_),
            tuple(self.ways),
            tuple(responses),
            tuple(self.leaves.tables),
            table_space(sets.shape[1], int(self.ways.sizes.max()), responses),
            out,
            chosen,
        )
        return out + self.leaves.jacobian, chosen

    def _check(self, sets: NDArray[np.int32]) -> None:
        """Refuse sets with too many joint choices of bins."""
        number = self.ways.options.astype(np.float64)[sets].prod(axis=1)
        if number.max(initial=0) > MOST_TABLES:
            members = sets[int(np.argmax(number))]
            names = ", ".join(repr(self.leaves.data.names[u]) for u in members if self.ways.options[u] > 1)
            raise LimitError(
                f"the real parents {names} can be cut into bins in {number.max():,.0f} ways, at most {MOST_TABLES:,} "
                "are tried: lower --max-bins or --max-parents"
            )

    @cached_property
    def points(self) -> tuple[tuple[Floats, ...], ...]:
        """Per variable the cut points of every way; a categorical one has one way, without points."""
        none = (np.zeros(0),)
        data = self.leaves.data
        return tuple(
            none if isinstance(domain, Categorical) else tuple(_ways(domain, column, data.weights, self.score.max_bins))
            for domain, column in zip(data.domains, data.columns, strict=True)
        )

    @cached_property
    def ways(self) -> Cuts:
        """The cells of every row under every way."""
        data = self.leaves.data
        options = np.array([len(points) for points in self.points], np.int64)
        first = np.cumsum(options) - options
        cells = np.empty((int(options.sum()), data.n_rows), np.int32)
        sizes = np.empty(len(cells), np.int64)
        for v, column in enumerate(data.columns):
            for way, points in enumerate(self.points[v]):
                at = first[v] + way
                if isinstance(data.domains[v], Categorical):
                    codes = self.leaves.columns.observed[v]
                    cells[at], sizes[at] = np.searchsorted(codes, column), len(codes)
                else:
                    cells[at], sizes[at] = np.searchsorted(points, column, side="right"), len(points) + 1
        return Cuts(cells, sizes, first, options)


class CountedTables:
    """FT tied to categorical data."""

    def __init__(self, score: FT, leaves: BoundLeaves) -> None:
        self._score, self._leaves = score, leaves
        self._counts = CountScore(score, leaves.data)

    def limit_memory(self, size: int) -> None:
        """See optbn.scores.protocol."""
        self._counts.limit_memory(size)

    def block(self, sets: NDArray[np.int32], wanted: NDArray[np.bool_], floor: Floats | None = None) -> Floats:
        """See optbn.scores.protocol.BoundScore."""
        return self._counts.block(sets, wanted, floor)

    def fitted(self, child: int, parents: tuple[int, ...]) -> FittedTable:
        """The table of one family."""
        parents = tuple(sorted(parents))
        score = self.block(*one_family(child, parents, self._leaves.data.n_variables))[0, child]
        return _table(self._score, self._leaves, child, parents, float(score), (np.zeros(0),) * len(parents))


def _table(
    score: FT, leaves: BoundLeaves, child: int, parents: tuple[int, ...], value: float, cuts: tuple[Floats, ...]
) -> FittedTable:
    """The table with those cuts, checked against the score it should have."""
    data = leaves.data
    shape = [data.cardinalities[u] or len(points) + 1 for u, points in zip(parents, cuts, strict=True)]
    if math.prod(shape) * max(1, data.cardinalities[child]) > MOST_CELLS:
        raise LimitError(
            f"the table of {data.names[child]!r} given {', '.join(repr(data.names[u]) for u in parents)} has "
            f"{math.prod(shape):.2g} cells, too many to write down: use pcart, or fewer parents"
        )
    cell = np.zeros(data.n_rows, np.int64)
    for u, points, size in zip(parents, cuts, shape, strict=True):
        column = data.columns[u]
        cell = cell * size + (column if data.cardinalities[u] else np.searchsorted(points, column, side="right"))
    again = leaves.log_likelihood(child, cell, math.prod(shape))
    if abs(again - value) > 1e-9 * max(1.0, abs(value)):
        raise CheckError(
            f"the table found for variable {child} given {parents} scores {again}, its search said {value}; "
            "please report this"
        )
    return FittedTable(child, parents, value, cuts, leaves.content(child, cell, math.prod(shape)))
