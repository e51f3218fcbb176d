"""`optbn.learn`: the whole way from data to a network one can see, trust and use.

    read -> score -> solve -> fit -> report

A time limit covers everything: scoring takes what `affordable` finds to fit into its share, the search for the best
network what is left but a reserve for the check of its answer, the parameters and the report. What did not fit is left
out or done in a quicker way, and a note says so. The steps are in `steps`; what they share is a `Job`.
"""

from __future__ import annotations

import html
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from optbn.base import options
from optbn.data.anything import DataLike, WeightsLike
from optbn.data.interventions import TargetsLike
from optbn.learning.search_log import SearchLog
from optbn.learning.steps.comparing import compare, hold_out
from optbn.learning.steps.fitting import fit
from optbn.learning.steps.job import Job
from optbn.learning.steps.reading import Form, fill, read
from optbn.learning.steps.reporting import Names, report
from optbn.learning.steps.scoring import bind, prepare
from optbn.learning.steps.scoring import score as scored
from optbn.learning.steps.searching import solve
from optbn.learning.watcher import Watcher as Watcher
from optbn.report.page import render
from optbn.scores import load_score
from optbn.smoothing import load_smoother

if TYPE_CHECKING:
    from optbn.data.policies import MissingLike
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
    max_parents   of any variable; by default 3, or fewer when scoring them takes too long, and more where a time limit
                  bears it; "all" for no limit (see `optbn.score_table`)
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
    values = options.checked("learn", locals())
    options.check_choice("learn", "trees", trees)
    method = load_score(score, caller=learn, **settings)
    if smoother is not None:
        load_smoother(smoother)  # a wrong name should not wait for the search
    watcher = watcher or (SearchLog() if progress else Watcher())
    job = Job(method, watcher, jobs, watcher.begun(), time_limit)
    form = Form(schema, missing, reading or {}, weights, targets, lags, time_column, series_column, past_only)
    more = bool(alternatives or posteriors or edges or held_out)

    read(job, data, form, constraints, target)
    if missing == "model":
        fill(job, max_parents, candidates, seed, memory)

    bind(job, max_parents, candidates, memory)
    prepare(job, solver, smoother)
    scored(job, max_parents, store, larger=not (edges or posteriors or held_out))

    solve(job, solver)

    model, chosen = fit(job, smoother, seed, more, trees)

    others = compare(job, alternatives, posteriors, edges)
    if held_out is not None:
        others = replace(others, held_out=hold_out(job, held_out, solver, smoother, seed, target, trees))
    found = report(job, model, chosen, Names(title, source, command), values, others)
    return Learned(model.network, job.learned.solution, job.scored.table, found)
