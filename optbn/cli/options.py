"""Options that several verbs have, and how their texts are read."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from optbn.cli.groups import Group
from optbn.cli.reading import lines

SettingOption = Annotated[
    list[str] | None, typer.Option("--set", help="Any other setting by name, NAME=VALUE; may be repeated.")
]
JobsOption = Annotated[int | None, typer.Option("--jobs", "-j", help="Threads (default all cores).", min=1)]
MemoryOption = Annotated[str | None, typer.Option(help="What may be used, 4G say (default half of the machine).")]
CandidatesOption = Annotated[
    int | None,
    typer.Option(help="Only sets of the so many likeliest parents of each variable: a heuristic, for hundreds.", min=1),
]
ForbidOption = Annotated[list[str] | None, typer.Option(help="An arc that may not be, 'A->B'; may be repeated.")]
RequireOption = Annotated[list[str] | None, typer.Option(help="An arc that must be, 'A->B'; may be repeated.")]
TiersOption = Annotated[
    str | None, typer.Option(help="A file with a line of names (commas between) per tier, causes first.")
]
RootsOption = Annotated[str | None, typer.Option(help="Variables without parents, commas between.")]
LeavesOption = Annotated[str | None, typer.Option(help="Variables without children, commas between.")]

# What may be asked of the graph: keyword of the command, option. All may be repeated but the limit on arcs, the tiers,
# the roots and the leaves.
CONSTRAINTS: dict[str, Any] = {
    "forbid": ForbidOption,
    "require": RequireOption,
    "forbid_edge": Annotated[list[str] | None, typer.Option(help="Two variables that may not be adjacent, 'A,B'.")],
    "require_edge": Annotated[list[str] | None, typer.Option(help="Two variables that must be adjacent, 'A,B'.")],
    "tiers": TiersOption,
    "order": Annotated[list[str] | None, typer.Option(help="Variables that must come in this order, 'A,B,C'.")],
    "ancestor": Annotated[list[str] | None, typer.Option(help="A directed path there must be, 'A->B'.")],
    "no_ancestor": Annotated[list[str] | None, typer.Option(help="A directed path there may not be, 'A->B'.")],
    "max_children": Annotated[list[str] | None, typer.Option(help="A limit for all variables, '3', or one, 'A=2'.")],
    "max_arcs": Annotated[int | None, typer.Option(help="The most arcs of the graph.", min=0)],
    "roots": RootsOption,
    "leaves": LeavesOption,
    "independent": Annotated[
        list[str] | None, typer.Option(help="What the graph must separate, 'A:B', or 'A:B|C,D' given C and D.")
    ],
}


def graph_constraints(
    forbid: list[str] | None,
    require: list[str] | None,
    forbid_edge: list[str] | None,
    require_edge: list[str] | None,
    tiers: str | None,
    order: list[str] | None,
    ancestor: list[str] | None,
    no_ancestor: list[str] | None,
    max_children: list[str] | None,
    max_arcs: int | None,
    roots: str | None,
    leaves: str | None,
    independent: list[str] | None,
) -> dict[str, Any]:
    """What was asked, by the fields of `solvers.Constraints`; nothing for what was not."""
    from optbn.scores.constraints import parse_arc

    given = {
        **arc_constraints(forbid, require, tiers, roots, leaves),
        "forbidden_edges": [_pair(text) for text in forbid_edge or ()],
        "required_edges": [_pair(text) for text in require_edge or ()],
        "order": [_order(text) for text in order or ()],
        "ancestors": [parse_arc(text) for text in ancestor or ()],
        "no_ancestors": [parse_arc(text) for text in no_ancestor or ()],
        "max_children": dict(_limit(text) for text in max_children or ()),
        "independences": [_separation(text) for text in independent or ()],
    }
    given = {name: value for name, value in given.items() if value}
    return given if max_arcs is None else {**given, "max_arcs": max_arcs}


with_constraints = Group("constraints", "What is asked of the graph", CONSTRAINTS, graph_constraints)
"""The options of CONSTRAINTS; `constraints` gets what was given, by the fields of `solvers.Constraints`."""


def settings(texts: list[str] | None) -> dict[str, Any]:
    """{"m": 1.0} from ["m=1.0"]; what is no number, true, false or none is a word."""
    return dict(_setting(text) for text in texts or ())


def refuse(beside: str, **options: Any) -> None:
    """Options that make no sense beside another one."""
    from optbn.base.errors import UnsupportedError

    for name, value in options.items():
        if value:
            raise UnsupportedError(f"--{name.replace('_', '-')} does not go with {beside}")


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
    from optbn.base.errors import UnsupportedError

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


def _pair(text: str) -> list[str]:
    from optbn.base.errors import UnsupportedError

    names = _names(text)
    if len(names) != 2:
        raise UnsupportedError(f"{text!r} is not a pair of variables, expected something like 'A,B'")
    return names


def _order(text: str) -> list[str]:
    from optbn.base.errors import UnsupportedError

    names = _names(text)
    if len(names) < 2:
        raise UnsupportedError(f"--order {text!r}: expected two variables or more, like 'A,B,C'")
    return names


def _limit(text: str) -> tuple[str, int]:
    """("*", 3) from "3", ("A", 2) from "A=2"."""
    from optbn.base.errors import UnsupportedError

    name, _, number = text.rpartition("=")
    if not number.strip().isdigit():
        raise UnsupportedError(f"--max-children {text!r}: expected a whole number, or NAME=NUMBER")
    return name.strip() or "*", int(number)


def _separation(text: str) -> tuple[list[str], ...]:
    """(["A"], ["B"], ["C", "D"]) from "A:B|C,D"."""
    from optbn.base.errors import UnsupportedError

    sides, _, given = text.partition("|")
    groups = [_names(part) for part in sides.split(":")]
    if len(groups) != 2 or not all(groups):
        raise UnsupportedError(f"--independent {text!r}: expected something like 'A:B', or 'A:B|C,D' given C and D")
    return (*groups, _names(given.strip()))


def _names(text: str | None) -> list[str]:
    return [name.strip() for name in text.split(",")] if text else []


def _tiers(path: str) -> list[list[str]]:
    """A tier per line that is not blank and not a comment."""
    return [_names(line) for _, line in lines(path)]
