"""`optbn.learn`: the whole way from data to a network one can see, trust and use.

    read -> score -> solve -> fit -> report

A time limit covers everything: scoring takes what `affordable` finds to fit into its share, the search for the best
network what is left but a reserve for the check of its answer, the parameters and the report. What did not fit is left
out or done in a quicker way, and a note says so. The steps are those of `job.Job`, which owns what they share.
"""

from __future__ import annotations

import html
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from optbn.base import options
from optbn.base.settings import check_seed
from optbn.data.anything import DataLike, WeightsLike, as_reading, with_weights
from optbn.data.dataset import Dataset
from optbn.data.findings import SAID
from optbn.data.interventions import TargetsLike, reading_targets, without_targets
from optbn.data.lags import forwards, lagged
from optbn.learning.completing import COPIES, Incomplete, completed
from optbn.learning.constraint_files import read_constraints
from optbn.learning.job import DEFAULT_PARENTS, Job
from optbn.learning.reporting import Headings, make_report, papers
from optbn.learning.search_log import SearchLog
from optbn.learning.solving import constraints_of
from optbn.learning.structure import Stopwatch
from optbn.learning.watcher import Watcher as Watcher
from optbn.report.page import render
from optbn.scores import load_score
from optbn.scores.interventional import Interventional
from optbn.smoothing.default import check_counts
from optbn.smoothing.protocol import load_smoother
from optbn_solvers.base.clock import compiling, working
from optbn_solvers.base.standing import Standing, standing

if TYPE_CHECKING:
    from optbn.data.missing import MissingLike
    from optbn.data.schema import SchemaLike
    from optbn.network.network import BayesianNetwork
    from optbn.report.report import Report
    from optbn.scores.parent_sets import Limit
    from optbn.scores.protocol import LocalScore
    from optbn.smoothing.protocol import Smoother
    from optbn_solvers import Constraints, ScoreTable, Solution


MOST_NOTES = 8  # of what was done, in a repr


@dataclass(frozen=True, eq=False)
class Learned:
    """The result: the network with parameters, the checked solution, the score table, and the report of it all."""

    network: BayesianNetwork
    solution: Solution
    scores: ScoreTable
    report: Report

    def page(self) -> str:
        """The self-contained HTML page."""
        return render(self.report)

    def _repr_html_(self) -> str:
        """For notebooks: the page in a frame of its own, so that its style and script stay there."""
        page = html.escape(self.page(), quote=True)
        return f'<iframe srcdoc="{page}" width="100%" height="820" sandbox="allow-scripts allow-downloads"></iframe>'

    def __repr__(self) -> str:
        outcome, notes = self.report.outcome, self.report.notes
        done = "".join(f"; {note}" for note in notes[:MOST_NOTES])
        more = f"; and {len(notes) - MOST_NOTES} more notes" if len(notes) > MOST_NOTES else ""
        return f"Learned({self.network!r}, score {outcome.score:.6f}, {outcome.proof}{done}{more})"


