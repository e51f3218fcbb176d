"""A network of levels alone that stands for one with real variables, for programs that know nothing else.

Every real variable x is cut into intervals of equal probability; b(x) is the interval. The arcs stay, and each local
distribution becomes the table P(b(x) | b(parents)) of the original joint, which is exact: intervals are added to the
network as children of their variables, and a query gives the joint of a family's intervals. Among all networks with
these arcs and intervals this one is the nearest to the original (every family has the original's joint).

What is lost is what parents tell of a variable beyond the intervals, I(x; parents) - I(b(x); b(parents)) nats per row,
summed over the variables. It is estimated from rows drawn from the network, with a fixed seed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import UnsupportedError
from optbn.base.numbers import texts_of
from optbn.data.dataset import Categorical, Dataset
from optbn.data.policies import LEVEL
from optbn.network.cpds import BinnedTableCPD, TableCPD
from optbn.network.formats.draft import as_table
from optbn.network.leaves import CategoricalLeaves
from optbn.network.network import BayesianNetwork
from optbn.network.posterior import RealPosterior

ROWS, POINTS = 20_000, 2_000  # drawn to estimate the loss: rows for the cells' shares, of which points for densities
DIGITS = 4  # of the intervals' ends, so that their names say exactly where they are


def discretised(network: BayesianNetwork, bins: int) -> tuple[BayesianNetwork, dict[str, float]]:
    """The network over intervals, and by variable the nats per row that are lost (families of levels lose none)."""
    if bins < 2:
        raise UnsupportedError(f"{bins} intervals cannot stand for a real variable; choose 2 or more")
    cuts = _cuts(network, bins)
    if not cuts:
        return network, {}
    domains = {
        name: _intervals(cuts[name], domain.absent) if not isinstance(domain, Categorical) else domain
        for name, domain in zip(network.names, network.domains, strict=True)
    }
    extended, place = _with_intervals(network, cuts, domains)
    rows = network.sample(ROWS, 0)
    tables, losses = [], {}
    for name, cpd in zip(network.names, network.cpds, strict=True):
        family = (*cpd.parents, name)
        if not any(each in cuts for each in family):
            tables.append(as_table(name, cpd, "a network of levels"))
            continue
        joint = extended.query([place[each] for each in family], {}).probabilities
        tables.append(_conditional(cpd.parents, name, joint, domains))
        losses[name] = max(0.0, _information(network, name, rows) - _mutual(joint))
    made = BayesianNetwork(network.names, tuple(domains.values()), tuple(tables), network.name, network.properties)
    return made, losses


def _cuts(network: BayesianNetwork, bins: int) -> dict[str, list[float]]:
    """Of every real variable the ends between its intervals; fewer where several would be one number."""
    found = {}
    for name, posterior in network.posteriors().items():
        if isinstance(posterior, RealPosterior):
            ends = sorted({posterior.quantile(k / bins) for k in range(1, bins)})
            found[name] = [float(text) for text in texts_of(ends, DIGITS)]
    return found


def _intervals(cuts: list[float], absent: bool) -> Categorical:
    """The intervals, in their order."""
    texts = texts_of(cuts, DIGITS)
    inner = (f"{a} to {b}" for a, b in pairwise(texts))
    return Categorical((f"<{texts[0]}", *inner, f">={texts[-1]}", *((LEVEL,) if absent else ())), ordered=not absent)


def _with_intervals(
    network: BayesianNetwork, cuts: Mapping[str, list[float]], domains: Mapping[str, Categorical]
) -> tuple[BayesianNetwork, dict[str, str]]:
    """The network with a child per real variable, the interval it is in; and where each variable's levels are."""
    names, all_domains, cpds = list(network.names), list(network.domains), list(network.cpds)
    place = {name: name for name in names}
    for name, ends in cuts.items():
        child = f"{name} interval"
        while child in names:
            child += " "
        place[name] = child
        levels, domain = domains[name], network.domain(name)
        points = np.array([*ends, *([math.inf] if len(levels.levels) > len(ends) + 1 else [])])
        leaves = CategoricalLeaves(np.eye(len(levels.levels)))
        names.append(child)
        all_domains.append(levels)
        cpds.append(BinnedTableCPD(levels, (name,), (domain,), (points,), leaves))
    return BayesianNetwork(tuple(names), tuple(all_domains), tuple(cpds)), place


def _conditional(
    parents: tuple[str, ...], name: str, joint: NDArray[np.float64], domains: Mapping[str, Categorical]
) -> TableCPD:
    """P(name | parents) from the joint; where the parents cannot meet, the variable's own distribution."""
    totals = joint.sum(axis=-1, keepdims=True)
    alone = joint.sum(axis=tuple(range(len(parents))))
    with np.errstate(invalid="ignore", divide="ignore"):
        rows = np.where(totals > 0, joint / totals, alone / alone.sum())
    return TableCPD(domains[name], parents, tuple(domains[p] for p in parents), rows)


def _mutual(joint: NDArray[np.float64]) -> float:
    """I(last axis; the others) in nats."""
    table = (joint / joint.sum()).reshape(-1, joint.shape[-1])
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0)
    there = table > 0
    return float((table[there] * np.log(table[there] / expected[there])).sum())


def _information(network: BayesianNetwork, name: str, rows: Dataset) -> float:
    """I(x; parents) in nats: the mean of log p(x | cell) - log p(x), with p(x) the mixture of its cells."""
    cpd = network.cpd(name)
    if not cpd.parents:
        return 0.0
    cells = cpd.cells([rows.column(parent) for parent in cpd.parents], rows.n_rows)
    shares = np.bincount(cells, minlength=cpd.leaves.cells) / rows.n_rows
    values, own = rows.column(name)[:POINTS], cells[:POINTS]
    mixture = np.zeros(len(values))
    for cell in np.flatnonzero(shares):
        mixture += shares[cell] * np.exp(cpd.leaves.log_density(np.full(len(values), cell), values))
    return float(np.mean(cpd.leaves.log_density(own, values) - np.log(mixture)))
