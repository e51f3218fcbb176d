"""How far a fitted network is from the distribution, as opposed to from the graph.

    held-out log-likelihood   the mean over rows that were not learned from, in nats
    KL(true || fitted)        = sum_v E_true[ log P_true(v | parents) - log P_fitted(v | its parents there) ]

Each expectation is over one family only, so the divergence is exact whenever the true network's marginals over the
fitted network's families are (variable elimination). Elsewhere it is the mean over a sample of the true network, with
its standard error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from optbn.base.errors import LimitError, NetworkError
from optbn.data.dataset import Categorical, Dataset
from optbn.network.inference import query, table_of
from optbn.network.network import BayesianNetwork


@dataclass(frozen=True)
class Estimate:
    """A number and its standard error; 0.0 when it is exact."""

    value: float
    error: float


def held_out(network: BayesianNetwork, data: Dataset) -> Estimate:
    """The mean log-likelihood per row; -inf (and an infinite error) when some row is impossible."""
    if data.n_rows == 0:
        raise NetworkError("held-out log-likelihood needs at least one row")
    if data.weights is not None:
        raise NetworkError("held-out likelihoods are of rows that count alike; leave the weights away")
    rows = network.log_likelihood_rows(data)
    if not np.isfinite(rows).all():
        return Estimate(float(rows.mean()), math.inf)
    return Estimate(float(rows.mean()), _standard_error(rows))


def divergence(true: BayesianNetwork, fitted: BayesianNetwork, *, samples: int = 100_000, seed: int = 0) -> Estimate:
    """KL(true || fitted) in nats: exact where the families are tractable, else from samples."""
    if set(true.names) != set(fitted.names):
        raise NetworkError("the networks are over different variables")
    try:
        return Estimate(exact_divergence(true, fitted), 0.0)
    except LimitError:
        return sampled_divergence(true, fitted, samples, seed)


def exact_divergence(true: BayesianNetwork, fitted: BayesianNetwork) -> float:
    """KL by families; LimitError when a marginal of the true network would not fit, or is of a real variable."""
    return sum(_expected_log(true, true, v) - _expected_log(true, fitted, v) for v in true.names)


def sampled_divergence(true: BayesianNetwork, fitted: BayesianNetwork, samples: int, seed: int) -> Estimate:
    """The mean log ratio over rows drawn from the true network."""
    data = true.sample(samples, seed)
    with np.errstate(invalid="ignore"):
        ratio = true.log_likelihood_rows(data) - fitted.log_likelihood_rows(data)
    if not np.isfinite(ratio).all():
        return Estimate(math.inf, math.inf)
    return Estimate(float(ratio.mean()), _standard_error(ratio))


def _expected_log(true: BayesianNetwork, network: BayesianNetwork, name: str) -> float:
    """E_true[ log P_network(name | parents in network) ]."""
    family = (*network.cpd(name).parents, name)
    places = [_places(true, network, member) for member in family]
    weights = query(true, family).probabilities
    table = table_of(network, name)[np.ix_(*places)]
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(weights > 0, weights * np.log(table), 0.0)
    return float(terms.sum())


def _places(true: BayesianNetwork, network: BayesianNetwork, name: str) -> list[int]:
    """Where the other network has the true levels of a variable, whatever the order it lists them in."""
    levels, others = true.domain(name), network.domain(name)
    if not (isinstance(levels, Categorical) and isinstance(others, Categorical)):
        raise LimitError(f"{name!r} is real: the divergence is not exact")
    if unknown := set(levels.levels) - set(others.levels):
        raise NetworkError(f"the fitted network does not know the level {min(unknown)!r} of {name!r}")
    return [others.levels.index(level) for level in levels.levels]


def _standard_error(values: np.ndarray) -> float:
    return float(values.std(ddof=1) / math.sqrt(len(values))) if len(values) > 1 else math.inf
