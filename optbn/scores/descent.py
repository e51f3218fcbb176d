"""The larger parent sets that a child may need, where tables are urns (BDeu): depth first, by a bound on all above.

A table of parents P' with q' configurations has an urn for each, with a/q' rows of prior that spread evenly over r
levels. A score is the log probability of the urns' rows, drawn in any order, and of rows drawn before it changes
nothing what comes first. So

(1) A level that is drawn for the first time, after t rows, has probability (s/r) / (s + t) with s = a/q': at most 1/r,
    and at most s/r after one row or more.
(2) Whatever was drawn before, an urn is a mixture of multinomials: rows with counts n_k have a probability of at most
    prod (n_k / n)^n_k = exp(-H), their entropy H = n log n - sum n_k log n_k.
(3) Alone in an urn, m > 1 levels with counts n_k have exactly
    s^(m-1) r^-m prod_k prod_{i < n_k} (s/r + i) / prod_{i < n} (s + i), i > 0, that is to say a cost of at least
    m log r + (m - 1) log 1/s + own, with own = log (n-1)! - sum_k [log (n_k - 1)! + s/r (1 + .. + 1/(n_k - 1))].

Let P be a set, x a member more, A the members that may still be added, and let rows that agree in P and A be a *group*:
no P' between P + x and P + A tells them apart. Some groups are mixed, they have several levels of the child. Let s < 1
be the most prior that such an urn has, and c = log 1/s. Consider the mixed groups in one configuration of P + x, and
one of them, g. An urn of P' with some of them draws one of these first, g if it is there; by (3) that costs log r per
level and c, and own(g) for g. Each other group that brings a new level costs log r for it and c by (1), and each that
brings none its entropy H by (2). The rows that are left cost log r per new level. With one such urn that makes

    log r per cell  +  c + max(0, own(g))  +  sum over the other mixed groups of min(c, H),

and with several urns at least as much, since each group that is the first of its urn costs c. The cells of P' and the
child are at least those of P + x and the child. So whatever is between P + x and P + A scores at most minus the sum
over the configurations of P + x. If a set within P + x is known to score that much, no optimum needs any of them.
(Cells alone: de Campos and Ji 2011. More about single configurations: Correia, Cussens, de Campos 2020.)

Weights: an urn is the less probable the larger a real count n_k >= 1 is (the derivative is psi(s/r + n_k) - psi(s + n)
<= 0), so bounds take the whole part of each row's weight, and need weights of at least 1.

Every set is below one node only: members are in an order, and a node's are those after its last. They are ordered by
what their cells leave of the cost up to the floor, so those that the rest can do without come first, and the last ones
have few others, with which most groups are mixed. Cost: a node counts the rows that are not alone in their
configuration, per member; `nodes_above` says how many nodes there may be (Knuth 1975: the branches of random dives).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from optbn.scores.kernels.descent import descend, dive, enter

ROOM = 1 << 14
"""Sets that are noted before they are collected."""


class Urns(NamedTuple):
    """What such a score is about: rows that differ, codes uint16[n, N] of n columns and weight int64[N] of at least 1;
    levels int64[n], declared; and the prior's rows in a whole table."""

    codes: NDArray[np.uint16]
    weight: NDArray[np.int64]
    levels: NDArray[np.int64]
    prior: float

    @property
    def tables(self) -> tuple[NDArray[np.float64], ...]:
        """Of n up to the number of rows: log n!, 1 + 1/2 + .. + 1/n, n log n."""
        counts = np.arange(1, int(self.weight.sum()) + 1, dtype=np.float64)
        parts = np.cumsum(np.log(counts)), np.cumsum(1.0 / counts), counts * np.log(counts)
        return tuple(np.concatenate([[0.0], part]) for part in parts)


