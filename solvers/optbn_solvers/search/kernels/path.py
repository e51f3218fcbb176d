"""The path from the root of the search to where it is: what each level has, and what the search remembers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from optbn_solvers.base.compiled import kernel

# state int64[...]: what the search remembers between slices.
DEPTH, FRESH, UPPER, TOP, NODES, LIMIT, FOUND, NAMES, WRITTEN, EVICTIONS, DEEPEST, DROPPED, RECORDS = range(13)
EVERY, STATE = 13, 14


class Levels(NamedTuple):
    """One row per level of the current path; the families of all levels lie one after the other in one arena.

    Level 0 stands for what was known before: multipliers of the first rows, no families, no children to come. The tree
    begins at level 1.
    """

    offsets: NDArray[np.int64]  # [D, n + 1], positions in the arena
    lower: NDArray[np.int64]  # [D], the bound of the node
    y: NDArray[np.int64]  # [D, K]
    stage: NDArray[np.int64]  # [D], children begun: 0, 1, 2
    child: NDArray[np.int64]  # [D], the variable that was branched on
    cluster: NDArray[np.uint64]  # [D, W], and the set
    first: NDArray[np.int64]  # [D], 1 if the "disjoint" side is explored first
    name: NDArray[np.int64]  # [D], scratch of the proof: the number of the set
    masks: NDArray[np.uint64]  # [W, A] the arena
    reduced: NDArray[np.int64]  # [A]
    origin: NDArray[np.int32]  # [A]


class Costs(NamedTuple):
    """The instance: cost int64[F] ascending per child, masks uint64[W, F], offsets int64[n + 1]."""

    offsets: NDArray[np.int64]
    masks: NDArray[np.uint64]
    cost: NDArray[np.int64]


@kernel
def evict(levels, pool, state, keep_at_most):
    """Free the slots of clusters that no level of the path uses, least useful first; returns how many are in use.

    A cluster is kept if a level gives it a positive multiplier, or if it was useful enough lately.
    """
    depth, top = state[DEPTH], state[TOP]
    needed = np.zeros(top, dtype=np.bool_)
    count = np.int64(0)
    for slot in range(top):
        if pool.size[slot]:
            if pool.subset[slot] >= 0:
                needed[slot] = True
                count += 1
                continue
            for e in range(depth + 1):
                if levels.y[e, slot] > 0:
                    needed[slot] = True
                    count += 1
                    break
    bar = np.int64(1)
    while True:
        kept = count
        for slot in range(top):
            if pool.size[slot] and not needed[slot] and pool.useful[slot] >= bar:
                kept += 1
        if kept <= max(keep_at_most, count):
            break
        bar *= 2
    for slot in range(top):
        if pool.size[slot]:
            if needed[slot] or pool.useful[slot] >= bar:
                pool.useful[slot] //= 2
            else:
                pool.size[slot] = 0
                pool.free[pool.free_count[0]] = slot
                pool.free_count[0] += 1
                levels.y[:, slot] = 0  # whoever gets the slot finds no multiplier on any level
    state[EVICTIONS] += 1
    return kept
