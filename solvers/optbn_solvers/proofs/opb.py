"""A score table as a pseudo-Boolean problem (OPB), so that programs which know nothing of graphs can check an optimum.

    x<r>      family r of the table (from 1) is chosen;  o<u>_<v>, u < v: variable u comes before v in a total order
    one       per variable exactly one family
    link      for u and v: at most o(u before v) of the families of v that contain u are chosen
    order     no three variables go round in a circle
    demands   what constraints demand (proofs.opb_constraints)
    minimise  sum of (best score of the variable - score) x, in units: what the graph loses

Rows are normalised: whole coefficients > 0 over literals, >=.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import TextIO

from optbn_solvers.base.table import ScoreTable

Terms = list[tuple[int, str]]  # coefficient, literal


def opposite(literal: str) -> str:
    """The negated literal."""
    return literal[1:] if literal.startswith("~") else f"~{literal}"


def before(u: int, v: int) -> str:
    """The literal that says that u comes before v."""
    return f"o{u}_{v}" if u < v else f"~o{v}_{u}"


def at_least(terms: Terms, rhs: int) -> str:
    """`sum of terms >= rhs`, normalised."""
    words = []
    for coefficient, literal in terms:
        if coefficient < 0:
            coefficient, literal, rhs = -coefficient, opposite(literal), rhs - coefficient
        if coefficient:
            words.append(f"{coefficient} {literal}")
    return " ".join([*words, f">= {rhs}"])


def members_of(mask: int) -> tuple[int, ...]:
    """The variables of a set of bits."""
    return tuple(v for v in range(mask.bit_length()) if mask >> v & 1)


class Encoding:
    """The problem, and where its rows are (numbered from 1, as they stand in the file)."""

    def __init__(self, table: ScoreTable) -> None:
        self.table, self.n = table, table.n
        self.families = [
            [(row, sum(1 << u for u in table.parents(row))) for row in table.rows(v)] for v in range(table.n)
        ]
        tops = table.units[table.offsets[:-1]].tolist()
        self.loss = [tops[v] - int(table.units[row]) for v in range(table.n) for row in table.rows(v)]
        self.some: list[int] = []  # the row "at least one family of v"
        self.only: list[int] = []  # "at most one"
        self.link: dict[tuple[int, int], int] = {}  # (u, v) -> "no family of v with u, or u comes before v"
        self.own_rows = sum(1 for _ in self._rows())

    def choice(self, row: int) -> str:
        """The literal of a family."""
        return f"x{row + 1}"

    def write(self, out: TextIO, demands: Sequence[str], more: int) -> None:
        """The OPB file, with the rows of constraints, which bring variables of their own."""
        variables = len(self.table) + self.n * (self.n - 1) // 2 + more
        out.write(f"* #variable= {variables} #constraint= {self.own_rows + len(demands)}\n")
        losses = (f"{loss} {self.choice(row)}" for row, loss in enumerate(self.loss) if loss)
        out.write(f"min: {' '.join(losses)} ;\n")
        for row in itertools.chain(self._rows(), demands):
            out.write(f"{row} ;\n")

    def _rows(self) -> Iterator[str]:
        """All rows; notes the numbers of those that proofs refer to."""
        self.some, self.only = [], []
        number = 2 * self.n
        for v, families in enumerate(self.families):
            literals = [self.choice(row) for row, _ in families]
            self.some.append(2 * v + 1)
            self.only.append(2 * v + 2)
            yield at_least([(1, x) for x in literals], 1)
            yield at_least([(1, opposite(x)) for x in literals], len(literals) - 1)
        for u, v in itertools.permutations(range(self.n), 2):
            there = [self.choice(row) for row, parents in self.families[v] if parents >> u & 1]
            if there:
                number += 1
                self.link[u, v] = number
                yield at_least([*((1, opposite(x)) for x in there), (1, before(u, v))], len(there))
        for a, b, c in itertools.combinations(range(self.n), 3):
            for circle in (((a, b), (b, c), (c, a)), ((b, a), (c, b), (a, c))):
                yield at_least([(1, opposite(before(u, v))) for u, v in circle], 1)
