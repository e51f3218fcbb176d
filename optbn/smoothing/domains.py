"""Related data sets: one structure, parameters of its own for every domain, and strength borrowed across domains.

A column says which data set a row is from. What the domains share (`share`):

    "rows"   each row of a table lies around that of all domains together, theta_domain ~ Dir(s common), common by any
             smoother. One s for a family, learned: the evidence of the domains' rows is highest there (`strength`).
             How often a domain meets a configuration says nothing about what follows from it.
    "joint"  as published (Azzimonti, Corani, Zaffalon): the joint X' = X x Pa is smoothed with the domain as its one
             conditioning variable; dividing by the parents' margin gives each domain its table.

The cells of a real child take the cell of all domains together as the centre of their prior. A domain without rows gets
what is common. Rows share better than joints in results/related.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

from optbn.base.errors import DataError, LimitError, UnsupportedError
from optbn.base.registry import unknown
from optbn.base.settings import check_seed
from optbn.data.anything import DataLike
from optbn.data.dataset import Categorical, Real
from optbn.network.cpds import CPD
from optbn.network.leaves import CategoricalLeaves, MixedLeaves, NormalLeaves
from optbn.network.network import BayesianNetwork
from optbn.smoothing.counting import FamilyCounts
from optbn.smoothing.family import LARGEST_TABLE, Family, FamilyFit
from optbn.smoothing.fitting import Progress, StructureLike, as_structure, families_and_rows, generator_of
from optbn.smoothing.normal import LeafKind, NormalCounts, check_kind, check_range, pooled
from optbn.smoothing.protocol import CERTAIN, Smoother, load_smoother

Share = Literal["rows", "joint"]
SMOOTHERS_OF: Mapping[Share, str] = {"rows": "hdp", "joint": "hierarchical"}
MIDDLE, SPREAD = 10.0, 1.5
"""log s ~ Normal(log MIDDLE, SPREAD^2) before the data: two domains say little about s, and equal ones would have it
infinite. With ten domains or more the middle hardly matters; with three, 10 was better than 2 or K on families of the
study in results/related."""

Fit = tuple[CPD, NDArray[np.float64] | None]
"""A CPD and its precision, where there is a posterior."""


class Domains(dict[str, BayesianNetwork]):
    """A network per level, in the order of the levels; `common` is that of all together."""

    def __init__(self, networks: Mapping[str, BayesianNetwork], common: BayesianNetwork) -> None:
        super().__init__(networks)
        self.common = common

    def of(self, level: str) -> BayesianNetwork:
        """The network of a level; of one that the data never saw, what is common."""
        return self.get(level, self.common)


def fit_domains(
    structure: StructureLike,
    data: DataLike,
    domain: str,
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
    """A network per level of the column `domain`, in the order of its levels; other arguments as in `fit`.

    share      "rows" or "joint", see above
    smoother   of what is common, by default hdp; of the joint, by default hierarchical
    """
    if share not in get_args(Share):
        raise unknown("share", share, get_args(Share))
    check_kind(leaves)
    check_seed(seed)
    chosen = load_smoother(SMOOTHERS_OF[share] if smoother is None else smoother, **settings)
    graph = as_structure(structure)
    if domain in graph.names:
        raise UnsupportedError(f"column {domain!r} says which domain a row is from, but it is part of the structure")
    families, besides, blocks = families_and_rows(graph, data, weights, schema, reading, (domain,))
    column = besides[domain]
    if not isinstance(column, Categorical):
        raise DataError(f"column {domain!r} is real, but the domain of a row must have levels; declare it categorical")
    levels = column.levels
    joint = [_JointCounts(family, len(levels), share) for family in families]
    rows = 0
    for columns, n, row_weights in blocks:
        for counts in joint:
            counts.add(columns, columns[domain], n, row_weights)
        rows += n
        if progress is not None:
            progress("counting", rows, None)
    per_variable: list[list[Fit]] = []
    for i, counts in enumerate(joint):
        per_variable.append(counts.finish(chosen, generator_of(seed, i), leaves))
        if progress is not None:
            progress("fitting", i + 1, len(joint))
    names, domains = tuple(f.name for f in families), tuple(f.domain for f in families)

    def network(number: int, title: str) -> BayesianNetwork:
        fits = dict(zip(names, (of_variable[number] for of_variable in per_variable), strict=True))
        precision = {name: rows for name, (_, rows) in fits.items() if rows is not None}
        return BayesianNetwork(names, domains, tuple(cpd for cpd, _ in fits.values()), title, precision=precision)

    return Domains({level: network(d, level) for d, level in enumerate(levels)}, network(len(levels), "common"))


class _JointCounts:
    """One family's counts per domain."""

    def __init__(self, family: Family, n_domains: int, share: Share) -> None:
        self.family = family
        self.n_domains = n_domains
        entries = family.n_cells * family.n_levels
        if entries * n_domains > LARGEST_TABLE:
            raise LimitError(
                f"the tables of {family.name!r} in {n_domains} domains would have {entries * n_domains:,} entries; "
                "use fewer parents or fewer domains"
            )
        real = isinstance(family.domain, Real)
        if isinstance(family.domain, Real):
            check_range(family.name, family.domain)
        self._normal = [NormalCounts(family.n_cells) for _ in range(n_domains)] if real else []
        self._counts = None if real else FamilyCounts((n_domains,), entries)
        self._together = FamilyFit(family) if real or share == "rows" else None

    def add(
        self, columns: Mapping[str, NDArray[Any]], domain: NDArray[Any], n: int, weights: NDArray[np.float64] | None
    ) -> None:
        if self._together is not None:
            self._together.add(columns, n, weights)
        cells = self.family.cells(columns, n)
        child = columns[self.family.name]
        if self._counts is not None:
            self._counts.add([domain], cells * self.family.n_levels + child, weights)
            return
        for d in np.unique(domain):
            rows = domain == d
            self._normal[d].add(cells[rows], child[rows], None if weights is None else weights[rows])

    def finish(self, smoother: Smoother, generator: np.random.Generator, leaves: str) -> list[Fit]:
        """A fit per domain, and then the common one."""
        if self._together is None:
            return self._from_joint(smoother, generator)
        common = self._together.finish(smoother, generator, leaves)
        if self._counts is None:
            return [(cpd, None) for cpd in (*self._real_children(leaves), common)]
        assert isinstance(common.leaves, CategoricalLeaves)
        centre = common.leaves.probabilities
        domains, seen = self._counts.configurations()
        counts = np.zeros((self.n_domains, *centre.shape))
        counts[domains[:, 0]] = seen.reshape(-1, *centre.shape)
        s = strength(counts, centre)
        rows = counts.sum(axis=2) + s
        tables = (counts + s * centre) / rows[:, :, None]
        fits: list[Fit] = [(self.family.cpd(CategoricalLeaves(p)), w) for p, w in zip(tables, rows, strict=True)]
        return [*fits, (common, self._together.precision)]

    def _from_joint(self, smoother: Smoother, generator: np.random.Generator) -> list[Fit]:
        """A part of a Dirichlet is one itself: given the parents, a row is worth its share of the joint's rows."""
        assert self._counts is not None
        tree = self._counts.tree()
        estimate = smoother.fit(tree, generator)
        nodes = np.append(tree.cells(), 0)
        seen = np.append(tree.is_leaf[nodes[:-1]], True)
        flat = np.where(seen[:, None], estimate.probabilities[nodes], estimate.unseen[nodes])
        joint = flat.reshape(self.n_domains + 1, self.family.n_cells, self.family.n_levels)
        worth = estimate.precision_at(nodes, seen)
        rows = None if worth is None else np.maximum(worth[:, None] * joint.sum(axis=2), 1.0 / CERTAIN)
        return [
            (self.family.cpd(CategoricalLeaves(_conditional(p, joint[-1]))), None if rows is None else rows[d])
            for d, p in enumerate(joint)
        ]

    def _real_children(self, leaves: str) -> list[CPD]:
        domain = self.family.domain
        assert isinstance(domain, Real)
        together = pooled(self._normal)
        centre = together.leaves(*together.overall(domain), "normal")
        assert isinstance(centre, NormalLeaves)
        share = together.absent(together.share())
        found = [part.leaves(centre.mean, centre.sd**2, leaves) for part in self._normal]
        if not domain.absent:
            return [self.family.cpd(one) for one in found]
        chances = [(part.without + share) / (part.weight + part.without + 1.0) for part in self._normal]
        return [self.family.cpd(MixedLeaves(p, one)) for p, one in zip(chances, found, strict=True)]


