"""`optbn verify`: check somebody's answer to a score file, believing nothing."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from optbn.base.errors import UnsupportedError
from optbn_solvers.base.errors import CheckFailed
from optbn_solvers.base.solution import Proof
from optbn_solvers.base.standing import standing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from fractions import Fraction

    from optbn_solvers import ScoreTable, Solution
    from optbn_solvers.base.standing import Standing
    from optbn_solvers.verify.checker import Verdict


def verify(
    scores: Annotated[str, typer.Argument(help="The score file the answer is for; - is .jkl from stdin.")],
    solution: Annotated[str, typer.Argument(help="An answer of optbn solve (json), or any JSON with parents, score.")],
    proof: Annotated[
        str | None, typer.Option(help="Where the proof file is, if not beside the answer.", show_default=False)
    ] = None,
    time_limit: Annotated[
        float | None,
        typer.Option(help="Stop checking evidence after this many seconds; the rest counts as claimed.", min=0.0),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Check a graph, its score and the proof of its bound, in exact integers; a proof file is read too.

    Says what is proved and what is only claimed. The scores are also added up as written, to the last digit. Of several
    graphs (--k-best, --per-class, --within) each is checked, and whether one is missing.
    Exit code 4: something is false, and the message says what; 3: true as far as checked, but "optimal" is not proved.

    Examples:

    optbn verify scores.jkl solution.json

    optbn verify scores.jkl solution.json --proof optimal.proof
    """
    import msgspec

    from optbn.learning.graphs import are_graphs
    from optbn_solvers.front.checked import bound_of_proof
    from optbn_solvers.verify import verify as check
    from optbn_solvers.verify import written

    text = Path(solution).read_bytes()
    late = _later_than(math.inf if time_limit is None else time.monotonic() + time_limit)
    if are_graphs(text):
        if proof is not None:
            raise UnsupportedError(f"--proof {proof}: {solution} lists several graphs, which have no proof file")
        _several(scores, solution, text, late, as_json)
        return
    table, answer = _answer(scores, solution, text, proof)
    proof_checker = bound_of_proof if time_limit is None else partial(bound_of_proof, late=late)
    verdict = check(table, answer, proof_checker, late)
    found = standing(replace(answer, statistics={"checked": {"bound": verdict.bound}}))
    exact = None  # the score of the graph in the file, to the last digit
    if answer.choice is not None and _in_decimals(scores):
        exact = written.check_written(table, answer, written.read(scores))
    if as_json:
        print(msgspec.json.encode(_fields(verdict, found, table.tolerance, exact)).decode())
    else:
        total = f"its scores as written in {scores} add up to {written.in_decimals(exact)}" if exact is not None else ""
        _print((*verdict.proved, total) if total else verdict.proved, verdict.claimed)
        if verdict.optimal:
            print(
                f"proved   the graph is optimal among those of this table (to within {table.tolerance:.1g}, which "
                "rounding to the grid leaves open)"
            )
    if answer.status == "optimal" and found != "proved":
        raise typer.Exit(3)


def _later_than(end: float) -> Callable[[], bool]:
    return lambda: time.monotonic() >= end


def _answer(scores: str, path: str, text: bytes, proof: str | None) -> tuple[ScoreTable, Solution]:
    """The table, and the answer for it, whose proof file is the one named, or the one beside it."""
    from optbn.learning.solving import table_of
    from optbn_solvers.base.solution_json import from_json, has_constraints

    try:
        table = table_of(scores, keep_dominated=has_constraints(text))
        answer = from_json(table, text)
    except CheckFailed as error:
        raise CheckFailed(f"{path}: {error}") from None
    if not isinstance(answer.evidence, Proof):
        if proof is not None:
            raise UnsupportedError(f"--proof {proof}: the evidence in {path} is not a proof file")
        return table, answer
    if proof is None:
        # Whoever made the answer chose the path in it, so only its name counts, beside the answer.
        beside = Path(path).parent / Path(answer.evidence.path).name
        if not beside.is_file():
            raise UnsupportedError(f"{path}: its proof is not beside it ({beside}); say where with --proof FILE")
        proof = str(beside)
    return table, replace(answer, evidence=replace(answer.evidence, path=proof))


def _fields(verdict: Verdict, found: Standing, tolerance: float, exact: Fraction | None) -> dict[str, object]:
    return {
        "score": verdict.score,
        "proved_bound": verdict.bound if math.isfinite(verdict.bound) else None,
        "optimal": verdict.optimal,
        "standing": found,
        "proved": verdict.proved,
        "claimed": verdict.claimed,
        "tolerance": tolerance,
        "score_as_written": None if exact is None else str(exact),
    }


def _print(proved: Iterable[str], claimed: Iterable[str]) -> None:
    for sentence in proved:
        print(f"proved   {sentence}")
    for sentence in claimed:
        print(f"claimed  {sentence}")


def _several(scores: str, solution: str, text: bytes, late: Callable[[], bool], as_json: bool) -> None:
    """The same of an answer that lists graphs."""
    import msgspec

    from optbn.learning.graphs import several_of
    from optbn.learning.solving import table_of
    from optbn_solvers.verify import written
    from optbn_solvers.verify.several import verify_several

    table = table_of(scores, keep_dominated=True)
    try:
        several = several_of(table, text)
        proved, claimed = verify_several(table, several, late)
    except CheckFailed as error:
        raise CheckFailed(f"{solution}: {error}") from None
    exact = None
    if _in_decimals(scores):
        exact = written.check_graphs(table, several.choices, several.scores, written.read(scores))
        ends = f"{written.in_decimals(exact[0])} (the first) and {written.in_decimals(exact[-1])} (the last)"
        proved += (f"their scores as written in {scores} add up to {ends}",)
    if as_json:
        fields = {
            "count": len(several.choices),
            "complete": several.complete and not claimed,
            "proved": proved,
            "claimed": claimed,
            "tolerance": table.tolerance,
            "scores_as_written": None if exact is None else [str(total) for total in exact],
        }
        print(msgspec.json.encode(fields).decode())
    else:
        _print(proved, claimed)
    if claimed:
        raise typer.Exit(3)


def _in_decimals(scores: str) -> bool:
    """Whether a score file can be read again; one of .parquet is on the grid already."""
    from optbn_solvers.verify import written

    return scores != "-" and Path(scores).suffix.lower() in written.KINDS
