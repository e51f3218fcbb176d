"""Losses of all truncations of a network, each row left out of its own counts, and what is predicted for some rows.

`kernels.forest.leave_one_out` walks the rows; batches come one after the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from optbn.classifiers.forest import Forest, Parents
from optbn.classifiers.kernels.forest import CountedTrees, Rows, leave_one_out
from optbn.classifiers.pairs import Batch
from optbn.smoothing.tree import CountTree

CHUNK = 4096
"""Rows whose leave-one-out products are held at a time."""

LOSSES = ("rmse", "zero_one", "log_loss")
"""By what truncations are compared: squares of 1 - P(y | x), mistakes, or nats."""
NONE = np.zeros(0, dtype=np.int64)


class LeaveOneOut:
    """Losses of all truncations of a network, rows left out one at a time; add batches, then ask for the best.

    watched  the ascending numbers of the rows whose predictions can be asked for
    """

    def __init__(
        self, parents: Parents, trees: Sequence[CountTree], class_counts: NDArray[np.float64], m: float = 1.0,
        loss: str = "rmse", watched: NDArray[np.int64] = NONE,
    ) -> None:  # fmt: skip
        self.forest = Forest.of(parents, trees, [tree.counts for tree in trees])
        self.totals = np.concatenate([np.zeros(0), *(tree.totals for tree in trees)])
        self.class_counts = class_counts
        self.m = m
        self.kind = LOSSES.index(loss)
        deepest = max((len(p) for p in parents.values()), default=0)
        self.losses = np.zeros((deepest + 1, len(parents) + 1))
        self._watched, self._seen, self._kept = watched, 0, [np.zeros((0, deepest + 1, len(class_counts)))]
        self.aside: list[Batch] = []

    def add(self, batch: Batch) -> None:
        """Add the losses of a batch of the rows that were counted; what is watched is put aside."""
        here = within(self._watched, self._seen, len(batch[0]))
        self._seen += len(batch[0])
        self.aside.append((batch[0][here], batch[1][here], batch[2][here]))
        self._kept += self._run(batch, self.losses, here, len(self.forest.sizes))

    def predictions(self, choice: tuple[int, int]) -> NDArray[np.float64]:
        """float64[watched, C]: what is predicted for each row without it, with the truncation (parents, attributes)."""
        kept = self._kept
        if choice[1] < len(self.forest.sizes):  # with all attributes it is known
            losses, kept = np.zeros((choice[0] + 1, choice[1] + 1)), [kept[0][:, : choice[0] + 1]]
            for batch in self.aside:
                kept += self._run(batch, losses, np.arange(len(batch[0])), choice[1])
        return np.concatenate(kept)[:, choice[0]]

    def _run(
        self, batch: Batch, losses: NDArray[np.float64], watched: NDArray[np.int64], after: int
    ) -> Iterator[NDArray[np.float64]]:
        """Add to `losses`, for as many depths and trees as it has; yields what the first `after` trees predict for the
        watched rows of each chunk."""
        f = self.forest
        trees = CountedTrees(
            f.attribute, f.questions, f.sizes, f.node_at, f.value_at, f.children, f.branch, f.values, self.totals
        )
        codes, classes, weights = batch
        for begin in range(0, len(codes), CHUNK):
            some = slice(begin, begin + CHUNK)
            rows = Rows(codes[some], classes[some], weights[some])
            here = within(watched, begin, len(rows.codes))
            kept = np.empty((len(here), len(losses), len(self.class_counts)))
            leave_one_out(rows, self.class_counts, trees, self.m, self.kind, losses, here, after, kept)
            yield kept

    def best(self) -> tuple[int, int]:
        """(parents, attributes) with the least loss."""
        return best_truncation(self.losses)


def within(numbers: NDArray[np.int64], first: int, many: int) -> NDArray[np.int64]:
    """Those of the ascending numbers that lie in first .. first + many - 1, less `first`."""
    begin, end = np.searchsorted(numbers, (first, first + many))
    return numbers[begin:end] - first


def best_truncation(losses: NDArray[np.float64]) -> tuple[int, int]:
    """(parents, attributes) with the least of losses[k, n]; of equal ones the fewest attributes, then the fewest
    parents."""
    k, attributes = np.nonzero(losses <= losses.min() * (1 + 1e-12))
    i = np.lexsort((k, attributes))[0]
    return int(k[i]), int(attributes[i])
