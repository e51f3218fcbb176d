"""`optbn score`: Phase I, from data to a score file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from optbn.cli.options import (
    CandidatesOption,
    ForbidOption,
    JobsOption,
    LeavesOption,
    MemoryOption,
    RequireOption,
    RootsOption,
    SettingOption,
    TiersOption,
    arc_constraints,
    refuse,
    settings,
)
from optbn.cli.progress import bars
from optbn.cli.reading import DataArgument, MissingOption, with_reading

if TYPE_CHECKING:
    from optbn.data.dataset import Dataset
    from optbn.scores.families import Families, FamilyScores
    from optbn.scores.pipeline import ScoreProgress
    from optbn.scores.protocol import LocalScore


def complete_score(start: str) -> list[str]:
    """Names of scores for the shell."""
    from optbn.scores import SCORES

    return [name for name in SCORES if name.startswith(start)]


@with_reading
def score(
    how: dict[str, Any],
    data: DataArgument,
    score: Annotated[
        str,
        typer.Option(
            "--score",
            help="pcart, pcartp, ft, ftp (any data); bdeu, bds, k2, fnml, qnml (categorical); bge (real); bic, aic.",
            autocompletion=complete_score,
        ),
    ] = "bdeu",
    max_parents: Annotated[
        list[str] | None,
        typer.Option(
            "--max-parents", "-D", help="The most parents: a number, or NAME=NUMBER for one variable (default 3)."
        ),
    ] = None,
    output: Annotated[
        str, typer.Option("--output", "-o", help="A .jkl, .jaa or (all there is to know) .parquet file; - is stdout.")
    ] = "-",
    missing: MissingOption = "refuse",
    ess: Annotated[float | None, typer.Option(help="bdeu, bds: the equivalent sample size (default 1).")] = None,
    max_splits: Annotated[
        int | None, typer.Option(help="pcart, pcartp: how often a real predictor's range may be halved (default 3).")
    ] = None,
    setting: SettingOption = None,
    jobs: JobsOption = None,
    memory: MemoryOption = None,
    store: Annotated[
        str | None, typer.Option(help="A folder that keeps finished work: a stopped run goes on where it was.")
    ] = None,
    candidates: CandidatesOption = None,
    scheduler: Annotated[
        str | None,
        typer.Option(help="Spread the work: local (processes here), or the address of a Dask scheduler (tcp://..)."),
    ] = None,
    forbid: ForbidOption = None,
    require: RequireOption = None,
    tiers: TiersOption = None,
    roots: RootsOption = None,
    leaves: LeavesOption = None,
    keep_dominated: Annotated[
        bool,
        typer.Option(
            "--keep-dominated",
            help="Keep the sets that a subset beats too: for constraints that require something of the graph.",
        ),
    ] = False,
    families: Annotated[
        str | None,
        typer.Option(help="Score these only, unpruned: lines 'child: parent, parent', or a score file to score anew."),
    ] = None,
    structures: Annotated[
        str | None,
        typer.Option(help="With --families: a file for their local structures (trees, tables), a JSON object a line."),
    ] = None,
) -> None:
    """Score every candidate parent set of every variable; keep those that no subset matches (--keep-dominated: all).

    Examples: optbn score data.csv --score pcart --max-parents 4 -o scores.jkl;
    optbn score data.csv --families candidates.txt -o scores.jkl
    """
    import optbn
    from optbn.base.errors import UnsupportedError
    from optbn.base.memory import parse_memory
    from optbn.scores import load_score
    from optbn.scores.constraints import Constraints
    from optbn.scores.families import Families
    from optbn_solvers.base.files import check_writable

    check_writable(output, _TEXT.get(output))
    given = {"ess": ess, "max_splits": max_splits} | settings(setting)
    method = load_score(score, **{name: value for name, value in given.items() if value is not None})
    try:
        found = optbn.read(data, missing=missing, **how)
        if families is not None:
            refuse(
                "--families, which says what to score",
                max_parents=max_parents,
                store=store,
                scheduler=scheduler,
                candidates=candidates,
                forbid=forbid,
                require=require,
                tiers=tiers,
                roots=roots,
                leaves=leaves,
                keep_dominated=keep_dominated,
            )
            listed = Families.read(families, found.names)
            _only(found, method, listed, output, structures, jobs, memory)
            return
        if structures is not None:
            raise UnsupportedError("--structures goes with --families")
        constraints: dict[str, Any] = {
            "max_parents": _limits(max_parents or []),
            **arc_constraints(forbid, require, tiers, roots, leaves),
        }
        if keep_dominated:
            refuse(
                "--keep-dominated, which scores all at once", store=store, scheduler=scheduler, candidates=candidates
            )
            rules = Constraints.build(found.names, **constraints)
            listed = Families.allowed(found.names, rules, parse_memory(memory))
            _only(found, method, listed, output, None, jobs, memory)
            return
        constraints["candidates"] = candidates
        _all(found, method, constraints, output, jobs, memory, store, scheduler)
    except KeyboardInterrupt:
        import sys

        kept = f"; finished work is kept, run the same command to go on with {store}" if store else ""
        print(f"optbn: interrupted{kept}", file=sys.stderr)
        raise typer.Exit(130) from None


_TEXT = {"-": "jkl"}


def _all(
    data: Dataset,
    method: LocalScore,
    constraints: dict[str, Any],
    output: str,
    jobs: int | None,
    memory: str | None,
    store: str | None,
    scheduler: str | None,
) -> None:
    """Phase I proper: table to `output`, a line on what it is to stdout."""
    from optbn.scores.pipeline import describe, score_table
    from optbn.scores.selection import noted
    from optbn_solvers.base.files import write_table

    with _meter() as progress:
        table = score_table(
            data,
            method,
            jobs=jobs,
            memory=memory,
            store=store,
            scheduler=scheduler,
            progress=progress,
            **constraints,
        )
    about = describe(data, method, constraints)
    write_table(table, output, about=about)
    if output != "-":
        note = f", {limited}: an optimum among them need not be one of all" if (limited := noted(about)) else ""
        print(f"{output}: {len(table):,} parent sets of {table.n} variables kept{note}")


def _only(
    data: Dataset,
    method: LocalScore,
    families: Families,
    output: str,
    structures: str | None,
    jobs: int | None,
    memory: str | None,
) -> None:
    """These families, in their order, unpruned."""
    from pathlib import Path

    from optbn.base.errors import UnsupportedError
    from optbn.scores.families import score_families
    from optbn_solvers.base.files.jkl import write_rows

    if Path(output).suffix.lower() == ".parquet":
        raise UnsupportedError(f"{output}: families that are kept unpruned are written as .jkl or .jaa")
    with _count_meter() as progress:
        scores = score_families(data, families, method, jobs=jobs, memory=memory, progress=progress)
    write_rows(scores.rows(), output)
    if structures is not None:
        _write_structures(data, scores, structures)
    if output != "-":
        print(f"{output}: {len(scores):,} families scored")


def _write_structures(data: Dataset, scores: FamilyScores, path: str) -> None:
    """A line per family: child, parents, score, structure."""
    import json

    from optbn.scores.structures import in_words
    from optbn_solvers.base.files.atomic import replacing

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


def _limits(texts: list[str]) -> dict[str, int]:
    """{"*": 3, "A": 1} from ["3", "A=1"]."""
    from optbn.scores.constraints import ConstraintError

    limits = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.rpartition("="))
        if not value.isdecimal() or (equals and not name):
            raise ConstraintError(f"--max-parents {text!r}: expected a number, or NAME=NUMBER")
        limits[name or "*"] = int(value)
    return limits


@contextmanager
def _meter() -> Iterator[Callable[[ScoreProgress], None] | None]:
    """Families done, rate, time left and survivors."""
    with bars("count") as show:
        if show is None:
            yield None
            return
        show("families", 0)

        def told(report: ScoreProgress) -> None:
            show("families", report.done, report.total, f"{report.rate:,.0f}/s, {report.survivors:,} kept")

        yield told


@contextmanager
def _count_meter() -> Iterator[Callable[[int, int], None] | None]:
    """Families done."""
    with bars("count") as show:
        if show is None:
            yield None
            return
        show("families", 0)
        yield partial(show, "families")
