"""Classifiers of related data sets: one structure, probabilities of its own for every domain, strength borrowed.

A column says which data set a row is from (or several, the widest first: country, town). The structure is learned from
all rows without it. Then every attribute's table is counted once more with the domain as the last of its parents:

    theta_domain ~ Dir(s common),   common by the classifier's smoother,   s learned, one for an attribute and a column

and P(y | domain) lies around P(y) in the same way (optbn/smoothing/borrowing.py). A domain that was not there at
fitting has no branch in the trees, so it is answered by the widest part that was, and in the end by what is common.

P(y | domain) is written as P(y) P(domain | y), the domain being one more attribute: what P(domain) is does not matter
to a prediction, but with the shares of the rows all of it is one Bayesian network.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from optbn.base.errors import UnsupportedError
from optbn.base.registry import unknown
from optbn.classifiers import load_classifier
from optbn.classifiers.estimator import BayesianClassifier, NetworkClassifier
from optbn.classifiers.forest import Forest, Parents, StoredTree, count_trees, truncated
from optbn.classifiers.member import Member, class_prior
from optbn.classifiers.pairs import Batch
from optbn.classifiers.source import Sample, Source
from optbn.data.discretise import load_discretizer
from optbn.data.discretise.table import Table
from optbn.data.discretise.transformer import Column, Discretizer
from optbn.smoothing.borrowing import around
from optbn.smoothing.domain_counts import Tier, tiers_of
from optbn.smoothing.protocol import Smoother
from optbn.smoothing.tree import CountTree


class ByDomain(BayesianClassifier):
    """classifier    nb, tan, kdb, skdb, eskdb or kdf: a name or an unfitted object
    domain        the column that says which data set a row is from, or several, the widest first; it must hold texts or
                  categories. None: the classifier as it is
    random_state  for smoothers that sample and for the rows of a file that cut points are found from
    """

    def __init__(
        self, classifier: Any = "tan", domain: str | Sequence[str] | None = None, random_state: Any = 0
    ) -> None:
        self.classifier = classifier
        self.domain = domain
        self.random_state = random_state

    def _fit_source(self, source: Source) -> None:
        inner = load_classifier(self.classifier) if isinstance(self.classifier, str) else clone(self.classifier)
        if not isinstance(inner, BayesianClassifier):
            raise UnsupportedError(f"classifier={self.classifier!r}: expected nb, tan, kdb, skdb, eskdb or kdf")
        wanted = (self.domain,) if isinstance(self.domain, str) else tuple(self.domain or ())
        table = source.sample()[0]
        names = [values.name for values in table]
        for name in wanted:
            if name not in names:
                raise UnsupportedError(f"domain: {unknown('column', name, names)}")
        domains = [names.index(name) for name in wanted]
        for i in domains:
            if table[i].levels is None:
                raise UnsupportedError(f"column {names[i]!r} holds numbers, but domains need names: make it a text")
        if domains and not isinstance(inner, NetworkClassifier):
            raise _no_tables(inner)
        inner._fit_source(_Without(source, domains) if domains else source)
        self.weights_, self.power_, self.curves_ = inner.weights_, inner.power_, inner.curves_
        self.members_ = inner.members_
        if not domains:
            return
        if not all(isinstance(member, Member) for member in inner.members_):
            raise _no_tables(inner)
        smoother = inner._chosen_smoother()
        streams = np.random.SeedSequence(self._seed()).spawn(len(inner.members_))
        own = _domain_columns(source, domains)
        self.members_ = [
            _with_domains(source, member, dict(zip(domains, own, strict=True)), smoother, stream)
            for member, stream in zip(inner.members_, streams, strict=True)
        ]


def _no_tables(inner: BayesianClassifier) -> UnsupportedError:
    return UnsupportedError(f"{type(inner).__name__} has no tables for domains; use nb, tan, kdb, skdb, eskdb or kdf")


@dataclass(frozen=True, eq=False)
class _Without:
    """A source without some of its columns."""

    whole: Source
    columns: Sequence[int]

    @property
    def n_classes(self) -> int:
        return self.whole.n_classes

    @property
    def n_rows(self) -> int:
        return self.whole.n_rows

    def sample(self) -> Sample:
        table, classes, weights = self.whole.sample()
        return self._rest(table), classes, weights

    def once(self, discretizer: Any) -> Iterator[Batch]:
        return self.whole.once(self._coding(discretizer))

    def batches(self, discretizer: Any) -> Callable[[], Iterator[Batch]]:
        return self.whole.batches(self._coding(discretizer))

    def _coding(self, discretizer: Any) -> Any:
        return _Coding(lambda table: discretizer.encode(self._rest(table)))

    def _rest(self, table: Table) -> Table:
        return [values for i, values in enumerate(table) if i not in self.columns]


@dataclass(frozen=True)
class _Coding:
    """What a source needs of a discretiser."""

    encode: Callable[[Table], NDArray[np.int32]]


def _domain_columns(source: Source, domains: Sequence[int]) -> tuple[Column, ...]:
    table, classes, weights = source.sample()
    own = [table[i] for i in domains]
    return load_discretizer("equal_width").fit_table(own, classes, source.n_classes, weights).columns_


def _with_domains(
    source: Source, member: Member, own: dict[int, Column], smoother: Smoother, seed: np.random.SeedSequence
) -> Member:
    """The member with the domains as attributes, and as the last parents of all others."""
    total = len(member.columns) + len(own)
    places = [i for i in range(total) if i not in own]
    columns = [own.get(i) for i in range(total)]
    for i, column in zip(places, member.columns, strict=True):
        columns[i] = column
    known = tuple(column for column in columns if column is not None)
    sizes = tuple(column.n_levels for column in known)
    base: Parents = {places[i]: tuple(places[p] for p in questions) for i, questions in member.parents.items()}
    parents: Parents = {i: (*questions, *own) for i, questions in base.items()}
    coder: Any = _Coder(known)
    batches = source.batches(coder)
    trees = count_trees(batches(), parents, sizes, source.n_classes)
    logs = [
        _logs(tree, len(questions), smoother, np.random.default_rng(stream))
        for tree, questions, stream in zip(trees, base.values(), seed.spawn(len(trees)), strict=True)
    ]
    prior, class_trees = _classes(batches(), tuple(own), sizes, source.n_classes)
    for (i, tree), before in zip(zip(own, class_trees, strict=True), range(len(own)), strict=True):
        parents[i] = tuple(own)[:before]
        logs.append(tree.values)
    return Member(known, prior, parents, Forest.of(parents, [*trees, *class_trees], logs))


@dataclass(frozen=True)
class _Coder:
    """Codes the columns of a table as a fitted discretiser does."""

    columns_: tuple[Column, ...]
    encode = Discretizer.encode


def _logs(tree: CountTree, questions: int, smoother: Smoother, generator: np.random.Generator) -> NDArray[np.float64]:
    """float64[nodes, K]: above the domains what the smoother says without them, below them what lies around that."""
    common = truncated(tree, questions)
    estimate = smoother.fit(common, generator)
    p = np.empty_like(tree.counts)
    m = len(common.parent)
    p[:m] = np.where(common.is_leaf[:, None], estimate.probabilities, estimate.unseen)
    for depth in range(questions + 2, len(tree.levels) - 1):
        nodes = slice(tree.levels[depth], tree.levels[depth + 1])
        p[nodes] = around(tree.counts[nodes], p[tree.parent[nodes]])[0]
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(p))


def _classes(
    batches: Iterator[Batch], domains: tuple[int, ...], sizes: Sequence[int], n_classes: int
) -> tuple[NDArray[np.float64], list[StoredTree]]:
    """log P(y), and for each column of domains a tree over the class and the columns before it."""
    counts = np.zeros((*(sizes[i] for i in domains), n_classes))
    everyone = np.zeros(n_classes)
    for codes, classes, weights in batches:
        everyone += np.bincount(classes, weights, n_classes)
        known = (codes[:, list(domains)] >= 0).all(axis=1)
        np.add.at(counts, (*codes[known][:, list(domains)].T, classes[known]), weights[known])
    occurring = np.argwhere(counts.sum(axis=-1) > 0)
    p = np.exp(class_prior(everyone))[None]
    tiers = tiers_of(occurring, 0)
    for width, tier in enumerate(tiers, 1):
        own = counts.sum(axis=tuple(range(width, len(domains))))[tuple(tier.codes.T)]
        p = around(own, p[tier.above])[0]
    rows = counts[tuple(tiers[-1].codes.T)].sum(axis=1)
    trees: list[StoredTree] = []
    for width in range(len(domains), 0, -1):
        tier = tiers[width - 1]
        wider = tiers[width - 2].codes if width > 1 else np.zeros((1, 0), dtype=np.int64)
        p, rows, tree = _tier_tree(tier, wider, p, rows, sizes[domains[width - 1]])
        trees.append(tree)
    return np.log(p[0]), trees[::-1]


def _tier_tree(
    tier: Tier, wider: NDArray[np.int64], p: NDArray[np.float64], rows: NDArray[np.float64], levels: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], StoredTree]:
    """P(y) and the rows of the wider domains, and P(level | wider domain, y) as a tree: y, then the wider columns.

    p float64[domains, C]. Levels that do not occur in a wider domain share a row there, and tell nothing about y.
    """
    g, C, width = len(wider), p.shape[1], wider.shape[1]
    share = np.full((g, levels), 1.0 / levels)
    np.add.at(share, (tier.above, tier.codes[:, -1]), rows)
    share /= share.sum(axis=1, keepdims=True)
    weight = share[tier.above, tier.codes[:, -1]]
    mixed = np.zeros((g, C))
    np.add.at(mixed, tier.above, weight[:, None] * p)
    mixed /= mixed.sum(axis=1, keepdims=True)
    of = np.repeat(mixed[:, None, :], levels, axis=1)
    of[tier.above, tier.codes[:, -1]] = p
    # levels beyond those that occur keep the mean, so that the mean of all is P(y) again
    tables = np.log(share[:, :, None] * of / mixed[:, None, :])
    paths = np.concatenate([np.repeat(np.arange(C), g)[:, None], np.tile(wider, (C, 1))], axis=1)
    tree = CountTree.from_configurations(paths, np.ones((len(paths), 1)), (C, *(wider.max(axis=0, initial=0) + 1)))
    values = np.full((len(tree.parent), levels), -np.log(levels))
    order = np.lexsort(paths.T[::-1])
    leaves = np.flatnonzero(tree.depth == width + 1)
    values[leaves] = tables[np.tile(np.arange(g), C)[order], :, np.repeat(np.arange(C), g)[order]]
    total = np.zeros(g)
    np.add.at(total, tier.above, rows)
    return mixed, total, StoredTree(tree.first_child, tree.branch, values)
