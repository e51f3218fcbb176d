"""From constraints to the families that may be used, and what that leaves to say.

Out go the families with an arc that is forbidden itself or part of a forbidden adjacency, that goes against tiers or
order, into a root, out of a leaf or of a variable that may have no children, against a required arc, from a required
descendant to its ancestor, from a variable to what it may not be an ancestor of, or between the sides of an
independence; and those without a parent that is required. An adjacency with one direction left requires that arc.

What remains is `residual`. If all of that is hereditary, families that one of their subsets beats go as well.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from optbn_solvers.base.constraints import Constraints
from optbn_solvers.base.errors import ConstraintError, InfeasibleError
from optbn_solvers.base.kernels.masks import pack_sets
from optbn_solvers.base.residual import (
    Adjacency,
    Ancestor,
    ArcLimit,
    ChildLimit,
    Independence,
    NoAncestor,
    Order,
    Residual,
)
from optbn_solvers.base.table import ScoreTable


@dataclass(frozen=True, eq=False)
class Filtered:
    """`table` has the rows `rows` of the whole; `residual` is what its graphs must still satisfy.

    demanding   a family that one of its subsets beats may be needed, so the whole should have those
    """

    table: ScoreTable
    rows: NDArray[np.int64]
    residual: tuple[Residual, ...]
    demanding: bool = False

    def narrow(self, choice: Sequence[int] | None) -> list[int] | None:
        """A graph of the whole as one of this table; None if it has not all its rows or they break what is residual."""
        if choice is None:
            return None
        at = np.minimum(np.searchsorted(self.rows, choice), len(self.rows) - 1)
        if (self.rows[at] != np.asarray(choice)).any():
            return None
        parents = [sum(1 << u for u in self.table.parents(int(row))) for row in at]
        return None if any(each.broken(parents) for each in self.residual) else at.tolist()


def allowed_families(table: ScoreTable, constraints: Constraints, keep_dominated: bool = False) -> Filtered:
    """The table of the families that may be used, and what that leaves to say."""
    numbered = Numbered.of(constraints, table.names)
    arcs = numbered.arcs()
    residual = numbered.residual(arcs)
    allowed = pack_sets([np.flatnonzero(row).tolist() for row in arcs.allowed], table.n)[table.children]
    needed = pack_sets([np.flatnonzero(row).tolist() for row in arcs.required], table.n)[table.children]
    keep: NDArray[np.bool_] = ((table.masks & ~allowed) == 0).all(axis=1) & ((table.masks & needed) == needed).all(
        axis=1
    )
    none = np.flatnonzero(np.bincount(table.children[keep], minlength=table.n) == 0)
    if len(none):
        v = int(none[0])
        must = ", ".join(table.names[u] for u in np.flatnonzero(arcs.required[v]))
        out = ", ".join(table.names[u] for u in np.flatnonzero(~arcs.allowed[v]) if u != v)
        wants = "; ".join(f"{what} {{{which}}}" for what, which in (("with", must), ("without", out)) if which)
        raise InfeasibleError(
            f"the table has no parent set of {table.names[v]!r} that the constraints allow ({wants}); sets that one "
            "of their subsets beats are in a table only if it was made with them, by optbn score --keep-dominated say"
        )
    rows = table.select(keep, prune=not keep_dominated and all(each.hereditary for each in residual))
    demanding = bool((table.masks & needed != needed).any()) or not all(each.hereditary for each in residual)
    return Filtered(table.restricted(rows), rows, residual, demanding)


@dataclass(frozen=True, eq=False)
class Arcs:
    """bool[n, n] each, the row is the child's and the column the parent's."""

    allowed: NDArray[np.bool_]
    required: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Numbered:
    """The constraints with numbers for names."""

    names: tuple[str, ...]
    constraints: Constraints
    at: Mapping[str, int]
    before: NDArray[np.bool_]  # [u, v]: the order wants u before v, closed

    @classmethod
    def of(cls, constraints: Constraints, names: Sequence[str]) -> Numbered:
        at = {name: v for v, name in enumerate(names)}
        if strangers := constraints.strangers(names):
            raise ConstraintError(f"the constraints name {strangers[0]!r}, which is not a variable of the table")
        before = np.zeros((len(names), len(names)), dtype=np.bool_)
        for chain in constraints.order:
            for first, second in itertools.pairwise(chain):
                before[at[first], at[second]] = True
        _close(before)
        if before.diagonal().any():
            raise ConstraintError(f"the order puts {names[int(np.argmax(before.diagonal()))]!r} before itself")
        return cls(tuple(names), constraints, at, before)

    def arcs(self) -> Arcs:
        """What the constraints say of single arcs; see the header of the module."""
        constraints, at, n = self.constraints, self.at, len(self.names)
        out = np.eye(n, dtype=np.bool_)  # [child, parent]
        must = np.zeros((n, n), dtype=np.bool_)
        for u, v in constraints.required:
            must[at[v], at[u]] = True
        for u, v in constraints.forbidden:
            out[at[v], at[u]] = True
        for u, v in constraints.forbidden_edges:
            out[at[v], at[u]] = out[at[u], at[v]] = True
        tier = _tiers(constraints.tiers, at)
        for first in tier:
            for second in tier:
                out[second, first] |= tier[first] > tier[second]
        for name in constraints.roots:
            out[at[name], :] = True
        for name in constraints.leaves:
            out[:, at[name]] = True
        for number, limit in self.limits().items():
            if limit == 0:
                out[:, number] = True
        out |= self.before  # [child u, parent v] where u comes first
        for u, v in constraints.ancestors:
            out[at[u], at[v]] = True
        for u, v in constraints.no_ancestors:
            out[at[v], at[u]] = True
        for one, other, _ in constraints.independences:
            for a in one:
                for b in other:
                    out[at[a], at[b]] = out[at[b], at[a]] = True
        for u, v in constraints.required_edges:
            if out[at[v], at[u]] and out[at[u], at[v]]:
                raise ConstraintError(f"{u!r} and {v!r} must be adjacent, but neither arc may be")
            if out[at[v], at[u]]:
                must[at[u], at[v]] = True
            if out[at[u], at[v]]:
                must[at[v], at[u]] = True
        for child, parent in np.argwhere(must).tolist():
            if out[child, parent] or must[parent, child]:
                u, v = self.names[parent], self.names[child]
                raise ConstraintError(f"the arc {u!r} -> {v!r} must be and may not be")
        out |= must.T
        return Arcs(~out, must)

    def limits(self) -> dict[int, int]:
        """Most children, of the variables that have a limit below n - 1."""
        stated = self.constraints.max_children
        every = stated.get("*")
        limits = {v: stated.get(name, every) for v, name in enumerate(self.names)}
        return {v: limit for v, limit in limits.items() if limit is not None and limit < len(self.names) - 1}

    def residual(self, arcs: Arcs) -> tuple[Residual, ...]:
        """What is left to say about graphs of families that the arcs allow."""
        constraints, at, n = self.constraints, self.at, len(self.names)
        paths = arcs.required.T.copy()  # [u, v]: a directed path along required arcs
        _close(paths)
        left: list[Residual] = []
        for u, v in constraints.required_edges:
            if not (arcs.required[at[v], at[u]] or arcs.required[at[u], at[v]]):
                left.append(Adjacency(at[u], at[v]))
        left += [Ancestor(n, at[u], at[v]) for u, v in constraints.ancestors if not paths[at[u], at[v]]]
        left += [NoAncestor(n, at[u], at[v]) for u, v in constraints.no_ancestors]
        if 0 < self.before.sum() < n * (n - 1) // 2:  # arcs express a total order
            left.append(Order(n, tuple((int(u), int(v)) for u, v in np.argwhere(self.before))))
        left += [ChildLimit(n, v, limit) for v, limit in self.limits().items() if limit > 0]
        if constraints.max_arcs is not None:
            left.append(ArcLimit(n, constraints.max_arcs))
        for one, other, given in constraints.independences:
            left.append(Independence(n, _number(one, at), _number(other, at), _number(given, at)))
        return tuple(left)


def _number(names: Iterable[str], at: Mapping[str, int]) -> tuple[int, ...]:
    return tuple(sorted(at[name] for name in names))


def _tiers(tiers: Sequence[Sequence[str]], at: Mapping[str, int]) -> dict[int, int]:
    tier: dict[int, int] = {}
    for number, members in enumerate(tiers):
        for name in members:
            if at[name] in tier:
                raise ConstraintError(f"{name!r} is in tier {tier[at[name]] + 1} and in tier {number + 1}")
            tier[at[name]] = number
    return tier


def _close(relation: NDArray[np.bool_]) -> None:
    """Make a relation transitive, in place."""
    for middle in range(len(relation)):
        relation |= relation[:, middle : middle + 1] & relation[middle]
