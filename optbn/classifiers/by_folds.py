"""The losses of all truncations of a network with any smoother's probabilities, on folds that are left out.

For the m-estimate a row can be left out of counts (`left_out.LeaveOneOut`); other smoothers are fitted without each of
five folds, once for every number of parents, and the rows of the fold go through the attributes one after the other.
Rows are dealt by their number, so nothing is held, and files are read seven times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from optbn.classifiers.forest import Forest, Parents, count_trees, smoothed, truncated
from optbn.classifiers.member import class_prior, normalised
from optbn.classifiers.pairs import Batch
from optbn.smoothing.protocol import Smoother

FOLDS = 5


def losses_by_folds(
    parents: Parents, sizes: Sequence[int], class_counts: NDArray[np.float64], batches: Callable[[], Iterator[Batch]],
    smoother: Smoother, loss: str, seed: np.random.SeedSequence,
) -> NDArray[np.float64]:  # fmt: skip
    """float64[k + 1, a + 1]: the sum of the losses with the first 0 .. k parents and 0 .. a attributes."""
    deepest = max((len(p) for p in parents.values()), default=0)
    losses = np.zeros((deepest + 1, len(parents) + 1))
    deal, *streams = seed.spawn(1 + FOLDS)
    for fold, stream in enumerate(streams):
        inside = count_trees(_part(batches(), deal, fold, False), parents, sizes, len(class_counts))
        held = list(_part(batches(), deal, fold, True))
        own = sum((np.bincount(y, w, len(class_counts)) for _, y, w in held), np.zeros(len(class_counts)))
        prior = class_prior(class_counts - own)
        for k in range(deepest + 1):
            kept: Parents = {i: p[:k] for i, p in parents.items()}
            trees = [truncated(tree, len(p)) for tree, p in zip(inside, kept.values(), strict=True)]
            forest = smoothed(kept, trees, smoother, stream)
            for batch in held:
                losses[k] += _losses(forest, prior, batch, loss)
    return losses


def _part(batches: Iterator[Batch], deal: np.random.SeedSequence, fold: int, held: bool) -> Iterator[Batch]:
    """The rows of one fold, or those of the others."""
    random = np.random.default_rng(deal)
    for codes, classes, weights in batches:
        rows = (np.floor(FOLDS * random.random(len(classes))) == fold) == held
        yield codes[rows], classes[rows], weights[rows]


def _losses(forest: Forest, prior: NDArray[np.float64], batch: Batch, loss: str) -> NDArray[np.float64]:
    """float64[a + 1]: the batch's losses with the first 0, 1, ... attributes."""
    codes, classes, weights = batch
    rows, logs = np.arange(len(classes)), np.tile(prior, (len(classes), 1))
    found = np.zeros(len(forest.attribute) + 1)
    for t in range(len(found)):
        if t:
            forest.alone(t - 1).add_logs(codes, logs)
        p = normalised(logs)
        own = p[rows, classes]
        if loss == "rmse":
            each = (1.0 - own) ** 2
        elif loss == "zero_one":
            each = (p.argmax(axis=1) != classes).astype(np.float64)
        else:
            each = -np.log(np.maximum(own, 1e-300))
        found[t] = float(weights @ each)
    return found