def learn(
    data: DataLike,
    *,
    score: str | LocalScore = "pcartp",
    max_parents: Limit | None = None,
    candidates: int | None = None,
    solver: str = "auto",
    smoother: str | Smoother | None = None,
    trees: str = "best",
    time_limit: float | None = None,
    constraints: Constraints | Mapping[str, Any] | str | os.PathLike[str] | None = None,
    weights: WeightsLike = None,
    targets: TargetsLike | None = None,
    lags: int = 0,
    time_column: str | None = None,
    series_column: str | None = None,
    past_only: bool = False,
    seed: int = 0,
    jobs: int | None = None,
    memory: int | str | None = None,
    store: str | os.PathLike[str] | None = None,
    watcher: Watcher | None = None,
    progress: bool = False,
    title: str = "",
    source: str = "",
    command: str = "",
    schema: SchemaLike = None,
    missing: MissingLike = "value",
    reading: Mapping[str, Any] | None = None,
    alternatives: int = 0,
    posteriors: bool = False,
    edges: bool = False,
    held_out: int | None = None,
    target: str | None = None,
    **settings: Any,
) -> Learned:
    """The optimal network for the data, with parameters and a report.

    data          a Dataset, a data frame, arrays by name, or a file
    score         a name (with its `settings`: ess=10) or a score; pcartp learns optimal decision trees for mixed data
    max_parents   of any variable; by default 3, or fewer when scoring would take more than its share of the time;
                  "all" for no limit (see `optbn.score_table`)
    candidates    consider only this many likeliest parents of each variable: a heuristic, for hundreds of variables
    solver        the search method (see `optbn.solve`)
    smoother      how to estimate the probabilities (see `optbn.fit`); by default hierarchical for trees, hdp for
                  tables
    trees         "average": categorical variables get what all trees on their parents predict together, not the best
                  tree alone (see optbn/learning/averaged.py); the graph is the same
    time_limit    seconds for everything; the best network found by then is returned with the bound that is known
    constraints   on the network: optbn_solvers.Constraints, a dictionary of its fields (forbidden, max_arcs...), or a
                  file of ours, of Tetrad's knowledge or of benchpress' edgeConstraints
    weights       how many rows each row counts for: a column's name, or an array of numbers of at least 0
    targets       the column that names which variables an experiment set in each row, or {variable: its column}: such
                  rows do not count for the variable that was set
    lags          rows are steps of a series: each variable's last values (X[-1], X[-2] ...) may be parents too
    time_column, series_column   what puts the rows in order, and what tells one series from another
    past_only     with lags: no arcs within a step
    seed          of everything random
    jobs          threads; all cores by default
    memory        bytes, or "4G"; half of the machine by default
    store         a folder that keeps finished scoring, so that a stopped run can continue
    watcher       gets reports as the work goes on, see `Watcher`
    progress      write how the work goes on to stderr, a line per new incumbent or bound of the search
    title, source, command     the report's title, its name for the data, and how to make it again
    schema, missing, reading   how to read the data; `reading` holds further options of `optbn.read` (delimiter...)
    alternatives  report this many of the next best networks
    posteriors    report each arc's probability over all networks: exact as far as memory and time go, else sampled
    edges         report what is lost without each arc, and with it turned: differences of two proved optima
    held_out      report how well networks learned so explain rows they have not seen, in this many folds, beside
                  simple models (of the target too, if there is one)
    target        the variable in question: the page puts it, and what changes it, on top
    """
    watcher, watch = watcher or (SearchLog() if progress else Watcher()), Stopwatch()
    begin, kernels, making = watcher.begun(), compiling.kernels, compiling.seconds
    values = {name: value for name, value in locals().items() if name in options.of("learn")}
    check_seed(seed)
    options.check_numbers("learn", values)
    options.check_together("learn", values)
    options.check_choice("learn", "trees", trees)

    method = load_score(score, caller=learn, **settings)
    if smoother is not None:
        load_smoother(smoother)  # a wrong name should not wait for the search

    watcher.phase("read")
    with watch.phase("read"):
        by_model = missing == "model"
        policy: MissingLike = "value" if by_model else missing
        policy = policy if targets is None else reading_targets(policy, targets)
        rows, name, noticed = _dataset(data, with_weights(schema, weights), policy, reading or {})
        rows = rows if weights is None else rows.weighted(weights)
        rows, interventions = (rows, None) if targets is None else without_targets(rows, targets)
        if isinstance(constraints, str | os.PathLike):
            constraints = read_constraints(constraints, rows.names)
        if lags:
            rows = lagged(rows, lags, time_column, series_column)
            constraints = forwards(constraints_of(constraints), rows.names, past_only)
    watcher.data(rows)
    if target is not None:
        rows.index(target)  # a wrong name should not wait for the search
    method = Interventional.of(method, interventions) if interventions else method
    if by_model:
        most = None if max_parents == "all" else max_parents
        rows, filled = _completed(rows, most, constraints, candidates, seed, time_limit, begin, jobs, memory)
        noticed = (*(line for line in noticed if "a value like others" not in line), *filled)
    if smoother is not None:
        check_counts(load_smoother(smoother), rows)
    if rows.weights is not None:
        noticed = (*noticed, f"{rows.n_rows:,} rows count, by their weights, for {rows.total_weight:,.6g}")
    left = None if time_limit is None else max(0.0, time_limit - (working() - begin))
    job = Job(rows, method, watcher, watch, working(), left, jobs, interventions, notes=[*noticed])
    job.constrain(constraints, max_parents, candidates, memory)
    job.rehearse(solver, smoother)
    job.score(max_parents, store, larger=not (edges or posteriors or held_out))
    job.solve(solver)
    model, chosen = job.fit(smoother, seed, more=bool(alternatives or posteriors or edges or held_out), trees=trees)
    others = job.compare(alternatives, posteriors, edges)
    fits = () if held_out is None else job.hold_out(held_out, solver, smoother, seed, target, trees)

    watcher.phase("report")
    if compiling.kernels > kernels:
        watch.phases["compile"] = (compiling.seconds - making,) * 2
    source = source or name
    size = "all" if max_parents == "all" and job.scored.size == job.scoring.sets.largest else job.scored.size
    values |= {"score": method, "max_parents": size, "smoother": chosen}
    if not isinstance(weights, str | None):
        values["weights"] = f"{len(rows.weights.units):,} numbers" if rows.weights is not None else None
    proved = standing(job.learned.solution) is Standing.PROVED
    headings = Headings.of(title, source, command, values, job.constraints, job.restrictions, proved)
    cited = papers(method, load_smoother(chosen))
    report = make_report(rows, job.learned, model, headings, interventions, job.notes, job.trace, others)
    report = msgspec.structs.replace(report, target=target or "", papers=cited, held_out=fits)
    return Learned(model.network, job.learned.solution, job.scored.table, report)


def _completed(
    rows: Dataset,
    max_parents: int | None,
    constraints: Constraints | Mapping[str, Any] | None,
    candidates: int | None,
    seed: int,
    time_limit: float | None,
    begin: float,
    jobs: int | None,
    memory: int | str | None,
) -> tuple[Dataset, tuple[str, ...]]:
    """The rows with their gaps filled by the model, and a note; with a time limit, in a third of it."""
    incomplete = Incomplete.of(rows)
    if not incomplete.missing:
        return incomplete.data, ()
    largest = min(DEFAULT_PARENTS if max_parents is None else max_parents, rows.n_variables - 1)
    found = completed(
        incomplete,
        largest,
        constraints=constraints_of(constraints),
        candidates=candidates,
        seed=seed,
        until=None if time_limit is None else begin + time_limit / 3,
        jobs=jobs,
        memory=memory,
    )
    return found.data, (found.note(incomplete, COPIES),)


def _dataset(
    data: DataLike, schema: SchemaLike, missing: MissingLike, how: Mapping[str, Any]
) -> tuple[Dataset, str, tuple[str, ...]]:
    """The data, what to call them, and what was noticed and done to read them: notes of the report, and no log."""
    found = as_reading(data, schema, missing, how)
    lines = [str(finding) for finding in found.findings]
    more = [f"{len(lines) - SAID} more lines like these, which optbn describe has"] if len(lines) > SAID else []
    return found.data, os.path.basename(found.where), (*lines[:SAID], *more)
