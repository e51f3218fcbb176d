"""Where to draw the variables: layers with parents above children (Sugiyama, Tagawa, Toda 1981), in four steps.

layers       integers that make the arcs shortest in all: min sum (y_child - y_parent), every arc at least 1. The matrix
             of this linear program is a network's, so its vertices are integral (Gansner et al. 1993)
order        within a layer, by barycentres so that few arcs cross: every layer in turn, down and up, in the order of
             its neighbours' means; an arc that spans several layers passes a point on each
columns      with the order given, x by sweeps: every layer in turn moves as close as it can to the mean of its
             neighbours while boxes keep their widths. That is isotonic regression after a shift
components   laid out apart and set side by side, the single variables in rows below

Units are pixels; rows are stretched when the drawing would be much wider than high.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

BOX = 30.0  # a box's height, if none is given
ROOM = 44.0  # between the boxes of one layer and those of the next
GAP = 18.0  # between boxes side by side
BEND = 14.0  # the width kept free for an arc that passes a layer
SWEEPS = 24
WIDE = 1.7  # width over height from which rows are stretched

Point = tuple[float, float]


@dataclass(frozen=True)
class Layout:
    """positions: the centre of every variable's box; routes: per arc the points it passes between its ends."""

    positions: tuple[Point, ...]
    routes: tuple[tuple[Point, ...], ...]


def layered(widths: Sequence[float], arcs: Sequence[tuple[int, int]], heights: Sequence[float] = ()) -> Layout:
    """A layout of variables with boxes of these sizes and arcs (parent, child); the graph is acyclic."""
    n = len(widths)
    heights = heights or [BOX] * n
    ordered = sorted(_components(n, arcs), key=lambda members: (-len(members), members[0]))
    x, y = np.zeros(n), np.zeros(n)
    routes: list[tuple[Point, ...]] = [()] * len(arcs)
    left = 0.0
    for members in (c for c in ordered if len(c) > 1):
        place = {v: i for i, v in enumerate(members)}
        numbers = [i for i, (tail, _) in enumerate(arcs) if tail in place]
        part = [(place[arcs[i][0]], place[arcs[i][1]]) for i in numbers]
        drawn, width = _component([widths[v] for v in members], [heights[v] for v in members], part)
        for v, (px, py) in zip(members, drawn.positions, strict=True):
            x[v], y[v] = px + left, py
        for i, route in zip(numbers, drawn.routes, strict=True):
            routes[i] = tuple((px + left, py) for px, py in route)
        left += width + 2 * GAP
    alone = [c[0] for c in ordered if len(c) == 1]
    tallest = max(heights, default=BOX)
    _rows_below([widths[v] for v in alone], alone, x, y, left, tallest)
    height = (float(y.max()) if n else 0.0) + tallest + ROOM
    across = float((x + np.asarray(widths) / 2).max()) if n else 0.0
    stretch = min(8.0, max(1.0, across / height / WIDE))
    positions = tuple((float(a), float(b * stretch)) for a, b in zip(x, y, strict=True))
    return Layout(positions, tuple(tuple((a, b * stretch) for a, b in route) for route in routes))


