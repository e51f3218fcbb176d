"""`optbn benchpress`: learn from benchpress' files and write its outputs."""

from __future__ import annotations

import multiprocessing
import sys
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import typer

import optbn
from optbn.base.errors import OptbnError, StoppedEarly
from optbn.learning.constraint_files import read_constraints
from optbn_solvers.base.errors import SolverError
from optbn_solvers.base.standing import Standing, standing


def benchpress(
    data: Annotated[Path, typer.Argument(help="A data file of benchpress.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Write the adjacency matrix to this csv file.")],
    constraints: Annotated[Path | None, typer.Option(help="An edgeConstraints file (JSON).")] = None,
    time: Annotated[Path | None, typer.Option(help="Write the seconds it took to this file.")] = None,
    ntests: Annotated[Path | None, typer.Option(help="Write the number of tests, None, to this file.")] = None,
    timeout: Annotated[
        float | None,
        typer.Option(
            help="Stop after this many seconds with the best graph found by then, or an empty matrix.", min=0.1
        ),
    ] = None,
    proved: Annotated[
        bool, typer.Option("--proved", help="Write an empty matrix unless the graph is proved in time.")
    ] = False,
    score: Annotated[str, typer.Option(help="The score; bdeu:10 is bdeu with sample size 10.")] = "pcartp",
    max_parents: Annotated[
        int, typer.Option("--max-parents", "-D", help="The largest number of parents of any variable.", min=0)
    ] = 3,
    cpdag: Annotated[bool, typer.Option("--cpdag", help="Write the graph's equivalence class.")] = False,
    discrete: Annotated[
        bool | None,
        typer.Option(
            "--discrete/--continuous", help="Whether the columns are discrete.", show_default="by the second line"
        ),
    ] = None,
    missing: Annotated[
        str, typer.Option(help="What to do with empty fields: refuse, as_level, drop or impute.")
    ] = "refuse",
) -> None:
    """Learn a graph inside benchpress: reads its files and writes its outputs, also when the time is up.

    Example: optbn benchpress data.csv --constraints edges.json -o adjmat.csv --time time.txt --timeout 60
    """
    from optbn.experiments.learning import method

    method(score)  # a wrong name fails here, in one line
    start = perf_counter()
    job: dict[str, Any] = {
        "data": str(data),
        "constraints": None if constraints is None else str(constraints),
        "output": str(output),
        "time": None if time is None else str(time),
        "timeout": timeout,
        "proved": proved,
        "score": score,
        "max_parents": max_parents,
        "cpdag": cpdag,
        "discrete": discrete,
        "missing": missing,
    }
    if not (work(job) if timeout is None else _in_time(job, timeout)):
        print("the time is up: the matrix is empty", file=sys.stderr)
        output.write_text("")
        if time is not None:
            time.write_text(f"{perf_counter() - start}\n")
    if ntests is not None:
        from optbn.experiments.benchpress import NOTHING

        ntests.write_text(f"{NOTHING}\n")


def _in_time(job: dict[str, Any], timeout: float) -> bool:
    """`work` in a process of its own that can be ended: compiled code does not hear a signal."""
    process = multiprocessing.get_context("spawn").Process(target=_end_with, args=(job,))
    process.start()
    process.join(timeout)
    if process.is_alive():
        process.kill()
        process.join()
        return False
    if process.exitcode not in (0, 3):
        raise SystemExit(process.exitcode or 1)
    return process.exitcode == 0


def work(job: dict[str, Any]) -> bool:
    """Learn and write; False when there is no graph to write."""
    from optbn.evaluate.files import write_matrix
    from optbn.evaluate.graphs import Graph
    from optbn.evaluate.sources import as_graph
    from optbn.experiments.benchpress import read_data
    from optbn.experiments.learning import method

    start = perf_counter()
    data = read_data(job["data"], job["discrete"], job["missing"])
    rules = read_constraints(job["constraints"], data.names) if job["constraints"] else None
    name, settings = method(job["score"])
    limit = job["timeout"] and RESERVED * job["timeout"]
    try:
        found = optbn.learn(
            data,
            score=name,
            max_parents=job["max_parents"],
            time_limit=limit,
            constraints=rules,
            smoother="bdeu",
            **settings,
        )
    except StoppedEarly:
        return False
    if job["proved"] and standing(found.solution) != Standing.PROVED:
        return False
    graph = as_graph(found.network.structure)
    write_matrix(Graph(graph.names, graph.class_matrix) if job["cpdag"] else graph, job["output"])
    if job["time"]:
        Path(job["time"]).write_text(f"{perf_counter() - start}\n")
    return True


RESERVED = 0.8
"""The part of the time for learning; the rest is for starting, and for what may take longer than it should."""


def _end_with(job: dict[str, Any]) -> None:
    """The process: 0 done, 3 no graph in time, 2 a mistake, with a line on stderr."""
    try:
        raise SystemExit(0 if work(job) else 3)
    except (OptbnError, SolverError, OSError) as error:
        print(f"optbn: {error}", file=sys.stderr)
        raise SystemExit(2) from None
