"""`optbn export-proof`: the proof of an optimum in a format that other programs check."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from optbn.base.files import check_writable


def export_proof(
    scores: Annotated[str, typer.Argument(help="The score file the answer is for.")],
    solution: Annotated[str, typer.Argument(help="An optimal answer (json) with rows or trees as evidence.")],
    output: Annotated[str, typer.Option("--output", "-o", help="Where the proof goes; the problem goes beside it.")],
) -> None:
    """Write the proof of an optimum for VeriPB (format 3.0), with the problem it solves (.opb).

    To check it without optbn, run: veripb PROBLEM.opb PROOF.pbp. The problem says nothing of graphs but families, an
    order and scores; docs/exactness.md tells how to read it.

    Examples:

    optbn solve scores.jkl --solver ilp -o solution.json

    optbn export-proof scores.jkl solution.json -o optimal.pbp
    """
    from optbn.learning.solving import export, table_of
    from optbn_solvers.base.solution_json import from_json, has_constraints

    check_writable(output)
    text = Path(solution).read_bytes()
    table = table_of(scores, keep_dominated=has_constraints(text))
    problem = export(table, from_json(table, text), output)
    print(f"{problem}, {output}: {Path(output).stat().st_size / 1e6:.3g} MB")
