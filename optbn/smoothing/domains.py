"""Related data sets: one structure, parameters of its own for every domain, and strength borrowed across domains.

A column says which data set a row is from, or several do, the widest first: country, town, user. What the domains share
(`share`):

    "rows"   each row of a table lies between that of all domains together, which any smoother finds, and the domain's
             own with one condition less (`borrowing`). How strongly and between which is learned, for each family and
             number of conditions. How often a domain meets a configuration says nothing about what follows from it. Of
             several columns the domains of each have theirs of the column before in the place of what is common.
    "joint"  as published (Azzimonti, Corani, Zaffalon), for one column: the joint X' = X x Pa is smoothed with the
             domain as its one conditioning variable; dividing by the parents' margin gives each domain its table.

The cells of a real child take the cell of the domain above as the centre of their prior. A domain without rows gets
what is common. Rows share better than joints in results/related and results/related-data.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike

from optbn.base.errors import DataError, UnsupportedError
from optbn.base.registry import unknown
from optbn.base.settings import check_seed
from optbn.data.anything import DataLike
from optbn.data.dataset import Categorical
from optbn.network.network import BayesianNetwork
from optbn.smoothing import load_smoother
from optbn.smoothing.domain_counts import DomainCounts, Fit, Share, tiers_of
from optbn.smoothing.fitting import Progress, generator_of
from optbn.smoothing.normal import LeafKind, check_kind
from optbn.smoothing.protocol import Smoother
from optbn.smoothing.rows import Block, StructureLike, as_structure, families_and_rows

SMOOTHERS_OF: Mapping[Share, str] = {"rows": "hdp", "joint": "hierarchical"}

Path = tuple[str, ...]
"""A domain: a level of the first column, or of the first and the second, ..."""


class Domains(dict[Any, BayesianNetwork]):
    """A network for each domain: by its level, or by the tuple of its levels where several columns say the domain.

    Of one column all levels are here, in their order; of several those that have rows. `common` is the network of all
    rows together, and `wider` has those of the domains in between, such as ("Italy",) beside ("Italy", "Rome").
    """

    def __init__(
        self,
        networks: Mapping[Any, BayesianNetwork],
        common: BayesianNetwork,
        wider: Mapping[Path, BayesianNetwork] | None = None,
    ) -> None:
        super().__init__(networks)
        self.common = common
        self.wider = dict(wider or {})

    def of(self, *levels: str) -> BayesianNetwork:
        """The network of a domain; of one that the data never saw, that of the widest part which they saw."""
        if len(levels) == 1 and levels[0] in self:
            return self[levels[0]]
        if levels in self:
            return self[levels]
        for depth in range(len(levels), 0, -1):
            if levels[:depth] in self.wider:
                return self.wider[levels[:depth]]
        return self.common


def fit_domains(
    structure: StructureLike,
    data: DataLike,
    domain: str | Sequence[str],
    smoother: str | Smoother | None = None,
    *,
    share: Share = "rows",
    seed: int = 0,
    weights: str | ArrayLike | None = None,
    leaves: LeafKind = "normal",
    schema: Any = None,
    reading: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    **settings: Any,
) -> Domains:
    """A network for each level of the column `domain`, in their order.

    structure, data, seed, weights, leaves, schema, reading, progress, settings   as in `fit`
    domain     a column, or several, the widest first: a network for each combination that has rows
    share      "rows" or "joint", see above
    smoother   of what is common, by default hdp; of the joint, by default hierarchical
    """
    if share not in get_args(Share):
        raise unknown("share", share, get_args(Share))
    check_kind(leaves)
    check_seed(seed)
    columns = _columns(domain, share)
    chosen = load_smoother(SMOOTHERS_OF[share] if smoother is None else smoother, caller=fit_domains, **settings)
    graph = as_structure(structure)
    for name in columns:
        if name in graph.names:
            raise UnsupportedError(f"column {name!r} says which domain a row is from, but it is part of the structure")
    families, besides, blocks = families_and_rows(graph, data, weights, schema, reading, columns)
    levels = [_levels(name, besides[name]) for name in columns]
    counted = [DomainCounts(family, [len(of) for of in levels], share) for family in families]
    _count(counted, columns, blocks, progress)
    every = np.unique(np.concatenate([counts.domains() for counts in counted]), axis=0) if len(columns) > 1 else None
    tiers = tiers_of(every, len(levels[0]))
    per_variable: list[list[list[Fit]]] = []
    for i, counts in enumerate(counted):
        per_variable.append(counts.finish(chosen, generator_of(seed, i), leaves, tiers))
        if progress is not None:
            progress("fitting", i + 1, len(counted))
    names, domains = tuple(f.name for f in families), tuple(f.domain for f in families)

    def network(tier: int, number: int, title: str) -> BayesianNetwork:
        fits = dict(zip(names, (of_variable[tier][number] for of_variable in per_variable), strict=True))
        precision = {name: rows for name, (_, rows) in fits.items() if rows is not None}
        return BayesianNetwork(names, domains, tuple(cpd for cpd, _ in fits.values()), title, precision=precision)

    found: dict[Path, BayesianNetwork] = {}
    for t, tier in enumerate(tiers):
        for number, codes in enumerate(tier.codes.tolist()):
            path = tuple(of[code] for of, code in zip(levels, codes, strict=False))
            found[path] = network(t, number, ", ".join(path))
    last = {path: found.pop(path) for path in list(found) if len(path) == len(columns)}
    common = network(len(tiers), 0, "common")
    return Domains({path[0] if len(columns) == 1 else path: one for path, one in last.items()}, common, found)


def _columns(domain: str | Sequence[str], share: Share) -> tuple[str, ...]:
    columns = (domain,) if isinstance(domain, str) else tuple(domain)
    for name in columns:
        if columns.count(name) > 1:
            raise UnsupportedError(f"column {name!r} is named twice among those that say the domain; once is enough")
    if share == "joint" and len(columns) > 1:
        raise UnsupportedError(f"share='joint' takes one column of domains, not {', '.join(columns)}; use share='rows'")
    return columns


def _count(
    counted: Sequence[DomainCounts], columns: Sequence[str], blocks: Iterable[Block], progress: Progress | None
) -> None:
    rows = 0
    for block, n, row_weights in blocks:
        for counts in counted:
            counts.add(block, [block[name] for name in columns], n, row_weights)
        rows += n
        if progress is not None:
            progress("counting", rows, None)


def _levels(name: str, column: Any) -> tuple[str, ...]:
    if not isinstance(column, Categorical):
        raise DataError(f"column {name!r} is real, but the domain of a row must have levels; declare it categorical")
    return column.levels
