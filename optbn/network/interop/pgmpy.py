"""pgmpy: a DiscreteBayesianNetwork of TabularCPDs.

A TabularCPD is P(child | evidence) as a matrix with a row per level of the child and a column per configuration of the
evidence, the last evidence variable fastest: our table with the child's axis moved to the front.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from optbn.base.errors import NetworkError, UnsupportedError
from optbn.data.dataset import Categorical
from optbn.network.cpds import TableCPD
from optbn.network.formats.draft import tables
from optbn.network.interop import required
from optbn.network.network import BayesianNetwork


def to_pgmpy(network: BayesianNetwork) -> Any:
    """A pgmpy model with the same variables, levels and probabilities; trees over categorical parents become tables."""
    models, factors = required("pgmpy.models", "pgmpy"), required("pgmpy.factors.discrete", "pgmpy")
    cls = getattr(models, "DiscreteBayesianNetwork", None) or models.BayesianNetwork  # its name before pgmpy 1.0
    model = cls(ebunch=network.structure.arcs)
    model.add_nodes_from(network.names)
    levels = {}
    for name, table, _ in tables(network, "pgmpy"):
        levels[name] = list(table.domain.levels)
        rows = table.leaves.probabilities
        sizes = list(table.probabilities.shape[:-1])
        given = {p: list(d.levels) for p, d in zip(table.parents, table.parent_domains, strict=True)}  # type: ignore[union-attr]
        model.add_cpds(
            factors.TabularCPD(
                name, rows.shape[1], rows.T, list(given) or None, sizes or None, {name: levels[name], **given}
            )
        )
    return model


def from_pgmpy(model: Any) -> BayesianNetwork:
    """A network from a pgmpy model with tables (add CPDs to it or fit it first)."""
    if not hasattr(model, "get_cpds") or not hasattr(model, "nodes"):
        raise UnsupportedError(f"expected a pgmpy model with tables, not a {type(model).__name__}")
    names = [str(node) for node in model.nodes()]
    domains, cpds = {}, {}
    for node, name in zip(model.nodes(), names, strict=True):
        table = model.get_cpds(node)
        if table is None:
            raise NetworkError(f"variable {name!r} has no CPD in the pgmpy model; add one or fit the model first")
        if not hasattr(table, "state_names") or not hasattr(table, "variable_card"):
            raise UnsupportedError(f"variable {name!r} has a {type(table).__name__} in pgmpy; only tables can be read")
        domains[name] = Categorical(tuple(map(str, table.state_names[node])))
    for node, name in zip(model.nodes(), names, strict=True):
        table = model.get_cpds(node)
        parents = tuple(map(str, table.variables[1:]))
        values = np.moveaxis(np.asarray(table.values, dtype=np.float64), 0, -1)
        cpds[name] = TableCPD(domains[name], parents, tuple(domains[p] for p in parents), values)
    title = getattr(model, "name", "") or ""
    return BayesianNetwork(tuple(names), tuple(domains.values()), tuple(cpds.values()), str(title))
