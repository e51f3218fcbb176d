"""`python -m tests.benchmarks ROOM [--write]`: print the figures; --write keeps them in results/ROOM.

A room that takes names (experience, frontier, incumbents, limits, phase1) is followed by them:
`python -m tests.benchmarks frontier kdd plants`.
Without a room: the guard against decline (_guard.py), which fails when a figure is 25 % worse than recorded.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import platform
from pathlib import Path

import pytest

import tests.benchmarks as benchmarks
from tests.benchmarks import Figure


def table(figures: list[Figure]) -> str:
    """The figures as a markdown table."""
    lines = ["| work | measured | at most | to aim for | |", "|---|---|---|---|---|"]
    for f in figures:
        limit = "" if f.limit is None else f"{f.limit:g} {f.unit}"
        aim = "" if f.aim is None else f"{f.aim:g} {f.unit}"
        verdict = (
            ""
            if f.limit is None
            else "over"
            if f.value > f.limit
            else "aim met"
            if f.aim and f.value <= f.aim
            else "ok"
        )
        note = f"{verdict}; {f.note}" if verdict and f.note else verdict or f.note
        lines.append(f"| {f.work} | {f.value:.3g} {f.unit} | {limit} | {aim} | {note} |")
    return "\n".join(lines)


def main() -> None:
    rooms = [m.name for m in pkgutil.iter_modules(benchmarks.__path__) if not m.name.startswith("_")]
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("rooms", nargs="*", metavar="ROOM", help=", ".join(rooms))
    parser.add_argument("--write", action="store_true", help="keep the table in results/ROOM/README.md")
    arguments = parser.parse_args()
    names: list[str] = []
    if arguments.rooms[:1] in (["experience"], ["frontier"], ["incumbents"], ["limits"], ["phase1"]):
        arguments.rooms, names = arguments.rooms[:1], arguments.rooms[1:]
    for room in arguments.rooms:
        if room not in rooms:
            parser.error(f"no room {room!r}; there are {', '.join(rooms)}")
    if names and arguments.write:
        parser.error("--write keeps the figures of a whole room: leave out the names")
    if not arguments.rooms:
        from tests.benchmarks import _guard

        raise SystemExit(_guard.run(arguments.write))
    for room in arguments.rooms:
        figures = []
        try:
            for figure in importlib.import_module(f"tests.benchmarks.{room}").measure(*names):
                figures.append(figure)
                print(table([figure]).splitlines()[-1], flush=True)
        except pytest.skip.Exception as reason:  # data that are not here
            raise SystemExit(f"{room}: {reason}") from None
        if arguments.write:
            folder = Path("results") / room
            folder.mkdir(parents=True, exist_ok=True)
            head = f"# {room}\n\nWritten by `python -m tests.benchmarks {room} --write`. CPU seconds, warm, "
            head += f"{platform.machine()}, Python {platform.python_version()}.\n\n"
            (folder / "README.md").write_text(head + table(figures) + "\n")


main()
