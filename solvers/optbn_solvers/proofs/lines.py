"""The lines of a proof in VeriPB's format, numbered as its checker numbers the rows that they derive."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from optbn_solvers.proofs.opb import Terms, at_least, opposite

DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


class Lines:
    """Writes lines as they come. `number` is that of the last row; an empty literal stands for what is true."""

    def __init__(self, out: TextIO, number: int) -> None:
        self.out, self.number, self.fresh = out, number, 0

    def step(self, line: str) -> int:
        """A line that derives one row; its number."""
        self.out.write(f"{line};\n")
        self.number += 1
        return self.number

    def rup(self, terms: Terms, rhs: int = 1) -> int:
        """What unit propagation sees."""
        return self.step(f"rup {at_least(terms, rhs)}")

    def clause(self, *literals: str) -> int:
        """One of the literals holds, as unit propagation sees; empty ones are opposites of what is true."""
        return self.rup([(1, x) for x in literals if x])

    def pol(self, formula: str) -> int:
        """Rows with multipliers, added up."""
        return self.step(f"pol {formula}")

    def red(self, terms: Terms, rhs: int, variable: str, value: int) -> int:
        """What a new variable stands for: where the row is false, the value of the variable can be changed."""
        return self.step(f"red {at_least(terms, rhs)} : {variable} -> {value}")

    def forget(self, first: int, last: int) -> None:
        """Rows that nothing refers to any more."""
        self.out.write(f"del range {first} {last + 1};\n")

    def new(self) -> str:
        """A new variable."""
        self.fresh, digits, left = self.fresh + 1, "", self.fresh + 1
        while left:
            left, digit = divmod(left, len(DIGITS))
            digits = DIGITS[digit] + digits
        return f"y{digits}"

    def both(self, literals: Sequence[str]) -> str:
        """A literal that stands for the conjunction."""
        literals = [x for x in literals if x]
        if len(literals) < 2:
            return literals[0] if literals else ""
        y, _ = self.defined(literals)
        return y

    def defined(self, literals: Sequence[str]) -> tuple[str, int]:
        """(a new literal that stands for the conjunction, the row that says that it implies all of them)."""
        y = self.new()
        implies = self.red([(len(literals), opposite(y)), *((1, x) for x in literals)], len(literals), y, 0)
        self.red([(1, y), *((1, opposite(x)) for x in literals)], 1, y, 1)
        return y, implies


def false(literal: str) -> str:
    """The opposite of a literal that may stand for what is true: then nothing."""
    return opposite(literal) if literal else ""
