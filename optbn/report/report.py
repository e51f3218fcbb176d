"""The record of one learning run: plain values with a JSON round trip, from which the page is drawn.

Scores are natural logarithms; times are seconds; arcs name their variables. The network travels along in optbn's own
JSON, so a report file alone is enough to see and to use the result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from optbn.base.errors import DataError
from optbn.network.formats import decode

if TYPE_CHECKING:
    from optbn.network.network import BayesianNetwork

FORMAT = "optbn-report 1"

PHASES = {"more": "other networks"}
"""What a phase is called where people read it, if not by its own name."""

Setting = str | int | float | bool | None


class Column(msgspec.Struct, frozen=True):
    """A variable as the data declare it."""

    name: str
    kind: str  # "categorical", "ordinal" or "real"
    levels: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    unit: str = ""


class DataSummary(msgspec.Struct, frozen=True):
    """What was learned from."""

    source: str
    rows: int
    digest: str
    columns: tuple[Column, ...]


class Arc(msgspec.Struct, frozen=True):
    """One arc of the answer.

    strength   what the same network loses without the arc (its child takes the best of its sets within the rest)
    compelled  every Markov-equivalent network has the arc this way round
    posterior  its probability, where it was computed; over which networks, a note says
    loss       what the best network of all loses without the arc; turned: with it the other way; apart: where the two
               are not adjacent. Differences of two optima, proved if `proved`; None where they were not computed
    """

    parent: str
    child: str
    strength: float | None = None
    compelled: bool | None = None
    posterior: float | None = None
    loss: float | None = None
    turned: float | None = None
    apart: float | None = None
    proved: bool = False


class HeldOut(msgspec.Struct, frozen=True):
    """How well a model explains rows that it has not seen.

    per_row, error   the mean log P of a row over the folds, and its standard error; None for models of the target alone
    log_loss, right  of the target's prediction, and the share of right ones; rmse, if the target is a number
    """

    model: str
    per_row: float | None = None
    error: float | None = None
    log_loss: float | None = None
    right: float | None = None
    rmse: float | None = None


class Outcome(msgspec.Struct, frozen=True):
    """How the search ended. `proof` says in plain words what is known about optimality and who checked it.

    standing       in the words of optbn_solvers.base.standing: proved, searched completely, best found
    checked        there was the time to check what the search says
    restrictions   what the networks compared share, the answer being the best of these: "with at most 1 parent..."
    """

    status: str
    score: float
    bound: float
    proof: str
    details: tuple[str, ...] = ()
    checked: bool = True
    restrictions: tuple[str, ...] = ()
    standing: str = "best found"

    @property
    def proved(self) -> bool:
        """The checker proved it; that the search says so is not enough."""
        return self.standing == "proved"


class Phase(msgspec.Struct, frozen=True):
    """Time spent in one part of the work."""

    name: str
    wall: float
    cpu: float


class TracePoint(msgspec.Struct, frozen=True):
    """Best score and bound at a moment of the search; None while there was none."""

    seconds: float
    score: float | None
    bound: float | None


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """See the module's header.

    counts   per variable the data rows in each cell of its local distribution
    others   the most probable arcs that the network does not have, where probabilities were computed
    held_out how well networks learned so explain rows that they have not seen, and simple models beside them
    target   the variable in question, if one was named
    evidence the proof of the bound with all that it is about, where it is small (optbn/learning/carried.py)
    papers   to cite: of the score and the smoother
    """

    title: str
    version: str
    data: DataSummary
    settings: dict[str, Setting]
    outcome: Outcome
    arcs: tuple[Arc, ...]
    network: dict[str, Any]
    counts: dict[str, tuple[int, ...]] = {}
    families_scored: int = 0
    families_kept: int = 0
    phases: tuple[Phase, ...] = ()
    trace: tuple[TracePoint, ...] = ()
    alternatives: tuple[str, ...] = ()
    others: tuple[Arc, ...] = ()
    held_out: tuple[HeldOut, ...] = ()
    notes: tuple[str, ...] = ()
    command: str = ""
    target: str = ""
    evidence: dict[str, Any] | None = None
    papers: tuple[str, ...] = ()
    format: str = FORMAT

    @property
    def score_name(self) -> str:
        """The score in the settings, by its name: "bdeu", or "Counting" of an object."""
        return str(self.settings.get("score", "")).partition("(")[0]

    def __repr__(self) -> str:
        """In short: the whole of it fills pages."""
        size = f"{len(self.data.columns)} variables, {len(self.arcs)} arcs"
        return f"Report({self.title!r}, {size}, {self.outcome.proof!r})"

    def model(self) -> BayesianNetwork:
        """The network."""
        return decode(msgspec.json.encode(self.network), "json", "the report's network")


def to_json(report: Report) -> bytes:
    """The report as JSON; `from_json` gives an equal one back."""
    return msgspec.json.encode(report)


def from_json(text: bytes | str) -> Report:
    """A report from its JSON; says what is wrong with anything else."""
    try:
        report = msgspec.json.decode(text, type=Report)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DataError(f"not a report: {error}") from None
    if report.format != FORMAT:
        raise DataError(f"a report of format {report.format!r}; this version reads {FORMAT!r}")
    return report
