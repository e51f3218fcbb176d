"""What the answer must satisfy besides being acyclic.

A constraint is of one of three kinds:
    about families     "u -> v may not be", "v is a root": says of each family by itself whether it may be used
    hereditary         a graph that satisfies it still does with fewer arcs: orders, forbidden ancestors, limits,
                       conditional independences (d-separation)
    demanding          a graph that satisfies it still does with more arcs: required adjacencies and ancestors

`front.filtering` settles the first kind, and what the others say about single arcs, by leaving rows of the table
out; the rest are *residual* (`base.residual`): solvers meet them as clauses, one at a time, when a graph breaks
them. The checker reads the constraints in its own words (`optbn_solvers.verify.rules`). Here stands only what they
demand.

No optimum needs a family that one of its subsets beats, unless arcs, adjacencies or ancestors are required. A table
that was built without such families may then have lost the answer: build it with `keep_dominated`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from itertools import chain
from typing import Any

from optbn_solvers.base.errors import ConstraintError

Pair = tuple[str, str]
Separation = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True)
class Constraints:
    """By the names of variables; anything iterable is taken and kept as tuples.

    required, forbidden              (parent, child): arcs
    required_edges, forbidden_edges  pairs: an arc one way or the other
    tiers            groups, causes first: parents come from the same or an earlier group; others are free
    order            chains ("a", "b", "c"): some topological order puts a before b before c, for all chains at once
    ancestors, no_ancestors          (ancestor, descendant): a directed path must be, must not be
    max_children     {variable: limit}, "*" for those not listed
    max_arcs         of the whole graph
    roots, leaves    variables without parents, without children
    independences    (a, b, given), each some variables: `given` d-separates every one of `a` from every one of `b`
    """

    required: tuple[Pair, ...] = ()
    forbidden: tuple[Pair, ...] = ()
    required_edges: tuple[Pair, ...] = ()
    forbidden_edges: tuple[Pair, ...] = ()
    tiers: tuple[tuple[str, ...], ...] = ()
    order: tuple[tuple[str, ...], ...] = ()
    ancestors: tuple[Pair, ...] = ()
    no_ancestors: tuple[Pair, ...] = ()
    max_children: Mapping[str, int] = field(default_factory=dict, hash=False)
    max_arcs: int | None = None
    roots: tuple[str, ...] = ()
    leaves: tuple[str, ...] = ()
    independences: tuple[Separation, ...] = ()

    def __post_init__(self) -> None:
        for name in ("required", "forbidden", "required_edges", "forbidden_edges", "ancestors", "no_ancestors"):
            pairs = tuple(_names(pair, name) for pair in getattr(self, name))
            object.__setattr__(self, name, pairs)
            for pair in pairs:
                if len(pair) != 2 or pair[0] == pair[1]:
                    raise ConstraintError(f"{name} has {pair!r}; expected a pair of two different variables")
        for name in ("tiers", "order"):
            object.__setattr__(self, name, tuple(_names(group, name) for group in getattr(self, name)))
        for name in ("roots", "leaves"):
            object.__setattr__(self, name, _names(getattr(self, name), name))
        object.__setattr__(self, "max_children", dict(self.max_children))
        for what, limit in [*self.max_children.items(), ("max_arcs", self.max_arcs)]:
            if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 0):
                raise ConstraintError(f"the limit of {what!r} is {limit!r}; expected a whole number from 0")
        separations = []
        for one in self.independences:
            if len(one) != 3:
                raise ConstraintError(f"independences has {one!r}; expected (some variables, others, given)")
            a, b, given = (_names(side, "independences") for side in one)
            if not a or not b or len({*a, *b, *given}) < len(a) + len(b) + len(given):
                raise ConstraintError(
                    f"independences has {one!r}; the three groups must be disjoint, the first two not empty"
                )
            separations.append((a, b, given))
        object.__setattr__(self, "independences", tuple(separations))

    def __bool__(self) -> bool:
        return any(getattr(self, f.name) not in ((), {}, None) for f in fields(self))

    def strangers(self, names: Iterable[str]) -> list[Any]:
        """What the constraints name and is not among `names`."""
        pairs = (self.required, self.forbidden, self.required_edges, self.forbidden_edges)
        groups = [
            *chain(*pairs),
            *self.ancestors,
            *self.no_ancestors,
            *self.tiers,
            *self.order,
            self.roots,
            self.leaves,
        ]
        groups += [side for separation in self.independences for side in separation]
        groups += [tuple(name for name in self.max_children if name != "*")]
        known = {*names}
        return [name for name in chain(*groups) if not isinstance(name, str) or name not in known]

    def stated(self) -> dict[str, Any]:
        """The fields that say something."""
        return {f.name: value for f in fields(self) if (value := getattr(self, f.name)) not in ((), {}, None)}


def _names(names: Iterable[str], where: str) -> tuple[str, ...]:
    if isinstance(names, str):
        raise ConstraintError(f"{where} has {names!r}; expected several names, not one text")
    return tuple(names)
