"""`optbn score`: Phase I, from data to a score file."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import optbn
from optbn.base.errors import UnsupportedError
from optbn.base.memory import parse_memory
from optbn.cli.options import Values, with_options
from optbn.cli.progress import bars
from optbn.cli.reading import DataArgument, with_reading
from optbn.cli.texts import constraints, limits, settings
from optbn.scores import load_score
from optbn_solvers.base.atomic import replacing
from optbn_solvers.base.constraints import Constraints

if TYPE_CHECKING:
    from optbn.data.dataset import Dataset
    from optbn.scores.families import Families
    from optbn.scores.listed import FamilyScores
    from optbn.scores.progress import ScoreProgress
    from optbn.scores.protocol import LocalScore


@with_options("score")
@with_reading
def score(how: dict[str, Any], data: DataArgument, options: Values) -> None:
    """Score the candidate parent sets of every variable, and keep those that could matter.

    Examples: optbn score data.csv --score pcart --max-parents 4 -o scores.jkl;
    optbn score data.csv --families candidates.txt -o scores.jkl
    """
    from optbn.data.anything import as_dataset
    from optbn.scores.families import Families
    from optbn_solvers.base.files import check_writable

    check_writable(options.output, _TEXT.get(options.output))
    shortcuts = {"ess": options.ess, "max_splits": options.max_splits}
    score_settings = {name: value for name, value in shortcuts.items() if value is not None}
    method = load_score(options.score, **score_settings | settings(options.setting))
    try:
        rows = as_dataset(data, missing=options.missing, reading=how, weights=options.weights)
        if options.families is not None:
            _only(rows, method, Families.read(options.families, rows.names), options)
        elif options.keep_dominated:
            _only(rows, method, _allowed(rows, options), options, {"sets": "all"})
        else:
            _all(rows, method, options)
    except KeyboardInterrupt:
        kept = f"finished work is kept, run the same command to go on with {options.store}"
        raise KeyboardInterrupt(*[kept] if options.store else []) from None


_TEXT = {"-": "jkl"}


def _constraints(options: Values) -> dict[str, Any]:
    """The keywords of `score_table` that say which families there are."""
    from optbn.scores.parent_sets import DEFAULT_LIMIT

    most = limits(options.max_parents) or {"*": DEFAULT_LIMIT}  # in full: files and answers name the limit
    return {"max_parents": most, **constraints(vars(options))}


def _allowed(data: Dataset, options: Values) -> Families:
    """Every family that the options allow."""
    from optbn.scores.families import Families
    from optbn.scores.parent_sets import ParentSets

    sets = ParentSets.of(data.names, limits(options.max_parents), Constraints(**constraints(vars(options))))
    return Families.allowed(data.names, sets, parse_memory(options.memory))


def _all(data: Dataset, method: LocalScore, options: Values) -> None:
    """Phase I proper: table to the output, a line on what it is to stdout."""
    from optbn.scores.pipeline import describe
    from optbn.scores.selection import noted
    from optbn_solvers.base.files import write_table

    values = options.keywords("score") | _constraints(options) | {"score": method, "weights": None}
    last: list[ScoreProgress] = []
    with _meter() as show:

        def listen(report: ScoreProgress) -> None:
            last[:] = [report]
            if show is not None:
                show(report)

        table = optbn.score_table(data, **values, progress=listen)
    about = describe(data, method, _constraints(options) | {"candidates": options.candidates})
    write_table(table, options.output, about=about)
    if options.output != "-":
        note = f", {limited}: an optimum among them need not be one of all" if (limited := noted(about)) else ""
        if last and last[0].needless:
            note = f"; of all, {last[0].done:,} were looked at, and bounds prove {last[0].needless:,} needless"
        print(f"{options.output}: {len(table):,} parent sets of {table.n} variables kept{note}")


def _only(
    data: Dataset, method: LocalScore, families: Families, options: Values, sets: Mapping[str, str] | None = None
) -> None:
    """These families, in their order, unpruned; the file says what it is of, and whether those are all sets."""
    from optbn.scores.pipeline import describe
    from optbn_solvers.base.files.jkl import write_rows

    output = options.output
    if Path(output).suffix.lower() == ".parquet":
        raise UnsupportedError(f"{output}: families that are kept unpruned are written as .jkl or .jaa")
    with _count_meter() as progress:
        scores = optbn.score_families(
            data, families, method, jobs=options.jobs, memory=options.memory, progress=progress
        )
    about = describe(data, method, {} if sets is None else _constraints(options))
    write_rows(replace(scores.rows(), about={**about, **(sets or {})}), output)
    if options.structures is not None:
        _write_structures(data, scores, options.structures)
    if output != "-":
        print(f"{output}: {len(scores):,} families scored")


def _write_structures(data: Dataset, scores: FamilyScores, path: str) -> None:
    """A line per family: child, parents, score, structure."""
    from optbn.scores.structures import in_words

    with replacing(path) as file, _count_meter() as progress:
        for row in range(len(scores)):
            line = {
                "child": data.names[scores.families.children[row]],
                "parents": [data.names[u] for u in scores.parents(row)],
                "score": float(scores.scores[row]),
                "structure": in_words(scores.fitted(row), data),
            }
            file.write(json.dumps(line).encode() + b"\n")
            if progress is not None and row % 100 == 0:
                progress(row, len(scores))


@contextmanager
def _meter() -> Iterator[Callable[[ScoreProgress], None] | None]:
    """Families done, rate, time left and survivors."""
    with bars("count") as show:
        if show is None:
            yield None
            return
        show("families", 0)

        def listen(report: ScoreProgress) -> None:
            show("families", report.done, report.total, f"{report.rate:,.0f}/s, {report.survivors:,} kept")

        yield listen


@contextmanager
def _count_meter() -> Iterator[Callable[[int, int], None] | None]:
    """Families done."""
    with bars("count") as show:
        if show is None:
            yield None
            return
        show("families", 0)
        yield partial(show, "families")
