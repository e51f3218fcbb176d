"""Exact answers from a network of categorical variables: P(targets | evidence), and the most probable explanation.

Variable elimination. The joint is a product of one factor per variable; summing a variable out touches only the factors
that mention it. Variables that are neither asked for nor given, nor an ancestor of such a one, sum to one and are left
out at once. The order is min-fill (eliminate the variable whose neighbours lack the fewest links), which keeps the
largest table near the treewidth; that table is sized before any work is done and refused when it would not fit. For the
most probable explanation maxima replace sums and the choices are read back in reverse.

Every product is scaled by its largest entry and the logarithm kept, so evidence of tiny probability does not underflow.
Cost: the sum over eliminated variables of the size of their table. Source: Dechter (1999), bucket elimination.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from optbn.data.dataset import Categorical
from optbn.errors import LimitError, UnsupportedError
from optbn.registry import unknown

if TYPE_CHECKING:
    from optbn.network.network import BayesianNetwork

MAX_ENTRIES = 1 << 27  # one gigabyte of float64 in the largest intermediate table


@dataclass(frozen=True, eq=False)
class Posterior:
    """P(variables | evidence): `probabilities` has one axis per variable, in order, and sums to one.

    log_evidence is log P(evidence), 0.0 when nothing was given.
    """

    variables: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    probabilities: NDArray[np.float64]
    log_evidence: float

    def as_dict(self) -> dict[tuple[str, ...], float]:
        """{levels in order: probability}."""
        flat = self.probabilities.ravel()
        return {key: float(p) for key, p in zip(itertools.product(*self.levels), flat, strict=True)}


@dataclass(frozen=True)
class Explanation:
    """The most probable assignment of every variable given the evidence, and its log joint probability."""

    assignment: Mapping[str, str]
    log_joint: float


@dataclass(frozen=True, eq=False)
class _Factor:
    """A non-negative table over some variables, one axis each."""

    scope: tuple[str, ...]
    table: NDArray[np.float64]


def query(network: BayesianNetwork, targets: Sequence[str], evidence: Mapping[str, str] | None = None) -> Posterior:
    """The joint posterior of the targets given levels of other variables."""
    evidence = dict(evidence or {})
    targets = tuple(targets)
    _check(network, targets, evidence)
    kept = _ancestors(network, {*targets, *evidence})
    factors = [_factor(network, name, evidence) for name in network.names if name in kept]
    order = _min_fill(network, factors, kept - set(targets) - set(evidence))
    log_scale = 0.0
    for name in order:
        bucket = [f for f in factors if name in f.scope]
        product, shift = _product(bucket)
        log_scale += shift
        axis = product.scope.index(name)
        rest = tuple(v for v in product.scope if v != name)
        factors = [f for f in factors if name not in f.scope] + [_Factor(rest, product.table.sum(axis=axis))]
    joint, shift = _product(factors)
    table = np.transpose(joint.table, [joint.scope.index(v) for v in targets])
    total = float(table.sum())
    if total == 0.0:
        raise UnsupportedError(f"the evidence {_say(evidence)} has probability zero, so nothing follows from it")
    log_evidence = math.log(total) + log_scale + shift if evidence else 0.0
    levels = tuple(_levels(network, name) for name in targets)
    return Posterior(targets, levels, table / total, log_evidence)


def most_probable(network: BayesianNetwork, evidence: Mapping[str, str] | None = None) -> Explanation:
    """The most probable explanation; ties go to earlier levels of later eliminated variables."""
    evidence = dict(evidence or {})
    _check(network, (), evidence)
    factors = [_factor(network, name, evidence) for name in network.names]
    order = _min_fill(network, factors, set(network.names) - set(evidence))
    log_scale, choices = 0.0, []
    for name in order:
        product, shift = _product([f for f in factors if name in f.scope])
        log_scale += shift
        axis = product.scope.index(name)
        rest = tuple(v for v in product.scope if v != name)
        choices.append((name, rest, product.table.argmax(axis=axis)))
        factors = [f for f in factors if name not in f.scope] + [_Factor(rest, product.table.max(axis=axis))]
    last, shift = _product(factors)
    best = float(last.table)
    if best == 0.0:
        raise UnsupportedError(f"the evidence {_say(evidence)} has probability zero, so nothing follows from it")
    codes: dict[str, int] = {}
    for name, rest, argmax in reversed(choices):
        codes[name] = int(argmax[tuple(codes[v] for v in rest)])
    assignment = {v: evidence[v] if v in evidence else _levels(network, v)[codes[v]] for v in network.names}
    return Explanation(assignment, math.log(best) + log_scale + shift)


def table_of(network: BayesianNetwork, name: str) -> NDArray[np.float64]:
    """P(name | parents) as a dense array, one axis per parent in order and the variable's last.

    Trees over categorical parents are written out; a real variable or parent is refused by name.
    """
    cpd = network.cpd(name)
    for variable in (name, *cpd.parents):
        _levels(network, variable)
    sizes = [len(_levels(network, parent)) for parent in cpd.parents]
    n = math.prod(sizes)
    columns = [column.ravel() for column in np.indices(sizes)] if sizes else []
    rows = cpd.leaves.probabilities[cpd.cells(columns, n)]  # type: ignore[union-attr]
    return np.ascontiguousarray(rows).reshape(*sizes, -1)


def _factor(network: BayesianNetwork, name: str, evidence: Mapping[str, str]) -> _Factor:
    """A variable's table with the evidence put in."""
    scope = (*network.cpd(name).parents, name)
    index = tuple(_levels(network, v).index(evidence[v]) if v in evidence else slice(None) for v in scope)
    return _Factor(tuple(v for v in scope if v not in evidence), table_of(network, name)[index])


