"""Exact answers from a network: P(targets | evidence), the most probable explanation, and rows given evidence.

Variable elimination (`elimination`). The joint is a product of one table per variable (`states` says how real variables
take part); summing a variable out touches only the tables that mention it. Variables that are neither asked for nor
given, nor an ancestor of such a one, sum to one and are left out at once.

What goes back through an elimination gives more than one answer: the posteriors of all variables (the joint of each
product from that of the product its sum went into), the most probable explanation (maxima for sums, choices read in
reverse), and samples: each variable from its product given those eliminated after it, which makes independent rows of
exactly P(. | evidence), none thrown away.

Cost: the sum over eliminated variables of the size of their table.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import NetworkError, UnsupportedError
from optbn.base.settings import check_seed
from optbn.data.arrays import code_dtype
from optbn.data.dataset import Categorical, Dataset, Real
from optbn.data.policies import LEVEL
from optbn.network.elimination import calibrated, marginal, min_fill, product, without
from optbn.network.moments import draw_inside, moments, quantile, support_of
from optbn.network.posterior import Explanation, Posterior, RealPosterior
from optbn.network.sampling import covering_dataset
from optbn.network.states import Evidence, States
from optbn_solvers.base.errors import repeated

if TYPE_CHECKING:
    from optbn.network.network import BayesianNetwork


def query(network: BayesianNetwork, targets: str | Sequence[str], evidence: Evidence | None = None) -> Posterior:
    """The joint posterior of the targets given values of other variables (see `BayesianNetwork.query`)."""
    states = States.under(network, evidence or {})
    targets = tuple(targets) if isinstance(targets, Iterable) and not isinstance(targets, str) else (targets,)
    _check(network, targets, states)
    if len(targets) == 1 and isinstance(network.domain(targets[0]), Real):
        return _mixture(states, targets[0], *_joint(states, (*states.free_parents(targets[0]), targets[0])))
    table, log_evidence = _joint(states, targets)
    return Posterior(targets, tuple(states.labels(name) for name in targets), table, log_evidence)


def posteriors(network: BayesianNetwork, evidence: Evidence | None = None) -> dict[str, Posterior]:
    """The posterior of each variable that is not given, all from one elimination there and back."""
    states = States.under(network, evidence or {})
    factors = [states.factor(name) for name in network.names]
    order = min_fill(states, factors, set(network.names) - set(states.given))
    buckets, log_evidence = calibrated(states, factors, order)
    if log_evidence == -math.inf:
        raise impossible(states)
    log_evidence = log_evidence if states.known else 0.0
    place = {name: i for i, name in enumerate(buckets)}
    found: dict[str, Posterior] = {}
    for name, domain in zip(network.names, network.domains, strict=True):
        if name in states.given:
            continue
        scope = (name,) if isinstance(domain, Categorical) else (*states.free_parents(name), name)
        joint = marginal(buckets[min(scope, key=place.__getitem__)], scope)
        joint = joint / joint.sum()
        if isinstance(domain, Categorical):
            found[name] = Posterior((name,), (states.labels(name),), joint, log_evidence)
        else:
            found[name] = _mixture(states, name, joint, log_evidence)
    return found


def most_probable(network: BayesianNetwork, evidence: Evidence | None = None) -> Explanation:
    """The most probable explanation; ties go to earlier levels of later eliminated variables.

    Of a real variable it chooses the interval between two thresholds of its children, which does not depend on units;
    the value is the mean there.
    """
    states = States.under(network, evidence or {})
    factors = [states.factor(name) for name in network.names]
    choices = []
    for name in min_fill(states, factors, set(network.names) - set(states.given)):
        bucket, factors = without(states, factors, name, np.max)
        choices.append((name, bucket.scope[1:], bucket.table.argmax(axis=0)))
    last = product(states, factors)
    best = float(last.table)
    if best == 0.0:
        raise impossible(states)
    codes: dict[str, int] = {}
    for name, rest, argmax in reversed(choices):
        codes[name] = int(argmax[tuple(codes[v] for v in rest)])
    assignment = {v: _shown(states, v) if v in states.given else _chosen(states, v, codes) for v in network.names}
    intervals = {
        v: states.labels(v)[codes[v]] for v in codes if isinstance(network.domain(v), Real) and len(states.cuts(v))
    }
    return Explanation(assignment, math.log(best) + last.log_scale, intervals)


def _chosen(states: States, name: str, codes: Mapping[str, int]) -> str:
    """The level, or the mean in the interval, of a variable's state, as a text."""
    domain, state = states.network.domain(name), codes[name]
    if isinstance(domain, Categorical) or state > len(states.cuts(name)):
        return states.labels(name)[state]
    free, cells = states.cells(name)
    cell = cells[np.ravel_multi_index([codes[p] for p in free], [states.size(p) for p in free]) if free else 0]
    leaves = states.network.cpd(name).leaves
    mean = moments(leaves, states.cuts(name), states.ends(name))[0][cell, state]
    return domain.text(float(support_of(leaves).nearest(mean)))


