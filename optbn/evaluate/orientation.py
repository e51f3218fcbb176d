"""Directing the lines of a partially directed graph: one DAG of its class, or what follows from what is directed.

A consistent extension directs every line without a cycle and without a new v-structure (Dor and Tarsi 1992): look for a
node without arcs out of it whose neighbours by a line are adjacent to all else that is adjacent to it, direct its lines
towards it, take it out, go on. Where no such node is left there is no extension.

Meek's rules (1995) direct what every extension directs the same way:
    1  a -> b - c, a and c not adjacent           b -> c
    2  a -> b -> c and a - c                      a -> c
    3  a - b -> d, a - c -> d, b and c apart, a - d       a -> d
    4  a - b -> c -> d, b and d apart, a - d, a and c adjacent   a -> d
Twin of both: enumeration of all directions, tests/naive/evaluate.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.bool_]


def is_acyclic(arcs: Matrix) -> bool:
    """Whether a graph of arcs has no cycle."""
    waiting = arcs.sum(axis=0)
    ready = np.flatnonzero(waiting == 0).tolist()
    done = 0
    while ready:
        done += 1
        for v in np.flatnonzero(arcs[ready.pop()]).tolist():
            waiting[v] -= 1
            if waiting[v] == 0:
                ready.append(v)
    return done == len(arcs)


def consistent_extension(graph: Matrix) -> Matrix | None:
    """A DAG with the graph's arcs, skeleton and v-structures; None when there is none."""
    dag = graph & ~graph.T
    left = graph.copy()
    alive = np.ones(len(graph), dtype=np.bool_)
    waiting = list(range(len(graph)))
    while waiting:
        for v in waiting:
            if (left[v] & ~left[:, v]).any():
                continue  # it has arcs out of it
            lines, near = left[v] & left[:, v], left[:, v]
            if all((near <= (left[u] | left[:, u] | (np.arange(len(left)) == u))).all() for u in np.flatnonzero(lines)):
                break
        else:
            return None
        dag[:, v] |= lines
        left[v], left[:, v], alive[v] = False, False, False
        waiting.remove(v)
    return dag


def closed(graph: Matrix, since: tuple[int, int] | None = None) -> Matrix:
    """The graph with everything directed that Meek's rules direct; `since`: the only arc that is new since the last."""
    graph = graph.copy()
    adjacent = graph | graph.T
    lines = [(u, v) for u, v in np.argwhere(np.triu(graph & graph.T, 1)).tolist()]
    waiting = set(lines) if since is None else _near(lines, adjacent, *since)
    while waiting:
        a, b = waiting.pop()
        for u, v in ((a, b), (b, a)):
            if graph[u, v] and graph[v, u] and _forced(graph, u, v):
                graph[v, u] = False
                lines = [(p, q) for p, q in lines if graph[p, q] and graph[q, p]]
                waiting |= _near(lines, adjacent, u, v)
    return graph


def _near(lines: Sequence[tuple[int, int]], adjacent: Matrix, u: int, v: int) -> set[tuple[int, int]]:
    """The lines that a new arc u -> v may direct: at one of its ends, or (rule 4) between two neighbours of v."""
    ends = (u, v)
    return {(p, q) for p, q in lines if p in ends or q in ends or (adjacent[p, v] and adjacent[q, v])}


def _forced(graph: Matrix, u: int, v: int) -> bool:
    """Whether one of the rules directs the line u - v as u -> v."""
    arcs, lines = graph & ~graph.T, graph & graph.T
    adjacent = graph | graph.T
    if (arcs[:, u] & ~adjacent[:, v] & (np.arange(len(graph)) != v)).any():
        return True  # rule 1
    if (arcs[u] & arcs[:, v]).any():
        return True  # rule 2
    via = np.flatnonzero(lines[u] & arcs[:, v])
    if len(via) > 1 and not (adjacent[np.ix_(via, via)] | np.eye(len(via), dtype=np.bool_)).all():
        return True  # rule 3
    over = np.flatnonzero(arcs[:, v] & adjacent[u])
    return any((lines[u] & arcs[:, c] & ~adjacent[v]).any() for c in over)  # rule 4


def components(graph: Matrix) -> list[list[int]]:
    """The groups of variables that lines connect, those with two or more members."""
    lines = graph & graph.T
    found, seen = [], np.zeros(len(graph), dtype=np.bool_)
    for start in np.flatnonzero(lines.any(axis=0)).tolist():
        if seen[start]:
            continue
        seen[start] = True
        group, queue = [], [start]
        while queue:
            u = queue.pop()
            group.append(u)
            for v in np.flatnonzero(lines[u] & ~seen).tolist():
                seen[v] = True
                queue.append(v)
        found.append(sorted(group))
    return found


def extensions(graph: Matrix) -> Iterator[Matrix]:
    """Every way to direct the lines of a graph that Meek's rules have closed; a component of one is such a graph."""
    lines = np.argwhere(np.triu(graph & graph.T, 1))
    if not len(lines):
        yield graph
        return
    u, v = lines[0]
    for tail, head in ((u, v), (v, u)):
        further = graph.copy()
        further[head, tail] = False
        yield from extensions(closed(further, (int(tail), int(head))))
