"""pyAgrum: a BayesNet of labelled variables.

Its tables list the child first and index arrays in the reverse of that order, so an array read from it has the last
parent first and the child last: our axes with the parents turned around.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from optbn.data.dataset import Categorical
from optbn.network.cpds import TableCPD
from optbn.network.formats.draft import tables
from optbn.network.interop import required
from optbn.network.network import BayesianNetwork


def to_pyagrum(network: BayesianNetwork) -> Any:
    """A pyAgrum network with the same variables, levels and probabilities; trees over categorical parents become
    tables."""
    gum = required("pyagrum", "pyagrum")
    other = gum.BayesNet(network.name)
    found = {name: table for name, table, _ in tables(network, "pyAgrum")}
    for name, table in found.items():
        other.add(gum.LabelizedVariable(name, name, list(table.domain.levels)))
    for name, table in found.items():
        for parent in table.parents:
            other.addArc(parent, name)
    for name, table in found.items():
        turned = (*reversed(range(len(table.parents))), len(table.parents))
        other.cpt(name)[:] = np.ascontiguousarray(np.transpose(table.probabilities, turned))
    return other


def from_pyagrum(other: Any) -> BayesianNetwork:
    """A network from a pyAgrum BayesNet; its discretised and numbered variables are taken by their labels."""
    variables = [other.variable(node) for node in sorted(other.nodes())]
    domains = {v.name(): Categorical(tuple(map(str, v.labels()))) for v in variables}
    cpds = []
    for name, domain in domains.items():
        table = other.cpt(name)
        parents = tuple(table.names[1:])
        turned = (*reversed(range(len(parents))), len(parents))
        values = np.transpose(np.asarray(table.toarray(), dtype=np.float64), turned)
        cpds.append(TableCPD(domain, parents, tuple(domains[p] for p in parents), values))
    title = other.propertyWithDefault("name", "")
    return BayesianNetwork(tuple(domains), tuple(domains.values()), tuple(cpds), title)
