"""PCART: the score of a family is that of its best decision tree.

    score(v, P) = max over trees T on P of [ sum over leaves R of log m(R) - l(T) log C/gamma ]  +  log c(P)

with leaves as in trees/leaves.py and structure prior as in trees/prior.py; PCARTP adds log pi_v(P), pi_v(P) being
1 / binom(n-1, |P|). Exact for categorical, ordinal and real predictors and for categorical and real responses: a
dynamic program over all boxes a tree can make (kernels/lattice.py), run for all responses at once (kernels/climb.py).
Source: Talvitie, Eggeling, Koivisto, "Learning Bayesian networks with local structure, mixed variables, and exact
algorithms", International Journal of Approximate Reasoning 115, 2019.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from optbn.base.errors import LimitError, UnsupportedError
from optbn.base.memory import readable
from optbn.base.settings import check_positive, check_rows, check_whole
from optbn.data.dataset import Dataset
from optbn.scores.by_evidence import bound_by_evidence
from optbn.scores.kernels.kinds import REAL
from optbn.scores.kernels.runs import LEAST_ROWS
from optbn.scores.kernels.sieve_sets import sieve_sets
from optbn.scores.kernels.simd import WIDTH
from optbn.scores.kernels.sparse import sparse_plan
from optbn.scores.kernels.trees import score_trees
from optbn.scores.parent_priors import BoundWithPrior, bound_prior
from optbn.scores.protocol import BoundScore, one_family
from optbn.scores.trees import uncompiled
from optbn.scores.trees.bounds import NoRegret, Penalty, Regret
from optbn.scores.trees.columns import Columns, count_splits
from optbn.scores.trees.costs import LEAST_ROOM, MOST_BOXES, MOST_SPLITS, SECONDS_PER_SPLIT, Costs
from optbn.scores.trees.cuts import CutRule, Splits
from optbn.scores.trees.fitted import FittedTree, Solved, alone, trace
from optbn.scores.trees.large import Sites, SparsePlan, workspace
from optbn.scores.trees.leaves import LeafContent, LeafKind, LeafPrior
from optbn.scores.trees.prior import Priors, Shape, leaf_cost, log_normaliser, work
from optbn.scores.trees.responses import BoundLeaves, tabulated
from optbn.scores.trees.scratch import Scratch
from optbn.scores.trees.sieve import NO_TERMS, Terms, last_of_most_parts, sieve_space
from optbn.scores.trees.space import digit_space, lane_space, lattice_space, product_space, site_space
from optbn.scores.trees.thresholds import Boxes

Floats = NDArray[np.float64]

MOST_BOUNDED = 1 << 20
"""Rows; of more, to tabulate what bounds need takes longer than they spare."""
FEWEST_SIEVED = 13
"""Categorical columns; of fewer, doubles are as quick."""
LEAST_SIEVED = 10.0
"""Seconds that all sets so far were expected to take (rather too many, see trees/costs.py), before the first is sieved:
to compile the sieve takes longer than it spares where sets are few."""
MOST_DECLARED = 900
"""Levels that the parents of a family may declare together: 2 to that power is still a floating-point number."""
MOST_TERMS = 1 << 31
"""Of the structure prior of a family: ten seconds."""


@dataclass(frozen=True)
class PCART(LeafPrior):
    """Optimal decision trees; see optbn/scores/trees/leaves.py for alpha, nu, lambda, mean and a.

    max_splits   how often a real predictor may be halved on the way to a leaf; "all": it may be cut between any two of
                 its values, as often as pays (one column of a few thousand different values, two of 90, three of 22)
    cuts         what is halved: its rows ("rank") or its "range" (at midpoints); see trees/cuts.py
    gamma        a leaf costs log C/gamma (trees/prior.py): above 0, at most 1/4 (as published); None: no prior on trees
    most_levels  of an unordered predictor; one that declares more is coarsened (trees/columns.py); None: as it is
    ess          of leaf="bdeu": the equivalent sample size

    No `max_splits` is 4 and no `cuts` is "rank" (results/cuts), but 3 and "range", as published, where real_prior is
    "paper".
    """

    paper: ClassVar[str] = (
        "Trees and bins: Talvitie, Eggeling, Koivisto (2019), Learning Bayesian networks with local "
        "structure, mixed variables, and exact algorithms, International Journal of Approximate Reasoning "
        "115."
    )

    max_splits: Splits | None = None
    cuts: CutRule | None = None
    gamma: float | None = 0.25
    most_levels: int | None = 8
    ess: float = 1.0

    leaf_kinds: ClassVar[tuple[str, ...]] = get_args(LeafKind)
    fits_dear_sets: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        paper = self.real_prior == "paper"
        if self.max_splits is None:
            object.__setattr__(self, "max_splits", 3 if paper else 4)
        if self.cuts is None:
            object.__setattr__(self, "cuts", "range" if paper else "rank")
        assert self.max_splits is not None
        if self.most_levels is not None:
            check_whole(self, "most_levels", 2)
        check_rows(self, "ess")
        if self.ess != 1.0 and self.leaf != "bdeu":
            raise UnsupportedError(f"{type(self).__name__}: ess is of leaf='bdeu', and leaf is {self.leaf!r}")
        if self.gamma is not None:
            check_positive(self, "gamma")
            if self.gamma > 0.25:
                raise UnsupportedError(
                    f"{type(self).__name__}: gamma is {self.gamma}, expected at most 0.25, or none (no prior on trees)"
                )
        if self.max_splits != "all":
            check_whole(self, "max_splits", 0)
            if self.max_splits > 12:
                raise UnsupportedError(f"max-splits is {self.max_splits}; it may be at most 12, or all")
        if self.cuts not in get_args(CutRule):
            raise UnsupportedError(f"cuts is {self.cuts!r}, expected one of: {', '.join(get_args(CutRule))}")

    def bind(self, data: Dataset) -> BoundScore:
        if self.by_evidence:
            return bound_by_evidence(self, data, PCART._bind)
        return self._bind(data)

    def _bind(self, data: Dataset) -> BoundTrees:
        if self.leaf in ("bdeu", "runs"):
            from optbn.scores.pcart_leaves import BoundOwnLeaves

            columns = self.columns(data, declared=True)
            return BoundOwnLeaves(self, columns, BoundLeaves(self, columns))
        columns = self.columns(data)
        bound = BoundTrees(self, columns, BoundLeaves(self, columns))
        uncompiled.announce(bound.costs)
        return bound

    def columns(self, data: Dataset, declared: bool = False) -> Columns:
        """The data as predictors of these trees."""
        assert self.max_splits is not None and self.cuts is not None
        return Columns(tabulated(data), self.max_splits, self.cuts, declared, self.most_levels)


@dataclass(frozen=True)
class PCARTP(PCART):
    """PCART with the prior 1 / binom(n-1, |P|) over parent sets."""

    def bind(self, data: Dataset) -> BoundWithPrior:
        return BoundWithPrior(super().bind(data), bound_prior("size", data.names))


@dataclass(frozen=True, eq=False)
class BoundTrees:
    """PCART tied to its data. `block` and `fitted` keep nothing but scratch of each thread, so threads may share it."""

    score: PCART
    columns: Columns
    leaves: BoundLeaves

    def block(
        self, sets: NDArray[np.int32], wanted: NDArray[np.bool_], floor: NDArray[np.float64] | None = None
    ) -> Floats:
        """See optbn.scores.protocol.BoundScore."""
        sets = np.ascontiguousarray(sets, dtype=np.int32)
        out = np.full(wanted.shape, -np.inf)
        for part in self.leaves.together(np.ascontiguousarray(wanted, dtype=np.bool_)):
            out = np.maximum(out, self._block(sets, part, floor))
        # Floors are only compared with scores of categorical responses, which have no jacobian.
        return out + self.leaves.jacobian

    def _block(self, sets: NDArray[np.int32], wanted: NDArray[np.bool_], floor: Floats | None) -> Floats:
        self._refuse_hopeless(sets[wanted.any(axis=1)])
        priors = self._priors(sets)
        boxes, splits = self.costs.extent(sets)
        dense = self.costs.laid_out(sets, boxes, splits)
        out, left = np.full(wanted.shape, -np.inf), wanted
        if floor is not None and dense.any():
            left = wanted.copy()
            left[dense], out[dense] = self._sieved(
                sets[dense], wanted[dense], floor[dense], priors.of(dense), boxes[dense]
            )
        some = dense & left.any(axis=1)
        if some.any():
            below, extent = None if floor is None else floor[some], (boxes[some], splits[some])
            found = self._dense(sets[some], left[some], below, priors.of(some), *extent)[0]
            out[some] = np.maximum(out[some], found)
        for i in np.flatnonzero(~dense):
            if wanted[i].any():
                cost, leaf_rows = float(priors.leaf_cost[i]), int(priors.leaf_rows[i])
                for lanes, values in self._not_laid_out(sets[i], wanted[i], cost, leaf_rows):
                    out[i, lanes] = values + priors.constant[i]
        return out

    def _not_laid_out(
        self, members: NDArray[np.int32], wanted: NDArray[np.bool_], cost: float, leaf_rows: int
    ) -> Iterator[tuple[NDArray[np.int64], Floats]]:
        """(responses, what their best trees are worth) of a set whose lattice is not laid out."""
        if self._numbered(members):
            sites, some = Sites.of(self.leaves, members), np.flatnonzero(wanted)
            values = [Boxes.of(self.leaves, sites, members, v, cost, leaf_rows).value for v in some.tolist()]
            yield some, np.array(values)
            return
        for lanes, found in self._sparse(members, wanted, leaf_rows).climb(self.leaves, wanted, cost):
            yield lanes, found[3][-1, : len(lanes)]

    def _numbered(self, members: NDArray[np.int32]) -> bool:
        """Whether a set's boxes are gone through by their numbers."""
        return bool(self.costs.numbered(members[None, :])[0])

    def fitted(self, child: int, parents: tuple[int, ...]) -> FittedTree:
        """The optimal tree of one family."""
        parents = tuple(sorted(parents))
        sets, wanted = one_family(child, parents, self.columns.data.n_variables)
        self._refuse_hopeless(sets)
        priors = self._priors(sets)
        boxes, splits = self.costs.extent(sets)
        cost = float(priors.leaf_cost[0])
        if self.costs.laid_out(sets, boxes, splits)[0]:
            _, (_, _, slot), plan, work = self._dense(sets, wanted, None, priors, boxes, splits)
            used, first_box = np.unique(slot[: int(boxes[0])], return_index=True)
            slots = int(used[-1]) + 1
            names = np.zeros((slots, len(parents)), np.int64)
            if parents:
                digits = self._digits(sets)[0]
                shape = tuple(self.columns.predictors.parts[sets[0, digits[::-1]]].tolist())
                names[np.ix_(used, digits)] = np.column_stack(np.unravel_index(first_box, shape)[::-1])
        elif self._numbered(sets[0]):
            sites = Sites.of(self.leaves, sets[0])
            found = Boxes.of(self.leaves, sites, sets[0], child, cost, int(priors.leaf_rows[0]))
            names, plan, work = found.as_plan()
            slots = len(names)
        else:
            sparse = self._sparse(sets[0], wanted[0], int(priors.leaf_rows[0]))
            names, plan = sparse.names, sparse.plan
            slots = len(names)
            ((_, work),) = sparse.climb(self.leaves, wanted[0], cost)
        content = self._content(child, plan[2][:slots].astype(np.int64), work)
        content = replace(content, share=self._share(parents, names))
        leaf = self.leaves.log_marginals(child, content) - cost
        solved = Solved(names, content, work[3][:slots, 0], leaf, plan[3], plan[4], plan[5])
        return trace(solved, self.leaves, cost, float(priors.constant[0]), child, parents)

    def alone(self, child: int) -> FittedTree:
        """See optbn.scores.protocol."""
        priors, share = self._priors(np.empty((1, 0), np.int32)), self._share((), np.zeros((1, 0), np.int64))
        return alone(self.leaves, child, float(priors.leaf_cost[0]), float(priors.constant[0]), share)

    def _share(self, parents: tuple[int, ...], names: NDArray[np.int64]) -> Floats | None:
        """Of the parents' configurations in each box, where leaves depend on it (pcart_leaves.py)."""
        return None

    def _content(self, child: int, rows: NDArray[np.int64], work: Any) -> LeafContent:
        """The contents of all slots, from the kernels' columns for a single response."""
        counts, mean, spread, _ = work
        slots, r = len(rows), self.columns.data.cardinalities[child]
        if not r:
            there = counts[:slots, :2].astype(np.int64) if self.leaves.is_mixed[child] else None
            return LeafContent(rows, there, mean[:slots, 0].copy(), spread[:slots, 0].copy(), self.leaves.unit)
        observed = self.columns.observed[child]
        full = np.zeros((slots, r), np.int64)
        full[:, observed] = counts[:slots, : len(observed)]
        return LeafContent(rows, counts=full, unit=self.leaves.unit)

    def _dense(
        self,
        sets: NDArray[np.int32],
        wanted: NDArray[np.bool_],
        floor: Floats | None,
        priors: Priors,
        boxes: Floats,
        splits: Floats,
    ) -> tuple[Floats, Any, Any, Any]:
        """Scores of sets whose lattice is laid out, and the scratch of the last one."""
        if uncompiled.doable(self.costs, sets):
            return uncompiled.scored(self.leaves, sets, self._digits(sets), wanted, priors)
        n, k, empty = self.columns.data.n_variables, sets.shape[1], self._scratch.empty
        self._scratch.begin()
        most_boxes, most_splits = int(boxes.max(initial=1)), int(splits.max(initial=0))
        predictors, responses = self.columns.predictors, self.leaves.responses
        box, plan = lattice_space(most_boxes, most_splits, empty)
        room, space = digit_space(sets, predictors), site_space(sets, predictors, responses)
        lanes = self.costs.lanes_at_a_time(most_boxes)
        work = workspace(most_boxes + 1, lanes, self.leaves.widths, self.leaves.is_real, empty)
        out = np.empty(wanted.shape)
        score_trees(
            sets,
            self._digits(sets),
            wanted,
            np.empty((0, 0)) if floor is None else np.ascontiguousarray(floor, dtype=np.float64),
            tuple(priors),
            tuple(predictors),
            tuple(responses),
            self.leaves.tables_of(np.flatnonzero(wanted.any(axis=0))),
            (np.empty(0), np.empty(n)) if floor is None else self._bound(k),
            (lanes, box, room, plan, work, space, *lane_space(responses)),
            out,
        )
        return out, box, plan, work

    def _sieved(
        self, sets: NDArray[np.int32], wanted: NDArray[np.bool_], floor: Floats, priors: Priors, boxes: Floats
    ) -> tuple[NDArray[np.bool_], Floats]:
        """(the wanted families that are still to be scored, the scores of others that may be above their floors and
        -inf elsewhere); all are still to be scored where sieving is not worth it."""
        out = np.full(wanted.shape, -np.inf)
        counted = np.flatnonzero(wanted.any(axis=0) & ~self.leaves.is_real)
        if (~self.leaves.is_real).sum() < FEWEST_SIEVED or not sets.shape[1] or not len(counted):
            return wanted, out
        self._expected[0] += self.costs.seconds(sets).sum()
        if self._expected[0] < LEAST_SIEVED:
            return wanted, out
        terms = self._terms[float(self.leaves.alpha[counted[0]])]
        if terms is NO_TERMS:
            return wanted, out
        self._scratch.begin()
        left, predictors, responses = wanted.copy(), self.columns.predictors, self.leaves.responses
        sets = last_of_most_parts(sets, predictors.parts, boxes >= LEAST_ROWS)
        most, empty, n = int(boxes.max(initial=1)), self._scratch.empty, len(self.leaves.is_real)
        before = tuple(int(extent.max()) for extent in self.costs.extent(sets[:, :-1]))
        width, rows = int(responses.levels[counted].max()), self.leaves.total_units
        entries = most + int(predictors.parts[sets].max()) + 1
        work = sieve_space(entries, width, n, rows, self.costs.sieve_bytes, empty)
        product = product_space(sets, predictors, most, before, empty)
        sieve_sets(
            sets,
            self._digits(sets),
            left,
            np.ascontiguousarray(floor, dtype=np.float64),
            tuple(priors),
            tuple(predictors),
            tuple(responses),
            self.leaves.tables_of(counted)[:2],
            self._bound(sets.shape[1]),
            tuple(terms),
            (
                *product,
                work,
                work[0].view(np.float64),
                np.empty(WIDTH + 1, np.int64),
                site_space(sets, predictors, responses),
                lane_space(responses)[0],
            ),
            out,
        )
        return left, out

    def _bound(self, k: int) -> tuple[Floats, Floats]:
        """See kernels/trees.py; of sets of k members."""
        n = self.columns.data.n_variables
        return self._xlogx, np.array([self._least_regret(v, k + 1) for v in range(n)])

    @cached_property
    def _expected(self) -> list[float]:
        """[seconds]: see LEAST_SIEVED; threads that add to it at once do no harm."""
        return [0.0]

    @cached_property
    def _scratch(self) -> Scratch:
        return Scratch()

    @cached_property
    def _terms(self) -> dict[float, Terms]:
        return {alpha: Terms.of(self.leaves, alpha) for alpha in {alpha for alpha, _ in self.leaves.rows[0]}}

    def _digits(self, sets: NDArray[np.int32]) -> NDArray[np.int64]:
        """int64[m, k]: the digits of box numbers, innermost first: members of many parts, so that their splits are of
        boxes near each other in memory. Where there are real responses members in order, along which moments add up."""
        if self.leaves.is_real.any():
            return np.tile(np.arange(sets.shape[1]), (len(sets), 1))
        return np.argsort(-self.columns.predictors.parts[sets], axis=1, kind="stable")

    def _sparse(self, members: NDArray[np.int32], wanted: NDArray[np.bool_], leaf_rows: int) -> SparsePlan:
        predictors = self.columns.predictors
        sites = Sites.of(self.leaves, members)
        if not (self.leaves.responses.levels[wanted] > 0).all():
            leaf_rows = 1
        names, rows, site, offset, left, right = sparse_plan(
            predictors.kinds[members],
            predictors.sizes[members],
            predictors.parts[members],
            sites.coordinates,
            sites.rows,
            leaf_rows,
            MOST_BOXES,
            MOST_SPLITS,
        )
        if not len(names):
            raise self._too_large(members, f"more than {MOST_BOXES:,} boxes hold rows")
        real = predictors.kinds[members] == REAL
        return SparsePlan.of(sites, names, rows, site, offset, left, right, real, leaf_rows)

    def _refuse_hopeless(self, sets: NDArray[np.int32]) -> None:
        """Raise for a column whose levels alone are too many, before anything is computed for its size."""
        predictors, shapes = self.columns.predictors, self.columns.shapes
        for v in np.unique(sets):
            splits = count_splits(int(predictors.kinds[v]), int(predictors.sizes[v]))
            if splits > MOST_SPLITS and not self._numbered(np.array([v])):
                raise self._too_large(np.array([v]), "its sets of levels can be split in too many ways")
        declared = np.where(self.leaves.is_real, 0, [size for _, size in shapes])
        total = declared[sets].sum(axis=1)
        if total.max(initial=0) > MOST_DECLARED:
            many = f"the parents of a family may declare {MOST_DECLARED} together"
            raise self._too_many_levels(sets[int(np.argmax(total))], many)

    def _too_many_levels(self, members: NDArray[np.int32], why: str) -> LimitError:
        """The refusal of parents that declare too much, naming the worst."""
        v = max(members.tolist(), key=lambda u: self.columns.shapes[u][1])
        name, size = self.columns.data.names[v], self.columns.shapes[v][1]
        if not self.columns.data.cardinalities[v]:
            return LimitError(
                f"column {name!r} has {size} different values that trees may be cut between; {why}: choose a number of "
                f"halvings (--set max_splits=5) instead of all, or let it have no children (--leaves {name})"
            )
        return LimitError(
            f"column {name!r} declares {size} levels; {why}: merge levels, or let it have no children (--leaves {name})"
        )

    def _too_large(self, members: NDArray[np.int32], why: str) -> LimitError:
        """The refusal of a predictor set, naming its worst column."""
        data, predictors = self.columns.data, self.columns.predictors
        v = int(members[np.argmax(predictors.parts[members])])
        splits = max(float(self.costs.extent(members[None, :])[1][0]), 1.0)
        given = "" if len(members) == 1 else f" with {', '.join(repr(data.names[u]) for u in members if u != v)}"
        size = int(predictors.sizes[v])
        real = not data.cardinalities[v]
        what = "finest cells" if real else "levels in the data"
        remedy = (
            "lower --max-splits"
            if real
            else "leave it out if it only names the rows (--ignore), merge levels, declare it ordered"
        )
        return LimitError(
            f"column {data.names[v]!r} has {size} {what}; trees over it{given} would need "
            f"{_room(8 * splits)} and {_time(splits * SECONDS_PER_SPLIT)} ({why}): {remedy}, "
            f"let it have no children (--leaves {data.names[v]}), or score full tables instead (--score ftp)"
        )

    @cached_property
    def regrets(self) -> dict[tuple[float, float], Regret | Penalty | NoRegret]:
        """Of categorical responses, by alpha and number of declared levels."""
        if not self.leaves.whole or self.leaves.total_units > MOST_BOUNDED:
            return {key: NoRegret() for key in self.leaves.rows[0]}
        make = Penalty if self.leaves.penalised else Regret
        return {(alpha, r): make(alpha, int(r), self.leaves.total_units) for alpha, r in self.leaves.rows[0]}

    def _priors(self, sets: NDArray[np.int32]) -> Priors:
        kinds = sorted(set(self.columns.shapes))
        number = np.array([kinds.index(shape) for shape in self.columns.shapes], np.int64)
        distinct, which = np.unique(np.sort(number[sets], axis=1), axis=0, return_inverse=True)
        which = which.reshape(-1)
        cost, constant, leaf_rows = np.empty(len(distinct)), np.empty(len(distinct)), np.empty(len(distinct), np.int64)
        for i, members in enumerate(distinct):
            shape: Shape = tuple(kinds[j] for j in members)
            if work(shape) > MOST_TERMS:
                worst = sets[int(np.argmax(which == i))]
                names = ", ".join(repr(self.columns.data.names[u]) for u in worst)
                why = f"the prior over all trees on {names} is a sum of {work(shape):.2g} terms, too many to add up"
                raise self._too_many_levels(worst, why)
            cost[i] = leaf_cost(shape, self.score.gamma)
            constant[i] = log_normaliser(shape, self.score.gamma)
            leaf_rows[i] = min((regret.never_split(cost[i]) for regret in self.regrets.values()), default=1)
        return Priors(cost[which], constant[which], leaf_rows[which])

    @cached_property
    def costs(self) -> Costs:
        """Of predictor sets."""
        return Costs(self.leaves)

    def limit_memory(self, size: int) -> None:
        """See optbn.scores.protocol; refuses what has no room for the rows alone."""
        needed = self.costs.rows_bytes
        if needed > max(4 * size, LEAST_ROOM):  # four: of all that scoring may use
            data = self.columns.data
            raise LimitError(
                f"{data.n_rows:,} rows of {data.n_variables} columns take {readable(needed)} as trees see them, and "
                f"{readable(4 * size)} of memory may be used: raise the memory, or use a score that counts (bdeu, bic)"
            )
        self.costs.room = max(size, LEAST_ROOM)

    def seconds(self, sets: NDArray[np.int32]) -> Floats:
        """See optbn.scores.protocol."""
        self._refuse_hopeless(sets)
        return self.costs.seconds(sets)

    def bytes(self, sets: NDArray[np.int32]) -> int:
        """See optbn.scores.protocol."""
        return self.costs.bytes(sets)

    @property
    def preparation(self) -> float:
        """See optbn.scores.protocol."""
        return self.costs.preparation

    def too_dear(self, sets: NDArray[np.int32]) -> NDArray[np.bool_]:
        """See optbn.scores.protocol."""
        return self.costs.too_dear(sets)

    @cached_property
    def _xlogx(self) -> Floats:
        n = np.arange(self.leaves.total_units + 1) * self.leaves.unit
        return np.asarray(xlogy(n, n))

    def _least_regret(self, v: int, leaves: int) -> float:
        return 0.0 if self.leaves.is_real[v] else self.regrets[self.leaves.keys[v]].of_leaves(leaves)


def _room(size: float) -> str:
    """ "up to 8.6 GB"."""
    for prefix in ("", "k", "M", "G", "T", "P"):
        if size < 1000:
            return f"up to {size:.3g} {prefix}B"
        size /= 1000
    return "more memory than any machine has"


def _time(seconds: float) -> str:
    """ "up to 1,500 s", "up to 12 days"."""
    days = seconds / 86400
    if days > 36500:
        return "more time than anybody has"
    return f"up to {days:,.0f} days" if days > 2 else f"up to {seconds:,.3g} s"
