"""Related data sets, from rows to networks: one graph by the sum of their scores, parameters that borrow strength."""

from __future__ import annotations

from typing import Any, NamedTuple

from optbn.base.errors import DataError
from optbn.data.anything import DataLike, as_dataset
from optbn.data.dataset import Categorical
from optbn.learning.learn import Learned, learn
from optbn.scores import load_score, settings_of
from optbn.scores.protocol import LocalScore
from optbn.scores.summed import Summed
from optbn.smoothing.domains import Domains, fit_domains
from optbn.smoothing.protocol import Smoother


class RelatedNetworks(NamedTuple):
    """learned  the graph with its proof and report; its own probabilities are those of all rows together
    domains     a network for each domain, and what they have in common
    """

    learned: Learned
    domains: Domains


def learn_domains(
    data: DataLike,
    domain: str,
    *,
    score: str | LocalScore = "pcartp",
    smoother: str | Smoother | None = None,
    seed: int = 0,
    **more: Any,
) -> RelatedNetworks:
    """The graph that is best for all domains together, each with parameters of its own, and these parameters.

    domain    the column that says which data set a row is from; it is no variable of the graph
    score     summed over the domains, see optbn/scores/summed.py; its settings are among `more`
    smoother  of what the domains have in common (see `fit_domains`)
    seed      of everything random
    more      further arguments of `learn`: max_parents, time_limit, constraints...
    """
    rows = as_dataset(data, missing="value")
    column = rows.domain(domain)
    if not isinstance(column, Categorical):
        raise DataError(f"column {domain!r} is real, but the domain of a row must have levels; declare it categorical")
    known = settings_of(score) if isinstance(score, str) else []
    method = load_score(score, **{name: more.pop(name) for name in list(more) if name in known})
    rest = rows.select([name for name in rows.names if name != domain])
    learned = learn(rest, score=Summed.of(method, rows.column(domain)), smoother=smoother, seed=seed, **more)
    return RelatedNetworks(learned, fit_domains(learned.network, rows, domain, smoother, seed=seed))
