"""Branch and cut the slow way: every acyclic graph on a few nodes, rows and points as dictionaries."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np
from scipy.optimize import linprog

from optbn_solvers.base.table import ScoreTable
from optbn_solvers.relaxation.families import Families
from tests.naive.clusters import is_acyclic

Graph = tuple[frozenset[int], ...]  # the parents of node 0, 1, ...


@cache
def dags(m: int) -> tuple[Graph, ...]:
    """Every acyclic graph on m nodes (m <= 4: 543)."""
    choices = []
    for i in range(m):
        others = [j for j in range(m) if j != i]
        choices.append([frozenset(s) for k in range(m) for s in itertools.combinations(others, k)])
    return tuple(graph for graph in itertools.product(*choices) if is_acyclic(graph))


def bits(members: frozenset[int]) -> int:
    """A set of small numbers as an integer."""
    return sum(1 << j for j in members)


def most(table: np.ndarray) -> float:
    """The largest left side of a pattern row over the acyclic graphs on its nodes."""
    return max(sum(table[i, bits(parents)] for i, parents in enumerate(graph)) for graph in dags(len(table)))


def least_combination(weight: np.ndarray) -> float:
    """min 1'lambda over combinations of acyclic graphs that cover `weight` (above 1: it is outside their hull)."""
    patterns = [(i, t) for i in range(len(weight)) for t in range(1, weight.shape[1]) if weight[i, t] > 0]
    if not patterns:
        return 0.0
    columns = np.array([[float(bits(g[i]) == t) for g in dags(len(weight))] for i, t in patterns])
    target = np.array([weight[i, t] for i, t in patterns])
    answer = linprog(np.ones(columns.shape[1]), A_ub=-columns, b_ub=-target, method="highs")
    # graphs may leave arcs out, so covering with exactly these patterns is as good as covering with supersets
    return float(answer.fun)


def parents_of(families: Families, f: int) -> frozenset[int]:
    """The parents of a family."""
    return frozenset(families.parents[families.starts[f] : families.starts[f + 1]].tolist())


def cluster_row(families: Families, members: Sequence[int]) -> dict[int, int]:
    """The families of a cluster row."""
    inside = set(members)
    return {
        f: 1 for f in range(len(families)) if int(families.children[f]) in inside and parents_of(families, f) & inside
    }


def pattern_row(families: Families, members: Sequence[int], table: np.ndarray) -> dict[int, int]:
    """The families of a pattern row and their coefficients."""
    row = {}
    for f in range(len(families)):
        v = int(families.children[f])
        if v in members:
            trace = sum(1 << members.index(u) for u in parents_of(families, f) if u in members)
            if table[members.index(v), trace]:
                row[f] = int(table[members.index(v), trace])
    return row


def violation(families: Families, point: Mapping[int, float], members: Sequence[int]) -> float:
    """By how much a point violates a cluster row."""
    return sum(point.get(f, 0.0) for f in cluster_row(families, members)) - (len(members) - 1)


def stuck_sets(
    families: Families, point: Mapping[int, float], members: set[int], noise: Sequence[float], least: float
) -> tuple[set[int], set[int]]:
    """Of the sets left while the members are ordered: the one violated the most, and the last violated by `least`."""

    def free(v: int, left: set[int]) -> float:
        meets = (x for f, x in point.items() if int(families.children[f]) == v and parents_of(families, f) & left)
        return 1.0 - sum(meets)

    left, most, last, largest = set(members), set[int](), set[int](), 0.0
    while len(left) > 1:
        by = violation(families, point, sorted(left))
        if by > largest + 1e-9:
            largest, most = by, set(left)
        if by > least:
            last = set(left)
        left.remove(max(sorted(left), key=lambda v: free(v, left) + noise[v]))
    return most, last


def grown_set(weight: np.ndarray, noise: np.ndarray, chosen: set[int]) -> set[int]:
    """For each row of noise one more, the most tied to the set."""
    for turn in noise:
        ties = {}
        for v in set(range(len(weight))) - chosen:
            into, out = (sum(float(each[u, v]) for u in chosen) for each in (weight, weight.T))
            ties[v] = (min(into, out) + 0.05 * (into + out)) * (1 + 0.5 * turn[v])
        node = max(ties, key=lambda v: ties[v], default=-1)
        if node < 0 or ties[node] <= 1e-9:
            break
        chosen = chosen | {node}
    return chosen


def strong_parts(weight: np.ndarray, chosen: Sequence[int], least: float) -> list[frozenset[int]]:
    """The parts of a set that arcs connect in both directions, by first member."""

    def reached(u: int) -> set[int]:
        found = {u}
        while more := {v for w in found for v in chosen if weight[w, v] > least} - found:
            found |= more
        return found

    parts = [frozenset(v for v in chosen if v in reached(u) and u in reached(v)) for u in chosen]
    return list(dict.fromkeys(parts))


def ring(n: int) -> Families:
    """Each variable follows the next or the one after next."""
    sets = {str(v): {(str((v + 1) % n),): -1.0, (str((v + 2) % n),): -1.0, (): -3.0} for v in range(n)}
    table = ScoreTable.from_dict(sets)
    return Families.of(table, np.flatnonzero(table.masks.any(axis=1)))


def sink_order(families: Families, dense: Sequence[float], noise: np.ndarray) -> list[int]:
    """The order the compiled twin reads off a point."""
    n = families.n
    order: list[int] = []
    while len(order) < n:
        sinks = set(order)
        prices = {}
        for v in set(range(n)) - sinks:
            price, lost = 2.0, 0.0
            for f in range(families.offsets[v], families.offsets[v + 1]):
                if not parents_of(families, f) & sinks:
                    price = 1.0 - dense[f] - lost
                    break
                lost += dense[f]
            prices[v] = price + noise[n - 1 - len(order), v]
        order.append(min(prices, key=lambda v: (prices[v], v)))
    return order[::-1]