def _product(factors: Sequence[_Factor]) -> tuple[_Factor, float]:
    """The product over the union of the scopes, scaled to a largest entry of one, and the log of the scale."""
    scope = tuple(dict.fromkeys(v for f in factors for v in f.scope))
    sizes = {v: size for f in factors for v, size in zip(f.scope, f.table.shape, strict=True)}
    table = np.ones([sizes[v] for v in scope])
    for f in sorted(factors, key=lambda f: f.table.size):
        order = sorted(range(len(f.scope)), key=lambda axis: scope.index(f.scope[axis]))
        shape = [sizes[v] if v in f.scope else 1 for v in scope]
        table *= np.transpose(f.table, order).reshape(shape)
    largest = float(table.max())
    if largest == 0.0:
        return _Factor(scope, table), 0.0
    return _Factor(scope, table / largest), math.log(largest)


def _min_fill(network: BayesianNetwork, factors: Iterable[_Factor], eliminate: set[str]) -> list[str]:
    """An elimination order; raises when its largest table would have more than MAX_ENTRIES."""
    links: dict[str, set[str]] = {v: set() for f in factors for v in f.scope}
    for f in factors:
        for v in f.scope:
            links[v].update(w for w in f.scope if w != v)
    place = {name: i for i, name in enumerate(network.names)}
    fill = {v: _missing(links, v) for v in eliminate}
    order = []
    while fill:
        v = min(fill, key=lambda u: (fill[u], len(links[u]), place[u]))
        around = links.pop(v)
        entries = math.prod(len(_levels(network, w)) for w in (v, *around))
        if entries > MAX_ENTRIES:
            raise LimitError(
                f"exact inference would need a table of {entries:.2g} entries when it sums out {v!r} (the limit is "
                f"{MAX_ENTRIES:.2g}); give more evidence, ask for fewer targets, or estimate from samples"
            )
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
    return sum(len(around) - 1 - len(links[w] & around) for w in around) // 2


def _ancestors(network: BayesianNetwork, names: set[str]) -> set[str]:
    found, queue = set(names), list(names)
    while queue:
        for parent in network.cpd(queue.pop()).parents:
            if parent not in found:
                found.add(parent)
                queue.append(parent)
    return found


def _check(network: BayesianNetwork, targets: tuple[str, ...], evidence: Mapping[str, str]) -> None:
    for name in (*targets, *evidence):
        if name not in network.names:
            raise unknown("variable", name, network.names)
    for name in targets:
        if name in evidence:
            raise UnsupportedError(f"{name!r} is both asked for and given")
        if targets.count(name) > 1:
            raise UnsupportedError(f"{name!r} is asked for twice")
    for name, level in evidence.items():
        if level not in _levels(network, name):
            raise unknown(f"level of {name!r}", level, _levels(network, name))


def _levels(network: BayesianNetwork, name: str) -> tuple[str, ...]:
    domain = network.domain(name)
    if not isinstance(domain, Categorical):
        raise UnsupportedError(
            f"{name!r} is real; exact inference is for categorical variables (predict_proba conditions on real ones)"
        )
    return domain.levels


def _say(evidence: Mapping[str, str]) -> str:
    return ", ".join(f"{name}={level}" for name, level in evidence.items())