class Known(NamedTuple):
    """All sets of up to `size` members are scored, and what none of its subsets matches is listed: bit i of a mask is
    candidates[i]; sets of more than `most` members are not wanted."""

    candidates: NDArray[np.int64]
    masks: NDArray[np.uint64]
    scores: NDArray[np.float64]
    size: int
    most: int


@dataclass
class Descent:
    """The search above the known sets of one child; `go` on until it is not `open` any more.

    found    masks, as in Known, of the sets that the bounds leave
    visited  nodes so far
    """

    child: int
    found: list[NDArray[np.uint64]] = field(default_factory=list)
    visited: int = 0
    _depth: int = 0
    _arguments: tuple[Any, ...] = ()

    @classmethod
    def above(cls, urns: Urns, child: int, known: Known, tables: Sequence[NDArray[np.float64]]) -> Descent:
        order = np.argsort(-known.scores, kind="stable")
        levels = urns.levels[known.candidates]
        data = urns.codes[known.candidates], urns.codes[child], urns.weight, levels
        limits = int(urns.levels[child]), known.size, known.most
        stack, scratch = _space(data, limits, urns.prior)
        room = np.empty(ROOM + len(levels), np.uint64), np.zeros(1, np.int64)
        listed = known.masks[order], known.scores[order]
        descent = cls(child, _arguments=(data, listed, tuple(tables), limits, stack, scratch, room))
        enter(0, *descent._arguments)
        return descent

    @property
    def open(self) -> bool:
        return self._depth >= 0

    def go(self, nodes: int) -> Descent:
        """Go on for so many nodes at most."""
        self._depth, visited = descend(self._depth, nodes, *self._arguments)
        self.visited += visited
        self._collect()
        return self

    def nodes_above(self, rng: np.random.Generator, dives: int) -> tuple[float, int]:
        """How many nodes there may be, before the first of them, and how many were visited to find out."""
        assert not self.visited
        total, visited = 0.0, 0
        for _ in range(dives):
            self._collect()
            nodes, depth = dive(rng.random(len(self._arguments[0][3]) + 1), *self._arguments)
            self._arguments[-1][1][0] = 0
            total, visited = total + nodes, visited + depth
        return total / dives, visited

    def _collect(self) -> None:
        masks, end = self._arguments[-1]
        if end[0]:
            self.found.append(masks[: end[0]].copy())
            end[0] = 0


def _space(data: tuple[Any, ...], limits: tuple[int, int, int], prior: float) -> tuple[Any, Any]:
    """The stack with its first node, the empty set, and the scratch of kernels/descent.py."""
    (k, n), (r, _, most) = data[0].shape, limits
    depths, most_parts = min(k, most) + 2, (n + 1) * max(r, int(data[3].max()))
    rows, block, cell = (np.zeros((depths, n), np.int32) for _ in range(3))
    count = np.zeros((depths, 6), np.int64)
    path, strength = np.zeros(depths, np.uint64), np.full(depths, prior)
    members, ready = np.zeros((depths, k), np.int64), np.zeros((depths, k), np.bool_)
    rows[0], cell[0], members[0] = np.arange(n), data[1], np.arange(k)
    count[0] = n, 1, r, 0, k, 0
    by_row, by_part = (lambda: np.empty(n, np.int32)), (lambda: np.empty(n, np.float64))
    scratch = (
        np.empty(most_parts, np.uint8),  # mark, per part and code
        np.empty(most_parts, np.int32),  # at, likewise
        *(by_row() for _ in range(3)),  # new, first, mixed
        np.empty(max(n * r, 1), np.int64),  # count, per part and level of the child
        *(by_row() for _ in range(2)),  # block_of, row_of
        *(by_part() for _ in range(4)),  # entropy, alone, over, least
        np.empty(k, np.int64),  # cells, per member
        *(np.empty(k) for _ in range(2)),  # bars, slack
        *(by_row() for _ in range(2)),  # part, some
    )
    return (rows, block, cell, count, path, strength, members, ready), scratch
