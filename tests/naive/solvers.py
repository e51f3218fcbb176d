"""Random score tables and slow, obvious answers about them: every acyclic graph, every order."""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np

from optbn_solvers.base.kernels.masks import pack_sets
from optbn_solvers.base.table import ScoreTable

KINDS = ("plain", "ties", "huge", "tiny", "signs", "single", "blocks", "bare", "dense")
NO_FAMILY = -(1 << 52)


def random_table(rng: np.random.Generator, n: int, kind: str = "plain", most: int = 3, rows: int = 12) -> ScoreTable:
    """A random table. Its kind: plain; ties (few distinct scores); huge or tiny scores; both signs; a single family
    each; blocks (two halves that do not touch); bare (the empty set is missing for some); dense (many large sets)."""
    children, sets, scores = [], [], []
    for v in range(n):
        others = [u for u in range(n) if u != v]
        if kind == "blocks":
            others = [u for u in others if (u < n // 2) == (v < n // 2)]
        wanted = {()} if kind not in ("bare", "single") or rng.random() < 0.7 else set()
        tries = 1 if kind == "single" else 3 * rows if kind == "dense" else rows
        for _ in range(tries if others else 0):
            size = int(rng.integers(0 if kind == "single" else 1, min(most, len(others)) + 1))
            wanted.add(tuple(sorted(rng.choice(others, size=size, replace=False).tolist())))
        wanted = wanted or {()}
        for parents in sorted(wanted):
            if kind == "single" and parents != max(wanted):
                continue
            children.append(v)
            sets.append(parents)
            if kind == "ties":
                scores.append(-float(rng.integers(0, 3)) + (0.5 if len(parents) > 1 else 0))
            else:
                scores.append(-50 + 10 * len(parents) ** 0.5 * rng.random() + 5 * rng.random())
    values = np.array(scores)
    if kind == "huge":
        values *= 1e290
    if kind == "tiny":
        values *= 1e-300
    if kind == "signs":
        values += 50 + rng.normal(size=len(values)) * 5
    names = [f"v{v}" for v in range(n)]
    return ScoreTable.build(names, np.array(children, dtype=np.int64), pack_sets(sets, n), values)


def random_unpruned_table(rng: np.random.Generator, n: int) -> ScoreTable:
    """A random table that keeps rows that one of their subsets beats (and with many equal scores)."""
    children, sets, scores = [], [], []
    for v in range(n):
        others = [u for u in range(n) if u != v]
        wanted = {()}
        for _ in range(10 if others else 0):
            size = int(rng.integers(1, min(3, len(others)) + 1))
            wanted.add(tuple(sorted(rng.choice(others, size, replace=False).tolist())))
        for parents in sorted(wanted):
            children.append(v)
            sets.append(parents)
            scores.append(-float(rng.integers(1, 12)) / 2)
    names = [f"v{v}" for v in range(n)]
    return ScoreTable.build(names, np.array(children), pack_sets(sets, n), np.array(scores), keep_dominated=True)


def families_of(table: ScoreTable) -> list[list[tuple[frozenset[int], int]]]:
    """Per variable its families as (parents, units), best first."""
    return [[(frozenset(table.parents(row)), int(table.units[row])) for row in table.rows(v)] for v in range(table.n)]


@cache
def all_dags(n: int) -> np.ndarray:
    """int64[number of labelled acyclic graphs on n, n]: parent masks; by way of all orders."""
    graphs = set()
    for order in itertools.permutations(range(n)):
        choices = []
        for v in range(n):
            before = order[: order.index(v)]
            choices.append(
                [sum(1 << u for u in s) for k in range(len(before) + 1) for s in itertools.combinations(before, k)]
            )
        graphs.update(itertools.product(*choices))
    return np.array(sorted(graphs), dtype=np.int64)


def scores_of_all_dags(table: ScoreTable) -> dict[tuple[int, ...], int]:
    """Units of every acyclic graph that the table has families for, by its parent masks (n <= 5)."""
    graphs = all_dags(table.n)
    absent = -(1 << 60)
    worth = np.full((table.n, 1 << table.n), absent, dtype=np.int64)
    for v, families in enumerate(families_of(table)):
        for parents, units in families:
            worth[v, sum(1 << u for u in parents)] = units
    each = np.stack([worth[v, graphs[:, v]] for v in range(table.n)], axis=1)
    there = (each > absent).all(axis=1)
    return dict(zip(map(tuple, graphs[there].tolist()), each[there].sum(axis=1).tolist(), strict=True))


def optimum(table: ScoreTable) -> int | None:
    """The optimum in units over all acyclic graphs, or None when there is none (n <= 5)."""
    scores = scores_of_all_dags(table)
    return max(scores.values()) if scores else None


def values_of_subsets(table: ScoreTable) -> dict[int, int]:
    """For every set of variables (a mask) that has an acyclic graph, the best score of one, in units (n <= 12)."""
    families = [[(sum(1 << u for u in parents), units) for parents, units in rows] for rows in families_of(table)]
    best = {0: 0}
    for among in range(1, 1 << table.n):
        totals = []
        for sink in range(table.n):
            rest = among & ~(1 << sink)
            if rest != among and rest in best:
                totals += [best[rest] + units for parents, units in families[sink] if parents & ~rest == 0][:1]
        if totals:
            best[among] = max(totals)
    return best


def optimum_by_subsets(table: ScoreTable) -> int | None:
    """The optimum in units, or None when there is no acyclic graph (n <= 12)."""
    return values_of_subsets(table).get((1 << table.n) - 1)


def rows_of_order(table: ScoreTable, order: list[int]) -> list[int]:
    """The best row of each variable among its predecessors, -1 for none."""
    rows = []
    for v in range(table.n):
        before = set(order[: order.index(v)])
        rows.append(next((row for row in table.rows(v) if before.issuperset(table.parents(row))), -1))
    return rows


def total_of(table: ScoreTable, rows: list[int]) -> int:
    """The units of rows, with NO_FAMILY for -1."""
    return sum(int(table.units[row]) if row >= 0 else NO_FAMILY for row in rows)


def insertions(order: list[int]) -> list[list[int]]:
    """Every order that differs by one insertion."""
    found = []
    for i, v in enumerate(order):
        rest = order[:i] + order[i + 1 :]
        found += [[*rest[:j], v, *rest[j:]] for j in range(len(order)) if j != i]
    return found


def swaps(order: list[int]) -> list[list[int]]:
    """Every order that differs by the exchange of two places."""
    found = []
    for i, j in itertools.combinations(range(len(order)), 2):
        other = order.copy()
        other[i], other[j] = other[j], other[i]
        found.append(other)
    return found


def best_window(table: ScoreTable, order: list[int], at: int, width: int) -> int:
    """The largest total among all orders of the `width` variables from place `at` on."""
    window = order[at : at + width]
    return max(
        total_of(table, rows_of_order(table, [*order[:at], *some, *order[at + width :]]))
        for some in itertools.permutations(window)
    )


def ascent(table: ScoreTable, rng: np.random.Generator) -> list[tuple[tuple[int, ...], int]]:
    """Cluster rows with multipliers by dual ascent: while the families that cost nothing more leave a set of variables
    that cannot be placed, charge every family that would place one of them from outside."""
    families = families_of(table)
    cost = [[rows[0][1] - units for _, units in rows] for rows in families]
    found = []
    while True:
        placed: set[int] = set()
        while True:
            ready = [
                v
                for v in range(table.n)
                if v not in placed
                and any(c == 0 and p <= placed for (p, _), c in zip(families[v], cost[v], strict=True))
            ]
            if not ready:
                break
            placed.add(int(rng.choice(ready)))
        stuck = set(range(table.n)) - placed
        leaving = [(v, i) for v in stuck for i, (p, _) in enumerate(families[v]) if not p & stuck]
        if not leaving:
            return found
        charge = min(cost[v][i] for v, i in leaving)
        for v, i in leaving:
            cost[v][i] -= charge
        found.append((tuple(sorted(stuck)), charge))


def largest_left_side(members: tuple[int, ...], coefficients: list[tuple[int, tuple[int, ...], int]]) -> int:
    """The maximum over all acyclic graphs on `members` of the coefficients of their patterns (at most 4 members)."""
    worth = np.zeros((len(members), 1 << len(members)), dtype=np.int64)
    for child, parents, coefficient in coefficients:
        worth[members.index(child), sum(1 << members.index(u) for u in parents)] = coefficient
    graphs = all_dags(len(members))
    return int(sum(worth[i, graphs[:, i]] for i in range(len(members))).max())


def posterior_of_all_dags(table: ScoreTable, over: str) -> tuple[list[float], float] | None:
    """(probability of each row, log of the whole sum) with exp(score) as weight of a graph, times the number of its
    topological orders if `over` is "orders"; None when there is no graph (n <= 5)."""
    graphs = scores_of_all_dags(table)
    if not graphs:
        return None
    weights = {graph: units * table.quantum for graph, units in graphs.items()}
    if over == "orders":
        weights = {graph: score + float(np.log(topological_orders(graph))) for graph, score in weights.items()}
    largest = max(weights.values())
    total = sum(np.exp(weight - largest) for weight in weights.values())
    row_of = {(v, int(table.masks[row, 0])): row for v in range(table.n) for row in table.rows(v)}
    families = [0.0] * len(table)
    for graph, weight in weights.items():
        for v, mask in enumerate(graph):
            families[row_of[v, mask]] += float(np.exp(weight - largest) / total)
    return families, float(np.log(total) + largest)


@cache
def topological_orders(graph: tuple[int, ...]) -> int:
    """How many orders put the parents (masks) of every variable before it."""
    return sum(
        all(graph[v] & ~sum(1 << u for u in order[:i]) == 0 for i, v in enumerate(order))
        for order in itertools.permutations(range(len(graph)))
    )
