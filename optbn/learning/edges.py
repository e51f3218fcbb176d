"""How much each arc matters: the score that the best network loses without it, or with an arc that it does not have.

Every family up to the limit is scored and kept, since with an arc forced the best family may be one that a subset
beats. Each loss is then the difference of two proved optima (`optbn_solvers.front.edges`). A loss of 3 nats says that
the best network with the arc is 20 times as probable as the best without it, if the score is a log posterior.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from optbn.base.numbers import counted
from optbn.base.options import DEFAULT_SCORE
from optbn.data.anything import DataLike, WeightsLike, as_dataset
from optbn.learning.constraints import SCORING, all_families
from optbn.learning.restrictions import restrictions
from optbn.learning.within import size_within
from optbn.scores import load_score
from optbn.scores.protocol import LocalScore
from optbn.scores.scoring import Scoring
from optbn_solvers import Budget
from optbn_solvers.base.clock import working
from optbn_solvers.base.errors import StoppedError
from optbn_solvers.front import edges as solver

if TYPE_CHECKING:
    from optbn.learning.structure import LearnedStructure
    from optbn_solvers import Constraints
    from optbn_solvers.front.edges import Edges

EdgeProgress = Callable[[str, int, int], None]
"""Called as progress("scoring" or "solving", done, of how many)."""

COLUMNS = ("from", "to", "present", "loss", "without_adjacency", "turned", "at_least", "proved")


@dataclass(frozen=True, eq=False)
class EdgeLosses:
    """The losses of all arcs and adjacencies of a data set, in nats.

    score        of the best network
    max_parents  the largest number of parents of any variable
    edges        the matrices behind `rows`
    restrictions   what the networks compared have in common, in words
    """

    names: tuple[str, ...]
    score: float
    max_parents: int
    edges: Edges
    restrictions: tuple[str, ...] = ()

    def rows(self) -> list[dict[str, Any]]:
        """A row per arc of the best network, then one per possible arc between variables that are not adjacent in it.

        present            the best network has the arc
        loss               present: of the best network without it; absent: of the best network with it
        without_adjacency  present: of the best network in which the two variables are not adjacent
        turned             present: of the best network with the arc the other way
        at_least           the part of the loss that the checker proved
        proved             that is all of it

        Present arcs come first, those that matter most at the top; then absent ones, the nearest to entering first.
        """
        e, n = self.edges, len(self.names)
        arcs = {(u, v) for v, row in enumerate(e.choice) for u in e.table.parents(row)}
        present, absent = [], []
        for u in range(n):
            for v in range(n):
                if (u, v) in arcs:
                    least = min(e.apart_at_least[u, v], e.forced_at_least[v, u])
                    values = (True, e.without[u, v], e.apart[u, v], e.forced[v, u], least)
                    present.append(self._row(u, v, *values))
                elif u != v and (v, u) not in arcs:
                    values = (False, e.forced[u, v], None, None, e.forced_at_least[u, v])
                    absent.append(self._row(u, v, *values))
        present.sort(key=lambda row: -math.inf if math.isnan(row["loss"]) else -row["loss"])
        absent.sort(key=lambda row: math.inf if math.isnan(row["loss"]) else row["loss"])
        return present + absent

    def _row(
        self, u: int, v: int, present: bool, loss: float, apart: float | None, turned: float | None, least: float
    ) -> dict[str, Any]:
        numbers = (float(loss), *(None if each is None else float(each) for each in (apart, turned)), float(least))
        values = (self.names[u], self.names[v], present, *numbers, bool(loss == least))
        return dict(zip(COLUMNS, values, strict=True))

    def to_frame(self) -> Any:
        """`rows` as a pandas data frame."""
        import pandas

        return pandas.DataFrame(self.rows(), columns=list(COLUMNS))

    @property
    def proved(self) -> bool:
        """Every loss is known, and proved."""
        return self.edges.proved

    def __repr__(self) -> str:
        arcs = sum(len(self.edges.table.parents(row)) for row in self.edges.choice)
        proof = "all proved" if self.proved else "not all proved"
        return f"EdgeLosses({len(self.names)} variables, {arcs} arcs, score {self.score:.6f}, {proof})"


def arc_losses(
    scoring: Scoring,
    constraints: Constraints | None,
    learned: LearnedStructure,
    jobs: int | None,
    seconds: float | None,
) -> tuple[dict[tuple[str, str], dict[str, Any]], str]:
    """Of the arcs of an answer what is lost without them, as the fields of the report's `Arc`; and what to tell of
    it."""
    if constraints is not None and any(name not in SCORING for name in constraints.stated()):
        return {}, "what is lost without each arc is not known: the constraints are on whole networks"
    if learned.solution.gap > 0:
        return {}, "what is lost without each arc is not known, as the best network is not"
    budget = Budget(wall=math.inf if seconds is None else max(0.1, seconds), memory=scoring.memory).started()
    table = all_families(scoring, jobs)
    try:
        e = solver.edges(table, budget=budget, only_adjacent=True)
    except StoppedError:
        return {}, "there was no time to find out what is lost without each arc"
    at = {name: i for i, name in enumerate(table.names)}
    losses = {}
    for parent, child in learned.structure.arcs:
        u, v = at[parent], at[child]
        turned, apart = float(e.forced[v, u]), float(e.apart[u, v])
        least = min(e.forced_at_least[v, u], e.apart_at_least[u, v])
        if math.isfinite(turned) and math.isfinite(apart):
            loss = min(turned, apart)
            losses[parent, child] = {"loss": loss, "turned": turned, "apart": apart, "proved": bool(loss == least)}
    missing = len(learned.structure.arcs) - len(losses)
    return losses, f"what is lost without {counted(missing, 'arc')} is not known" if missing else ""


def edges(
    data: DataLike,
    score: str | LocalScore = DEFAULT_SCORE,
    max_parents: int = 3,
    *,
    weights: WeightsLike = None,
    reading: Mapping[str, Any] | None = None,
    time_limit: float | None = None,
    memory: int | str | None = None,
    jobs: int | None = None,
    progress: EdgeProgress | None = None,
    **settings: Any,
) -> EdgeLosses:
    """The loss of every arc and adjacency against the best network, each proved.

    data         a file, a Dataset or a data frame; `reading` are options of `optbn.read`
    score        a name in optbn.scores.SCORES (with its `settings`, ess=10 say) or a score itself
    max_parents  the largest number of parents of any variable
    weights      how many rows each row counts for: a column's name, or an array
    time_limit   seconds for everything: parent sets may be smaller then, and pairs that no time is left for have a loss
                 of nan
    memory, jobs, progress   as in `score_table`; progress(what, done, of how many)
    """
    until = math.inf if time_limit is None else working() + time_limit
    rows = as_dataset(data, missing="value", reading=reading, weights=weights)
    method = load_score(score, caller=edges, **settings)

    def report(what: str) -> Callable[[int, int], None] | None:
        return None if progress is None else lambda done, total: progress(what, done, total)

    if time_limit is not None:
        size = size_within(rows, method, min(max_parents, rows.n_variables - 1), until, jobs, memory)
        max_parents = size if size < rows.n_variables - 1 else max_parents
    scoring = Scoring.of(rows, method, max_parents, memory=memory)
    table = all_families(scoring, jobs, report("scoring"))
    budget = Budget(wall=max(0.1, until - working()), memory=scoring.memory)
    found = solver.edges(table, budget=budget, progress=report("solving"))
    return EdgeLosses(rows.names, table.total(found.choice), max_parents, found, restrictions(scoring))
