"""What a local score is, and how the rest of Phase I calls it.

A score is a frozen dataclass of hyper-parameters with one verb: `bind(data)` checks that it can score those columns
(refusing by name and remedy) and returns a BoundScore. Work comes in blocks of predictor sets of one size, for
all responses at once, because one pass over the rows of a predictor set serves every response.

A BoundScore that keeps large tables may also have `limit_memory(size)`: a call before the first block says how
many bytes these may take in all. One whose sets differ by orders of magnitude may have `seconds(sets)`: roughly what
each takes, so that estimates need not try the dear ones; `too_dear(sets)`, bool[m]: those that are left out alone;
and `bytes(sets)`: roughly what a thread needs for the dearest of them. One that lays its rows out before it scores
anything may have `preparation`, roughly the seconds this takes, and then has `alone(child)`: what is fitted without
parents, and its score but for last bits, without laying anything out.

A score whose `too_dear` is about time alone declares `fits_dear_sets`, true: given time and the bytes it names, it
scores such sets all the same, and fits the families that are chosen.

One that can end the enumeration of parent sets (growing.py) has `ends`, true, and `bounded_block(sets, wanted, floor)`:
what `block` answers, and ceilings float64[m, n] that no proper superset of a set scores more than. Where its scores are
-inf the ceilings say nothing: then no superset is above the floor either. If its tables are urns it also has `urns`,
what descent.py needs for a tighter bound, or None for data for which that does not hold.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from optbn.data.dataset import Dataset

Floats = NDArray[np.float64]


def one_family(child: int, parents: Iterable[int], n: int) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """The block (sets, wanted) of a single family, its parents ascending, among n variables."""
    return np.array([sorted(parents)], np.int32).reshape(1, -1), np.arange(n)[None, :] == child


class LocalScore(Protocol):
    """Hyper-parameters; `bind` is pure and keeps what it precomputes in the BoundScore."""

    def bind(self, data: Dataset) -> BoundScore: ...


class BoundScore(Protocol):
    """A score tied to its data. Methods may be called from several threads or processes at once."""

    def block(self, sets: NDArray[np.int32], wanted: NDArray[np.bool_], floor: Floats | None = None) -> Floats:
        """float64[m, n]: the score of response v given predictor set `sets[i]`, wherever `wanted[i, v]`.

        sets    int32[m, k], members ascending, sets in lexicographic order (so neighbours share prefixes)
        wanted  bool[m, n], false for members of the set and for families that constraints forbid
        floor   float64[m, n], at least the score of every proper subset of the set for that response, or -inf where
                that is not known, or None: a score that can prove a family is not above its floor may answer -inf
        Entries that are not wanted are -inf. The same family has the same bits whatever block it comes in.
        """
        ...

    def fitted(self, child: int, parents: tuple[int, ...]) -> Any:
        """The local structure behind one score: the optimal tree, or the table with its chosen bins."""
        ...
