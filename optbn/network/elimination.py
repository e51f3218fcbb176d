"""Summing variables out of a product of tables: one step, and the order of the steps.

`without` takes the tables that mention a variable, multiplies them and reduces the product over it (by sum or maximum);
the others stay as they are. `min_fill` chooses whose turn it is: the variable whose neighbours lack the fewest links,
which keeps the largest table near the treewidth; that table is sized before any work is done and refused when it would
not fit. Every product is scaled by its largest entry and the logarithm kept, so evidence of tiny probability does not
underflow. Source: Dechter (1999), bucket elimination.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from optbn.network.states import Factor, States


def without(
    states: States, factors: Sequence[Factor], name: str, reduce: Callable[..., Any]
) -> tuple[Factor, list[Factor]]:
    """The product of the factors that mention `name`, its axis first, and the factors after it is reduced away."""
    involved = [f for f in factors if name in f.scope]
    rest = tuple(v for v in _union(involved) if v != name)
    found = product(states, involved, (name, *rest))
    left = [f for f in factors if name not in f.scope]
    left.append(Factor(rest, reduce(found.table, axis=0), found.log_scale))
    return found, left


def product(states: States, factors: Sequence[Factor], scope: tuple[str, ...] | None = None) -> Factor:
    """The product over the union of the scopes, its axes in the order of `scope`, scaled to a largest entry of one."""
    scope = _union(factors) if scope is None else scope
    axis = {v: i for i, v in enumerate(scope)}
    table = np.ones([states.size(v) for v in scope])
    for f in sorted(factors, key=lambda f: f.table.size):
        order = sorted(range(len(f.scope)), key=lambda own: axis[f.scope[own]])
        shape = [1] * len(scope)
        for v, size in zip(f.scope, f.table.shape, strict=True):
            shape[axis[v]] = size
        table *= f.table.transpose(order).reshape(shape)
    log_scale = math.fsum(f.log_scale for f in factors)
    largest = float(table.max())
    if largest == 0.0:
        return Factor(scope, table, log_scale)
    return Factor(scope, table / largest, log_scale + math.log(largest))


def _union(factors: Iterable[Factor]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(v for f in factors for v in f.scope))


def min_fill(states: States, factors: Iterable[Factor], eliminate: set[str]) -> list[str]:
    """An elimination order; raises when its largest table would not fit."""
    links: dict[str, set[str]] = {v: set() for f in factors for v in f.scope}
    for f in factors:
        for v in f.scope:
            links[v].update(w for w in f.scope if w != v)
    place = {name: i for i, name in enumerate(states.network.names)}
    fill = {v: _missing(links, v) for v in eliminate}
    order = []
    while fill:
        v = min(fill, key=lambda u: (fill[u], len(links[u]), place[u]))
        around = links.pop(v)
        states.check_size((v, *around), f"when it sums out {v!r}")
        for w in around:
            links[w].discard(v)
            links[w].update(around - {w})
        del fill[v]
        order.append(v)
        for w in around.union(*(links[w] for w in around)) & fill.keys():
            fill[w] = _missing(links, w)
    return order


def _missing(links: Mapping[str, set[str]], v: str) -> int:
    """How many pairs of v's neighbours are not linked."""
    around = links[v]
    n = len(around)
    return (n * (n - 1) - sum([len(links[w] & around) for w in around])) // 2 if n > 1 else 0
