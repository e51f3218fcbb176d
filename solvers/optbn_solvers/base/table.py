"""The instance every solver works on: per child a list of candidate parent sets with scores.

Scores snap to a power-of-two grid when the table is built (base.grid says which): the quantum is 2^-k, as a rule with
k = 51 - ceil(log2(n max|s|)), and a row stores the integer `units = score / quantum`. The units of one row per variable
then add up below 2^51, so float64 sums of scores are exact, addition is order-independent, ties are real and every
solver can agree to the bit. What is optimal on the grid is optimal in the file to within `tolerance`.

Rows of child v are `offsets[v]:offsets[v+1]`, best first (equal scores: fewer parents, then smaller mask). A row that
is dominated (some subset scores at least as much) is dropped unless the caller wants all: no optimum needs it.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from optbn_solvers.base.errors import InfeasibleError, TableError, repeated
from optbn_solvers.base.grid import settle
from optbn_solvers.base.kernels.masks import pack_sets, undominated, unplaced


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """Immutable; build it with `build`, `from_dict` or a reader in `optbn_solvers.base.files`.

    names     the n variables, in order
    offsets   int64[n + 1]
    masks     uint64[m, W], bit u of the row (word u // 64, bit u % 64) says that u is a parent
    units     int64[m], the score in units of `quantum`
    exponent  quantum = 2.0 ** -exponent
    whole     whether rows that a subset of theirs beats are among them; None: not known (base.whole looks)
    """

    names: tuple[str, ...]
    offsets: NDArray[np.int64]
    masks: NDArray[np.uint64]
    units: NDArray[np.int64]
    exponent: int
    whole: bool | None = None

    def __post_init__(self) -> None:
        for array in (self.offsets, self.masks, self.units):
            array.setflags(write=False)

    @classmethod
    def build(
        cls,
        names: Sequence[str],
        children: NDArray[np.integer],
        masks: NDArray[np.uint64],
        scores: NDArray[np.float64],
        keep_dominated: bool = False,
        whole: bool | None = None,
    ) -> ScoreTable:
        """A table from unsorted rows: `children` int[m], `masks` uint64[m, W], `scores` float64[m].

        No optimum needs a dominated row, but the k best graphs and averages over all graphs do: `keep_dominated`.
        `whole` is what is known of the rows that are given.
        """
        names = tuple(str(name) for name in names)
        n, words = len(names), max(1, -(-len(names) // 64))
        if n == 0:
            raise TableError("a score table needs at least one variable")
        if len(set(names)) != n:
            raise TableError(f"variable {repeated(names)!r} is named twice")
        children = np.ascontiguousarray(children, dtype=np.int64)
        masks = np.ascontiguousarray(masks, dtype=np.uint64).reshape(len(children), words)
        scores = np.ascontiguousarray(scores, dtype=np.float64)
        counts = _checked_counts(names, children, masks, scores)
        total = len(scores)
        rows, exponent = settle(n, children.astype(np.int64), masks, scores, keep_dominated)
        if len(rows) < len(scores):
            _refuse_contradictions(names, children, masks, scores)
            children, masks, scores = children[rows], masks[rows], scores[rows]
            counts = np.bincount(children, minlength=n)
        units = np.rint(np.ldexp(scores, exponent)).astype(np.int64)
        sizes = np.bitwise_count(masks).sum(axis=1, dtype=np.int64)
        order = np.lexsort((*masks.T, sizes, -units, children))
        children, masks, units = children[order], masks[order], units[order]
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        doubled = (np.diff(children) == 0) & (masks[1:] == masks[:-1]).all(axis=1)
        keep: NDArray[np.bool_] = undominated(offsets, masks, units)
        # The best of several rows of one set comes first and "dominates" the others, so different scores for the
        # same set would be dropped silently by `keep`; that is a contradiction in the input, not a dominated row.
        if not (doubled.all() or keep.all()):
            _refuse_contradictions(names, children, masks, units)
        if keep_dominated:
            keep = np.concatenate([[True], ~doubled])
        kept = np.concatenate([[0], np.cumsum(keep)])
        whole = False if not keep[~np.concatenate([[False], doubled])].all() or len(rows) < total else whole
        return cls(names, kept[offsets].astype(np.int64), masks[keep], units[keep], exponent, whole)

    @classmethod
    def from_dict(cls, families: Mapping[str, Mapping[Iterable[str], float]]) -> ScoreTable:
        """A table from {child: {parents: score}}, the parents a tuple or frozenset of names: for examples and tests."""
        names = list(families)
        index = {name: i for i, name in enumerate(names)}
        children, sets, scores = [], [], []
        for child, rows in families.items():
            for parents, score in rows.items():
                unknown = [p for p in parents if p not in index]
                if unknown:
                    raise TableError(f"{child!r} has an unknown parent {unknown[0]!r}")
                children.append(index[child])
                sets.append([index[p] for p in parents])
                scores.append(score)
        return cls.build(
            names,
            np.array(children, dtype=np.int64),
            pack_sets(sets, len(names)),
            np.array(scores, dtype=np.float64),
        )

    @property
    def n(self) -> int:
        """Number of variables."""
        return len(self.names)

    @property
    def words(self) -> int:
        """64-bit words per mask."""
        return self.masks.shape[1]

    def __len__(self) -> int:
        """Number of families (rows)."""
        return len(self.units)

    @property
    def quantum(self) -> float:
        """The grid step; every score is an integer multiple of it."""
        return math.ldexp(1.0, -self.exponent)

    @property
    def tolerance(self) -> float:
        """By how much the order of two graphs may differ from that of their scores before rounding: n quanta."""
        return math.ldexp(float(self.n), -self.exponent)

    @cached_property
    def scores(self) -> NDArray[np.float64]:
        """float64[m], exactly units * quantum."""
        return np.ldexp(self.units.astype(np.float64), -self.exponent)

    @cached_property
    def children(self) -> NDArray[np.int64]:
        """int64[m], the child each row belongs to."""
        return np.repeat(np.arange(self.n), np.diff(self.offsets))

    def rows(self, child: int) -> range:
        """The rows of a child, best first."""
        return range(int(self.offsets[child]), int(self.offsets[child + 1]))

    def parents(self, row: int) -> tuple[int, ...]:
        """The members of a row's parent set, ascending."""
        return mask_members(self.masks[row])

    def find(self, child: int, parents: Iterable[int]) -> int | None:
        """The row of child with exactly these parents, or None."""
        mask = pack_sets([list(parents)], self.n)[0]
        lo, hi = self.offsets[child], self.offsets[child + 1]
        hit = np.flatnonzero((self.masks[lo:hi] == mask).all(axis=1))
        return int(lo + hit[0]) if len(hit) else None

    def select(self, keep: NDArray[np.bool_] | Sequence[bool], prune: bool) -> NDArray[np.int64]:
        """The numbers of the rows marked in `keep`; with `prune`, without those that one of the others dominates."""
        rows = np.flatnonzero(keep)
        if prune:
            rows = rows[undominated(np.searchsorted(rows, self.offsets), self.masks[rows], self.units[rows])]
        return rows

    def restricted(self, rows: NDArray[np.int64]) -> ScoreTable:
        """The table of some rows (ascending, at least one per child), on the same grid."""
        offsets = np.searchsorted(rows, self.offsets).astype(np.int64)
        return ScoreTable(self.names, offsets, self.masks[rows], self.units[rows], self.exponent, self.whole)

    def graph(self, choice: Sequence[int]) -> dict[str, tuple[str, ...]]:
        """The graph of one row per child as {variable: its parents}, in names."""
        return {
            name: tuple(self.names[u] for u in self.parents(row)) for name, row in zip(self.names, choice, strict=True)
        }

    def check_feasible(self) -> None:
        """Raise InfeasibleError, naming the variables that cannot be placed, when no acyclic graph can be chosen."""
        stuck = np.flatnonzero(unplaced(self.offsets, self.masks))
        if len(stuck):
            shown = ", ".join(repr(self.names[v]) for v in stuck[:10]) + (", ..." if len(stuck) > 10 else "")
            raise InfeasibleError(
                f"no acyclic graph can be chosen: every parent set of {shown} needs another of them; "
                "give one of them a smaller parent set (the empty set, say)"
            )

    def total(self, choice: Sequence[int] | NDArray[np.int64]) -> float:
        """The exact score of one row per child."""
        return self.score_of(self.total_units(choice))

    def units_of(self, score: float) -> int:
        """The units of a score that lies on the grid."""
        return int(math.ldexp(score, self.exponent))

    def score_of(self, units: int) -> float:
        """A sum of units as a score (exact below 2^53 units)."""
        return math.ldexp(float(units), -self.exponent)

    def total_units(self, choice: Sequence[int] | NDArray[np.int64]) -> int:
        """The exact score of one row per child, in units."""
        return int(self.units[np.asarray(choice, dtype=np.int64)].sum())

    @cached_property
    def digest(self) -> str:
        """sha256 over names, grid and rows: two tables with one digest are one instance."""
        h = hashlib.sha256()
        h.update("\0".join(self.names).encode())
        h.update(f"|{self.exponent}|{self.words}|".encode())
        for array in (self.offsets, self.masks, self.units):
            h.update(np.ascontiguousarray(array).tobytes())
        return h.hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ScoreTable) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"ScoreTable({self.n} variables, {len(self)} parent sets, digest {self.digest[:8]})"


