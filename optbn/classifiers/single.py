"""Learning one network in passes: pairs, then trees; and what the structures share about it.

pass 1   counts of all pairs of attributes with the class  ->  the parents of every attribute
pass 2   the count tree of every attribute given them      ->  smoothed probabilities
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import UnsupportedError
from optbn.classifiers.forest import Parents, count_trees, smoothed
from optbn.classifiers.member import Member, class_prior
from optbn.classifiers.pairs import Batch, PairCounts
from optbn.classifiers.source import Source
from optbn.data.discretise.transformer import Discretizer
from optbn.smoothing.protocol import Smoother


def two_passes(
    source: Source,
    discretizer: Discretizer,
    choose: Callable[[PairCounts], Parents],
    smoother: Smoother,
    seed: np.random.SeedSequence,
) -> Member:
    """The network whose parents `choose` reads off the pair counts."""
    batches, counts = pairs_of(source, discretizer)
    parents = choose(counts)
    trees = count_trees(batches(), parents, discretizer.sizes, source.n_classes)
    forest = smoothed(parents, trees, smoother, seed)
    return Member(discretizer.columns_, class_prior(counts.classes), parents, forest, counts.classes.sum() + 1.0)


def pairs_of(source: Source, discretizer: Discretizer) -> tuple[Callable[[], Iterator[Batch]], PairCounts]:
    """What makes a pass over the coded rows, and the counts of the first one."""
    batches = source.batches(discretizer)
    names = [column.name for column in discretizer.columns_]
    return batches, PairCounts.of(batches(), discretizer.sizes, source.n_classes, names)


def by_information(information: NDArray[np.float64]) -> list[int]:
    """Attributes by falling information, equal ones in their given order; every one of them, once."""
    return [int(i) for i in np.argsort(-information, kind="stable")]


def k_parents(order: Sequence[int], conditional: NDArray[np.float64], k: int) -> Parents:
    """Each attribute's parents: the k before it in the order that tell most about it given the class, best first."""
    check_k(k)
    parents: Parents = {}
    for place, i in enumerate(order):
        before = list(order[:place])
        parents[i] = tuple(sorted(before, key=lambda j: -conditional[i, j])[:k])
    return parents


def check_k(k: int) -> None:
    """Refuse what is no number of parents."""
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 0:
        raise UnsupportedError(f"k={k!r}: expected a whole number of parents, 0 or more")
