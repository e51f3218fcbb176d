"""One run of `learn`: data, bound score, constraints and clock are made once and owned here; each step adds to it."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import starmap
from typing import TYPE_CHECKING, Any

import numpy as np

from optbn.base.errors import LimitError
from optbn.base.settings import check_limit
from optbn.base.threads import check_jobs
from optbn.data.dataset import Dataset
from optbn.learning import near
from optbn.learning.affordable import Scored, affordable_table, unlimited_table
from optbn.learning.averaged import averaged, trees_of
from optbn.learning.constraints import all_families, check_constraints, demanding
from optbn.learning.edges import arc_losses
from optbn.learning.estimate import estimate, in_words
from optbn.learning.extremes import arcs_of_extremes, extremes_note
from optbn.learning.held_out import held_out
from optbn.learning.left_over import with_time_left
from optbn.learning.local import with_local_models
from optbn.learning.rehearsal import rehearse
from optbn.learning.reporting import Others
from optbn.learning.restrictions import coarsened, restrictions, why_left_out
from optbn.learning.solving import constraints_of
from optbn.learning.structure import LearnedStructure, Stopwatch, best_structure
from optbn.learning.timely import FALLBACK, Timely
from optbn.learning.watcher import Watcher
from optbn.scores.by_evidence import chosen_values
from optbn.scores.left_out import Alone, families_left_out
from optbn.scores.pipeline import ScoreProgress, table_of_sets
from optbn.scores.scoring import Scoring
from optbn.scores.selection import limited
from optbn.scores.trees.grace import SHORTEST_LIMIT, grace
from optbn.smoothing.default import smoother_for
from optbn.smoothing.family import Family
from optbn.smoothing.fitting import fitted
from optbn.smoothing.protocol import load_smoother
from optbn_solvers.base.clock import working
from optbn_solvers.base.table import ScoreTable

if TYPE_CHECKING:
    from optbn.data.interventions import Interventions
    from optbn.learning.affordable import Scored
    from optbn.learning.estimate import Cost
    from optbn.learning.reporting import Others
    from optbn.network.network import BayesianNetwork
    from optbn.report.report import HeldOut
    from optbn.scores.parent_sets import Limit
    from optbn.scores.protocol import LocalScore
    from optbn.scores.scoring import Scoring
    from optbn.smoothing.fitting import Fitted
    from optbn.smoothing.protocol import Smoother
    from optbn_solvers import Constraints, Progress

DEFAULT_PARENTS = 3
MOST_PARENTS = 5  # where nobody says how many, and a time limit is to be used
DEFAULT_SCORING_SECONDS = 60.0  # without a time limit and a stated size, scoring chooses its size to fit this
SCORING_SHARE = 0.5  # of the time, for scoring
LARGER_SHARE = 0.6  # of the time, until dear families and larger sets of likeliest parents are scored
AGAIN_SHARE = 0.2  # of the time, to make the trees of dear families that are chosen once more
SMALLEST_SHARE = 0.7  # of the time, that the smallest size may use
PREPARING_SHARE = 0.8  # of the time for scoring, that may go by before the first score
DEAR_SHARE = 0.04  # of the time, that a parent set may be expected to take to be scored at all
RESCORING = 2.0  # times what scoring took, for scoring without leaving out what a subset beats
RESERVE = 0.2  # of the time, for what comes after the search
CHECK_SHARE = 0.08  # of the time, for the evidence and its check, if the search took all it had
REPORT_SHARE = 0.05  # of the time, for the report
MORE_SECONDS = 60.0  # without a time limit, for other networks than the best
UNTHINKABLE = 30 * 86400.0  # seconds; nobody means this


@dataclass
class Job:
    """The steps in order: `constrain`, `score`, `solve`, `fit`, `compare`."""

    data: Dataset
    method: LocalScore
    watcher: Watcher
    watch: Stopwatch
    begin: float  # of `working`: limits leave out what compiling takes
    time_limit: float | None  # from then on: what reading took is shared by all
    jobs: int | None
    interventions: Interventions | None = None
    constraints: Constraints | None = None
    notes: list[str] = field(default_factory=list)
    restrictions: tuple[str, ...] = ()
    trace: list[tuple[float, float | None, float]] = field(default_factory=list)
    scoring: Scoring = field(init=False)
    scored: Scored = field(init=False)
    learned: LearnedStructure = field(init=False)

    def left(self, share: float) -> float | None:
        """The seconds until that share of the time limit is used, None without a limit."""
        return None if self.time_limit is None else share * self.time_limit - (working() - self.begin)

    def constrain(
        self,
        constraints: Constraints | Mapping[str, Any] | None,
        max_parents: Limit | None,
        candidates: int | None,
        memory: int | str | None,
    ) -> None:
        """Bind the score to the data, under the constraints; contradictions are refused."""
        self.watcher.phase("score")
        with self.watch.phase("score"):
            self.constraints = constraints_of(constraints)
            usual = DEFAULT_PARENTS if self.time_limit is None else MOST_PARENTS
            largest = usual if max_parents is None else max_parents
            check_limit("max_parents", largest)
            if largest != "all":
                largest = min(largest, max(0, self.data.n_variables - 1))
            self.scoring = Scoring.of(self.data, self.method, largest, self.constraints, candidates, memory)
            self.scoring = self._hurried(self.scoring)
            check_constraints(self.constraints, self.data.names)
        if self.interventions:
            kept = ", ".join(f"{mask.sum():,} of {name}" for name, mask in self.interventions.rows.items())
            self.notes.append(f"Rows in which a variable was set do not count for its own score: {kept}.")

    def _hurried(self, scoring: Scoring) -> Scoring:
        """Where time is limited, without parent sets that would take too much of it one by one."""
        return scoring if self.time_limit is None else scoring.hurried(DEAR_SHARE * self.time_limit)

    def rehearse(self, solver: str, smoother: str | Smoother | None) -> None:
        """Compile what has not been compiled on this machine, before anything is timed."""
        if self.time_limit is not None and self.time_limit < SHORTEST_LIMIT:
            grace.end()
        rehearse(self.data, self.method, solver, smoother, self.watcher)

    def score(self, max_parents: Limit | None, store: str | os.PathLike[str] | None, larger: bool = True) -> None:
        """The table, as large as `max_parents` says, or as the time allows; where some is left, `larger` sets of the
        likeliest parents are tried, too."""
        families, everything = 0, demanding(self.constraints)

        def listen(report: ScoreProgress) -> None:
            nonlocal families
            families = report.total
            self.watcher.scoring(report)

        seconds = self.left(SCORING_SHARE / (1 + RESCORING) if everything else SCORING_SHARE)
        limited = max_parents is None or seconds is not None
        if seconds is not None and not everything and self._too_many_rows(seconds):
            self._score_alone()
            return
        begin = working()
        share = DEFAULT_SCORING_SECONDS if seconds is None else seconds
        costs = [] if self.scoring.unlimited else self._costs(limited, share)
        left = DEFAULT_SCORING_SECONDS
        if seconds is not None:
            left = max(0.0, max(0.0, seconds) - (working() - begin))
        with self.watch.phase("score"):
            if self.scoring.unlimited:
                self.scored = unlimited_table(self.scoring, math.inf if seconds is None else left, self.jobs, listen)
            elif limited:
                self.scored = affordable_table(self.scoring, costs, left, self.jobs, listen, self._at_least())
            else:
                scoring = self.scoring.at_most(costs[-1].size)
                table = table_of_sets(scoring, jobs=self.jobs, store=store, progress=listen)
                self.scored = Scored(table, families, costs[-1].size)
            if everything:
                table = all_families(self.scoring.at_most(self.scored.size), self.jobs)
                self.scored = replace(self.scored, table=table)
        if seconds is not None and larger and not everything and not self.scoring.unlimited:
            self._use_time_left(max_parents, listen)
        enough = max_parents is None and self.scored.size >= DEFAULT_PARENTS
        self.notes += [self.scored.note] if self.scored.note and not enough else []
        with self.watch.phase("score"):
            scored = self.scored
            bounded = self.scoring.at_most(scored.size)
            self.restrictions = restrictions(bounded, scored.unscored, scored.likeliest, scored.dear - scored.after_all)
            dear = 0 if bounded.unlimited else families_left_out(bounded.bound, bounded.sets)
            self.notes += [why_left_out(bounded)] if dear > scored.after_all else []
        self.notes += coarsened(self.scoring)

    def _use_time_left(self, max_parents: Limit | None, listen: Callable[[ScoreProgress], None]) -> None:
        """Families left out as too dear, and sets of one member more among likeliest parents, in the time that is left
        for scoring."""
        largest = DEFAULT_PARENTS if max_parents is None else self.scoring.sets.largest
        left, begun = self.left(LARGER_SHARE) or 0.0, working()

        def told(done: int, total: int) -> None:
            listen(ScoreProgress(done, total, done, self.scored.size + 1, working() - begun))

        with self.watch.phase("score"):
            self.scored = with_time_left(
                self.scored,
                self.scoring,
                min(largest, self.scoring.sets.largest),
                working() + left,
                AGAIN_SHARE * (self.time_limit or 0.0),
                self.jobs,
                told,
            )
        if self.scored.likeliest:
            size, k = self.scored.likeliest
            self.notes.append(f"sets of {size} are scored among the {k} likeliest parents of each variable")

    def _too_many_rows(self, seconds: float) -> bool:
        """Whether most of the time would be gone before anything is scored."""
        bound, needs = self.scoring.bound, int(self.scoring.sets.needs.max(initial=0))
        return needs == 0 and float(getattr(bound, "preparation", 0.0)) > PREPARING_SHARE * seconds

    def _score_alone(self) -> None:
        """The table of no parents at all."""
        n = self.data.n_variables
        with self.watch.phase("score"):
            self.scoring = replace(self.scoring, bound=Alone(self.scoring.bound))
            scores = np.array([self.scoring.bound.fitted(v, ()).score for v in range(n)])
            masks = np.zeros((n, max(1, -(-n // 64))), np.uint64)
            table = ScoreTable.build(self.data.names, np.arange(n), masks, scores, whole=False)
            families = sum(self.scoring.sets.count(size) for size in range(self.scoring.sets.largest + 1))
        note = (
            f"no family with parents is scored: to lay out {self.data.n_rows:,} rows for trees takes about "
            f"{in_words(self.scoring.bound.preparation)}; give more time, or use a score that counts (bdeu, bic)"  # type: ignore[attr-defined]
        )
        self.scored = Scored(table, n, 0, note, 0)
        self.notes += [note, *coarsened(self.scoring.at_most(0))]
        self.restrictions = (f"without parents, {families - n:,} families left out",)

    def _at_least(self) -> float:
        """Seconds for the smallest size; where it is slow, search and fit have less."""
        left = self.left(SMALLEST_SHARE)
        return math.inf if left is None else left

    def _costs(self, limited: bool, seconds: float) -> list[Cost]:
        """What scoring would cost, for the sizes that the watcher agrees to: those that `seconds` bear and one more."""
        with self.watch.phase("score"):
            costs = estimate(self.scoring, self.jobs, rehearsed=True, enough=seconds if limited else math.inf)
            if not limited and costs[-1].seconds > UNTHINKABLE:
                raise LimitError(
                    f"scoring the {costs[-1].families:,} families of at most {costs[-1].size} of "
                    f"{self.data.n_variables} variables would take about {in_words(costs[-1].seconds)}: lower "
                    "max_parents, or set a time limit, and the size is chosen to fit it"
                )
        return costs[: self.watcher.estimated(costs, limited) + 1]

    def solve(self, solver: str) -> None:
        """The best network of the table, checked."""
        self.watcher.phase("solve")

        def listen(progress: Progress) -> None:
            self.trace.append((progress.seconds, progress.score, progress.bound))
            self.watcher.solving(progress)

        left = self.left(1 - RESERVE)
        self.learned = best_structure(
            self.scored.table,
            self.scored.families,
            self.watch,
            solver=solver,
            time_limit=None if left is None else max(0.1, left),
            grace=None if self.time_limit is None else CHECK_SHARE * self.time_limit,
            progress=listen,
            constraints=self.constraints,
        )
        if self.scoring.candidates is not None:
            self.learned = replace(self.learned, solution=limited(self.learned.solution, self.scoring.candidates))
        if self.interventions is None:
            self._doubt_extremes()

    def _doubt_extremes(self) -> None:
        """A note on arcs that ranks would not have."""
        left = self.left(1 - RESERVE)
        until = math.inf if left is None else working() + left
        with self.watch.phase("fit"):
            sets = [self.learned.structure.parents(name) for name in self.data.names]
            arcs = arcs_of_extremes(self.data, self.method, sets, until)
        if note := extremes_note(self.data, arcs):
            self.notes.append(note)

    def fit(self, smoother: str | Smoother | None, seed: int, more: bool, trees: str) -> tuple[Fitted, str | Smoother]:
        """The parameters and what smoothed them; what would not end in time gives way to a quicker smoother.

        `more` is to follow.
        """

        def listen(phase: str, done: int, of: int | None) -> None:
            if phase == "fitting" and of is not None:
                self.watcher.fitting(done, of)

        self.watcher.phase("fit")
        with self.watch.phase("fit"):
            shapes = with_local_models(self.learned.structure, self.data, self.scoring.bound)
            if smoother is None:
                whole = self.data.weights is None or self.data.weights.whole
                smoother = smoother_for(starmap(Family.of, zip(shapes.names, shapes.cpds, strict=True)), whole)
                if not whole:
                    self.notes.append(f"probabilities are estimated by {smoother}, which counts shares of a row")
            chosen, left = load_smoother(smoother), self.left(1 - REPORT_SHARE)
            if left is not None:
                chosen = Timely(chosen, load_smoother(FALLBACK), working() + (left / 2 if more else left))
            self.notes += chosen_values(self.scoring.bound, self.data, self.learned.structure.parent_sets)
            model = fitted(
                shapes,
                self.data,
                chosen,
                seed=seed,
                threads=check_jobs(self.jobs),
                progress=listen,
                interventions=self.interventions,
            )
            if trees == "average":
                network, kept = averaged(model.network, self.data, trees_of(self.method))
                model = replace(model, network=network)
                keep = "keeps its best tree" if len(kept) == 1 else "keep their best trees"
                self.notes += [f"averages over trees: {', '.join(kept)} {keep}"] if kept else []
        if isinstance(chosen, Timely) and chosen.gave_way:
            name = smoother if isinstance(smoother, str) else type(smoother).__name__
            self.notes.append(
                f"{chosen.gave_way} of {self.data.n_variables} distributions are m-estimates: {name} would not have "
                "been done within the time limit"
            )
        return model, smoother

    def compare(self, alternatives: int, posteriors: bool, edges: bool) -> Others:
        """Other networks than the best, as far as they are wanted and the time allows."""
        others = Others()
        if not (alternatives or posteriors or edges):
            return others
        self.watcher.phase("more")
        with self.watch.phase("more"):
            left, learned = self.left(1 - REPORT_SHARE), self.learned
            seconds = MORE_SECONDS if left is None else max(0.0, left)
            if posteriors:
                needed = 0.0 if left is None else self.watch.phases["score"][0]  # all sets are scored once more
                best = learned.structure if learned.solution.gap == 0 else None
                scoring, share = self.scoring.at_most(self.scored.size), seconds / 2 if alternatives else seconds
                chances, note = near.arc_posteriors(scoring, self.constraints, best, self.jobs, share, needed)
                others = replace(others, chances=chances)
                self.notes.append(note)
            if alternatives:
                left = self.left(1 - REPORT_SHARE)
                seconds = seconds if left is None else max(0.0, left)
                lines, note = near.alternatives(self.scored.table, learned.solution, alternatives, seconds)
                others = replace(others, alternatives=lines)
                self.notes += [note] if note else []
            if edges:
                losses, note = arc_losses(
                    self.scoring.at_most(self.scored.size),
                    self.constraints,
                    learned,
                    self.jobs,
                    self.left(1 - REPORT_SHARE),
                )
                others = replace(others, losses=losses)
                self.notes += [note] if note else []
        return others

    def hold_out(
        self, folds: int, solver: str, smoother: str | Smoother | None, seed: int, target: str | None, trees: str
    ) -> tuple[HeldOut, ...]:
        """How well networks that are learned so explain rows they have not seen; without time for it, a note."""
        if self.interventions is not None or self.data.weights is not None:
            self.notes.append("rows that experiments set, or that have weights, are not held out")
            return ()
        left, begin = self.left(1 - REPORT_SHARE), working()
        used = begin - self.begin
        if left is not None and left < 2 * folds * used:
            self.notes.append(
                f"there was no time to hold rows out: {folds} folds take about {in_words(2 * folds * used)}"
            )
            return ()
        constraints = self.constraints

        def learner(rows: Dataset, size: int) -> BayesianNetwork:
            all_sizes = self.scoring.unlimited and size == self.scored.size == self.scoring.sets.largest
            limit: Limit = "all" if all_sizes else min(size, rows.n_variables - 1)
            scoring = self._hurried(Scoring.of(rows, self.method, limit, constraints, None, None))
            table = (
                all_families(scoring, self.jobs) if demanding(constraints) else table_of_sets(scoring, jobs=self.jobs)
            )
            found = best_structure(table, 0, Stopwatch(), solver=solver, time_limit=left, constraints=constraints)
            shapes = with_local_models(found.structure, rows, scoring.bound)
            network = fitted(shapes, rows, smoother, seed=seed, threads=check_jobs(self.jobs)).network
            return averaged(network, rows, trees_of(self.method))[0] if trees == "average" else network

        self.watcher.phase("more")
        with self.watch.phase("held out"):
            return held_out(self.data, folds, seed, learner, self.scored.size, target)
