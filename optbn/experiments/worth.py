"""What a graph is worth on data: its score, and what the rows it has not seen say of it.

A class of graphs is represented by one of its DAGs: scores that treat equivalent graphs alike (BDeu, BIC, AIC, BGe) and
densities do not depend on which.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from optbn.evaluate.density import held_out as log_likelihood
from optbn.evaluate.sources import as_graph
from optbn.scores.listed import score_families
from optbn.smoothing.fitting import fit

if TYPE_CHECKING:
    from optbn.data.dataset import Dataset
    from optbn.evaluate.density import Estimate


def score_of(graph: Any, data: Dataset, score: str, settings: Mapping[str, Any] | None = None) -> float:
    """The sum of its families' scores, in nats."""
    structure = as_graph(graph).aligned(data.names).structure()
    families = [(name, structure.parents(name)) for name in structure.names]
    return float(score_families(data, families, score, jobs=1, **(settings or {})).scores.sum())


def held_out(graph: Any, data: Dataset, fresh: Dataset, smoother: str = "m_estimate") -> Estimate:
    """The mean log-likelihood of fresh rows under the graph with parameters fitted to the data."""
    return log_likelihood(fit(as_graph(graph).aligned(data.names).structure(), data, smoother), fresh)
