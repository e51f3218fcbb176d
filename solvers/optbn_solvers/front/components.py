"""Split, solve apart, join.

An arc u -> v that some family offers can lie on a cycle only if v reaches u through other offered arcs, that is, inside
a strongly connected component of the graph of all offered arcs. Arcs between components are free: with the parents
outside its component forgotten, each family list becomes a smaller table, the components are independent problems,
and any combination of their answers is acyclic. A component of one variable takes its best family.

The evidence joins as `Parts` (see base.solution): each component's own evidence, in the numbering of the whole.
The grid of the scores stays that of the whole table, so sums remain exact.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn_solvers.base.kernels.masks import undominated
from optbn_solvers.base.protocol import Budget, Listener, Progress, ProgressCallback, Solver, StartRows
from optbn_solvers.base.solution import (
    BoundRow,
    ClusterRow,
    Evidence,
    Exhausted,
    Part,
    Parts,
    RowBound,
    Solution,
    Status,
    SubsetRow,
)
from optbn_solvers.base.table import ScoreTable
from optbn_solvers.relaxation.orders import search

SMALL = 10
"""Components of up to this many variables are solved at once; a local search, with which others begin, takes longer."""


def components(table: ScoreTable) -> list[tuple[int, ...]]:
    """The strongly connected components of the graph of offered arcs, each ascending, smallest first."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    unions = np.bitwise_or.reduceat(table.masks, table.offsets[:-1], axis=0)
    offered = np.unpackbits(unions.astype("<u8").view(np.uint8), axis=1, bitorder="little")[:, : table.n]
    _, label = connected_components(csr_array(offered), directed=True, connection="strong")
    groups: dict[int, list[int]] = {}
    for v, number in enumerate(label.tolist()):
        groups.setdefault(number, []).append(v)
    return sorted(map(tuple, groups.values()), key=lambda group: (len(group), group))


