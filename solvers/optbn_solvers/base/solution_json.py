"""Solutions as JSON: exact round trip (floats in shortest form), readable without this package.

    {"format": "optbn-solution-1", "solver": "ilp", "status": "optimal", "standing": "proved", "score": -15.5,
     "bound": -15.5, "tolerance": 1.4e-14, "table": "<digest>", "variables": ["a", "b"],
     "parents": {"a": [], "b": ["a"]},
     "evidence": {"kind": "rows", "stages": [[{"row": "cluster", "members": [0, 1], "multiplier": 7}]]},
     "statistics": {...}}

`parents` is the answer, `tolerance` what the grid of the scores leaves open (base.grid); evidence counts variables by
their place in `variables`. `constraints`, if there were any, are the fields of `base.constraints`. An infinite bound is
null. Reading needs the table, to turn parents into its rows.
A file with another program's graph needs only `parents` and `score`: what it does not say is not claimed. What a file
says of its own standing, or of checks, is not believed.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import msgspec

from optbn_solvers.base.constraints import Constraints
from optbn_solvers.base.errors import CheckFailed
from optbn_solvers.base.evidence_json import AnyEvidence, read, written
from optbn_solvers.base.solution import Solution, Status
from optbn_solvers.base.standing import standing
from optbn_solvers.base.table import ScoreTable

FORMAT: Literal["optbn-solution-1"] = "optbn-solution-1"


class _File(msgspec.Struct, kw_only=True):
    """The fields in the order of the file."""

    format: Literal["optbn-solution-1"] = FORMAT
    solver: str = ""
    status: Status = Status.FEASIBLE
    standing: str | None = None
    score: float | None
    bound: float | None = None
    tolerance: float | None = None
    table: str | None = None
    variables: list[str] | None = None
    parents: dict[str, list[str]] | None
    constraints: dict[str, Any] | msgspec.UnsetType = msgspec.UNSET
    evidence: AnyEvidence | None = None
    statistics: dict[str, Any] = {}


def to_json(table: ScoreTable, solution: Solution) -> bytes:
    """The solution to `table` as indented JSON."""
    graph = None if solution.choice is None else table.graph(solution.choice)
    file = _File(
        solver=solution.solver,
        status=solution.status,
        score=solution.score,
        bound=solution.bound if math.isfinite(solution.bound) else None,
        table=solution.table_digest,
        variables=list(table.names),
        parents=None if graph is None else {child: list(parents) for child, parents in graph.items()},
        evidence=None if solution.evidence is None else written(solution.evidence),
        statistics=dict(solution.statistics),
        tolerance=table.tolerance,
        standing=standing(solution),
        constraints=solution.constraints.stated() if solution.constraints else msgspec.UNSET,
    )
    fields = msgspec.to_builtins(file, enc_hook=_plain)
    lines = [
        f"  {_encode(key)}: {_block(value) if key == 'parents' else _encode(value)}" for key, value in fields.items()
    ]
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def from_json(table: ScoreTable, text: bytes | str) -> Solution:
    """The solution written in `text`; CheckFailed when it names variables or families that the table does not have."""
    try:
        file = msgspec.json.decode(text, type=_File)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise CheckFailed(f"not a solution file: {error}") from None
    if file.variables is not None and tuple(file.variables) != table.names:
        raise CheckFailed("the solution is about other variables than the score table, or in another order")
    choice = None if file.parents is None else choice_of(table, file.parents)
    try:
        return Solution(
            status=file.status,
            choice=choice,
            score=file.score,
            bound=math.inf if file.bound is None else file.bound,
            evidence=None if file.evidence is None else read(file.evidence),
            table_digest=table.digest if file.table is None else file.table,
            solver=file.solver,
            statistics={name: value for name, value in file.statistics.items() if name != "checked"},
            constraints=constraints_of(table, file.constraints or {}),
        )
    except ValueError as error:
        raise CheckFailed(f"the solution contradicts itself: {error}") from None


def has_constraints(text: bytes | str) -> bool:
    """Whether the solution written in `text` obeys constraints: then its table must have all families."""
    try:
        return bool(msgspec.json.decode(text, type=_File).constraints)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise CheckFailed(f"not a solution file: {error}") from None


def constraints_of(table: ScoreTable, fields: dict[str, Any]) -> Constraints | None:
    """The constraints that a file names, if any; CheckFailed where they are none of this table's."""
    try:
        constraints = Constraints(**fields)
    except (TypeError, ValueError) as error:
        raise CheckFailed(f"the constraints in the solution cannot be read: {error}") from None
    if strangers := constraints.strangers(table.names):
        raise CheckFailed(
            f"the constraints in the solution name {strangers[0]!r}, which is not a variable of the table"
        )
    return constraints or None


def choice_of(table: ScoreTable, parents: dict[str, list[str]]) -> tuple[int, ...]:
    """The rows of a graph {child: parents}; CheckFailed where the table does not have them."""
    index = {name: v for v, name in enumerate(table.names)}
    for name in [*parents, *(parent for listed in parents.values() for parent in listed)]:
        if name not in index:
            raise CheckFailed(f"the graph names {name!r}, which is not a variable of the table")
    choice = []
    for v, name in enumerate(table.names):
        if name not in parents:
            raise CheckFailed(f"the graph says nothing about {name!r}")
        row = table.find(v, [index[parent] for parent in parents[name]])
        if row is None:
            raise CheckFailed(
                f"{name!r} with parents {{{', '.join(parents[name])}}} is not in the table "
                "(or one of its subsets scores at least as much)"
            )
        choice.append(row)
    return tuple(choice)


def _block(graph: dict[str, list[str]] | None) -> str:
    """The graph with one line per variable."""
    if graph is None:
        return "null"
    return "{\n" + ",\n".join(f"    {_encode(v)}: {_encode(parents)}" for v, parents in graph.items()) + "\n  }"


def _encode(value: Any) -> str:
    return msgspec.json.encode(value, enc_hook=_plain).decode()


def _plain(value: Any) -> Any:
    """numpy scalars and arrays among the statistics, as plain values."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")