def _conditional(joint: NDArray[np.float64], common: NDArray[np.float64]) -> NDArray[np.float64]:
    """float64[cells, K]: rows of a joint table divided by their sums; zeros take the common row, or are even."""
    for table in (common, np.ones_like(common)):
        empty = joint.sum(axis=1) <= 0.0
        joint = np.where(empty[:, None], table, joint)
    conditional: NDArray[np.float64] = joint / joint.sum(axis=1, keepdims=True)
    return conditional


def strength(counts: NDArray[np.float64], centre: NDArray[np.float64]) -> float:
    """The s of theta ~ Dir(s centre) under which counts, float64[domains, cells, K], are likeliest; float64[cells, K].

    The evidence is that of Dirichlet-multinomials, times the prior of s; cells without counts say
    nothing. The centre is taken as known.
    """
    from scipy.optimize import minimize_scalar

    occurs = counts > 0
    n, p = counts[occurs], np.broadcast_to(centre, counts.shape)[occurs]
    rows, times = np.unique(counts.sum(axis=2), return_counts=True)
    middle = float(np.log(MIDDLE))

    def loss(log_s: float) -> float:
        s = float(np.exp(log_s))
        evidence = (gammaln(n + s * p) - gammaln(s * p)).sum() + (times * (gammaln(s) - gammaln(rows + s))).sum()
        return float((log_s - middle) ** 2 / (2.0 * SPREAD**2) - evidence)

    reach = 8.0 * SPREAD
    return float(np.exp(minimize_scalar(loss, bounds=(middle - reach, middle + reach), method="bounded").x))
