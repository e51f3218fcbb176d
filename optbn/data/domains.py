"""What values a variable has: declared levels, or numbers in a range."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from optbn.base.errors import DataError
from optbn.data.dates import in_unit
from optbn.data.support import Support, support
from optbn_solvers.base.errors import repeated


@dataclass(frozen=True)
class Categorical:
    """Levels in declared order; `ordered` says that the order means something (an ordinal variable)."""

    levels: tuple[str, ...]
    ordered: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "levels", tuple(map(str, self.levels)))
        if len(set(self.levels)) != len(self.levels):
            raise DataError(f"level {repeated(self.levels)!r} is declared twice")


@dataclass(frozen=True)
class Real:
    """A closed interval every value lies in; `absent` says that a row may also have no number, which is NaN.

    What the numbers look like does not make another domain, and is not compared:

    whole     they are whole numbers; None: nobody has looked
    unit      "days" since 1970-01-01, which are shown as dates, or "hours" of a day
    declared  the range is a declared one, beyond which there is nothing
    """

    low: float
    high: float
    absent: bool = False
    whole: bool | None = field(default=None, compare=False)
    unit: str = field(default="", compare=False)
    declared: bool = field(default=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "low", float(self.low) + 0.0)  # + 0.0: there is one zero
        object.__setattr__(self, "high", float(self.high) + 0.0)
        if not (np.isfinite(self.low) and np.isfinite(self.high) and self.low <= self.high):
            raise DataError(f"[{self.low}, {self.high}] is not a finite range")

    @property
    def support(self) -> Support:
        """Where numbers of this kind can lie, seen or not."""
        return support(self.low, self.high, bool(self.whole), self.unit, self.declared)

    def text(self, number: float) -> str:
        """A number as people read it; where all are whole days, their mean is no hour."""
        whole = self.whole and self.unit == "days" and np.isfinite(number)
        return in_unit(float(np.rint(number)) if whole else number, self.unit)

    def __repr__(self) -> str:
        return f"Real(low={self.low!r}, high={self.high!r}{', absent=True' if self.absent else ''})"


Domain = Categorical | Real
