"""`optbn.learn`: the whole way from data to a network one can see, trust and use.

    read -> score -> solve -> fit -> report

A time limit covers everything: scoring takes what `affordable` finds to fit into its share, the search for the best
network what is left but a reserve for the check of its answer, the parameters and the report. What did not fit is left
out or done by a quicker way, and said.
"""

from __future__ import annotations

import html
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from optbn.base import options
from optbn.base.settings import check_seed
from optbn.base.version import __version__
from optbn.data.dataset import Categorical, Dataset, Real
from optbn.data.read import read
from optbn.learning.structure import LearnedStructure, Stopwatch, best_structure

if TYPE_CHECKING:
    from optbn.learning.affordable import Scored
    from optbn.learning.estimate import Cost
    from optbn.network.network import BayesianNetwork
    from optbn.network.structure import Structure
    from optbn.report.report import Report
    from optbn.scores.pipeline import ScoreProgress
    from optbn.scores.protocol import LocalScore
    from optbn.smoothing.fitting import Fitted
    from optbn.smoothing.protocol import Smoother
    from optbn_solvers import Progress, ScoreTable, Solution

DEFAULT_PARENTS = 3
DEFAULT_SCORING_SECONDS = 60.0  # without a time limit and a stated size, scoring chooses its size to fit this
SCORING_SHARE = 0.5
RESERVE = 0.2  # of the time, for what comes after the search
CHECK_SHARE = 0.08  # of the time, for the evidence and its check, if the search took all it had
REPORT_SHARE = 0.05  # of the time, for the report
RESCORING = 2.0  # times what scoring took, for scoring without leaving out what a subset beats
WORTH_TELLING = 0.1  # the probability of an arc that the best network does not have
MOST_TOLD = 30  # of these
MORE_SECONDS = 60.0  # without a time limit, for other networks than the best
UNTHINKABLE = 30 * 86400.0  # seconds; nobody means this


class Watcher:
    """What to do as the work goes on; override what is of interest."""

    def phase(self, name: str) -> None:
        """A phase begins: "read", "score", "solve", "fit", "more" or "report"."""

    def data(self, data: Dataset) -> None:
        """The data are read; raise an error to stop here."""

    def estimated(self, costs: Sequence[Cost], limited: bool) -> int:
        """What scoring would cost for at most 0, 1, .. parents; `limited` if it chooses its size to fit the time.

        Returns the most parents to try: the last unless overridden.
        """
        return costs[-1].size

    def scoring(self, report: ScoreProgress) -> None:
        """Phase I got further."""

    def solving(self, report: Progress) -> None:
        """Phase II has a new incumbent or bound."""

    def fitting(self, done: int, of: int) -> None:
        """So many of the variables have their parameters."""


@dataclass(frozen=True, eq=False)
class Learned:
    """The result: the network with parameters, the checked solution, the score table, and the report of it all."""

    network: BayesianNetwork
    solution: Solution
    scores: ScoreTable
    report: Report

    def page(self) -> str:
        """The self-contained HTML page."""
        from optbn.report.page import render

        return render(self.report)

    def _repr_html_(self) -> str:
        """For notebooks: the page in a frame of its own, so that its style and script stay there."""
        page = html.escape(self.page(), quote=True)
        return f'<iframe srcdoc="{page}" width="100%" height="820" sandbox="allow-scripts"></iframe>'

    def __repr__(self) -> str:
        outcome = self.report.outcome
        return f"Learned({self.network!r}, score {outcome.score:.6f}, {outcome.proof})"


