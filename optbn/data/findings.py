"""What was noticed about a table, a line each, with a grade that says what becomes of it.

    certain    there is one reading; it is taken and reported
    probable   another reading is possible and unlikely; the likely one is taken and reported; `strict` refuses it
    doubtful   two readings are about as likely; refused, with the option that settles it
    note       nothing changes; the user may not have meant it

Nothing else changes what stands in a file. `optbn.data.judge` grades columns, `optbn.data.layout` the rows of a text;
`optbn.data.remarks` has the notes on whole tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from optbn.base.errors import DataError

Grade = Literal["certain", "probable", "doubtful", "note"]

MOST_LINES = 20
"""At most this many lines about single columns of one file; `describe` has all."""


@dataclass(frozen=True)
class Finding:
    """What was noticed, where, and what to write for another reading ("" if there is none).

    row     counts from 1, the header not included
    settle  the options that take the proposed reading of what is doubtful
    """

    grade: Grade
    what: str
    column: str | None = None
    row: int | None = None
    remedy: str = ""
    settle: tuple[str, ...] = ()

    def __str__(self) -> str:
        place = f"column {self.column!r}" if self.column is not None else ""
        place += f"{', ' if place else ''}row {self.row:,}" if self.row is not None else ""
        line = f"{place}: {self.what}" if place else self.what
        return f"{line}; {self.remedy}" if self.remedy else line

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "grade": self.grade,
            "column": self.column,
            "row": self.row,
            "what": self.what,
            "remedy": self.remedy,
            "settle": list(self.settle),
        }


def refuse(where: str, findings: Sequence[Finding], strict: bool) -> None:
    """Raise one line for what is doubtful, and with `strict` for what is only probable."""
    refused = [one for one in findings if one.grade == "doubtful" or (strict and one.grade == "probable")]
    if not refused:
        return
    more = f" (and {len(refused) - 1} more: optbn describe lists them all)" if len(refused) > 1 else ""
    raise DataError(f"{where}: {refused[0]}{more}")
