"""`optbn verify`: check somebody's answer to a score file, believing nothing."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from optbn_solvers import Solution
    from optbn_solvers.base.standing import Standing


def verify(
    scores: Annotated[str, typer.Argument(help="The score file the answer is for; - is .jkl from stdin.")],
    solution: Annotated[str, typer.Argument(help="An answer of optbn solve (json), or any JSON with parents, score.")],
    proof: Annotated[
        str | None, typer.Option(help="Where the proof file is, if not beside the answer.", show_default=False)
    ] = None,
    time_limit: Annotated[
        float | None,
        typer.Option(help="Seconds for the evidence; what is not checked by then counts as claimed.", min=0.0),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Check a graph, its score and the proof of its bound, in exact integers; a proof file is read too.

    Says what is proved and what is only claimed. The scores are also added up as written, to the last digit.
    Exit code 4: something is false, and the message says what; 3: true as far as checked, but "optimal" is not proved.

    Examples:

    optbn verify scores.jkl solution.json

    optbn verify scores.jkl solution.json --proof optimal.proof
    """
    import msgspec

    from optbn.base.errors import UnsupportedError
    from optbn.learning.solving import table_of
    from optbn_solvers.base.errors import CheckFailed
    from optbn_solvers.base.solution import Proof
    from optbn_solvers.base.solution_json import from_json, has_constraints
    from optbn_solvers.base.standing import standing
    from optbn_solvers.front.checked import bound_of_proof
    from optbn_solvers.verify import verify as check
    from optbn_solvers.verify import written

    text = Path(solution).read_bytes()
    try:
        table = table_of(scores, keep_dominated=has_constraints(text))
        answer = from_json(table, text)
    except CheckFailed as error:
        raise CheckFailed(f"{solution}: {error}") from None
    if proof is not None:
        if not isinstance(answer.evidence, Proof):
            raise UnsupportedError(f"--proof {proof}: the evidence in {solution} is not a proof file")
        answer = replace(answer, evidence=replace(answer.evidence, path=proof))
    elif isinstance(answer.evidence, Proof):
        # Whoever made the answer chose the path in it, so only its name counts, beside the answer.
        beside = Path(solution).parent / Path(answer.evidence.path).name
        if not beside.is_file():
            raise UnsupportedError(f"{solution}: its proof is not beside it ({beside}); say where with --proof FILE")
        answer = replace(answer, evidence=replace(answer.evidence, path=str(beside)))
    end = math.inf if time_limit is None else time.monotonic() + time_limit

    def late() -> bool:
        return time.monotonic() >= end

    proof_checker = bound_of_proof if time_limit is None else partial(bound_of_proof, late=late)
    verdict = check(table, answer, proof_checker, late)
    checked = replace(answer, statistics={"checked": {"bound": verdict.bound}})
    exact = None  # the score of the graph in the file, to the last digit; a .parquet file is on the grid already
    if answer.choice is not None and scores != "-" and Path(scores).suffix.lower() in written.KINDS:
        exact = written.check_written(table, answer, written.read(scores))
    if as_json:
        fields = {
            "score": verdict.score,
            "proved_bound": verdict.bound if math.isfinite(verdict.bound) else None,
            "optimal": verdict.optimal,
            "standing": standing(checked),
            "proved": verdict.proved,
            "claimed": verdict.claimed,
            "tolerance": table.tolerance,
            "score_as_written": None if exact is None else str(exact),
        }
        print(msgspec.json.encode(fields).decode())
        _end(standing(checked), answer)
        return
    for sentence in verdict.proved:
        print(f"proved   {sentence}")
    if exact is not None:
        print(f"proved   its scores as written in {scores} add up to {written.in_decimals(exact)}")
    for sentence in verdict.claimed:
        print(f"claimed  {sentence}")
    if verdict.optimal:
        print(
            f"proved   the graph is optimal among those of this table (to within {table.tolerance:.1g}, which "
            "rounding to the grid leaves open)"
        )
    _end(standing(checked), answer)


def _end(what: Standing, answer: Solution) -> None:
    """The exit code of an answer that calls itself optimal and is not proved to be."""
    if answer.status == "optimal" and what != "proved":
        raise typer.Exit(3)
