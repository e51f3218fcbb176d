"""How far long work has come: bars on stderr, on a terminal only."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

Style = Literal["share", "count", "number"]


class Show(Protocol):
    """Told how much of what is done, of how much if that is known; a note is shown beside the count."""

    def __call__(self, what: str, done: int, total: int | None = None, note: str = "") -> None: ...


@contextmanager
def bars(style: Style = "share", after: float = 0.0) -> Iterator[Show | None]:
    """A bar for each `what` after this many seconds, gone at the end; None if nobody would see it.

    share    the part that is done
    count    how many of how many are done, and the note
    number   how many are done, for what has no known end
    """
    if not sys.stderr.isatty():
        yield None
        return
    begun = time.monotonic()
    display: Progress | None = None
    tasks: dict[str, TaskID] = {}

    def show(what: str, done: int, total: int | None = None, note: str = "") -> None:
        nonlocal display
        if time.monotonic() - begun < after:
            return
        if display is None:
            display = _started(style)
        if what in tasks:
            display.update(tasks[what], completed=done, total=total, note=note)
        else:
            tasks[what] = display.add_task(what, completed=done, total=total, note=note)

    try:
        yield show
    finally:
        if display is not None:
            display.stop()


def _started(style: Style) -> Progress:
    """Imports rich, which costs more than most work takes."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    what, left = TextColumn("{task.description}"), TimeRemainingColumn()
    columns = {
        "share": Progress.get_default_columns(),
        "count": (what, BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[note]}"), left),
        "number": (TextColumn("{task.completed:,.0f} {task.description}"),),
    }
    display = Progress(*columns[style], console=Console(stderr=True), transient=True)
    display.start()
    return display
