"""Graph distances by their definitions, on sets and paths."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator

import numpy as np


def all_dags(n: int) -> Iterator[np.ndarray]:
    """Every acyclic bool[n, n]."""
    pairs = list(itertools.combinations(range(n), 2))
    for choice in itertools.product((0, 1, 2), repeat=len(pairs)):
        a = np.zeros((n, n), dtype=bool)
        for (u, v), c in zip(pairs, choice, strict=True):
            if c == 1:
                a[u, v] = True
            elif c == 2:
                a[v, u] = True
        if acyclic(a):
            yield a


def acyclic(a: np.ndarray) -> bool:
    left = set(range(len(a)))
    while left:
        sources = {v for v in left if not any(a[u, v] for u in left)}
        if not sources:
            return False
        left -= sources
    return True


def descendants(a: np.ndarray, u: int) -> set[int]:
    """u and everything below it."""
    found, queue = {u}, [u]
    while queue:
        for v in np.flatnonzero(a[queue.pop()]).tolist():
            if v not in found:
                found.add(v)
                queue.append(v)
    return found


def paths(a: np.ndarray, i: int, j: int) -> Iterator[list[int]]:
    """Every path between i and j in the skeleton."""

    def extend(path):
        if path[-1] == j:
            yield path
            return
        for v in range(len(a)):
            if v not in path and (a[path[-1], v] or a[v, path[-1]]):
                yield from extend([*path, v])

    yield from extend([i])


def directed(a: np.ndarray, path: list[int]) -> bool:
    return all(a[u, v] for u, v in itertools.pairwise(path))


def blocked(a: np.ndarray, path: list[int], z: set[int]) -> bool:
    """d-separation of one path."""
    for u, w, v in zip(path, path[1:], path[2:], strict=False):
        if a[u, w] and a[v, w]:
            if not descendants(a, w) & z:
                return True
        elif w in z:
            return True
    return False


def wrong_pair(true: np.ndarray, i: int, j: int, z: set[int]) -> bool:
    """Is p(x_j | do x_i), by adjusting for z, wrong in `true`? Peters and Buehlmann's proposition, word by word."""
    if j in z:
        return j in descendants(true, i)
    for path in paths(true, i, j):
        if directed(true, path):
            for w in path[1:]:
                if descendants(true, w) & z:
                    return True
        elif not blocked(true, path, z):
            return True
    return False


def intervention_distance(true: np.ndarray, estimated: np.ndarray) -> int:
    n = len(true)
    return sum(
        wrong_pair(true, i, j, set(np.flatnonzero(estimated[:, i]).tolist()))
        for i in range(n)
        for j in range(n)
        if i != j
    )


def extensions(graph: np.ndarray) -> list[np.ndarray]:
    """Every DAG with the arcs, the skeleton and the v-structures of a partially directed graph."""
    lines = [(u, v) for u in range(len(graph)) for v in range(u) if graph[u, v] and graph[v, u]]
    found = []
    for turned in itertools.product((False, True), repeat=len(lines)):
        dag = graph.copy()
        for (u, v), turn in zip(lines, turned, strict=True):
            dag[(u, v) if turn else (v, u)] = False
        if acyclic(dag) and colliders(dag) == colliders(graph):
            found.append(dag)
    return found


def shd(a: np.ndarray, b: np.ndarray) -> int:
    n = len(a)
    return sum((a[u, v], a[v, u]) != (b[u, v], b[v, u]) for u in range(n) for v in range(u + 1, n))


def colliders(a: np.ndarray) -> set[tuple[int, int, int]]:
    n = len(a)
    return {
        (u, w, v)
        for u in range(n)
        for v in range(u + 1, n)
        for w in range(n)
        if a[u, w] and a[v, w] and not a[w, u] and not a[w, v] and not a[u, v] and not a[v, u]
    }


def information_ranks(x: list[int], y: list[int], starts: list[int]) -> tuple[float, float]:
    """Of all permutations of x within strata, the shares with more information about y, and with as much."""
    strata = [range(a, b) for a, b in itertools.pairwise(starts)]

    def information(values: list[int]) -> float:
        counts = Counter((s, values[i], y[i]) for s, rows in enumerate(strata) for i in rows)
        return sum(n * math.log(n) for n in sorted(counts.values()))

    observed = information(x)
    every = [
        information([x[i] for part in order for i in part])
        for order in itertools.product(*(itertools.permutations(rows) for rows in strata))
    ]
    larger = sum(value > observed + 1e-9 for value in every) / len(every)
    return larger, sum(abs(value - observed) <= 1e-9 for value in every) / len(every)
