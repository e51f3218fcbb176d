"""`optbn certify`: from data to a theorem about them, in a file that another program can check."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import optbn
from optbn.base.errors import UnsupportedError
from optbn.base.files import check_writable
from optbn.certify.definition import definition_of
from optbn.cli.reading import DataArgument, with_reading
from optbn.cli.texts import settings
from optbn.scores import load_score
from optbn_solvers.base.atomic import replacing

if TYPE_CHECKING:
    from optbn.certify.answer import Answer
    from optbn.certify.definition import Definition
    from optbn.data.dataset import Dataset


@with_reading
def certify(
    how: dict[str, Any],
    data: DataArgument,
    solution: Annotated[str, typer.Argument(help="An answer of optbn solve (json) for these data.")],
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", help="Write the certificate to this file (json).", show_default="nowhere"),
    ] = None,
    score: Annotated[
        str | None,
        typer.Option("--score", help="The score: bdeu, bic, pcart or pcartp.", show_default="as the answer says"),
    ] = None,
    setting: Annotated[
        list[str] | None, typer.Option("--set", help="A setting of the score, NAME=VALUE. May be repeated.")
    ] = None,
    max_parents: Annotated[
        int | None,
        typer.Option(
            "--max-parents",
            "-D",
            help="The largest number of parents of any variable.",
            min=0,
            show_default="as the answer says",
        ),
    ] = None,
    missing: Annotated[
        str, typer.Option("--missing", help="What to do with missing values: refuse, or value (a level of their own).")
    ] = "refuse",
    as_json: Annotated[bool, typer.Option("--json", help="Print the certificate as JSON.")] = False,
) -> None:
    """Prove from the data that no graph scores more than the answer by more than a tiny stated margin.

    The rows are counted anew, every family's score is enclosed in whole numbers, with logarithms by python-flint, and
    the answer's evidence is applied to all families. Exit code 3: the evidence leaves more than 1e-6 open.

    Examples:

    optbn score data.csv --score bdeu -D 3 -o scores.jkl

    optbn solve scores.jkl -o solution.json

    optbn certify data.csv solution.json -o certificate.json
    """
    from optbn.certify.answer import read_answer
    from optbn.certify.certificate import ENOUGH, to_json
    from optbn.certify.certificate import certify as prove

    if output is not None:
        check_writable(output)
    answer = read_answer(solution)
    definition, most = _question(solution, answer, score, setting, max_parents)
    rows = _read(how, data, answer, missing)
    found = prove(rows, definition, most, answer.parents, answer.score, answer.evidence, answer.exponent)
    text = to_json(found if data == "-" else found.about(Path(data).read_bytes()))
    if output is not None:
        with replacing(output) as file:
            file.write(text)
    print(text.decode().rstrip() if as_json else f"proved   {found.statement}\n         ({found.families:,} families)")
    if found.epsilon > ENOUGH:
        raise typer.Exit(3)


def _question(
    path: str, answer: Answer, score: str | None, setting: list[str] | None, max_parents: int | None
) -> tuple[Definition, int]:
    """Which score, and the most parents."""
    if setting and score is None:
        raise UnsupportedError("--set needs --score: settings are those of a score")
    name = answer.about.get("score") if score is None else repr(load_score(score, **settings(setting)))
    if not isinstance(name, str):
        raise UnsupportedError(
            f"{path} does not say which score it is about; say it with --score bdeu (and --set ess=1)"
        )
    most = answer.max_parents if max_parents is None else max_parents
    if most is None:
        raise UnsupportedError(
            f"{path} does not say that its sets are all those up to some number of parents; say how many with "
            "--max-parents"
        )
    return definition_of(name), most


def _read(how: dict[str, Any], path: str, answer: Answer, missing: str) -> Dataset:
    """The columns of the answer, in its order, with the levels that were declared when they were scored."""
    if missing not in ("refuse", "value"):
        raise UnsupportedError(
            f"--missing {missing}: a certificate is about the rows as they are; refuse and value leave them so"
        )
    if not how["schema"].columns and "schema" in answer.about:
        how = how | {"schema": optbn.Schema.of(answer.about["schema"])}
    return optbn.read(path, missing=missing, columns=answer.names, **how)
