"""Options that several verbs have, and how their texts are read."""

from __future__ import annotations

from typing import Annotated, Any

import typer

SettingOption = Annotated[
    list[str] | None, typer.Option("--set", help="Any other setting by name, NAME=VALUE; may be repeated.")
]
JobsOption = Annotated[int | None, typer.Option("--jobs", "-j", help="Threads (default all cores).", min=1)]
MemoryOption = Annotated[str | None, typer.Option(help="What may be used, 4G say (default half of the machine).")]
ForbidOption = Annotated[list[str] | None, typer.Option(help="An arc that may not be, 'A->B'; may be repeated.")]
RequireOption = Annotated[list[str] | None, typer.Option(help="An arc that must be, 'A->B'; may be repeated.")]
TiersOption = Annotated[
    str | None, typer.Option(help="A file with a line of names (commas between) per tier, causes first.")
]
RootsOption = Annotated[str | None, typer.Option(help="Variables without parents, commas between.")]
LeavesOption = Annotated[str | None, typer.Option(help="Variables without children, commas between.")]


def settings(texts: list[str] | None) -> dict[str, Any]:
    """{"m": 1.0} from ["m=1.0"]; what is no number, true, false or none is a word."""
    return dict(_setting(text) for text in texts or ())


def arc_constraints(
    forbid: list[str] | None, require: list[str] | None, tiers: str | None, roots: str | None, leaves: str | None
) -> dict[str, Any]:
    """The constraints that were given, as `score_table` takes them."""
    from optbn.scores.constraints import parse_arc

    given = {
        "forbidden": [parse_arc(text) for text in forbid or ()],
        "required": [parse_arc(text) for text in require or ()],
        "tiers": _tiers(tiers) if tiers else [],
        "roots": _names(roots),
        "leaves": _names(leaves),
    }
    return {name: value for name, value in given.items() if value}


def _setting(text: str) -> tuple[str, Any]:
    from optbn.errors import UnsupportedError

    name, _, value = (part.strip() for part in text.partition("="))
    if not name or not value:
        raise UnsupportedError(f"--set {text!r}: expected NAME=VALUE, like alpha=0.5")
    name = name.replace("-", "_")
    words: dict[str, Any] = {"true": True, "false": False, "none": None}
    if value.lower() in words:
        return name, words[value.lower()]
    for number in (int, float):
        try:
            return name, number(value)
        except ValueError:
            continue
    return name, value


def _names(text: str | None) -> list[str]:
    return [name.strip() for name in text.split(",")] if text else []


def _tiers(path: str) -> list[list[str]]:
    """A tier per line that is not blank and not a comment."""
    with open(path, encoding="utf-8-sig") as file:
        lines = [line.strip() for line in file]
    return [_names(line) for line in lines if line and not line.startswith("#")]
