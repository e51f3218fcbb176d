"""How sure a fitted network is of its probabilities: intervals of parameters and of answers, and networks drawn.

A fitted network may carry `precision`, the rows (real and imagined) each cell's distribution is worth: its posterior is
Dirichlet(precision * probabilities), independently of the other cells. Of one probability that is a Beta.

The answer to a question is a function of all cells at once. Its variance is propagated linearly: for a target state t,

    d P(t | e) / d theta(x | cell)  =  P(t | e) (P(x, cell | t, e) - P(x, cell | e)) / theta(x | cell)  =  D / theta,

and of a Dirichlet Var(sum_x D_x theta_x / p_x) = (sum_x D_x^2 / p_x - (sum_x D_x)^2) / (precision + 1); cells add up.
The joint distributions of all families come from one elimination there and back, one for the evidence and one for each
target state. The interval is one of the Beta with this mean and variance, so it stays between 0 and 1, and it is exact
where the answer is one parameter. `drawn` is the other way: whole networks from the posterior, for functions that no
straight line follows. Cells count as independent, which contexts that share what they learned are not quite.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import UnsupportedError
from optbn.base.settings import check_seed
from optbn.data.dataset import Categorical
from optbn.network.cpds import CPD, TableCPD
from optbn.network.elimination import calibrated, marginal, min_fill
from optbn.network.inference import ancestors, query
from optbn.network.leaves import CategoricalLeaves
from optbn.network.posterior import Posterior
from optbn.network.states import Evidence, States

if TYPE_CHECKING:
    from optbn.network.network import BayesianNetwork


@dataclass(frozen=True, eq=False)
class UncertainPosterior(Posterior):
    """A posterior whose probabilities have intervals, each of probability `interval` given the data.

    sd, low, high   in the shape of `probabilities`
    """

    interval: float
    sd: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


def query_interval(
    network: BayesianNetwork, targets: str | Sequence[str], evidence: Evidence | None, interval: float
) -> UncertainPosterior:
    """`query`, with an interval around every probability."""
    _check_level(interval)
    evidence = dict(evidence or {})
    answer = query(network, targets, evidence)
    relevant = ancestors(network, {*answer.variables, *evidence})
    kept = [name for name in network.names if name in relevant]
    for name in kept:
        _precision(network, name)
    before = _families(States.under(network, evidence), kept)
    parts = []
    for levels, p in answer.as_dict().items():
        state = evidence | dict(zip(answer.variables, levels, strict=True))
        after = _families(States.under(network, state), kept) if p > 0.0 else before
        parts.append(sum(_variance(network, name, p * (after[name] - before[name])) for name in kept))
    variance = np.array(parts).reshape(answer.probabilities.shape)
    low, high = beta_interval(answer.probabilities, variance, interval)
    sd = np.sqrt(variance)
    return UncertainPosterior(
        answer.variables, answer.levels, answer.probabilities, answer.log_evidence, interval, sd, low, high
    )


def drawn(network: BayesianNetwork, seed: int) -> BayesianNetwork:
    """A network from the posterior of the parameters: every cell's distribution drawn from its Dirichlet."""
    check_seed(seed)
    generator = np.random.default_rng(seed)
    cpds: list[CPD] = []
    for name, cpd in zip(network.names, network.cpds, strict=True):
        shape = _precision(network, name)[:, None] * _rows(cpd)
        # Gamma(a) = Gamma(a + 1) U^(1/a), by logarithms: of a tiny shape it is below the smallest number there is
        with np.errstate(divide="ignore"):
            logs = np.log(generator.gamma(shape + 1.0)) + np.log(generator.random(shape.shape)) / shape
        rows = np.exp(logs - logs.max(axis=1, keepdims=True))
        rows /= rows.sum(axis=1, keepdims=True)
        if isinstance(cpd, TableCPD):
            cpds.append(replace(cpd, probabilities=rows.reshape(cpd.probabilities.shape)))
        else:
            cpds.append(replace(cpd, leaves=CategoricalLeaves(rows)))
    return replace(network, cpds=tuple(cpds), precision={})


def _families(states: States, kept: Sequence[str]) -> dict[str, NDArray[np.float64]]:
    """Per variable P(level, cell | what is given), float64[cells, K]."""
    network = states.network
    factors = [states.factor(name) for name in kept]
    buckets, _ = calibrated(states, factors, min_fill(states, factors, set(kept) - set(states.given)))
    place = {name: i for i, name in enumerate(buckets)}
    found = {}
    for name in kept:
        free, cells = states.cells(name)
        scope = free if name in states.given else (*free, name)
        joint = marginal(buckets[min(scope, key=place.__getitem__)], scope) if scope else np.ones(())
        table = np.zeros_like(_rows(network.cpd(name)))
        if name in states.given:
            np.add.at(table[:, int(states.given[name])], cells, joint.ravel() / joint.sum())
        else:
            np.add.at(table, cells, joint.reshape(len(cells), -1) / joint.sum())
        found[name] = table
    return found


def _variance(network: BayesianNetwork, name: str, D: NDArray[np.float64]) -> float:
    """Of sum_x D_x theta_x / p_x over the cells of one variable."""
    p = _rows(network.cpd(name))
    squares = np.divide(D * D, p, out=np.zeros_like(D), where=p > 0).sum(axis=1) - D.sum(axis=1) ** 2
    return float((np.maximum(squares, 0.0) / (network.precision[name] + 1.0)).sum())


def beta_interval(
    p: NDArray[np.float64], variance: NDArray[np.float64], interval: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """An interval of the Beta of each mean and variance; where nothing is uncertain, the mean twice.

    The central one; but where the density is highest at 0 (or 1) it begins (or ends) there and holds more: what never
    happened may be impossible. Where it is infinite at both ends, that is the likelier one.
    """
    from scipy.special import betaincinv

    spread = p * (1.0 - p)
    loose = (variance > 0) & (spread > 0)
    weight = np.maximum(np.divide(spread, variance, out=np.ones_like(p), where=loose) - 1.0, LEAST_WEIGHT)
    a, b = np.where(loose, weight * p, 1.0), np.where(loose, weight * (1.0 - p), 1.0)
    low = np.where((a < 1.0) & (a <= b), 0.0, betaincinv(a, b, 0.5 - interval / 2))
    high = np.where((b < 1.0) & (b <= a), 1.0, betaincinv(a, b, 0.5 + interval / 2))
    return np.where(loose, low, p), np.where(loose, high, p)


LEAST_WEIGHT = 1e-3
"""No probability varies more than one that is 0 or 1; a straight line could say it does."""


def _rows(cpd: CPD) -> NDArray[np.float64]:
    leaves = cpd.leaves
    assert isinstance(leaves, CategoricalLeaves)
    return leaves.probabilities


def _precision(network: BayesianNetwork, name: str) -> NDArray[np.float64]:
    if not isinstance(network.domain(name), Categorical):
        raise UnsupportedError(f"{name!r} is real; intervals are for probabilities of levels")
    if name not in network.precision:
        raise UnsupportedError(
            f"the network does not say how sure it is of {name!r}; fit it with hdp, hierarchical, bdeu, laplace or "
            "m_estimate, and keep it as .json"
        )
    return network.precision[name]


def _check_level(interval: float) -> None:
    if not 0.0 < interval < 1.0:
        raise UnsupportedError(f"interval is {interval!r}, expected a probability between 0 and 1, such as 0.9")
