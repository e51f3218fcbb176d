"""What `optbn learn` shows on stderr while it works, and the question before work of many minutes."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from optbn.learning.watcher import Watcher
from optbn_solvers.base.clock import age

if TYPE_CHECKING:
    from rich.console import Console
    from rich.status import Status

    from optbn.data.dataset import Dataset
    from optbn.learning.estimate import Cost
    from optbn.scores.progress import ScoreProgress
    from optbn_solvers import Progress

WORDS = {"read": "reading", "fit": "estimating probabilities", "more": "weighing other networks", "report": "writing"}
ASK_SECONDS = 600.0  # scoring that takes longer needs the user's yes


@contextmanager
def display(target: str | None, yes: bool) -> Iterator[Watcher]:
    """Checks what should not wait for the search; on a terminal a line on stderr says what is going on."""
    if not sys.stderr.isatty():
        yield Checking(target)
        return
    from rich.console import Console

    console = Console(stderr=True)
    with console.status("") as status:
        yield Shown(target, yes, console, status)


class Checking(Watcher):
    """Refuses a wrong target early, and says how long scoring will take where that is long."""

    def __init__(self, target: str | None) -> None:
        self.target = target

    def begun(self) -> float:
        return time.monotonic() - age()

    def data(self, data: Dataset) -> None:
        if self.target is not None:
            data.index(self.target)  # a wrong name should not wait for the search

    def estimated(self, costs: Sequence[Cost], limited: bool) -> int:
        if not limited and costs[-1].seconds >= ASK_SECONDS:
            print(f"optbn: to score: {costs[-1]}; --time-limit chooses a size that fits", file=sys.stderr)
        return costs[-1].size


class Shown(Checking):
    """The same on a terminal: a line that changes, and a question before work of many minutes."""

    def __init__(self, target: str | None, yes: bool, console: Console, status: Status) -> None:
        super().__init__(target)
        self.yes, self.console, self.status = yes, console, status
        self.say = status.update

    def phase(self, name: str) -> None:
        self.say(WORDS.get(name, name))

    def compiling(self, seconds: float | None) -> None:
        if seconds is None:
            self.say("compiling for the first use on this machine")
        else:
            self.console.print(f"compiled for the first use on this machine: {seconds:.1f} s")
            self.say("score")

    def estimated(self, costs: Sequence[Cost], limited: bool) -> int:
        if limited or costs[-1].seconds < ASK_SECONDS:
            if costs[-1].seconds > 2:
                self.console.print(f"to score: {costs[-1]}{', or what the time allows' if limited else ''}")
            return costs[-1].size
        self.status.stop()
        try:
            return _agreed(costs, self.yes or not sys.stdin.isatty())
        finally:
            self.status.start()

    def scoring(self, report: ScoreProgress) -> None:
        self.say(
            f"scoring sets of {report.size}: {report.done:,} of {report.total:,} families, "
            f"{report.rate:,.0f}/s, {report.remaining:.0f} s left, {report.survivors:,} kept"
        )

    def solving(self, report: Progress) -> None:
        best = "none yet" if report.score is None else f"{report.score:.3f}"
        self.say(f"solving: best {best}, bound {report.bound:.3f}, {report.nodes:,} nodes, {report.seconds:.0f} s")

    def fitting(self, done: int, of: int) -> None:
        self.say(f"estimating probabilities: {done} of {of} variables")


def _agreed(costs: Sequence[Cost], yes: bool) -> int:
    """The most parents that the user wants when the whole would take long."""
    typer.echo(f"To score: {costs[-1]}.", err=True)
    if yes:
        return costs[-1].size
    fits = [cost for cost in costs if cost.seconds < ASK_SECONDS]
    smaller = fits[-1] if fits else costs[0]
    while True:
        typer.echo(f"With at most {smaller.size} parents: {smaller}.", err=True)
        answer = typer.prompt(f"The most parents, {costs[-1].size} to go on", default=str(smaller.size), err=True)
        if answer.strip().isdecimal() and int(answer) <= costs[-1].size:
            return int(answer)
        typer.echo(f"A number from 0 to {costs[-1].size}, please; Ctrl-C stops.", err=True)
