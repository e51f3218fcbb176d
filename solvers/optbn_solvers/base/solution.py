"""What a solver returns: a graph, a bound, and evidence for the bound.

Everything is counted in the table's units (integers), so "optimal" is an integer equality and not a tolerance.

Evidence is one of
    RowBound    stages of valid inequalities with integer multipliers; the checker recomputes the bound from them
    Proof       a file holding a search tree whose nodes carry such multipliers
    Tree        the same search tree, carried in the solution
    Exhausted   the solver says that it looked everywhere (and with what tolerance); a claim, not a proof. Rows beside
                it prove what can be proved
    Parts       evidence for parts of the variables, each on its own, whose bounds add up

RowBound, the mathematics. A DAG picks one family (v, P) per variable. Valid inequalities are
    cluster C:       at least one v in C has P disjoint from C
    subset row on C: sum over (v in C, pattern T = P & C) of a[v, T]  <=  r,  true of every DAG
With multipliers y >= 0 (integers, units) a family's adjusted score is
    s'(v, P) = s(v, P) + sum_{clusters C, v in C, P disjoint from C} y_C - sum_{subset rows, v in C} y_C a[v, P & C]
and every DAG scores at most  B = sum_v max_P s'(v, P) - sum_{clusters} y_C + sum_{subset rows} y_C r_C .
A DAG that uses (v, P) scores at most B - (max_Q s'(v, Q) - s'(v, P)); a family for which that is not above the
incumbent can be dropped. Stages do this in turn: each stage's multipliers act on the families that the stages
before it left. The graph is optimal once some stage has B <= score, or leaves a variable without a family.
The best multipliers are fractions; they are whole numbers of 1/denominator units. As scores are whole units, B may be
rounded down, and a family is needed only for graphs of score + 1 or more.

Under constraints (base.constraints) there are fewer families to begin with, and two more kinds of rows, which only
graphs that obey the constraints must satisfy:
    clause: some literal holds, or  sum over its literals of x(families for which it is false) <= literals - 1
    limit:  sum |P & parents| x(v, P) <= rhs

Parts, the mathematics. Cut the variables into parts. A DAG restricted to a part K is acyclic on K, so the families of
K score at most the maximum over choices for K that are acyclic within K, whatever their parents outside: bounds of the
parts add up to a bound. A part's rows have their members in K, and its filter compares with the graph's families in K.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from optbn_solvers.base.constraints import Constraints


class Status(StrEnum):
    """How a solver ended."""

    OPTIMAL = "optimal"  # bound == score
    FEASIBLE = "feasible"  # an acyclic graph, bound > score
    UNKNOWN = "unknown"  # nothing found in the time given


@dataclass(frozen=True)
class ClusterRow:
    """At least one of `members` has no parent among them; `multiplier` is the integer y."""

    members: tuple[int, ...]
    multiplier: int


@dataclass(frozen=True)
class SubsetRow:
    """sum of coefficients of the chosen patterns <= rhs for every DAG.

    `coefficients` are (child, parents within members, integer > 0), children and parents ascending; a pattern that is
    not listed has coefficient 0.
    """

    members: tuple[int, ...]
    coefficients: tuple[tuple[int, tuple[int, ...], int], ...]
    rhs: int
    multiplier: int


@dataclass(frozen=True)
class Literal:
    """About the family of `child`. meets: it has a parent among `others`; else: it does not have all of them."""

    child: int
    others: tuple[int, ...]
    meets: bool

    def true(self, parents: int) -> bool:
        """Of a family, its parents as bits."""
        others = sum(1 << u for u in self.others)
        return bool(parents & others) if self.meets else parents & others != others


@dataclass(frozen=True)
class ClauseRow:
    """One of the literals, which are about different children, holds in every graph that obeys the constraints."""

    literals: tuple[Literal, ...]
    multiplier: int


@dataclass(frozen=True)
class LimitRow:
    """At most `rhs` arcs begin at one of `parents` in a graph that obeys the constraints."""

    parents: tuple[int, ...]
    rhs: int
    multiplier: int


BoundRow = ClusterRow | SubsetRow | ClauseRow | LimitRow


@dataclass(frozen=True)
class RowBound:
    """Multipliers that prove the bound, in stages (see the module's header), in units of 1/denominator."""

    stages: tuple[tuple[BoundRow, ...], ...]
    denominator: int = 1


@dataclass(frozen=True)
class Proof:
    """A proof in a file of its own, with the digest of its bytes."""

    path: str
    sha256: str


@dataclass(frozen=True)
class Tree:
    """The numbers of a proof file (solvers/optbn_solvers/proofs/README.md), compressed, as a part of the solution.

    They prove the bound that the solution, or the part, states. In a part, variables are counted by their place among
    its members.
    """

    body: bytes = field(repr=False)
    nodes: int
    denominator: int = 1


@dataclass(frozen=True)
class Exhausted:
    """The method searched everything, up to an absolute tolerance in score; claimed, not checked.

    A search that was stopped claims its bound so, too.
    rows   what can be checked beside the claim: rows that prove a bound, though not as good a one
    """

    method: str
    tolerance: float = 0.0
    rows: RowBound | None = None


@dataclass(frozen=True)
class Part:
    """Evidence that the families of `members` score at most `bound` units in any acyclic graph."""

    members: tuple[int, ...]
    bound: int
    evidence: RowBound | Proof | Tree | Exhausted


@dataclass(frozen=True)
class Parts:
    """Evidence for disjoint parts (see the module's header); a variable in none of them takes its best family."""

    parts: tuple[Part, ...]


Evidence = RowBound | Proof | Tree | Exhausted | Parts


@dataclass(frozen=True)
class Solution:
    """An answer to one table. OPTIMAL: bound == score; FEASIBLE: acyclic; UNKNOWN: no choice, never half a DAG.

    choice      the row of the table each variable uses, or None
    score       the exact sum of those rows, or None
    bound       no acyclic graph (that obeys the constraints) scores more
    statistics  what the solver counted on its way (nodes, cuts, seconds...), for people
    constraints what the graph has to obey besides being acyclic, if anything
    """

    status: Status
    choice: tuple[int, ...] | None
    score: float | None
    bound: float
    evidence: Evidence | None
    table_digest: str
    solver: str
    statistics: Mapping[str, Any] = field(default_factory=dict)
    constraints: Constraints | None = None

    def __post_init__(self) -> None:
        if (self.choice is None) != (self.score is None):
            raise ValueError("a solution has both a choice and a score, or neither")
        if self.status in (Status.OPTIMAL, Status.FEASIBLE) and self.choice is None:
            raise ValueError(f"a solution that is {self.status} needs a choice")
        if self.status is Status.OPTIMAL and self.bound != self.score:
            raise ValueError(f"optimal, but bound {self.bound!r} is not the score {self.score!r}")
        if self.score is not None and self.bound < self.score:
            raise ValueError(f"the bound {self.bound!r} is below the score {self.score!r}")

    @property
    def gap(self) -> float:
        """bound - score; infinite without a graph."""
        return float("inf") if self.score is None else self.bound - self.score

    def __repr__(self) -> str:
        """In short: evidence and statistics fill pages."""
        score = "no graph" if self.score is None else f"score {self.score!r}"
        bound = "" if self.status is Status.OPTIMAL else f", bound {self.bound!r}"
        return f"Solution({self.status.value}, {score}{bound}, by {self.solver})"
