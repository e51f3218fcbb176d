"""Constraints by their definitions: every path looked at, every order tried. And random constraints."""

from __future__ import annotations

import itertools

import numpy as np

from optbn_solvers.base.constraints import Constraints
from optbn_solvers.base.table import ScoreTable
from tests.naive.solvers import scores_of_all_dags


def best_obeying(table: ScoreTable, constraints: Constraints) -> int | None:
    """Units of the best acyclic graph that obeys; None when there is none (n <= 5)."""
    ranked = sorted(scores_of_all_dags(table).items(), key=lambda item: -item[1])
    for graph, units in ranked:
        if obeys(graph, constraints, table.names):
            return units
    return None


def obeys(graph: tuple[int, ...], said: Constraints, names: tuple[str, ...]) -> bool:
    """Whether an acyclic graph (parent masks) obeys."""
    arcs = {(names[u], names[v]) for v, mask in enumerate(graph) for u in range(len(graph)) if mask >> u & 1}
    tier = {name: i for i, group in enumerate(said.tiers) for name in group}
    limit = {name: said.max_children.get(name, said.max_children.get("*", len(names))) for name in names}
    return (
        set(said.required) <= arcs
        and not set(said.forbidden) & arcs
        and all((u, v) in arcs or (v, u) in arcs for u, v in said.required_edges)
        and not any((u, v) in arcs or (v, u) in arcs for u, v in said.forbidden_edges)
        and all(tier[u] <= tier[v] for u, v in arcs if u in tier and v in tier)
        and _has_order(arcs, said.order, names)
        and all(_paths(arcs, u, v) for u, v in said.ancestors)
        and not any(_paths(arcs, u, v) for u, v in said.no_ancestors)
        and all(sum(u == name for u, _ in arcs) <= limit[name] for name in names)
        and (said.max_arcs is None or len(arcs) <= said.max_arcs)
        and not any(v in said.roots for _, v in arcs)
        and not any(u in said.leaves for u, _ in arcs)
        and all(_separated(arcs, a, b, given) for one, two, given in said.independences for a in one for b in two)
    )


def _has_order(arcs: set, chains: tuple, names: tuple[str, ...]) -> bool:
    wanted = arcs | {(u, v) for chain in chains for u, v in itertools.pairwise(chain)}
    return any(all(order.index(u) < order.index(v) for u, v in wanted) for order in itertools.permutations(names))


def _paths(arcs: set, u: str, v: str) -> list[list[str]]:
    """Directed paths."""
    found, growing = [], [[u]]
    while growing:
        path = growing.pop()
        if path[-1] == v:
            found.append(path)
        else:
            growing += [[*path, w] for t, w in arcs if t == path[-1]]
    return found


def _separated(arcs: set, a: str, b: str, given: tuple[str, ...]) -> bool:
    """No undirected path between them is open."""
    growing = [[a]]
    while growing:
        path = growing.pop()
        if path[-1] == b:
            if all(_open(arcs, *three, given) for three in zip(path, path[1:], path[2:], strict=False)):
                return False
            continue
        growing += [[*path, w] for arc in arcs if path[-1] in arc for w in arc if w not in path]
    return True


def _open(arcs: set, before: str, middle: str, after: str, given: tuple[str, ...]) -> bool:
    if (before, middle) in arcs and (after, middle) in arcs:
        return any(_paths(arcs, middle, one) for one in given)
    return middle not in given


def random_constraints(rng: np.random.Generator, names: tuple[str, ...], most: int = 3) -> Constraints:
    """One to `most` constraints of random kinds, often contradictory."""

    def some(k: int) -> tuple[str, ...]:
        return tuple(rng.permutation(names)[:k].tolist())

    def separation() -> tuple:
        three = some(len(names))
        given = int(rng.integers(0, max(1, len(names) - 1)))
        return three[:1], three[1:2], three[2 : 2 + given]

    makers = {
        "required": lambda: [some(2)],
        "forbidden": lambda: [some(2) for _ in range(3)],
        "required_edges": lambda: [some(2)],
        "forbidden_edges": lambda: [some(2) for _ in range(2)],
        "tiers": lambda: [some(len(names))[: len(names) // 2], ()],
        "order": lambda: [some(int(rng.integers(2, len(names) + 1))) for _ in range(int(rng.integers(1, 3)))],
        "ancestors": lambda: [some(2)],
        "no_ancestors": lambda: [some(2)],
        "max_children": lambda: {["*", names[0]][int(rng.integers(2))]: int(rng.integers(0, 3))},
        "max_arcs": lambda: int(rng.integers(0, 2 * len(names))),
        "roots": lambda: some(1),
        "leaves": lambda: some(1),
        "independences": lambda: [separation()],
    }
    kinds = list(makers)
    chosen = rng.permutation(len(kinds))[: int(rng.integers(1, most + 1))]
    return Constraints(**{kinds[i]: makers[kinds[i]]() for i in chosen})