def learn(
    data: Dataset | str | os.PathLike[str] | Any,
    *,
    score: str | LocalScore = "pcartp",
    max_parents: int | None = None,
    candidates: int | None = None,
    solver: str = "auto",
    smoother: str | Smoother | None = None,
    time_limit: float | None = None,
    constraints: Mapping[str, Any] | None = None,
    seed: int = 0,
    jobs: int | None = None,
    memory: int | str | None = None,
    store: str | os.PathLike[str] | None = None,
    watcher: Watcher | None = None,
    title: str = "",
    source: str = "",
    command: str = "",
    schema: Any = None,
    missing: Any = "refuse",
    reading: Mapping[str, Any] | None = None,
    alternatives: int = 0,
    posteriors: bool = False,
    **settings: Any,
) -> Learned:
    """The optimal network for the data, with parameters and a report.

    data          a Dataset, a data frame, or a file
    score         a name (with its `settings`: ess=10) or a score; pcartp learns optimal decision trees for mixed data
    max_parents   of any variable; by default 3, or fewer when scoring would take more than its share of the time
    candidates    consider only this many likeliest parents of each variable: a heuristic, for hundreds of variables
    solver        the search method (see `optbn.solve`)
    smoother      how to estimate the probabilities (see `optbn.fit`); hdp by default
    time_limit    seconds for everything; the best network found by then is returned with the bound that is known
    constraints   on the network: optbn_solvers.Constraints, or a dictionary of its fields (forbidden, max_arcs...)
    seed          of everything random
    jobs          threads; all cores by default
    memory        bytes, or "4G"; half of the machine by default
    store         a folder that keeps finished scoring, so that a stopped run can continue
    watcher       is told how the work goes on, see `Watcher`
    title, source, command     the report's title, its name for the data, and how to make it again
    schema, missing, reading   how to read the data; `reading` holds further options of `optbn.read` (delimiter...)
    alternatives  report this many of the next best networks
    posteriors    report each arc's probability: over all networks of at most 20 variables, else over a credible set
    """
    begin = time.monotonic()  # the imports take time as well
    values = {name: value for name, value in locals().items() if name in options.of("learn")}
    check_seed(seed)
    options.check_together("learn", values)

    from optbn.learning.constraints import all_families, demanding, divided
    from optbn.learning.local import with_local_models
    from optbn.scores import load_score, settings_of
    from optbn.scores.selection import limited
    from optbn.smoothing.fitting import DEFAULT_SMOOTHER
    from optbn.smoothing.protocol import load_smoother

    watcher, watch = watcher or Watcher(), Stopwatch()
    if isinstance(score, str):
        options.check_arguments(learn, settings, f"score {score!r}", settings_of(score))
    method = load_score(score, **settings)
    chosen = DEFAULT_SMOOTHER if smoother is None else smoother
    load_smoother(chosen)  # a wrong name should not wait for the search

    watcher.phase("read")
    with watch.phase("read"):
        rows, called = _dataset(data, schema, missing, reading or {})
    watcher.data(rows)
    source = source or called
    scoring, asked = divided(constraints, rows.names)
    if candidates is not None:
        scoring["candidates"] = candidates
    watcher.phase("score")
    running = {**scoring, "jobs": jobs, "memory": memory}
    share = SCORING_SHARE / (1 + RESCORING) if demanding(asked) else SCORING_SHARE
    seconds = None if time_limit is None else max(0.0, share * time_limit - (time.monotonic() - begin))
    scored = _scores(rows, method, max_parents, seconds, store, running, watcher, watch)

    if demanding(asked):
        with watch.phase("score"):
            scored = replace(scored, table=all_families(rows, method, scored.size, scoring, jobs))
    watcher.phase("solve")
    trace: list[tuple[float, float | None, float]] = []

    def traced(progress: Progress) -> None:
        trace.append((progress.seconds, progress.score, progress.bound))
        watcher.solving(progress)

    left = grace = None
    if time_limit is not None:
        left = max(0.1, (1 - RESERVE) * time_limit - (time.monotonic() - begin))
        grace = CHECK_SHARE * time_limit
    found = best_structure(
        scored.table,
        scored.families,
        watch,
        solver=solver,
        time_limit=left,
        grace=grace,
        progress=traced,
        constraints=asked,
    )
    if candidates is not None:
        found = replace(found, solution=limited(found.solution, candidates))

    notes = [scored.note] if scored.note else []
    watcher.phase("fit")
    with watch.phase("fit"):
        deadline = end = None if time_limit is None else begin + (1 - REPORT_SHARE) * time_limit
        if end is not None and (alternatives or posteriors):
            deadline = (time.monotonic() + end) / 2
        model, note = _fitted(
            with_local_models(found.structure, rows, method), rows, chosen, seed, jobs, deadline, watcher
        )
    notes += [note] if note else []
    near: list[str] = []
    chances: dict[tuple[str, str], float] = {}
    if alternatives or posteriors:
        from optbn.learning import near as nearby

        watcher.phase("more")
        with watch.phase("more"):
            seconds = MORE_SECONDS if end is None else max(0.0, end - time.monotonic())
            if posteriors:
                share = seconds / 2 if alternatives else seconds
                needed = watch.phases["score"][0] if end is not None else 0.0  # all sets are scored once more
                best = found.structure if found.solution.gap == 0 else None
                chances, note = nearby.arc_posteriors(
                    rows, method, scored.size, scoring, asked, best, jobs, share, needed
                )
                notes.append(note)
            if alternatives:
                if end is not None:
                    seconds = max(0.0, end - time.monotonic())
                near, note = nearby.alternatives(scored.table, found.solution, alternatives, seconds)
                notes += [note] if note else []
    watcher.phase("report")
    described = chosen if isinstance(chosen, str) else repr(chosen)
    values |= {"score": method, "max_parents": scored.size, "smoother": chosen}
    report = make_report(
        rows,
        found,
        model,
        title=title or f"The best network {'' if found.solution.gap == 0 else 'found '}for {source}",
        source=source,
        command=command or _call(source, values, constraints),
        notes=notes,
        trace=trace,
        alternatives=near,
        posteriors=chances,
        settings={
            **options.reported("learn", values | {"score": repr(method), "smoother": described}),
            **{key: repr(value) for key, value in (constraints or {}).items() if value},
        },
    )
    return Learned(model.network, found.solution, scored.table, report)