def mask_members(mask: NDArray[np.uint64]) -> tuple[int, ...]:
    """The positions of the set bits of uint64[W], ascending."""
    members = []
    for word, bits in enumerate(mask.tolist()):
        while bits:
            low = bits & -bits
            members.append(64 * word + low.bit_length() - 1)
            bits ^= low
    return tuple(members)


def _checked_counts(
    names: Sequence[str], children: NDArray[np.integer], masks: NDArray[np.uint64], scores: NDArray[np.float64]
) -> NDArray[np.int64]:
    """How many rows each variable has, once no row is impossible."""
    n = len(names)
    if len(scores) != len(children):
        raise TableError(f"{len(children)} rows but {len(scores)} scores")

    def describe(row: int) -> str:
        parents = [names[u] for u in mask_members(masks[row])]
        return f"{names[children[row]]!r} with parents {{{', '.join(parents)}}}"

    if len(children) and (children.min() < 0 or children.max() >= n):
        odd = children[(children < 0) | (children >= n)][0]
        raise TableError(f"a row belongs to child number {odd}, but the {n} variables are numbered from 0")
    bad = np.flatnonzero(~np.isfinite(scores))
    if len(bad):
        raise TableError(f"the score of {describe(int(bad[0]))} is {scores[bad[0]]}; scores must be finite numbers")
    own = (masks[np.arange(len(children)), children // 64] >> (children % 64).astype(np.uint64)) & np.uint64(1)
    if own.any():
        child = names[children[np.flatnonzero(own)[0]]]
        raise TableError(f"{child!r} is listed as a parent of itself")
    if n % 64 and (masks[:, -1] >> np.uint64(n % 64)).any():
        raise TableError("a parent mask has a bit beyond the last variable")
    counts: NDArray[np.int64] = np.bincount(children, minlength=n)
    if (counts == 0).any():
        child = names[int(np.argmin(counts))]
        raise TableError(f"{child!r} has no candidate parent set; give it at least one (the empty set, say)")
    return counts


def _refuse_contradictions(
    names: tuple[str, ...],
    children: NDArray[np.integer],
    masks: NDArray[np.uint64],
    scores: NDArray[np.integer] | NDArray[np.floating],
) -> None:
    """Raise when one parent set of a child carries two different scores (or units)."""
    order = np.lexsort((scores, *masks.T, children))
    same = (np.diff(children[order]) == 0) & (masks[order][1:] == masks[order][:-1]).all(axis=1)
    clash = same & (scores[order][1:] != scores[order][:-1])
    if clash.any():
        row = order[int(np.flatnonzero(clash)[0])]
        parents = ", ".join(names[u] for u in mask_members(masks[row]))
        raise TableError(f"{names[children[row]]!r} has two different scores for the parents {{{parents}}}")
