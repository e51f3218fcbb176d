"""Local distributions, a closed set: TableCPD, TreeCPD, BinnedTableCPD.

Each is a partition of its parents' space into cells, and leaves that say what the child does in a cell:

    TableCPD        one cell per configuration of categorical parents; categorical leaves
    TreeCPD         one cell per leaf of a decision tree over parents of any kind; any leaves
    BinnedTableCPD  one cell per configuration, real parents cut into bins at given points; any leaves

A CPD carries its parents' names and domains, so it is checked when it is made and can be used alone. `columns` below
are the parents' values in their stated order: integer codes, or float64 for a real parent.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import NetworkError
from optbn.data.dataset import Categorical, Domain, Real
from optbn.network.leaves import CategoricalLeaves, Leaves
from optbn.network.tree import Tree
from optbn_solvers.base.errors import repeated


class _Local(ABC):
    """What the three kinds share: everything but how a row finds its cell."""

    domain: Domain
    parents: tuple[str, ...]
    parent_domains: tuple[Domain, ...]
    leaves: Leaves

    @abstractmethod
    def cells(self, columns: Sequence[NDArray[Any]], n: int) -> NDArray[np.int64]:
        """int64[n]: the cell of every row."""

    def log_density(self, values: NDArray[Any], columns: Sequence[NDArray[Any]]) -> NDArray[np.float64]:
        """float64[N]: log P(child = values | parents = columns), row by row; -inf where a probability is zero."""
        return self.leaves.log_density(self.cells(columns, len(values)), values)

    def sample(self, columns: Sequence[NDArray[Any]], n: int, generator: np.random.Generator) -> NDArray[Any]:
        """n values of the child (int64 codes, or float64) given its parents' columns."""
        return self.leaves.sample(self.cells(columns, n), generator)

    @property
    def n_parameters(self) -> int:
        """Free parameters of the leaves."""
        return self.leaves.n_parameters

    def to_frame(self) -> Any:
        """A pandas data frame with a row per cell: what the parents are there, then the levels' probabilities, or the
        parameters of the leaves."""
        import pandas

        from optbn.network.render import cpd_rows

        head, rows = cpd_rows(self)  # type: ignore[arg-type]
        return pandas.DataFrame(rows, columns=head)

    def __str__(self) -> str:
        from optbn.network.render import cpd_text

        return cpd_text("·", self)  # type: ignore[arg-type]

    def _check_shape(self, cells: int) -> None:
        if len(self.parents) != len(self.parent_domains):
            raise NetworkError(f"{len(self.parents)} parents but {len(self.parent_domains)} parent domains")
        if len(set(self.parents)) != len(self.parents):
            raise NetworkError(f"parent {repeated(self.parents)!r} is named twice")
        if self.leaves.cells != cells:
            raise NetworkError(f"{self.leaves.cells} leaves but the parents make {cells} cells")
        self.leaves.check_child(self.domain)


@dataclass(frozen=True, eq=False)
class TableCPD(_Local):
    """probabilities: float64[q1, .., qk, r], the parents in their stated order, then the child."""

    domain: Categorical
    parents: tuple[str, ...]
    parent_domains: tuple[Domain, ...]
    probabilities: NDArray[np.float64]

    def __post_init__(self) -> None:
        for name, domain in zip(self.parents, self.parent_domains, strict=False):
            if not isinstance(domain, Categorical):
                raise NetworkError(f"a table cannot have the real parent {name!r}; use a BinnedTableCPD or a TreeCPD")
        if not isinstance(self.domain, Categorical):
            raise NetworkError("a table is for a categorical variable; use a BinnedTableCPD or a TreeCPD")
        array = np.array(self.probabilities, dtype=np.float64, order="C")
        expected = (*self._sizes, len(self.domain.levels))
        if array.shape != expected:
            raise NetworkError(f"probabilities have the shape {array.shape}, expected {expected}")
        bad = CategoricalLeaves.invalid_row(array.reshape(-1, expected[-1]))
        if bad is not None:
            raise NetworkError(f"{self._describe(bad[0])}: {bad[1]}")
        array.setflags(write=False)
        object.__setattr__(self, "probabilities", array)
        self._check_shape(math.prod(self._sizes))

    @cached_property
    def _sizes(self) -> tuple[int, ...]:
        return tuple(len(d.levels) for d in self.parent_domains if isinstance(d, Categorical))

    def configuration(self, cell: int) -> tuple[str, ...]:
        """The parents' levels in a cell."""
        codes = np.unravel_index(cell, self._sizes) if self._sizes else ()
        return tuple(d.levels[int(c)] for d, c in zip(self.parent_domains, codes, strict=True))  # type: ignore[union-attr]

    def _describe(self, cell: int) -> str:
        return f"row ({', '.join(self.configuration(cell))})" if self.parents else "the table"

    @cached_property
    def leaves(self) -> CategoricalLeaves:  # type: ignore[override]
        """The same probabilities, one row per cell."""
        return CategoricalLeaves(self.probabilities.reshape(-1, self.probabilities.shape[-1]))

    def cells(self, columns: Sequence[NDArray[Any]], n: int) -> NDArray[np.int64]:
        return _mixed_radix(columns, self._sizes, n)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, TableCPD)
            and self.parents == other.parents
            and (self.domain, self.parent_domains) == (other.domain, other.parent_domains)
            and np.array_equal(self.probabilities, other.probabilities)
        )

    def __hash__(self) -> int:
        return hash((self.parents, self.probabilities.tobytes()))

    def __repr__(self) -> str:
        given = f" | {', '.join(self.parents)}" if self.parents else ""
        return f"TableCPD({len(self.domain.levels)} levels{given}, {self.leaves.cells} rows)"


