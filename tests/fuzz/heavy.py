"""`python -m tests.fuzz.heavy [BYTES]`: evidence made up to cost time or memory, of about so many bytes of JSON.

Each kind is judged without a limit and with one of half a second; what the checker says of it does not matter here
(tests.fuzz.forge looks for falsehoods), only what it costs.
"""

from __future__ import annotations

import json
import resource
import sys
import time
import zlib
from base64 import b64encode
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np

from optbn_solvers import Constraints, ScoreTable, solve
from optbn_solvers.base.errors import CheckFailed, ConstraintError
from optbn_solvers.base.solution_json import from_json, to_json
from optbn_solvers.front.checked import bound_of_proof
from optbn_solvers.proofs.format import BRANCH, CLUSTER, FILTER, LEAF, LITTLE, SUBSET
from optbn_solvers.verify import verify
from tests.naive.solvers import random_table

LIMIT = 0.5  # seconds
LATE = 1.0  # by which a check may be over the limit
SECONDS, SECONDS_PER_BYTE = 1.0, 2e-4  # that a check may take without a limit
LARGEST = 100.0  # MB that a check may add, code that is loaded included
Fields = dict[str, Any]


def varints(values: Iterable[int]) -> bytes:
    """Python's integers as the numbers of a tree."""
    body = bytearray()
    for value in values:
        z = 2 * value if value >= 0 else -2 * value - 1
        while z >= 128:
            body.append(z & 127 | 128)
            z >>= 7
        body.append(z)
    return bytes(body)


def tree(stream: Iterable[int], nodes: int = 1, denominator: int = 1, packed: bool = False) -> Fields:
    """A tree of these numbers; unless it is to be packed well, its bytes are as many as the numbers take."""
    body = b64encode(zlib.compress(varints(stream), 9 if packed else 0)).decode()
    return {"kind": "tree", "body": body, "nodes": nodes, "denominator": denominator}


def rows(stages: Iterable[list[Fields]], denominator: int = 1) -> Fields:
    """Stages of rows."""
    return {"kind": "rows", "stages": list(stages), "denominator": denominator}


def cluster(members: Iterable[int], y: int) -> Fields:
    """A cluster row."""
    return {"row": "cluster", "members": list(members), "multiplier": y}


def subset(m: int, y: int, a: int = 1) -> Fields:
    """A subset row that has one coefficient, on as many members as are checked; `a` makes it another statement."""
    return {"row": "subset", "members": list(range(m)), "coefficients": [[0, [1], a]], "rhs": a, "multiplier": y}


def literal(child: int, others: list[int]) -> Fields:
    """A literal of a clause."""
    return {"child": child, "others": others, "meets": False}


