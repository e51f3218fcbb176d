"""`optbn.learn`: the whole way from data to a network one can see, trust and use.

    read -> score -> solve -> fit -> report

A time limit covers everything: scoring takes what `affordable` finds to fit into its share, the search for the best
network what is left but a reserve for the parameters and the report.
"""

from __future__ import annotations

import html
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from optbn.data.dataset import Categorical, Dataset, Real
from optbn.learning.structure import LearnedStructure, Stopwatch, best_structure

if TYPE_CHECKING:
    from optbn.learning.affordable import Scored
    from optbn.network.network import BayesianNetwork
    from optbn.report.report import Report
    from optbn.scores.pipeline import ScoreProgress
    from optbn.scores.protocol import LocalScore
    from optbn.smoothing.fitting import Fitted
    from optbn.smoothing.protocol import Smoother
    from solvers import Progress, ScoreTable, Solution

DEFAULT_PARENTS = 3
DEFAULT_SCORING_SECONDS = 60.0  # without a time limit and a stated size, scoring chooses its size to fit this
SCORING_SHARE = 0.5
RESERVE = 0.1  # of the time, for parameters and report


class Watcher:
    """What to do as the work goes on; override what is of interest."""

    def phase(self, name: str) -> None:
        """A phase begins: "read", "score", "solve", "fit" or "report"."""

    def scoring(self, report: ScoreProgress) -> None:
        """Phase I got further."""

    def solving(self, report: Progress) -> None:
        """Phase II has a new incumbent or bound."""


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
    **settings: Any,
) -> Learned:
    """The optimal network for the data, with parameters and a report.

    data         a Dataset, a data frame, or a file
    score        a name (with `settings`, ess=10 say) or a score; pcartp learns optimal decision trees for mixed data
    max_parents  of any variable; left out: 3, or fewer when scoring would take more than its share of the time
    time_limit   seconds for everything; what is then best is returned with the bound that is known
    constraints  forbidden, required, tiers, roots, leaves as for `score_table`
    smoother     for the probabilities (see `optbn.fit`)
    title, source, command   what the report calls itself, the data, and the way to get it again
    """
    from optbn.learning.local import with_local_models
    from optbn.scores import load_score
    from optbn.smoothing.fitting import DEFAULT_SMOOTHER, fitted

    begin = time.monotonic()
    watcher, watch = watcher or Watcher(), Stopwatch()
    method = load_score(score, **settings)
    chosen = DEFAULT_SMOOTHER if smoother is None else smoother

    watcher.phase("read")
    with watch.phase("read"):
        rows, called = _dataset(data, schema, missing)
    source = source or called
    options = {**(constraints or {}), "jobs": jobs, "memory": memory}
    watcher.phase("score")
    scored = _scores(rows, method, max_parents, time_limit, begin, store, options, watcher, watch)

    watcher.phase("solve")
    trace: list[tuple[float, float | None, float]] = []

    def traced(progress: Progress) -> None:
        trace.append((progress.seconds, progress.score, progress.bound))
        watcher.solving(progress)

    left = None
    if time_limit is not None:
        left = max(0.1, (1 - RESERVE) * time_limit - (time.monotonic() - begin))
    found = best_structure(scored.table, scored.families, watch, solver=solver, time_limit=left, progress=traced)

    watcher.phase("fit")
    with watch.phase("fit"):
        model = fitted(with_local_models(found.structure, rows, method), rows, chosen, seed=seed)
    watcher.phase("report")
    report = make_report(
        rows,
        found,
        model,
        title=title or f"The best network for {source}",
        source=source,
        command=command,
        notes=[scored.note] if scored.note else [],
        trace=trace,
        settings={
            "score": repr(method),
            "max parents": scored.size,
            "solver": solver,
            "smoother": chosen if isinstance(chosen, str) else repr(chosen),
            "seed": seed,
            "time limit": time_limit,
            **{key: repr(value) for key, value in (constraints or {}).items() if value},
        },
    )
    return Learned(model.network, found.solution, scored.table, report)