def _call(source: str, values: Mapping[str, Any], constraints: Mapping[str, Any] | None) -> str:
    """How to get the same in Python, for those who did not come by the command line."""
    data = repr(source) if "." in source else "data"
    more = f", constraints={dict(constraints)!r}" if constraints else ""
    return f"optbn.learn({data}, {options.repeated('learn', values)}{more})"


def _dataset(data: Any, schema: Any, missing: Any, reading: Mapping[str, Any]) -> tuple[Dataset, str]:
    """The data and what to call them."""
    if isinstance(data, Dataset):
        return data, "the data"
    if isinstance(data, str | os.PathLike):
        return read(data, schema, missing=missing, **reading), os.path.basename(os.fspath(data))
    return Dataset.from_frame(data, schema, missing), "the data frame"


def _scores(
    data: Dataset,
    method: LocalScore,
    max_parents: int | None,
    seconds: float | None,
    store: str | os.PathLike[str] | None,
    options: dict[str, Any],
    watcher: Watcher,
    watch: Stopwatch,
) -> Scored:
    """Phase I as large as was asked for, or as the time allows."""
    from optbn.base.errors import LimitError
    from optbn.learning.affordable import Scored, affordable_table
    from optbn.learning.estimate import estimate, in_words
    from optbn.scores.pipeline import score_table

    families = 0

    def scored(report: ScoreProgress) -> None:
        nonlocal families
        families = report.total
        watcher.scoring(report)

    limited = max_parents is None or seconds is not None
    begin = time.monotonic()
    with watch.phase("score"):
        rules = {key: value for key, value in options.items() if key not in ("jobs", "memory")}
        largest = DEFAULT_PARENTS if max_parents is None else max_parents
        costs = estimate(data, method, largest, constraints=rules, jobs=options["jobs"], memory=options["memory"])
        if not limited and costs[-1].seconds > UNTHINKABLE:
            raise LimitError(
                f"scoring the {costs[-1].families:,} families of at most {costs[-1].size} of {data.n_variables} "
                f"variables would take about {in_words(costs[-1].seconds)}: lower max_parents, or set a time limit, "
                "and the size is chosen to fit it"
            )
    costs = costs[: watcher.estimated(costs, limited) + 1]
    # Where nobody set a limit, what compiling took before the estimate must not make the answer another one.
    left = DEFAULT_SCORING_SECONDS if seconds is None else max(0.0, seconds - (time.monotonic() - begin))
    with watch.phase("score"):
        if not limited:
            table = score_table(data, method, costs[-1].size, store=store, progress=scored, **options)
            return Scored(table, families, costs[-1].size)
        return affordable_table(data, method, costs, left, scored, **options)


def _fitted(
    model: BayesianNetwork,
    data: Dataset,
    chosen: str | Smoother,
    seed: int,
    jobs: int | None,
    deadline: float | None,
    watcher: Watcher,
) -> tuple[Fitted, str]:
    """The parameters, and what to tell of them (or ""): a smoother that would not end in time gives way to another."""
    from optbn.base.threads import check_jobs
    from optbn.learning.timely import FALLBACK, Timely
    from optbn.smoothing.fitting import fitted
    from optbn.smoothing.protocol import load_smoother

    smoother = load_smoother(chosen)
    if deadline is not None:
        smoother = Timely(smoother, load_smoother(FALLBACK), deadline)

    def watch(what: str, done: int, of: int | None) -> None:
        if what == "fitting" and of is not None:
            watcher.fitting(done, of)

    found = fitted(model, data, smoother, seed=seed, threads=check_jobs(jobs), progress=watch)
    if isinstance(smoother, Timely) and smoother.gave_way:
        name = chosen if isinstance(chosen, str) else type(chosen).__name__
        return found, (
            f"{smoother.gave_way} of {data.n_variables} distributions are m-estimates: {name} would not have been "
            "done within the time limit"
        )
    return found, ""


