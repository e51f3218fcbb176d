"""Which parent sets are candidates: size limits, forbidden and required arcs, tiers, roots and leaves.

All of these say, per child, which variables may be parents, which must be, and how many there may be. The descendants
of a child along required arcs can never be its parents (that would close a cycle), so they are not allowed either.
Constraints on the graph as a whole leave no parent set out here; the search respects them.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from optbn.base.registry import unknown
from optbn_solvers.base.constraints import Constraints
from optbn_solvers.base.errors import ConstraintError

Arc = tuple[str, str]
Limit = int | Literal["all"]

DEFAULT_LIMIT = 3

log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class ParentSets:
    """The candidate parent sets of every child; make it with `of`.

    allowed      bool[n, n], whether the column's variable may be a parent of the row's
    required     bool[n, n], whether it must be; a subset of `allowed`
    max_parents  int64[n], at least as many as are required, at most as many as are allowed
    """

    allowed: NDArray[np.bool_]
    required: NDArray[np.bool_]
    max_parents: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        max_parents: Limit | Mapping[str, Limit] | None = None,
        words: Constraints | None = None,
    ) -> ParentSets:
        """What the constraints allow; contradictions are refused by name.

        max_parents  a limit for all, or per variable ("*" for those not listed), "all" for none; DEFAULT_LIMIT
        words        the user's constraints, of which those about single arcs, tiers, roots and leaves count here
        """
        words, n = words or Constraints(), len(names)
        permitted = _Permitted(names, words)
        allowed = permitted.allowed
        must = np.zeros((n, n), dtype=np.bool_)
        for parent, child in words.required:
            p, c = permitted.at(parent), permitted.at(child)
            if not allowed[c, p]:
                raise ConstraintError(f"the required arc {parent} -> {child} {permitted.why[c, p]}")
            must[c, p] = True
        ancestors = _closure(names, must)
        allowed &= ~ancestors.T

        limit = _limits(names, max_parents)
        for v in range(n):
            parents = [names[u] for u in np.flatnonzero(must[v]).tolist()]
            if len(parents) > limit[v]:
                raise ConstraintError(
                    f"{names[v]!r} may have {limit[v]} parents, but needs {len(parents)}: {', '.join(parents)}"
                )
        return cls(allowed, must, np.minimum(limit, allowed.sum(axis=1)))

    def at_most(self, size: int) -> ParentSets:
        """With at most `size` parents, or those that are required."""
        return replace(self, max_parents=np.minimum(self.max_parents, np.maximum(size, self.needs)))

    def narrowed(self, allowed: NDArray[np.bool_]) -> ParentSets:
        """With fewer parents allowed, bool[n, n]; all that are required are still among them."""
        assert (self.required <= allowed).all() and (allowed <= self.allowed).all()
        return replace(self, allowed=allowed, max_parents=np.minimum(self.max_parents, allowed.sum(axis=1)))

    @property
    def n(self) -> int:
        return len(self.allowed)

    @property
    def largest(self) -> int:
        """The size of the largest candidate of any child."""
        return int(self.max_parents.max())

    def wanted(self, sets: NDArray[np.int32]) -> NDArray[np.bool_]:
        """bool[m, n]: whether set i is a candidate of child v."""
        k = sets.shape[1]
        may: NDArray[np.bool_] = np.broadcast_to(self.max_parents >= k, (len(sets), self.n)).copy()
        for j in range(k):
            may &= self._allowed_by_parent[sets[:, j]]
        if self.needs.any():
            has = np.zeros((len(sets), self.n), dtype=np.int64)
            for j in range(k):
                has += self._required_by_parent[sets[:, j]]
            may &= has == self.needs
        return may

    def count(self, size: int) -> int:
        """How many candidates of that size there are, over all children."""
        free = self.allowed.sum(axis=1) - self.needs
        return sum(
            math.comb(int(free[v]), size - int(self.needs[v]))
            for v in range(self.n)
            if self.needs[v] <= size <= self.max_parents[v]
        )

    @cached_property
    def needs(self) -> NDArray[np.int64]:
        """int64[n], how many parents each child must have at least."""
        counts: NDArray[np.int64] = self.required.sum(axis=1)
        return counts

    @cached_property
    def _allowed_by_parent(self) -> NDArray[np.bool_]:
        return np.ascontiguousarray(self.allowed.T)

    @cached_property
    def _required_by_parent(self) -> NDArray[np.bool_]:
        return np.ascontiguousarray(self.required.T)


def _limits(names: Sequence[str], max_parents: Limit | Mapping[str, Limit] | None) -> NDArray[np.int64]:
    """int64[n], the size limits, none of them above n - 1."""
    n = len(names)
    default: Limit = min(DEFAULT_LIMIT, n - 1)
    if isinstance(max_parents, Mapping):
        for name in max_parents:
            if name != "*" and name not in names:
                raise unknown("variable", name, names)
        default = max_parents.get("*", default)
        limits = {name: max_parents.get(name, default) for name in names}
    else:
        limits = dict.fromkeys(names, default if max_parents is None else max_parents)
    sizes = np.empty(n, np.int64)
    for v, name in enumerate(names):
        limit = limits[name]
        if limit == "all":
            limit = n - 1
        if isinstance(limit, bool) or not isinstance(limit, (int, np.integer)) or limit < 0:
            raise ConstraintError(f"max_parents of {name!r} is {limit!r}, expected an integer of at least 0, or 'all'")
        sizes[v] = limit
    if sizes.max() > n - 1:
        others = f"{n - 1} other{'s' if n != 2 else ''}"
        log.warning("max_parents is %d, but a variable has only %s: using %d", sizes.max(), others, n - 1)
    return np.minimum(sizes, n - 1)


class _Permitted:
    """bool[n, n], [v, u] whether u may be a parent of v by what the user forbids, and why not, for messages."""

    def __init__(self, names: Sequence[str], words: Constraints) -> None:
        n = len(names)
        self.names, self.index = names, {name: v for v, name in enumerate(names)}
        self.allowed = ~np.eye(n, dtype=np.bool_)
        self.why = np.full((n, n), "", dtype=object)
        edges = [*words.forbidden_edges, *((v, u) for u, v in words.forbidden_edges)]
        for parent, child in (*words.forbidden, *edges):
            self._forbid(self.at(child), self.at(parent), "is also forbidden")
        self._keep_to_tiers(words.tiers)
        for name in words.roots:
            for u in range(n):
                self._forbid(self.at(name), u, f"goes against {name!r} being a root")
        for name in words.leaves:
            for v in range(n):
                self._forbid(v, self.at(name), f"goes against {name!r} being a leaf")

    def at(self, name: str) -> int:
        if name not in self.index:
            raise unknown("variable", name, self.names)
        return self.index[name]

    def _forbid(self, child: int, parent: int, reason: str) -> None:
        self.allowed[child, parent] = False
        self.why[child, parent] = reason

    def _keep_to_tiers(self, tiers: Iterable[Iterable[str]]) -> None:
        tier: dict[int, int] = {}
        for number, members in enumerate(tiers):
            for name in members:
                v = self.at(name)
                if v in tier:
                    raise ConstraintError(f"{name!r} is in tier {tier[v] + 1} and in tier {number + 1}")
                tier[v] = number
        for v in tier:
            for u in tier:
                if tier[u] > tier[v]:
                    one, other = self.names[u], self.names[v]
                    self._forbid(v, u, f"goes against the tiers ({one!r} comes after {other!r})")


def _closure(names: Sequence[str], must: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """bool[n, n]: whether the column's variable is an ancestor of the row's along required arcs; a cycle is refused."""
    reach = must.copy()
    for middle in np.flatnonzero(must.any(axis=1) & must.any(axis=0)).tolist():  # others are within no walk
        reach |= reach[:, middle : middle + 1] & reach[middle]
    if reach.diagonal().any():
        start = int(np.flatnonzero(reach.diagonal())[0])
        walks: list[tuple[int, ...]] = [(start,)]
        seen = {start}  # along arcs, breadth first: a shortest cycle
        for walk in walks:
            for child in np.flatnonzero(must[:, walk[-1]] & reach[start]).tolist():
                if child == start:
                    cycle = " -> ".join(names[v] for v in (*walk, start))
                    raise ConstraintError(f"the required arcs form a cycle: {cycle}")
                if child not in seen:
                    seen.add(child)
                    walks.append((*walk, child))
    return reach
