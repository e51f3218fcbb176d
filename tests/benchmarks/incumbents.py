"""How good graphs are when there is little time: `auto`, `greedy`, and others' searches with ten times as much.

    python -m tests.benchmarks incumbents              every table
    python -m tests.benchmarks incumbents alarm andes  those whose names begin so

Each figure is what `auto` lacks after SECONDS of CPU of the best graph that anybody here found, in nats; it may lack as
much as the best of the others does. Others learn from the same rows with the same score and limit of parents:
pyAgrum's tabu search with ten times the seconds, pgmpy's hill climbing to its end where variables are few (it has no
limit of time). Their graphs are scored by our table; a family that is not in it (it is no better than one of its
subsets) counts as the best of its subsets.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import optbn
from optbn_solvers import Budget, ScoreTable, load_solver
from tests.benchmarks import Figure

SECONDS = 3.0
TIMES = 10  # what others get
FEW = 40  # variables: pgmpy's climbs of more take minutes
SEED = 0


@dataclass(frozen=True)
class Sample:
    """Rows of a bundled network and how they are scored (BDeu with a strength of 1, or BIC)."""

    network: str
    rows: int
    score: str
    parents: int


SAMPLES = (
    Sample("alarm", 1000, "bdeu", 3),
    Sample("hailfinder", 1000, "bic", 3),
    Sample("win95pts", 1000, "bdeu", 2),
    Sample("andes", 1000, "bdeu", 2),
    Sample("munin1", 1000, "bic", 2),
)


def measure(*names: str) -> Iterator[Figure]:
    """A line per table."""
    warm = optbn.score_table(optbn.load_network("sachs").sample(100, 0), "bdeu", 3)
    for solver in ("auto", "ilp", "greedy"):
        load_solver(solver).solve(warm, Budget(cpu=2))
    for sample in SAMPLES:
        if names and not sample.network.startswith(names):
            continue
        data = optbn.load_network(sample.network).sample(sample.rows, SEED)
        table = optbn.score_table(data, sample.score, sample.parents, jobs=1)
        found: dict[str, tuple[float, float]] = {}
        for solver in ("auto", "greedy"):
            begun = time.process_time()
            answer = load_solver(solver).solve(table, Budget(cpu=SECONDS))
            found[solver] = answer.score, time.process_time() - begun
        for name, search in (("pyAgrum tabu", _pyagrum), ("pgmpy", _pgmpy)):
            with suppress(ImportError):
                begun = time.process_time()
                arcs = search(data, sample)
                if arcs is not None:
                    found[name] = score_of(table, arcs), time.process_time() - begun
        best = max(score for score, _ in found.values())
        others = min(best - score for name, (score, _) in found.items() if name != "auto")
        notes = [f"{name} {best - score:.3f} after {took:.1f} s" for name, (score, took) in found.items()]
        work = f"{sample.network}, {sample.rows} rows, {sample.score}, {sample.parents} parents ({table.n} variables)"
        yield Figure(work, best - found["auto"][0], others, unit="nats", note=f"best {best:.3f}; {', '.join(notes)}")


def score_of(table: ScoreTable, arcs: Iterable[tuple[str, str]]) -> float:
    """A graph's score: each variable's best family within its parents."""
    parents: dict[str, set[int]] = {name: set() for name in table.names}
    number = {name: v for v, name in enumerate(table.names)}
    for u, v in arcs:
        parents[v].add(number[u])
    rows = []
    for name, v in number.items():
        rows.append(next(row for row in table.rows(v) if parents[name].issuperset(table.parents(row))))
    return table.total(rows)


def _frame(data: optbn.Dataset) -> Any:
    import pandas as pd

    codes = zip(data.names, data.domains, data.columns, strict=True)
    return pd.DataFrame(
        {
            name: pd.Categorical.from_codes(column, [str(level) for level in domain.levels])
            for name, domain, column in codes
        }
    )


def _pyagrum(data: optbn.Dataset, sample: Sample) -> list[tuple[str, str]]:
    """Tabu search: as many steps without a better graph as the time allows."""
    import pyagrum

    names = [str(v) for v in range(len(data.names))]  # of columns and of levels
    codes = [column.astype(int).astype(str) for column in data.columns]
    template = pyagrum.BayesNet()
    for name, domain in zip(names, data.domains, strict=True):
        template.add(pyagrum.LabelizedVariable(name, name, [str(level) for level in range(len(domain.levels))]))
    import pandas as pd

    learner = pyagrum.BNLearner(pd.DataFrame(dict(zip(names, codes, strict=True))), template)
    learner.setNumberOfThreads(1)
    learner.setMaxIndegree(sample.parents)
    learner.useScoreBDeu() if sample.score == "bdeu" else learner.useScoreBIC()
    learner.useLocalSearchWithTabuList(100, 100_000)
    learner.setMaxTime(1000 * TIMES * SECONDS)
    dag = learner.learnDAG()
    return [(data.names[u], data.names[v]) for u, v in dag.arcs()]


def _pgmpy(data: optbn.Dataset, sample: Sample) -> list[tuple[str, str]] | None:
    """Hill climbing with a tabu list, to its end."""
    if len(data.names) > FEW:
        return None
    from pgmpy.estimators import BIC, BDeu, HillClimbSearch

    frame = _frame(data).astype(str)
    score = BDeu(frame, equivalent_sample_size=1) if sample.score == "bdeu" else BIC(frame)
    found = HillClimbSearch(frame).estimate(score, max_indegree=sample.parents, show_progress=False)
    return list(found.edges())