def kinds(n: int, size: int) -> dict[str, Callable[[], Fields]]:
    """The evidence of each kind, of about `size` bytes, for n variables."""
    everything = list(range(n))
    few = max(1, size // 40)
    body = size  # bytes of a tree, before it is compressed and written in letters
    half = [0, n // 2, *range(0, n, 2)][: n // 2 + 2]
    one = [CLUSTER, n, *everything]
    large = [SUBSET, 12, *range(12), 9, 1, 0, 2, 9]  # a subset row of few bytes that has many patterns
    return {
        "nested filters": lambda: tree([FILTER, 0] * (body // 2) + [LEAF, 0], body // 2 + 1),
        "filters that change": lambda: tree([*one, *[FILTER, 1, 0, 1] * (body // 4), LEAF, 0], body // 4 + 1),
        "deep branches": lambda: tree([*one, *[BRANCH, 0, 1, 0, 1] * (body // 5)], body // 5),
        "a bushy tree": lambda: tree([*one, *[BRANCH, 0, 1, 0, 1, LEAF, 0] * (body // 7), LEAF, 0], body // 7 + 1),
        "clusters that nobody uses": lambda: tree([*one * (body // len(one)), LEAF, 0], 1),
        "subset rows in a tree": lambda: tree([*large * (body // 20), LEAF, 0], 1),
        "branches below filters": lambda: tree(
            [CLUSTER, len(half[2:]), *half[2:], *[FILTER, 0, BRANCH, 0, 1, 0, 0] * (body // 7)], body // 4
        ),
        "a bomb": lambda: tree([0] * (min(size, 1 << 16) * 1000), 1, packed=True),
        "a bomb of filters": lambda: tree([FILTER, 0] * (LITTLE // 2 - 1), LITTLE // 2, packed=True),
        "a bomb of subset rows": lambda: tree(large * (LITTLE // 20), 1, packed=True),
        "a long number": lambda: tree([LEAF, 1 << min(8 * size, 1 << 20)], 1),
        "a large denominator of a tree": lambda: tree(
            [*one, *[FILTER, 1, 0, 1 << 60] * (body // 12), LEAF, 0], 2, 10**60
        ),
        "cheap subset rows": lambda: rows([[subset(12, 1, 1 + i) for i in range(few // 3)]], 257),
        "subset rows in stages": lambda: rows([[subset(12, 1, 1 + i)] for i in range(few // 3)], 1 << 100),
        "empty stages": lambda: rows([[] for _ in range(size // 3)]),
        "stages with large denominators": lambda: rows(
            [[cluster(everything, 1 << 40)] for _ in range(size // 60)], 10**300
        ),
        "clusters in one stage": lambda: rows(
            [[cluster([i % n, (i + 1 + i // n % (n - 1)) % n], 3) for i in range(few)]]
        ),
        "large multipliers": lambda: rows([[cluster(everything, 1 << 4000)] for _ in range(max(1, size // 1300))]),
        "claims in parts": lambda: {
            "kind": "parts",
            "parts": [
                {"members": [v], "bound": 0, "evidence": {"kind": "exhausted", "method": "x"}} for v in everything
            ],
        },
        "a claim with rows": lambda: {
            "kind": "exhausted",
            "method": "x" * size,
            "rows": rows([[cluster([i % n, (i + 1 + i // n % (n - 1)) % n], 3) for i in range(few)]]),
        },
        "clauses": lambda: rows(
            [[{"row": "clause", "literals": [literal(0, [1]), literal(1, [2])], "multiplier": 1}] * (size // 90)]
        ),
        "limits": lambda: rows([[{"row": "limit", "parents": everything, "rhs": 3, "multiplier": 1}] * (size // 60)]),
        "wide clauses": lambda: rows(
            [[{"row": "clause", "literals": [literal(v, everything) for v in everything], "multiplier": 1}]]
            * max(1, size // (40 * n))
        ),
    }


def cost(table: ScoreTable, text: bytes, late: Callable[[], bool] = lambda: False) -> tuple[float, str]:
    """(CPU seconds, what became of it)."""
    begun = time.process_time()
    try:
        verdict = verify(table, from_json(table, text), partial(bound_of_proof, late=late), late)
        what = "proved" if verdict.optimal else "not proved"
    except (CheckFailed, ConstraintError, ValueError) as error:
        what = f"refused: {error}"
    return time.process_time() - begun, what


def costs(size: int, n: int = 14) -> Iterable[tuple[str, int, float, float, float, str]]:
    """(kind, bytes, CPU seconds, those with a limit, MB that were added, outcome) of each."""
    table = random_table(np.random.default_rng(1), n, "dense", rows=40)
    demands = Constraints(order=(tuple(table.names),), max_arcs=2 * n)
    for constraints in (None, demands):
        answer = json.loads(to_json(table, solve(table, constraints=constraints, only_listed=True)))
        for kind, made in kinds(n, size).items():
            text = json.dumps(answer | {"evidence": made()}).encode()
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            seconds, outcome = cost(table, text)
            more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
            end = time.process_time() + LIMIT
            short, _ = cost(table, text, lambda: time.process_time() >= end)  # noqa: B023
            yield kind + (", constraints" if constraints else ""), len(text), seconds, short, more, outcome


def too_dear(length: int, seconds: float, limited: float, more: float) -> bool:
    """Whether evidence of that length costs more than it may."""
    return limited > LIMIT + LATE or seconds > SECONDS + length * SECONDS_PER_BYTE or more > LARGEST


if __name__ == "__main__":
    bad = 0
    list(costs(500))  # code is loaded
    for kind, length, seconds, limited, more, outcome in costs(int(sys.argv[1]) if sys.argv[1:] else 20_000):
        wrong = too_dear(length, seconds, limited, more)
        bad += wrong
        print(
            f"{'!' if wrong else ' '} {kind:45} {length:9,} bytes {seconds:8.2f} s, limited {limited:5.2f} s "
            f"{more:7.1f} MB  {outcome[:60]}"
        )
    sys.exit(bool(bad))
