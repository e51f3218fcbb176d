"""Why trees have no max_parents="all": what the best of all ceilings would leave open.

A ceiling closes a family (v, P) when no set above P scores more than the best one within P (optbn/scores/growing.py).
The best ceiling that there can be is the highest score above P itself, here of all sets of at most D parents, so no
bound on what is above a set can close more. It leaves nearly everything open: above an irrelevant P are P and the right
parents, which beat what is within P by far, though they lose to the right parents alone. What ends the enumeration for
BIC is another rule, that a member can never pay for its parameters, by entropies: a table grows by a factor with each
member. A tree grows by a leaf, about log 4C, so that some leaf with few rows always could.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

import optbn
from optbn.scores import load_score
from tests.benchmarks import Figure

ROWS, MOST = 1000, 3
SCORES = {
    "pcart": load_score("pcart"),
    "pcartp": load_score("pcartp"),
    "pcart, leaf=bic": load_score("pcart", leaf="bic"),
    "pcart, leaf=aic": load_score("pcart", leaf="aic"),
    "bic": load_score("bic"),
}
TOGETHER = 4096


def measure() -> Iterator[Figure]:
    for score, method in SCORES.items():
        for name in ("child", "insurance", "alarm"):
            data = optbn.load_network(name).sample(ROWS, 1)
            for size, (left, of) in enumerate(open_families(method.bind(data), data.n_variables)):
                work = f"{name}, N = {ROWS:,}, {score}, families of {size} parents open under the best ceiling"
                yield Figure(work, 100 * left / of, unit="%", note=f"{left:,} of {of:,}, D = {MOST}")


def open_families(bound: Any, n: int) -> list[tuple[int, int]]:
    """Per size below MOST how many families stay open, and of how many."""
    sets, scores, index = [], [], []
    for k in range(MOST + 1):
        every = list(itertools.combinations(range(n), k))
        found = np.array(every, np.int32).reshape(len(every), k)
        wanted = np.ones((len(found), n), np.bool_)
        wanted[np.arange(len(found))[:, None], found] = False
        parts = [slice(i, i + TOGETHER) for i in range(0, len(found), TOGETHER)]
        sets.append(found)
        scores.append(np.concatenate([bound.block(found[part], wanted[part]) for part in parts]))
        index.append({tuple(members): i for i, members in enumerate(found.tolist())})

    def without(k: int, j: int) -> NDArray[np.int64]:
        """Where the sets of k members are when they lack member j."""
        return np.array([index[k - 1][tuple(members)] for members in np.delete(sets[k], j, axis=1).tolist()])

    within = [scores[0]]
    for k in range(1, MOST):
        within.append(np.max([scores[k], *(within[k - 1][without(k, j)] for j in range(k))], axis=0))
    above, counts = np.full_like(scores[MOST], -np.inf), []
    for k in range(MOST - 1, -1, -1):
        most, above = np.maximum(above, scores[k + 1]), np.full_like(scores[k], -np.inf)
        for j in range(k + 1):
            np.maximum.at(above, without(k + 1, j), most)
        there = np.isfinite(scores[k])
        counts.append((int((above > within[k])[there].sum()), int(there.sum())))
    return counts[::-1]