def log_probability(states: States) -> float:
    """Of what is known, natural; a density in the real variables given. -inf where it cannot be."""
    kept = ancestors(states.network, states.known)
    factors = [states.factor(name) for name in states.network.names if name in kept]
    for name in min_fill(states, factors, kept - set(states.given)):
        _, factors = without(states, factors, name, np.sum)
    last = product(states, factors)
    return math.log(total) + last.log_scale if (total := float(last.table)) > 0 else -math.inf


def sample_given(network: BayesianNetwork, n: int, seed: int, evidence: Evidence) -> Dataset:
    """n independent rows of P(. | evidence), the given columns included.

    The states of the evidence's ancestors are drawn backwards through their elimination (a real variable's value then
    from inside its interval), everything else forwards. The seed makes the rows reproducible; unlike those of `sample`
    they are not the first rows of a longer sample.
    """
    if n < 0:
        raise NetworkError(f"cannot draw {n} rows")
    check_seed(seed)
    states = States.under(network, evidence)
    generator = np.random.default_rng(seed)
    kept = ancestors(network, states.known)
    factors = [states.factor(name) for name in network.names if name in kept]
    buckets = []
    for name in min_fill(states, factors, kept - set(states.given)):
        bucket, factors = without(states, factors, name, np.sum)
        buckets.append(bucket)
    if not float(product(states, factors).table):
        raise impossible(states)
    codes: dict[str, NDArray[np.int64]] = {}
    for bucket in reversed(buckets):
        (name, *rest), table = bucket.scope, np.moveaxis(bucket.table, 0, -1)
        at = np.ravel_multi_index([codes[v] for v in rest], table.shape[:-1]) if rest else np.zeros(n, dtype=np.int64)
        sums = np.cumsum(table.reshape(-1, table.shape[-1]), axis=1)
        codes[name] = _drawn(sums, at, generator.random(n))
    columns: dict[str, NDArray[Any]] = {}
    for v in network.structure.order:
        name, cpd = network.names[v], network.cpds[v]
        if name in kept:
            columns[name] = _column(states, name, codes, n, generator)
        else:
            columns[name] = cpd.sample([columns[p] for p in cpd.parents], n, generator)
    return covering_dataset(network.names, network.domains, [columns[name] for name in network.names])


def table_of(network: BayesianNetwork, name: str) -> NDArray[np.float64]:
    """P(name | parents) as a dense array, one axis per parent in order and the variable's last.

    Trees over categorical parents are written out; a real variable or parent is refused by name.
    """
    for variable in (name, *network.cpd(name).parents):
        if not isinstance(network.domain(variable), Categorical):
            raise UnsupportedError(f"{variable!r} is real; a table is for categorical variables")
    return States(network, {}).factor(name).table


def _joint(states: States, targets: tuple[str, ...]) -> tuple[NDArray[np.float64], float]:
    """P(targets | evidence) with an axis per target, and log P(evidence)."""
    network, given = states.network, states.given
    states.check_size(targets, f"for {', '.join(map(repr, targets))} together")
    kept = ancestors(network, {*targets, *states.known})
    factors = [states.factor(name) for name in network.names if name in kept]
    for name in min_fill(states, factors, kept - set(targets) - set(given)):
        _, factors = without(states, factors, name, np.sum)
    joint = product(states, factors)
    table = np.transpose(joint.table, [joint.scope.index(v) for v in targets])
    total = float(table.sum())
    if total == 0.0:
        raise impossible(states)
    return table / total, (math.log(total) + joint.log_scale) if states.known else 0.0