@dataclass(frozen=True)
class TreeCPD(_Local):
    """A decision tree over the parents, and what the child does in each of its leaves."""

    domain: Domain
    parents: tuple[str, ...]
    parent_domains: tuple[Domain, ...]
    tree: Tree
    leaves: Leaves

    def __post_init__(self) -> None:
        # Trees are made by `Tree.build` for the parents' domains; made for others, the arrays would not fit together.
        fits = int(self.tree.parent.max()) < len(self.parent_domains)
        if not fits or Tree.build(self.tree.nodes(self.parent_domains), self.parent_domains) != self.tree:
            raise NetworkError("the tree was built for other parents")
        self._check_shape(self.tree.n_leaves)

    def cells(self, columns: Sequence[NDArray[Any]], n: int) -> NDArray[np.int64]:
        return self.tree.cells(columns, n)

    def __repr__(self) -> str:
        given = f" | {', '.join(self.parents)}" if self.parents else ""
        return f"TreeCPD({type(self.leaves).__name__}{given}, {self.leaves.cells} leaves)"


@dataclass(frozen=True, eq=False)
class BinnedTableCPD(_Local):
    """A full table: categorical parents by level, a real parent by the bin its value falls into.

    cuts    per parent its ascending cut points, float64[b - 1] for b bins; empty for a categorical parent.
            The bin of x is the number of cuts <= x (so x < cut goes left). The last cut of a parent in which rows may
            have no number is infinite: above it are those that have none.
    leaves  one cell per configuration, the last parent fastest
    """

    domain: Domain
    parents: tuple[str, ...]
    parent_domains: tuple[Domain, ...]
    cuts: tuple[NDArray[np.float64], ...]
    leaves: Leaves

    def __post_init__(self) -> None:
        if len(self.cuts) != len(self.parents):
            raise NetworkError(f"{len(self.parents)} parents but cut points for {len(self.cuts)}")
        frozen = []
        for name, domain, points in zip(self.parents, self.parent_domains, self.cuts, strict=False):
            array = np.array(points, dtype=np.float64)
            if isinstance(domain, Categorical) and len(array):
                raise NetworkError(f"cut points for the categorical parent {name!r}")
            finite = array[:-1] if isinstance(domain, Real) and domain.absent and array[-1:] == np.inf else array
            if not np.isfinite(finite).all() or not (np.diff(array) > 0).all():
                raise NetworkError(f"the cut points of parent {name!r} must be finite and ascending")
            array.setflags(write=False)
            frozen.append(array)
        object.__setattr__(self, "cuts", tuple(frozen))
        self._check_shape(math.prod(self._sizes))

    @cached_property
    def _sizes(self) -> tuple[int, ...]:
        return tuple(
            len(domain.levels) if isinstance(domain, Categorical) else len(points) + 1
            for domain, points in zip(self.parent_domains, self.cuts, strict=False)
        )

    def configuration(self, cell: int) -> tuple[str, ...]:
        """The parents' levels and bins in a cell."""
        codes = np.unravel_index(cell, self._sizes) if self._sizes else ()
        return tuple(
            domain.levels[int(code)] if isinstance(domain, Categorical) else _bin(points, int(code))
            for domain, points, code in zip(self.parent_domains, self.cuts, codes, strict=True)
        )

    def cells(self, columns: Sequence[NDArray[Any]], n: int) -> NDArray[np.int64]:
        bins = [
            np.searchsorted(points, column, side="right") if isinstance(domain, Real) else column
            for domain, points, column in zip(self.parent_domains, self.cuts, columns, strict=True)
        ]
        return _mixed_radix(bins, self._sizes, n)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, BinnedTableCPD)
            and self.parents == other.parents
            and (self.domain, self.parent_domains) == (other.domain, other.parent_domains)
            and all(np.array_equal(a, b) for a, b in zip(self.cuts, other.cuts, strict=True))
            and self.leaves == other.leaves
        )

    def __hash__(self) -> int:
        return hash((self.parents, self.leaves))

    def __repr__(self) -> str:
        given = f" | {', '.join(self.parents)}" if self.parents else ""
        return f"BinnedTableCPD({type(self.leaves).__name__}{given}, {self.leaves.cells} cells)"


CPD = TableCPD | TreeCPD | BinnedTableCPD


def _bin(points: NDArray[np.float64], number: int) -> str:
    low = f"{points[number - 1]:g} <= " if number else ""
    high = f" < {points[number]:g}" if number < len(points) else ""
    return f"{low}x{high}" if low or high else "any"


def _mixed_radix(columns: Sequence[NDArray[Any]], sizes: Sequence[int], n: int) -> NDArray[np.int64]:
    """int64[n]: the number of each row's configuration, the last column fastest."""
    cells = np.zeros(n, dtype=np.int64)
    for column, size in zip(columns, sizes, strict=True):
        cells *= size
        cells += column
    return cells
