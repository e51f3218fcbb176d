"""Valid inequalities, in the one form the solver uses:  sum of a(v, P) x(v, P) <= rhs  for every DAG x.

    Cluster  C     sum over (v in C, P meets C) of x(v, P) <= |C| - 1        (some v in C has P disjoint from C)
    Opening  C     - sum over (v in C, P disjoint from C) of x(v, P) <= -1   (the same, as each v has one family: of a
                                                                              large C few families are disjoint)
    Pattern  C, a  sum over (v in C) of a[v, P & C] x(v, P) <= rhs           (true on C, hence true everywhere: a DAG
                                                                              on all variables induces one on C)

and, under constraints, of what every graph that obeys them satisfies:
    Rule   literals     sum over its literals of x(v, P) for the P that make it false <= literals - 1
    Limit  U            sum of |P & U| x(v, P) <= rhs
Coefficients and right-hand sides are integers, so a bound made of rows with integer multipliers is exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from optbn_solvers.base.kernels.masks import pack_sets
from optbn_solvers.base.solution import ClauseRow, ClusterRow, LimitRow, Literal, SubsetRow
from optbn_solvers.relaxation.kernels.families import cluster_entries, pattern_entries
from optbn_solvers.relaxation.kernels.local import project

if TYPE_CHECKING:
    from optbn_solvers.relaxation.families import Families

Entries = tuple[NDArray[np.int64], NDArray[np.int64]]
LARGE = 0.3  # of the variables: from here on the disjoint families of a cluster are fewer than those that meet it


@dataclass(frozen=True)
class Cluster:
    """The cluster inequality of `members`, ascending."""

    members: tuple[int, ...]

    @property
    def rhs(self) -> int:
        return len(self.members) - 1

    def entries(self, families: Families) -> Entries:
        """The families with a coefficient, and the coefficients."""
        index = _families_of(families, self.members, True)
        return index, np.broadcast_to(np.int64(1), len(index))

    def lean(self, n: int) -> Cluster | Opening:
        """The same row with fewer coefficients, if it is a large one among n variables."""
        return Opening(self.members) if len(self.members) > max(3, LARGE * n) else self

    def evidence(self, families: Families, multiplier: int) -> ClusterRow:
        """The row as the checker reads it."""
        return ClusterRow(self.members, multiplier)


@dataclass(frozen=True)
class Opening:
    """The cluster inequality of `members` by the families that are disjoint from them."""

    members: tuple[int, ...]
    rhs: ClassVar[int] = -1

    def entries(self, families: Families) -> Entries:
        """The families with a coefficient, and the coefficients."""
        index = _families_of(families, self.members, False)
        return index, np.broadcast_to(np.int64(-1), len(index))

    def evidence(self, families: Families, multiplier: int) -> ClusterRow:
        """The row as the checker reads it."""
        return ClusterRow(self.members, multiplier)


def _families_of(families: Families, members: tuple[int, ...], meeting: bool) -> NDArray[np.int64]:
    """The members' families that meet the members, or those that do not."""
    inside = np.zeros(families.n, dtype=np.bool_)
    inside[list(members)] = True
    index = np.empty(len(families), dtype=np.int64)
    count = cluster_entries(families.offsets, families.starts, families.parents, inside, meeting, index)
    return index[:count].copy()


@dataclass(frozen=True, eq=False)
class Pattern:
    """An inequality on the families' traces in `members`: `table` int64[m, 2^m], bit j of a column is members[j]."""

    members: tuple[int, ...]
    table: NDArray[np.int64]
    rhs: int

    def entries(self, families: Families) -> Entries:
        """The families with a coefficient, and the coefficients."""
        index = np.empty(len(families), dtype=np.int64)
        value = np.empty(len(families), dtype=np.int64)
        members = np.array(self.members, dtype=np.int64)
        count = pattern_entries(families.offsets, families.starts, families.parents, members, self.table, index, value)
        return index[:count].copy(), value[:count].copy()

    def evidence(self, families: Families, multiplier: int) -> SubsetRow:
        """The row as the checker reads it, with the patterns that some family has."""
        traces = traces_of(families, self.members)
        traces[:, 0] = 1
        coefficients = [
            (v, tuple(u for k, u in enumerate(self.members) if pattern >> k & 1), int(self.table[j, pattern]))
            for j, v in enumerate(self.members)
            for pattern in np.flatnonzero((traces[j] > 0) & (self.table[j] > 0)).tolist()
        ]
        return SubsetRow(self.members, tuple(sorted(coefficients)), self.rhs, multiplier)


@dataclass(frozen=True)
class Rule:
    """One of the literals holds (optbn_solvers.base.residual)."""

    literals: tuple[Literal, ...]
    members: ClassVar[tuple[int, ...]] = ()  # no set to branch on

    @property
    def rhs(self) -> int:
        return len(self.literals) - 1

    def entries(self, families: Families) -> Entries:
        """The families with a coefficient, and the coefficients."""
        index = [np.zeros(0, dtype=np.int64)]
        for literal in self.literals:
            own = np.arange(families.offsets[literal.child], families.offsets[literal.child + 1])
            others = pack_sets([literal.others], families.n)[0]
            common = families.masks[own] & others
            false = (common == 0).all(axis=1) if literal.meets else (common == others).all(axis=1)
            index.append(own[false])
        found = np.concatenate(index)
        return found, np.broadcast_to(np.int64(1), len(found))

    def evidence(self, families: Families, multiplier: int) -> ClauseRow:
        """The row as the checker reads it."""
        return ClauseRow(self.literals, multiplier)


@dataclass(frozen=True)
class Limit:
    """At most `rhs` arcs begin in `parents`."""

    parents: tuple[int, ...]
    rhs: int
    members: ClassVar[tuple[int, ...]] = ()

    def entries(self, families: Families) -> Entries:
        """The families with a coefficient, and the coefficients."""
        counts = np.bitwise_count(families.masks & pack_sets([self.parents], families.n)[0]).sum(axis=1, dtype=np.int64)
        index = np.flatnonzero(counts)
        return index, counts[index]

    def evidence(self, families: Families, multiplier: int) -> LimitRow:
        """The row as the checker reads it."""
        return LimitRow(self.parents, self.rhs, multiplier)


Row = Cluster | Opening | Pattern | Rule | Limit


def traces_of(families: Families, members: tuple[int, ...]) -> NDArray[np.float64]:
    """float64[m, 2^m]: how many families of each member have each trace in `members` (the empty one is not counted)."""
    own = np.concatenate([np.arange(families.offsets[v], families.offsets[v + 1]) for v in members])
    starts, parents = families.lists(own)
    counts = np.zeros((len(members), 1 << len(members)))
    nodes = np.array(members, dtype=np.int64)
    project(nodes, families.n, families.children[own], starts, parents, np.ones(len(own)), counts)
    return counts