def make_report(
    data: Dataset,
    found: LearnedStructure,
    model: Fitted,
    *,
    title: str,
    source: str,
    command: str,
    notes: Sequence[str],
    trace: Sequence[tuple[float, float | None, float]],
    settings: Mapping[str, Any],
    alternatives: Sequence[str] = (),
    posteriors: Mapping[tuple[str, str], float] | None = None,
) -> Report:
    """Everything a reader may want to know, as plain values."""
    import msgspec

    from optbn.network.formats import encode
    from optbn.report.report import Arc, Column, DataSummary, Phase, Report, TracePoint

    def column(name: str, domain: Categorical | Real) -> Column:
        if isinstance(domain, Real):
            return Column(name, "real", low=domain.low, high=domain.high)
        return Column(name, "ordinal" if domain.ordered else "categorical", levels=domain.levels)

    strengths = found.strengths()
    structure = found.structure
    chances = posteriors or {}
    compelled = {(structure.names[u], structure.names[v]) for u, v in structure.to_cpdag().arcs}
    return Report(
        title=title,
        version=__version__,
        data=DataSummary(
            source, data.n_rows, data.digest, tuple(column(n, d) for n, d in zip(data.names, data.domains, strict=True))
        ),
        settings=dict(settings),
        outcome=_outcome(found),
        arcs=tuple(
            Arc(p, c, strengths.get((p, c)), (p, c) in compelled, chances.get((p, c))) for p, c in structure.arcs
        ),
        network=msgspec.json.decode(encode(model.network, "json")),
        counts=_counts(data, model.network),
        families_scored=found.families,
        families_kept=len(found.scores),
        phases=tuple(Phase(name, wall, cpu) for name, (wall, cpu) in found.seconds.items()),
        trace=tuple(TracePoint(t, s, b if np.isfinite(b) else None) for t, s, b in _thinned(trace)),
        alternatives=tuple(alternatives),
        others=_others(chances, structure),
        notes=tuple(notes),
        command=command,
    )


def _others(chances: Mapping[tuple[str, str], float], structure: Structure) -> tuple[Any, ...]:
    """The arcs that the network does not have, the most probable first."""
    from optbn.report.report import Arc

    there = set(structure.arcs)
    left = sorted((-chance, arc) for arc, chance in chances.items() if arc not in there and chance >= WORTH_TELLING)
    return tuple(Arc(*arc, posterior=-chance) for chance, arc in left[:MOST_TOLD])


def _outcome(found: LearnedStructure) -> Any:
    """What is known about optimality, in plain words."""
    from optbn.report.report import Outcome
    from optbn_solvers.base.standing import Standing, checked_gap, standing

    solution = found.solution
    assert solution.score is not None
    checked = solution.statistics.get("checked", {})
    claimed = tuple(checked.get("claimed", ()))
    ended = checked.get("ended", True)
    what = standing(solution)
    if what is Standing.PROVED:
        proof = "Proved optimal, checked independently"
    elif not ended and what is Standing.COMPLETE:
        proof = "Optimal, says the search; graph and score checked, its evidence not: no time left"
    elif what is Standing.COMPLETE:
        proof = "Optimal by a complete search; graph and score checked, the search taken on trust"
    else:
        proof = f"Best found: at most {checked_gap(solution):.3g} nat from optimal, checked"
        if solution.gap < checked_gap(solution):
            proof += f"; {solution.gap:.3g}, says the search" + ("" if ended else ", not checked: no time left")
    if among := solution.statistics.get("candidates"):
        proof += f"; {among}"
    details = tuple(f"Checked: {text}." for text in checked.get("proved", ()))
    details += tuple(f"Claimed, not re-proved: {text}." for text in claimed)
    return Outcome(str(solution.status), solution.score, solution.bound, proof, details, ended)


def _counts(data: Dataset, network: BayesianNetwork) -> dict[str, tuple[int, ...]]:
    """Rows of the data in each cell of each local distribution."""
    counts = {}
    for name in network.names:
        cpd = network.cpd(name)
        cells = cpd.cells([data.column(p) for p in cpd.parents], data.n_rows)
        counts[name] = tuple(np.bincount(cells, minlength=cpd.leaves.cells).tolist())
    return counts


def _thinned(trace: Sequence[tuple[float, float | None, float]]) -> list[tuple[float, float | None, float]]:
    """The moments at which score or bound changed, and the last."""
    kept: list[tuple[float, float | None, float]] = []
    for point in trace:
        if not kept or kept[-1][1:] != point[1:]:
            kept.append(point)
    if trace and kept[-1] is not trace[-1]:
        kept.append(trace[-1])
    return kept
