"""How far a graph is from the best one for these data, where it loses, and whether the data agree with it at all.

The gap is the score of the best network, proved, less that of the graph: 3 nats make it 20 times less probable, if the
score is a log posterior. Of an equivalence class the best member stands for it. A gap says which of two graphs is
better; the independences that the graph implies (`optbn.evaluate.markov`) say whether it can be right.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from optbn.base.errors import LimitError, UnsupportedError
from optbn.base.options import DEFAULT_SCORE
from optbn.base.settings import check_seed
from optbn.data.anything import DataLike, WeightsLike, as_dataset
from optbn.data.dataset import Dataset
from optbn.evaluate.graphs import Graph
from optbn.evaluate.markov import MarkovCheck, markov_check
from optbn.evaluate.sources import as_graph
from optbn.learning.restrictions import restrictions
from optbn.learning.within import CHECK_SHARE, SEARCH_SHARE, size_within
from optbn.network.structure import Structure
from optbn.scores import load_score
from optbn.scores.listed import score_families
from optbn.scores.pipeline import table_of_sets
from optbn.scores.protocol import LocalScore
from optbn.scores.scoring import Scoring
from optbn_solvers import Budget, Constraints, ScoreTable, solve
from optbn_solvers.base.clock import working
from optbn_solvers.base.standing import Standing, standing

MOST_FAMILIES = 1 << 20
"""Of the members of an equivalence class; more are refused."""


@dataclass(frozen=True, eq=False)
class Gap:
    """A graph beside the best one.

    graph, best          of the class that was compared the best member; the optimum with at most `max_parents` parents
    family_scores        of `graph`, by variable; best_family_scores of `best`
    proved               no graph within the limit on parents scores above `best`
    check                of the independences that the graph implies; None where none was wanted
    restrictions         what the networks that `best` is the best of have in common, in words
    """

    graph: Structure
    best: Structure
    family_scores: Mapping[str, float]
    best_family_scores: Mapping[str, float]
    max_parents: int
    proved: bool
    check: MarkovCheck | None
    restrictions: tuple[str, ...] = ()

    @property
    def score(self) -> float:
        return math.fsum(self.family_scores.values())

    @property
    def best_score(self) -> float:
        return math.fsum(self.best_family_scores.values())

    @property
    def nats(self) -> float:
        """What the graph lacks; below 0 only if it has more parents than the best was allowed."""
        return self.best_score - self.score

    def families(self) -> list[dict[str, Any]]:
        """A row per variable whose parents differ, the greatest loss first; losses add up to the gap."""
        rows = []
        for name in self.graph.names:
            mine, its = set(self.graph.parents(name)), set(self.best.parents(name))
            if mine != its:
                loss = self.best_family_scores[name] - self.family_scores[name]
                row = {"variable": name, "parents": sorted(mine), "best_parents": sorted(its), "loss": loss}
                rows.append(row)
        return sorted(rows, key=lambda row: -row["loss"])

    def to_frame(self) -> Any:
        """`families` as a pandas data frame."""
        import pandas

        return pandas.DataFrame(self.families(), columns=["variable", "parents", "best_parents", "loss"])

    def __repr__(self) -> str:
        proof = "proved" if self.proved else "not proved"
        return f"Gap({self.nats:.6f} nats below the best of at most {self.max_parents} parents ({proof}))"


def gap(
    data: DataLike,
    graph: Any,
    score: str | LocalScore = DEFAULT_SCORE,
    max_parents: int = 3,
    *,
    permutations: int = 199,
    seed: int = 0,
    weights: WeightsLike = None,
    reading: Mapping[str, Any] | None = None,
    time_limit: float | None = None,
    memory: int | str | None = None,
    jobs: int | None = None,
    **settings: Any,
) -> Gap:
    """How much worse a graph scores than the best one, family by family, and whether the data contradict it.

    graph         a DAG or an equivalence class over the columns of the data: anything that `optbn.compare` takes
    score         a name in optbn.scores.SCORES (with its `settings`, ess=10 say) or a score itself
    max_parents   of the best network; the graph may have more
    permutations  of each test of an independence that the graph implies; 0 leaves the tests out
    seed          of the permutations
    weights       how many rows each row counts for; not with tests
    time_limit    seconds for everything: parent sets may be smaller then, and tests without time are counted
    reading, memory, jobs   as in `optbn.edges`
    """
    until = math.inf if time_limit is None else working() + time_limit
    if permutations < 0:
        raise UnsupportedError(f"{permutations} permutations, expected at least 0 (no tests)")
    check_seed(seed)
    rows = as_dataset(data, missing="value", reading=reading, weights=weights)
    wanted, method = as_graph(graph).aligned(rows.names), load_score(score, caller=gap, **settings)
    member = _best_member(wanted, rows, method, jobs)
    size = min(max_parents, rows.n_variables - 1)
    size = size if time_limit is None else size_within(rows, method, size, until, jobs, memory)
    scoring = Scoring.of(rows, method, size, memory=memory)
    table = table_of_sets(scoring, jobs=jobs)
    left = until - working()
    solution = solve(table, budget=Budget(wall=max(0.1, SEARCH_SHARE * left), grace=max(0.1, CHECK_SHARE * left)))
    check = markov_check(member, rows, permutations, seed, until) if permutations else None
    assert solution.choice is not None
    best = Structure.from_parents(table.graph(solution.choice))
    mine, its = (_family_scores(structure, rows, method, jobs) for structure in (member, best))
    return Gap(
        member,
        best,
        mine,
        its,
        size if size < max_parents < rows.n_variables else max_parents,
        standing(solution) is Standing.PROVED,
        check,
        restrictions(scoring),
    )


def _family_scores(structure: Structure, data: Dataset, method: LocalScore, jobs: int | None) -> dict[str, float]:
    families = [(name, structure.parents(name)) for name in structure.names]
    scores = score_families(data, families, method, jobs=jobs).scores
    return dict(zip(structure.names, scores.tolist(), strict=True))


def _best_member(graph: Graph, data: Dataset, method: LocalScore, jobs: int | None) -> Structure:
    """The graph, or the member of its class that scores best, by exact search among all members."""
    first = graph.structure()  # refuses what is no class
    if graph.kind == "DAG":
        return first
    families = [(name, tuple(parents)) for name in data.names for parents in _parents_in_class(graph, name)]
    if len(families) > MOST_FAMILIES:
        raise LimitError(f"the members of this class have {len(families):,} families; direct some of its lines")
    found = score_families(data, families, method, jobs=jobs)
    table = ScoreTable.build(
        data.names, found.families.children, found.families.masks, found.scores, keep_dominated=True, whole=True
    )
    edges = [(data.names[u], data.names[v]) for u, v in np.argwhere(np.triu(graph.matrix | graph.matrix.T)).tolist()]
    choice = solve(table, constraints=Constraints(required_edges=tuple(edges))).choice
    assert choice is not None
    return Structure.from_parents(table.graph(choice))


def _parents_in_class(graph: Graph, name: str) -> Iterator[list[str]]:
    """The parent sets that a variable may have in a DAG of the class: its arcs' tails, and of its lines' ends some that
    make no collider that the class does not have."""
    v, names, joined = graph.names.index(name), graph.names, graph.matrix | graph.matrix.T
    always = np.flatnonzero(graph.arcs[:, v]).tolist()
    open_ = [u for u in np.flatnonzero(graph.lines[:, v]).tolist() if all(joined[u, w] for w in always)]
    for size in range(len(open_) + 1):
        for some in combinations(open_, size):
            if all(joined[a, b] for a, b in combinations(some, 2)):
                yield [names[u] for u in sorted([*always, *some])]