@dataclass(frozen=True, eq=False)
class Restriction:
    """A table without the variables outside `members`; `rows[i]` is the whole table's row behind row i."""

    members: tuple[int, ...]
    table: ScoreTable
    rows: NDArray[np.int64]

    def narrow(self, whole: ScoreTable, choice: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
        """The rows here for a graph of the whole: each variable's best with no other parents than it has there."""
        rows = []
        for i, v in enumerate(self.members):
            there = set(whole.parents(int(choice[v])))
            allowed = {j for j, u in enumerate(self.members) if u in there}
            rows.append(next(row for row in self.table.rows(i) if allowed.issuperset(self.table.parents(row))))
        return np.array(rows, dtype=np.int64)


def restrict(table: ScoreTable, members: Sequence[int]) -> Restriction:
    """The table of `members` with all other parents forgotten, on the same grid; what is then dominated goes."""
    rows = np.concatenate([np.arange(table.offsets[v], table.offsets[v + 1]) for v in members])
    children = np.repeat(np.arange(len(members)), np.diff(table.offsets)[list(members)])
    masks = np.zeros((len(rows), -(-len(members) // 64)), dtype=np.uint64)
    for i, u in enumerate(members):
        bit = table.masks[rows, u >> 6] >> np.uint64(u & 63) & np.uint64(1)
        masks[:, i >> 6] |= bit << np.uint64(i & 63)
    units = table.units[rows]
    sizes = np.bitwise_count(masks).sum(axis=1, dtype=np.int64)
    order = np.lexsort((*masks.T, sizes, -units, children))
    children, masks, units, rows = children[order], masks[order], units[order], rows[order]
    offsets = np.searchsorted(children, np.arange(len(members) + 1))
    keep = undominated(offsets, masks, units)
    kept = np.concatenate([[0], np.cumsum(keep)])
    names = tuple(table.names[v] for v in members)
    part = ScoreTable(names, kept[offsets], masks[keep], units[keep], table.exponent)
    return Restriction(tuple(members), part, rows[keep])


@dataclass(frozen=True)
class Components:
    """Each component by the same solver; its statistics are kept, per component, as the `parts` of the whole's."""

    solver: Solver

    def solve(
        self, table: ScoreTable, budget: Budget | None = None, start: StartRows = None, progress: Listener = None
    ) -> Solution:
        """The joined answer: optimal when all components are."""
        budget = (budget or Budget()).started()
        table.check_feasible()
        groups = components(table)
        if len(groups) == 1:
            solution = self.solver.solve(table, budget, start, progress)
            return replace(solution, statistics={"parts": [_note(table, solution)], "cpu": budget.cpu_elapsed()})

        parts = [restrict(table, group) for group in groups if len(group) > 1]
        choice = table.offsets[:-1].copy()  # right for the components of one variable
        settled: dict[int, Solution] = {}
        own = budget.within()  # whose gap is what the parts before have left of it
        for i, part in enumerate(parts):
            if start is not None:
                found = part.narrow(table, start)
            elif len(part.members) <= SMALL and (answer := self.solver.solve(part.table, own)).choice is not None:
                settled[i], found = answer, np.array(answer.choice)
                own.gap = max(0.0, own.gap - answer.gap)
            else:
                found = search(part.table, starts=2, kicks=20, budget=budget)
            choice[list(part.members)] = part.rows[found]
        joint = _Joint(table, choice, parts)
        notes: list[dict[str, Any]] = []
        evidence: list[Part] = []
        for i, part in enumerate(parts):
            listen = None if progress is None else joint.listener(i, budget, progress)
            if i in settled:
                solution = settled[i]
                if listen is not None:
                    listen(Progress(solution.score, solution.bound, 0, 0.0, solution.solver))
            else:
                solution = self.solver.solve(part.table, own, part.narrow(table, choice).tolist(), listen)
                own.gap = max(0.0, own.gap - solution.gap)
            assert solution.choice is not None, "a solver that begins with a graph has one"
            choice[list(part.members)] = part.rows[list(solution.choice)]
            joint.settle(i, part.table.total_units(solution.choice), solution.bound)
            evidence += _renamed(part, joint.bounds[i], solution.evidence)
            notes.append(_note(part.table, solution))
        return Solution(
            status=Status.OPTIMAL if joint.score == joint.bound else Status.FEASIBLE,
            choice=tuple(choice.tolist()),
            score=joint.score,
            bound=joint.bound,
            evidence=Parts(tuple(evidence)),
            table_digest=table.digest,
            solver="components",
            statistics={"components": len(groups), "parts": notes, "cpu": budget.cpu_elapsed()},
        )


class _Joint:
    """What the components together have so far, in units."""

    def __init__(self, table: ScoreTable, choice: NDArray[np.int64], parts: Sequence[Restriction]) -> None:
        self.table = table
        self.choice = choice.copy()
        self.parts = parts
        self.scores = [table.total_units(choice[list(part.members)]) for part in parts]
        self.plain = [int(part.table.units[part.table.offsets[:-1]].sum()) for part in parts]
        self.bounds = self.plain.copy()
        self.rest = table.total_units(choice) - sum(self.scores)

    @property
    def score(self) -> float:
        return self.table.score_of(self.rest + sum(self.scores))

    @property
    def bound(self) -> float:
        return self.table.score_of(self.rest + sum(self.bounds))

    def take(self, i: int, score: int, bound: float) -> None:
        """Component i reports a graph of `score` units and a bound (a score; off the grid it is rounded up)."""
        self.scores[i] = max(self.scores[i], score)
        if math.isfinite(bound):
            self.bounds[i] = min(self.bounds[i], self._units(bound))

    def settle(self, i: int, score: int, bound: float) -> None:
        """The answer for component i. Its bound is what its evidence is about: reports may have promised more."""
        self.scores[i] = score
        self.bounds[i] = min(self.plain[i], self._units(bound)) if math.isfinite(bound) else self.plain[i]

    def _units(self, bound: float) -> int:
        return math.ceil(Fraction(bound) * Fraction(2) ** self.table.exponent)

    def listener(self, i: int, budget: Budget, progress: ProgressCallback) -> ProgressCallback:
        """Progress of component i as progress of the whole."""

        def listen(event: Progress) -> None:
            known = self.scores[i] if event.score is None else self.table.units_of(event.score)
            part = self.parts[i]
            if event.choice is not None and known >= self.scores[i]:
                self.choice[list(part.members)] = part.rows[list(event.choice)]
            self.take(i, known, event.bound)
            phase = f"component {i + 1} of {len(self.scores)}: {event.phase}" if len(self.scores) > 1 else event.phase
            whole = tuple(self.choice.tolist())
            progress(Progress(self.score, self.bound, event.nodes, budget.elapsed(), phase, whole))

        return listen


def _note(table: ScoreTable, solution: Solution) -> dict[str, Any]:
    about = {"variables": table.n, "families": len(table), "solver": solution.solver, "status": str(solution.status)}
    return {**about, **solution.statistics}


def _renamed(part: Restriction, bound: int, evidence: Evidence | None) -> list[Part]:
    """The evidence of a component in the numbering of the whole."""
    if evidence is None:
        return []
    if isinstance(evidence, Parts):
        return [
            renamed
            for inner in evidence.parts
            for renamed in _renamed(
                replace(part, members=tuple(part.members[v] for v in inner.members)), inner.bound, inner.evidence
            )
        ]
    if isinstance(evidence, RowBound):
        evidence = renamed_rows(evidence, part.members)
    if isinstance(evidence, Exhausted) and evidence.rows is not None:
        evidence = replace(evidence, rows=renamed_rows(evidence.rows, part.members))
    return [Part(part.members, bound, evidence)]


def renamed_rows(evidence: RowBound, name: Sequence[int] | Mapping[int, int]) -> RowBound:
    """The rows with other numbers for the variables."""
    return replace(evidence, stages=tuple(tuple(_renamed_row(row, name) for row in stage) for stage in evidence.stages))


def _renamed_row(row: BoundRow, name: Sequence[int] | Mapping[int, int]) -> ClusterRow | SubsetRow:
    assert isinstance(row, ClusterRow | SubsetRow), "constraints on the whole graph leave no components"
    members = tuple(name[v] for v in row.members)
    if isinstance(row, ClusterRow):
        return ClusterRow(members, row.multiplier)
    coefficients = tuple((name[v], tuple(name[u] for u in parents), a) for v, parents, a in row.coefficients)
    return SubsetRow(members, coefficients, row.rhs, row.multiplier)