def _mixture(states: States, target: str, joint: NDArray[np.float64], log_evidence: float) -> RealPosterior:
    """The posterior of a real variable: a mixture over its cells and intervals of its leaves cut to the interval.

    joint   P(its parents that are not given, its interval | evidence)
    """
    _, cells = states.cells(target)
    rows = joint.reshape(len(cells), -1)
    weights = np.zeros((states.network.cpd(target).leaves.cells, rows.shape[1]))
    np.add.at(weights, cells, rows)
    leaves, cuts, ends = states.network.cpd(target).leaves, states.cuts(target), states.ends(target)
    first, second = moments(leaves, cuts, ends)
    numbers = weights[:, : first.shape[1]] / max(float(weights[:, : first.shape[1]].sum()), 1e-300)
    used = numbers > 0
    mean = float((numbers[used] * first[used]).sum()) if used.any() else math.nan
    spread = second[used] + (first[used] - mean) ** 2
    sd = math.sqrt(float((numbers[used] * spread).sum())) if np.isfinite(mean) else math.nan
    shares = partial(quantile, leaves, cuts, numbers, ends)
    return RealPosterior((target,), (states.labels(target),), weights.sum(axis=0), log_evidence, mean, sd, shares)


def _column(
    states: States, name: str, codes: Mapping[str, NDArray[np.int64]], n: int, generator: np.random.Generator
) -> NDArray[Any]:
    """The values of a variable in rows whose states are drawn."""
    domain = states.network.domain(name)
    if isinstance(domain, Categorical):
        drawn = codes[name] if name in codes else np.full(n, states.given[name])
        return drawn.astype(code_dtype(len(domain.levels)))
    if name in states.given:
        return np.full(n, float(states.given[name]))

    free, cells = states.cells(name)
    at = np.ravel_multi_index([codes[p] for p in free], [states.size(p) for p in free]) if free else np.zeros(n, int)
    leaves, ends = states.network.cpd(name).leaves, states.ends(name)
    return draw_inside(leaves, states.cuts(name), cells[at], codes[name], generator, ends)


def _drawn(sums: NDArray[np.float64], at: NDArray[np.int64], uniform: NDArray[np.float64]) -> NDArray[np.int64]:
    """A state per row from the running sums of row `at`; states of probability zero are never drawn."""
    out = np.zeros(len(at), dtype=np.int64)
    levels = uniform * sums[at, -1]
    for k in range(sums.shape[1] - 1):
        out += levels >= sums[at, k]
    return out


def ancestors(network: BayesianNetwork, names: set[str]) -> set[str]:
    """The names and all their ancestors: nobody else matters to a question about them."""
    found, queue = set(names), list(names)
    while queue:
        for parent in network.cpd(queue.pop()).parents:
            if parent not in found:
                found.add(parent)
                queue.append(parent)
    return found


def _check(network: BayesianNetwork, targets: tuple[str, ...], states: States) -> None:
    if not targets:
        raise UnsupportedError("the query names no variable; name at least one")
    if len(set(targets)) < len(targets):
        raise UnsupportedError(f"{repeated(targets)!r} stands in the query twice; name it once")
    for name in targets:
        network.index(name)  # an unknown name lists the nearest
        if name in states.given:
            raise UnsupportedError(f"{name!r} is both in the question and in the evidence")


def impossible(states: States) -> UnsupportedError:
    """The refusal to answer where the evidence cannot be."""
    known = [f"{name}={_shown(states, name)}" for name in states.given]
    evidence = ", ".join(known + [found.text(name) for name, found in states.within.items()])
    return UnsupportedError(f"the evidence {evidence} has probability zero, so nothing follows from it")


def _shown(states: States, name: str) -> str:
    domain, value = states.network.domain(name), states.given[name]
    if isinstance(domain, Categorical):
        return domain.levels[int(value)]
    return LEVEL if math.isnan(value) else domain.text(value)
