"""Summing variables out of a product of tables: one step, the order of the steps, and all steps there and back.

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
from numpy.typing import NDArray

from optbn.base.errors import LimitError
from optbn.network.states import MAX_ENTRIES, Factor, States


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


def calibrated(states: States, factors: Sequence[Factor], order: Iterable[str]) -> tuple[dict[str, Factor], float]:
    """Sums out all variables that are not given and goes back: per variable the joint of it and of what its product
    mentions, given the evidence; and log P(evidence), -inf for one that is impossible (then the joints are none)."""
    buckets, entries, left = {}, 0, list(factors)
    for name in order:
        buckets[name], left = without(states, left, name, np.sum)
        entries += buckets[name].table.size
        if entries > MAX_ENTRIES:
            raise LimitError("the tables for all posteriors at once would not fit into memory; ask for one at a time")
    last = product(states, left)
    if not float(last.table):
        return {}, -math.inf
    place = {name: i for i, name in enumerate(buckets)}
    for name, bucket in reversed(buckets.items()):
        rest = bucket.scope[1:]
        known = marginal(buckets[min(rest, key=place.__getitem__)], rest) if rest else np.ones(())
        sums = bucket.table.sum(axis=0)
        share = np.divide(known, sums, out=np.zeros_like(sums), where=sums > 0)
        buckets[name] = Factor(bucket.scope, bucket.table * share)  # P(its scope | evidence)
    return buckets, math.log(float(last.table)) + last.log_scale


def marginal(joint: Factor, scope: tuple[str, ...]) -> NDArray[np.float64]:
    """The table summed to some of its variables, in their order."""
    table = joint.table.sum(axis=tuple(axis for axis, v in enumerate(joint.scope) if v not in scope))
    kept = [v for v in joint.scope if v in scope]
    return np.transpose(table, [kept.index(v) for v in scope])


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
