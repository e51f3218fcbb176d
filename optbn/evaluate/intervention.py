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

Of an estimate that is a class (a CPDAG, or a PDAG with DAGs in it) only bounds can be said: the least and the largest
distance of its members. The wrong pairs of i depend on the parents of i alone, and the components of lines are directed
independently of each other, so the bounds are sums over components; each is enumerated. A component with too many
members is bounded node by node instead (any clique among the neighbours may be parents): wider, never wrong, and said.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from optbn.evaluate.graphs import reachability
from optbn.evaluate.kernels.adjustment import wrong_effects
from optbn.evaluate.orientation import Matrix, closed, components, consistent_extension, extensions

MOST_MEMBERS = 300
"""Ways to direct a component that are tried one by one."""
MOST_NEIGHBOURS = 10
"""Lines at one node of which all subsets are tried."""


def intervention_distance(true: Matrix, estimated: Matrix) -> int:
    """SID(true, estimated) for two DAGs."""
    return int(_Truth(true).wrong(np.arange(len(true)), np.ascontiguousarray(estimated.T)).sum())


@dataclass(frozen=True)
class Bounds:
    """The least and the largest distance of a class's members; `exact` says that members reach both."""

    low: int
    high: int
    exact: bool = True


def intervention_bounds(true: Matrix, estimated: Matrix) -> Bounds | None:
    """Of SID(true, members of the class `estimated`); None when no DAG belongs to it."""
    member = consistent_extension(estimated)
    if member is None:
        return None
    truth, graph = _Truth(true), closed(estimated)
    groups = components(graph)
    fixed = np.setdiff1d(np.arange(len(true)), [v for group in groups for v in group])
    low = high = int(truth.wrong(fixed, graph.T[fixed]).sum())
    exact = True
    for group in groups:
        totals, known = [], _Known(truth)
        outside = graph.copy()
        outside[np.ix_(group, group)] = False
        for count, dag in enumerate(extensions(graph[np.ix_(group, group)])):
            directed = outside.copy()
            directed[np.ix_(group, group)] = dag
            totals.append(sum(known.of(v, directed[:, v]) for v in group))
            if count >= MOST_MEMBERS:
                exact = False
                totals = [sum(each) for each in zip(*(known.range_of(v, graph) for v in group), strict=True)]
                break
        low, high = low + min(totals), high + max(totals)
    return Bounds(low, high, exact)


class _Truth:
    """A true DAG as the kernel wants it."""

    def __init__(self, dag: Matrix) -> None:
        tails, heads = np.nonzero(dag)
        children = np.split(heads, np.cumsum(np.bincount(tails, minlength=len(dag)))[:-1])
        heads_t, tails_t = np.nonzero(dag.T)
        parents = np.split(tails_t, np.cumsum(np.bincount(heads_t, minlength=len(dag)))[:-1])
        self.lists = (*_flat(children), *_flat(parents))
        self.reach = reachability(dag)

    def wrong(self, sources: NDArray[np.int64], adjusted: Matrix) -> NDArray[np.int64]:
        """Per source the wrong effects when it is adjusted for the set in its row."""
        return wrong_effects(*self.lists, self.reach, sources, np.ascontiguousarray(adjusted))


class _Known:
    """Wrong effects by node and parents, each computed once."""

    def __init__(self, truth: _Truth) -> None:
        self.truth = truth
        self.counts: dict[tuple[int, bytes], int] = {}

    def of(self, v: int, parents: Matrix) -> int:
        key = (v, parents.tobytes())
        if key not in self.counts:
            self.counts[key] = int(self.truth.wrong(np.array([v]), parents[None])[0])
        return self.counts[key]

    def range_of(self, v: int, graph: Matrix) -> tuple[int, int]:
        """(least, largest) over all cliques of neighbours as further parents; none and all of the others when many."""
        arcs, lines = graph[:, v] & ~graph[v], np.flatnonzero(graph[:, v] & graph[v])
        if len(lines) > MOST_NEIGHBOURS:
            return 0, len(graph) - 1
        adjacent = graph | graph.T
        found = []
        for bits in range(1 << len(lines)):
            chosen = lines[[bool(bits >> i & 1) for i in range(len(lines))]]
            if (adjacent[np.ix_(chosen, chosen)] | np.eye(len(chosen), dtype=np.bool_)).all():
                parents = arcs.copy()
                parents[chosen] = True
                found.append(self.of(v, parents))
        return min(found), max(found)


def _flat(lists: list[NDArray[np.int64]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Lists as (offsets, members)."""
    offsets = np.concatenate([[0], np.cumsum([len(members) for members in lists])]).astype(np.int64)
    return offsets, np.concatenate([np.zeros(0, dtype=np.int64), *lists]).astype(np.int64)
