"""The last step of `learn`: all that the run found, as plain values for the page and for machines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from optbn.base import options
from optbn.base.version import __version__
from optbn.data.domains import Domain, Real
from optbn.learning.carried import carried
from optbn.learning.restrictions import named
from optbn.network.formats.json import plain
from optbn.report.report import Arc, Column, DataSummary, Outcome, Phase, Report, TracePoint
from optbn.smoothing import load_smoother
from optbn_solvers.base.clock import compiling
from optbn_solvers.base.standing import Standing, checked_gap, standing

if TYPE_CHECKING:
    from optbn.data.dataset import Dataset
    from optbn.learning.steps.job import Job
    from optbn.learning.structure import LearnedStructure
    from optbn.network.network import BayesianNetwork
    from optbn.network.structure import Structure
    from optbn.report.report import HeldOut
    from optbn.smoothing.fitting import Fitted
    from optbn.smoothing.protocol import Smoother

WORTH_TELLING = 0.1  # the probability of an arc that the best network does not have
MOST_TOLD = 30  # of these


@dataclass(frozen=True)
class Others:
    """Other networks than the best: the next ones, a line each; the probability of each arc; of the best network's
    arcs, what is lost without them (the fields of `Arc`); and of networks learned so, how they explain unseen rows."""

    alternatives: Sequence[str] = ()
    chances: Mapping[tuple[str, str], float] = field(default_factory=dict)
    losses: Mapping[tuple[str, str], Mapping[str, Any]] = field(default_factory=dict)
    held_out: tuple[HeldOut, ...] = ()


@dataclass(frozen=True)
class Names:
    """What a report calls itself and the data, and the command that makes it again; each "" for what is usual."""

    title: str
    source: str
    command: str


def report(
    job: Job, model: Fitted, smoother: str | Smoother, names: Names, values: Mapping[str, Any], others: Others
) -> Report:
    """All of a run; `values` are the options of `learn`, of which some say "choose" and the report says what was."""
    job.watcher.phase("report")
    kernels, seconds = job.compiled
    if compiling.kernels > kernels:
        job.watch.phases["compile"] = (compiling.seconds - seconds,) * 2
    names = replace(names, source=names.source or job.source)
    size = "all" if values["max_parents"] == "all" and job.scored.size == job.scoring.sets.largest else job.scored.size
    used = {**values, "score": job.method, "max_parents": size, "smoother": smoother}
    if not isinstance(values["weights"], str | None):
        used["weights"] = None if job.data.weights is None else f"{len(job.data.weights.units):,} numbers"
    names = replace(names, title=names.title or _title(job, names.source))
    return _report(job, model, names, used, others)


def _title(job: Job, source: str) -> str:
    """What the best network is the best of."""
    comma = "," if len(job.restrictions) > 1 else ""  # else the last restriction seems to be "for" the source
    found = "" if standing(job.learned.solution) is Standing.PROVED else " found"
    return f"The {lower(named(job.restrictions))}{found}{comma} for {source}"


def _call(source: str, values: Mapping[str, Any], constraints: Mapping[str, Any]) -> str:
    """How to get the same in Python, for those who did not come by the command line."""
    data = repr(source) if "." in source else "data"
    more = f", constraints={dict(constraints)!r}" if constraints else ""
    return f"optbn.learn({data}, {options.repeated('learn', values)}{more})"


def _papers(*parts: Any) -> tuple[str, ...]:
    """What to cite for a score, a smoother: each says its own."""
    return tuple(dict.fromkeys(part.paper for part in parts if getattr(part, "paper", "")))


def _report(job: Job, model: Fitted, names: Names, values: Mapping[str, Any], others: Others) -> Report:
    data, learned, chances = job.data, job.learned, others.chances
    structure, strengths = learned.structure, learned.strengths()
    essential = structure.to_cpdag(job.interventions.targets if job.interventions else ())
    compelled = {(structure.names[u], structure.names[v]) for u, v in essential.arcs}
    constraints = job.constraints.stated() if job.constraints else {}
    smoother = values["smoother"] if isinstance(values["smoother"], str) else repr(values["smoother"])
    settings = {**values, "score": repr(values["score"]), "smoother": smoother}
    columns = zip(data.names, data.domains, strict=True)
    return Report(
        title=names.title,
        version=__version__,
        data=DataSummary(names.source, data.n_rows, data.digest, tuple(_column(*column) for column in columns)),
        settings={
            **options.reported("learn", settings),
            **{name: repr(value) for name, value in constraints.items()},
        },
        outcome=_outcome(learned, job.restrictions),
        arcs=tuple(
            Arc(p, c, strengths.get((p, c)), (p, c) in compelled, chances.get((p, c)), **others.losses.get((p, c), {}))
            for p, c in structure.arcs
        ),
        network=plain(model.network),
        counts=_counts(data, model.network),
        families_scored=learned.families,
        families_kept=len(learned.scores),
        phases=tuple(Phase(name, wall, cpu) for name, (wall, cpu) in learned.seconds.items()),
        trace=tuple(TracePoint(t, s, b if np.isfinite(b) else None) for t, s, b in _thinned(job.trace)),
        alternatives=tuple(others.alternatives),
        others=_others(chances, structure),
        notes=tuple(job.notes),
        command=names.command or _call(names.source, values, constraints),
        evidence=carried(learned.scores, learned.solution, structure),
        target=values["target"] or "",
        papers=_papers(job.method, load_smoother(values["smoother"])),
        held_out=others.held_out,
    )


def _column(name: str, domain: Domain) -> Column:
    if isinstance(domain, Real):
        return Column(name, "real", low=domain.low, high=domain.high, unit=domain.unit)
    return Column(name, "ordinal" if domain.ordered else "categorical", levels=domain.levels)


def _others(chances: Mapping[tuple[str, str], float], structure: Structure) -> tuple[Any, ...]:
    """The arcs that the network does not have, the most probable first."""
    there = set(structure.arcs)
    left = sorted((-chance, arc) for arc, chance in chances.items() if arc not in there and chance >= WORTH_TELLING)
    return tuple(Arc(*arc, posterior=-chance) for chance, arc in left[:MOST_TOLD])


def lower(text: str) -> str:
    """For the middle of a sentence."""
    return text[:1].lower() + text[1:]


def _outcome(learned: LearnedStructure, restrictions: tuple[str, ...]) -> Any:
    """What is known about optimality, in plain words: first of which networks, then how surely."""
    solution = learned.solution
    assert solution.score is not None
    checked = solution.statistics.get("checked", {})
    claimed = tuple(checked.get("claimed", ()))
    ended = checked.get("ended", True)
    what = standing(solution)
    if what is Standing.PROVED:
        proof = "Proved optimal, checked independently"
    elif not ended and what is Standing.COMPLETE:
        proof = "Searched completely, not proved; graph and score checked, the evidence not: no time left"
    elif what is Standing.COMPLETE:
        proof = "Searched completely, not proved; graph and score checked, the search taken on trust"
    else:
        proof = f"Best found: at most {checked_gap(solution):.3g} nat from optimal, checked"
        if solution.gap < checked_gap(solution):
            proof += f"; {solution.gap:.3g}, says the search" + ("" if ended else ", not checked: no time left")
    if restrictions:
        proof = f"{named(restrictions)}: {lower(proof)}"
    details = tuple(f"Checked: {text}." for text in checked.get("proved", ()))
    details += tuple(f"Claimed, not re-proved: {text}." for text in claimed)
    return Outcome(str(solution.status), solution.score, solution.bound, proof, details, ended, restrictions, str(what))


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