def _components(n: int, arcs: Sequence[tuple[int, int]]) -> list[list[int]]:
    """The members of each weakly connected component, ascending."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    tails, heads = np.array(arcs, dtype=np.int64).reshape(-1, 2).T
    count, of = connected_components(coo_array((np.ones(len(arcs)), (tails, heads)), shape=(n, n)), directed=False)
    return [np.flatnonzero(of == c).tolist() for c in range(count)]


def _component(
    widths: Sequence[float], heights: Sequence[float], arcs: Sequence[tuple[int, int]]
) -> tuple[Layout, float]:
    """A connected graph laid out from x = 0, and its width."""
    n = len(widths)
    # Boxes are numbers 0..n-1; every bend of an arc gets a number of its own, and lines join neighbours in a chain.
    where, bends = _ordered(n, arcs, _layers(n, arcs))
    sizes = np.array([*(float(w) for w in widths), *(BEND for _ in where[n:])])
    lines = [line for (tail, head), chain in zip(arcs, bends, strict=True) for line in pairwise([tail, *chain, head])]
    x = _columns(where, sizes, lines)
    x -= (x - sizes / 2).min()
    tall = [0.0] * (1 + max(layer for layer, _ in where))
    for height, (layer, _) in zip(heights, where, strict=False):
        tall[layer] = max(tall[layer], height)
    down = np.concatenate([[0.0], np.cumsum([(a + b) / 2 + ROOM for a, b in pairwise(tall)])])
    at = [(float(a), float(down[where[i][0]])) for i, a in enumerate(x)]
    width = float((x + sizes / 2).max())
    return Layout(tuple(at[:n]), tuple(tuple(at[b] for b in chain) for chain in bends)), width


def _ordered(
    n: int, arcs: Sequence[tuple[int, int]], layer: Sequence[int]
) -> tuple[list[tuple[int, float]], list[list[int]]]:
    """(layer and place within it, of boxes and bends; the bends of every arc, one per layer that it passes)."""
    levels = list(layer)
    bends: list[list[int]] = []
    for tail, head in arcs:
        bends.append(list(range(len(levels), len(levels) + layer[head] - layer[tail] - 1)))
        levels += range(layer[tail] + 1, layer[head])
    chains = [[tail, *bend, head] for (tail, head), bend in zip(arcs, bends, strict=True)]
    return _swept(levels, [line for chain in chains for line in pairwise(chain)]), bends


def _swept(levels: Sequence[int], lines: Sequence[tuple[int, int]]) -> list[tuple[int, float]]:
    """(level, place) by barycentres: every level in turn, down and up, in the order of its neighbours' means."""
    members: dict[int, list[int]] = {}
    for i, level in enumerate(levels):
        members.setdefault(level, []).append(i)
    above: list[list[int]] = [[] for _ in levels]
    below: list[list[int]] = [[] for _ in levels]
    for a, b in lines:
        above[b].append(a)
        below[a].append(b)
    place = np.zeros(len(levels))
    for row in members.values():
        place[row] = np.arange(len(row))
    for sweep in range(SWEEPS):
        near = above if sweep % 2 == 0 else below
        for level in sorted(members, reverse=sweep % 2 == 1):
            row = members[level]
            row.sort(key=lambda i: float(np.mean(place[near[i]])) if near[i] else place[i])
            place[row] = np.arange(len(row))
    return [(level, float(place[i])) for i, level in enumerate(levels)]


def _layers(n: int, arcs: Sequence[tuple[int, int]]) -> list[int]:
    """The layering with the shortest arcs in all."""
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    tails, heads = np.array(arcs).T
    weights = np.bincount(heads, minlength=n).astype(float) - np.bincount(tails, minlength=n)
    rows = np.arange(len(arcs))
    ones = np.ones(len(arcs))
    matrix = coo_array(
        (np.concatenate([ones, -ones]), (np.concatenate([rows, rows]), np.concatenate([tails, heads]))),
        shape=(len(arcs), n),
    )
    found = linprog(weights, A_ub=matrix.tocsr(), b_ub=-ones, bounds=(0, n), method="highs-ds")
    return [int(layer) for layer in np.rint(found.x - found.x.min())]


def _columns(
    where: Sequence[tuple[int, float]], sizes: NDArray[np.float64], lines: Sequence[tuple[int, int]]
) -> NDArray[np.float64]:
    """x per box and bend: near the mean of its neighbours, in the order given, no two overlapping."""
    from scipy.optimize import isotonic_regression

    members: dict[int, list[int]] = {}
    for i in sorted(range(len(where)), key=lambda i: where[i]):
        members.setdefault(where[i][0], []).append(i)
    near: list[list[int]] = [[] for _ in where]
    for a, b in lines:
        near[a].append(b)
        near[b].append(a)
    x = np.zeros(len(where))
    shifts = {}
    for level, row in members.items():
        room = (sizes[row[:-1]] + sizes[row[1:]]) / 2 + GAP
        shifts[level] = np.concatenate([[0.0], np.cumsum(room)])
        x[row] = shifts[level] - shifts[level][-1] / 2
    levels = sorted(members)
    for sweep in range(SWEEPS):
        for level in levels if sweep % 2 == 0 else reversed(levels):
            row = members[level]
            wanted = np.array([np.mean(x[near[i]]) for i in row])
            x[row] = isotonic_regression(wanted - shifts[level]).x + shifts[level]
    return x


def _rows_below(
    sizes: Sequence[float],
    alone: Sequence[int],
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    width: float,
    tallest: float,
) -> None:
    """Put the variables without arcs in rows under everything else, about as wide as it."""
    if not alone:
        return
    available = max(width, 1.3 * np.sqrt(sum(size + GAP for size in sizes) * (tallest + ROOM)))
    across, down = 0.0, float(y.max()) + tallest + ROOM if width else 0.0
    for v, size in zip(alone, sizes, strict=True):
        if across and across + size > available:
            across, down = 0.0, down + tallest + ROOM / 2
        x[v], y[v] = across + size / 2, down
        across += size + GAP
