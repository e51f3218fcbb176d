"""`python -m tests.fuzz.forge [COUNT]`: change the evidence of answers, and look for a bound below the optimum.

An answer is written as JSON, one to three things in it are changed (numbers, rows, stages, parts, bytes of trees, the
graph, the score), and the checker reads it again. Half of them are whole lies first: a worse graph that calls itself
optimal, with a claim, the rows or the tree of the true one, in parts whose variables may be in any order, again and
again, or too few. The checker may refuse it, or prove less; what it proves must be true: the optimum is known from all
acyclic graphs, those that obey where there are constraints.
"""

from __future__ import annotations

import base64
import copy
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from optbn_solvers import Constraints, ScoreTable, Solution, solve
from optbn_solvers.base.errors import CheckFailed, ConstraintError, InfeasibleError
from optbn_solvers.base.solution_json import from_json, to_json
from optbn_solvers.front.checked import bound_of_proof
from optbn_solvers.verify import verify
from tests.naive.constraints import best_obeying, obeys, random_constraints
from tests.naive.solvers import optimum, random_table, random_unpruned_table

WORK = 1e7  # steps of the checker's own search
SECONDS = 5.0  # that no check of so few variables may take
HOW: list[tuple[str, dict[str, Any]]] = [
    ("ilp", {"search_nodes": 0}),
    ("auto", {}),
    ("cp", {"carried": 1 << 20, "restarts": 0, "greedy": False}),
    ("dp", {}),
]


def answers(rng: np.random.Generator) -> Iterator[tuple[ScoreTable, Solution, int]]:
    """(table, its answer, the units of the optimum), with evidence of all kinds."""
    for at in range(sys.maxsize):
        table = random_unpruned_table(rng, 5) if at % 3 == 2 else random_table(rng, 5, ("dense", "blocks")[at % 2])
        name, settings = HOW[at % len(HOW)]
        try:
            constraints = random_constraints(rng, table.names) if at % 3 == 2 else None
            found = solve(table, name, constraints=constraints, only_listed=True, **settings)
        except (InfeasibleError, ConstraintError):
            continue
        best = optimum(table) if constraints is None else best_obeying(table, constraints)
        assert best is not None
        yield table, found, best


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The ways to all numbers, texts and lists inside."""
    if at:
        yield at
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(inner, (*at, key))


PARTS = ("evidence", "evidence", "evidence", "bound", "parents")  # of an answer that are changed


def changed(rng: np.random.Generator, fields: dict[str, Any], parts: Sequence[str] = PARTS) -> dict[str, Any]:
    """A copy with something else in one place of the evidence, the bound or the graph."""
    fields = copy.deepcopy(fields)
    part = parts[int(rng.integers(len(parts)))]
    ways = list(places({part: fields[part]}))
    way = ways[int(rng.integers(len(ways)))]
    holder: Any = fields
    for key in way[:-1]:
        holder = holder[key]
    value = holder[way[-1]]
    if isinstance(value, list) and value:
        shuffled = [value[i] for i in rng.permutation(len(value))]
        holder[way[-1]] = [value[:-1], value[1:], value * 2, value[::-1], shuffled][int(rng.integers(5))]
    elif isinstance(value, bool) or value is None or isinstance(value, dict | list):
        return fields
    elif isinstance(value, int):
        holder[way[-1]] = [value + 1, value - 1, 2 * value, -value, value << 40, 0][int(rng.integers(6))]
    elif isinstance(value, float):
        holder[way[-1]] = value + float(rng.normal()) * 10.0 ** int(rng.integers(-9, 3))
    elif way[-1] == "body":
        body = bytearray(base64.b64decode(value))
        body[int(rng.integers(len(body)))] ^= 1 << int(rng.integers(8))
        holder[way[-1]] = base64.b64encode(bytes(body)).decode()
    return fields


def graph(rng: np.random.Generator, table: ScoreTable, constraints: Constraints | None) -> list[int]:
    """A random choice of families, acyclic and obeying, if one of fifty is."""
    for _ in range(50):
        order = rng.permutation(table.n).tolist()
        ahead = [set(order[: order.index(v)]) for v in range(table.n)]
        fits = [[row for row in table.rows(v) if ahead[v].issuperset(table.parents(row))] for v in range(table.n)]
        choice = [int(rng.choice(own or list(table.rows(v)))) for v, own in enumerate(fits)]
        masks = tuple(sum(1 << u for u in table.parents(row)) for row in choice)
        if all(fits) and (constraints is None or obeys(masks, constraints, table.names)):
            break
    return choice


def worse(rng: np.random.Generator, table: ScoreTable, found: Solution, fields: dict[str, Any]) -> dict[str, Any]:
    """Another graph, which says that it is optimal; its evidence may be cut into parts that make no sense."""
    choice = graph(rng, table, found.constraints)
    score = table.total(choice)
    fields = copy.deepcopy(fields) | {"status": "optimal", "score": score, "bound": score}
    fields["parents"] = {table.names[v]: [table.names[u] for u in table.parents(row)] for v, row in enumerate(choice)}
    inner = [{"kind": "exhausted", "method": "nobody"}, {"kind": "rows", "stages": []}, fields["evidence"]]
    evidence = inner[int(rng.integers(len(inner)))]
    if evidence is not None and evidence["kind"] != "parts" and rng.random() < 0.7:
        order = rng.permutation(table.n).tolist()
        cut = table.n if rng.random() < 0.5 else int(rng.integers(1, table.n))
        listed = [each for each in (order[:cut], order[cut:], order[: cut // 2]) if each][: int(rng.integers(1, 4))]
        bounds = [sum(int(table.units[choice[v]]) for v in members) for members in listed]
        parts = [{"members": m, "bound": b, "evidence": evidence} for m, b in zip(listed, bounds, strict=True)]
        evidence = {"kind": "parts", "parts": parts}
    return fields | {"evidence": evidence}


def forged(rng: np.random.Generator, count: int) -> Counter[str]:
    """Judge `count` changed answers and count the outcomes; AssertionError where the checker proves a falsehood."""
    seen: Counter[str] = Counter()
    known = answers(rng)
    while seen.total() < count:
        table, found, best = next(known)
        kind = type(found.evidence).__name__ + (" under constraints" if found.constraints else "")
        fields = json.loads(to_json(table, found))
        for _ in range(25):
            lie = bool(rng.random() < 0.5)
            mutant = worse(rng, table, found, fields) if lie else fields
            for _ in range(int(rng.integers(0 if lie else 1, 4))):
                mutant = changed(rng, mutant)
            begun = time.process_time()
            try:
                verdict = verify(table, from_json(table, json.dumps(mutant).encode()), bound_of_proof, work=WORK)
            except (CheckFailed, ConstraintError, ValueError):
                seen[f"{kind}: refused"] += 1
            else:
                assert verdict.bound >= table.score_of(best), (mutant, verdict)
                seen[f"{kind}: true all the same"] += 1
            assert time.process_time() - begun < SECONDS, mutant
    return seen


if __name__ == "__main__":
    for what, times in sorted(forged(np.random.default_rng(), int(sys.argv[1]) if sys.argv[1:] else 20000).items()):
        print(f"{times:8,} {what}")