def _dataset(data: Any, schema: Any, missing: Any) -> tuple[Dataset, str]:
    """The data and what to call them."""
    import optbn

    if isinstance(data, Dataset):
        return data, "the data"
    if isinstance(data, str | os.PathLike):
        return optbn.read(data, schema, missing=missing), os.path.basename(os.fspath(data))
    return Dataset.from_frame(data, schema, missing), "the data frame"


def _scores(
    data: Dataset,
    method: LocalScore,
    max_parents: int | None,
    time_limit: float | None,
    begin: float,
    store: str | os.PathLike[str] | None,
    options: dict[str, Any],
    watcher: Watcher,
    watch: Stopwatch,
) -> Scored:
    """Phase I as large as was asked for, or as the time allows."""
    from optbn.learning.affordable import Scored, affordable_table
    from optbn.scores.pipeline import score_table

    families = 0

    def scored(report: ScoreProgress) -> None:
        nonlocal families
        families = report.total
        watcher.scoring(report)

    with watch.phase("score"):
        if max_parents is not None and time_limit is None:
            table = score_table(data, method, max_parents, store=store, progress=scored, **options)
            return Scored(table, families, min(max_parents, data.n_variables - 1))
        seconds = DEFAULT_SCORING_SECONDS
        if time_limit is not None:
            seconds = max(0.0, SCORING_SHARE * time_limit - (time.monotonic() - begin))
        largest = DEFAULT_PARENTS if max_parents is None else max_parents
        return affordable_table(data, method, largest, seconds, scored, **options)


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
) -> Report:
    """Everything a reader may want to know, as plain values."""
    import msgspec

    import optbn
    from optbn.network.formats import encode
    from optbn.report.report import Arc, Column, DataSummary, Phase, Report, TracePoint

    def column(name: str, domain: Categorical | Real) -> Column:
        if isinstance(domain, Real):
            return Column(name, "real", low=domain.low, high=domain.high)
        return Column(name, "ordinal" if domain.ordered else "categorical", levels=domain.levels)

    strengths = found.strengths()
    structure = found.structure
    compelled = {(structure.names[u], structure.names[v]) for u, v in structure.to_cpdag().arcs}
    return Report(
        title=title,
        version=optbn.__version__,
        data=DataSummary(
            source, data.n_rows, data.digest, tuple(column(n, d) for n, d in zip(data.names, data.domains, strict=True))
        ),
        settings=dict(settings),
        outcome=_outcome(found),
        arcs=tuple(Arc(p, c, strengths.get((p, c)), (p, c) in compelled) for p, c in structure.arcs),
        network=msgspec.json.decode(encode(model.network, "json")),
        counts=_counts(data, model.network),
        families_scored=found.families,
        families_kept=len(found.scores),
        phases=tuple(Phase(name, wall, cpu) for name, (wall, cpu) in found.seconds.items()),
        trace=tuple(TracePoint(t, s, b if np.isfinite(b) else None) for t, s, b in _thinned(trace)),
        notes=tuple(notes),
        command=command,
    )


def _outcome(found: LearnedStructure) -> Any:
    """What is known about optimality, in plain words."""
    from optbn.report.report import Outcome

    solution = found.solution
    assert solution.score is not None
    checked = solution.statistics.get("checked", {})
    claimed = tuple(checked.get("claimed", ()))
    if solution.gap > 0:
        proof = f"Best found: at most {solution.gap:.3g} nat from optimal"
    elif claimed:
        proof = "Optimal by a complete search; graph and score checked, the search taken on trust"
    else:
        proof = "Proved optimal, checked independently"
    details = tuple(f"Checked: {text}." for text in checked.get("proved", ()))
    details += tuple(f"Claimed, not re-proved: {text}." for text in claimed)
    return Outcome(str(solution.status), solution.score, solution.bound, proof, details)


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
