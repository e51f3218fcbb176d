"""What a search shows on stderr while it runs, on a terminal only: incumbent, bound, gap, time."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table

    from optbn_solvers import Progress, ScoreTable, Solution


def gap_in_words(event: Progress | Solution) -> str:
    """The gap, and as a share of the score."""
    relative = f", {event.gap / abs(event.score):.2%}" if event.score else ""
    return f"{event.gap:.6g}{relative}"


@contextmanager
def status(text: str) -> Iterator[None]:
    """A spinner on stderr, on a terminal only."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(text):
        yield


@contextmanager
def live(table: ScoreTable, solver: str) -> Iterator[Callable[[Progress], None] | None]:
    """A live panel on stderr, on a terminal only: incumbent, bound, gap, time."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.live import Live
    from rich.panel import Panel

    begun = time.monotonic()
    last: list[Progress] = []

    def show() -> Panel:
        title = f"{table.n} variables, {len(table):,} parent sets: {solver}"
        return Panel(_rows(last[-1] if last else None, time.monotonic() - begun), title=title, width=64)

    def listen(event: Progress) -> None:
        last[:] = [event]

    with Live(get_renderable=show, console=Console(stderr=True), refresh_per_second=4, transient=True):
        yield listen


def _rows(event: Progress | None, seconds: float) -> Table:
    from rich.table import Table

    grid = Table.grid(padding=(0, 2))
    rows = [("time", f"{seconds:.1f} s   (Ctrl-C stops and keeps the best)")]
    if event is not None:
        rows += [
            ("incumbent", "none yet" if event.score is None else f"{event.score:.6f}"),
            ("bound", f"{event.bound:.6f}"),
            ("gap", "" if event.score is None else gap_in_words(event)),
            ("nodes", f"{event.nodes:,}"),
            ("", event.phase),
        ]
    for label, text in rows:
        grid.add_row(label, text)
    return grid
