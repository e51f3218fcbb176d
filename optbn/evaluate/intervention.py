"""Structural intervention distance: how many effects of an intervention the estimated graph gets wrong.

Peters and Buehlmann (2015): for every ordered pair (i, j), the estimate H says that p(x_j | do x_i) is obtained by
adjusting for the parents Z of i in H. In the true graph G that is wrong exactly when
    j in Z      and j is a descendant of i in G (H claims there is no effect), or
    j not in Z  and either (a) some z in Z is a descendant of a node w != i on a directed path from i to j,
                or (b) Z leaves some path from i to j open that is not directed.
The distance counts the wrong pairs, 0 .. n (n - 1); it is not symmetric.

(a): the nodes W = {descendants of i other than i} that are ancestors of Z (or in Z) spoil every j that some w in W
reaches. (b): a walk from i that never returns to i, over states (node, entered along or against an arrow, still
directed), passing a chain or fork outside Z and a collider with a descendant in Z, ends at j without being directed. An
open walk that is no path only adds pairs that (a) has already. Cost O(n (n + arcs)) after the reachability of G.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from optbn.evaluate.graphs import Matrix, reachability
from optbn.evaluate.kernels.adjustment import wrong_pairs


def intervention_distance(true: Matrix, estimated: Matrix) -> int:
    """SID(true, estimated) for two DAGs."""
    tails, heads = np.nonzero(true)
    children = np.split(heads, np.cumsum(np.bincount(tails, minlength=len(true)))[:-1])
    heads_t, tails_t = np.nonzero(true.T)
    parents = np.split(tails_t, np.cumsum(np.bincount(heads_t, minlength=len(true)))[:-1])
    return int(wrong_pairs(*_flat(children), *_flat(parents), reachability(true), np.ascontiguousarray(estimated.T)))


def _flat(lists: list[NDArray[np.int64]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Lists as (offsets, members)."""
    offsets = np.concatenate([[0], np.cumsum([len(members) for members in lists])]).astype(np.int64)
    return offsets, np.concatenate([np.zeros(0, dtype=np.int64), *lists]).astype(np.int64)
