"""How the texts of options are read: settings, limits, arcs and the other constraints on a graph; names of scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from optbn.base.errors import UnsupportedError
from optbn.cli.reading import lines
from optbn_solvers.base.errors import ConstraintError

if TYPE_CHECKING:
    from optbn.scores.protocol import LocalScore


def settings(texts: list[str] | None) -> dict[str, Any]:
    """{"m": 1.0} from ["m=1.0"]; what is no number, true, false or none is a word."""
    return dict(_setting(text) for text in texts or ())


def limits(texts: list[str] | None) -> dict[str, int | Literal["all"]]:
    """{"*": 3, "A": "all"} from ["3", "A=all"], numbers of parents."""
    return dict(_parents(text) for text in texts or ())


def limit(text: str | None) -> int | Literal["all"] | None:
    """One number of parents for all variables."""
    if text is None:
        return None
    name, number = _parents(text)
    if name != "*":
        raise ConstraintError(f"--max-parents {text!r}: expected one whole number for all variables, or all")
    return number


def constraints(options: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of `Constraints` that the options of a command set."""
    values: dict[str, Any] = {}
    for option, (field, read) in FIELDS.items():
        value = options.get(option)
        if value is not None and value != []:
            values[field] = read(value)
    return values


def names(text: str) -> list[str]:
    """["A", "B"] from "A, B"."""
    return [name.strip() for name in text.split(",")] if text else []


def _setting(text: str) -> tuple[str, Any]:
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


def _parents(text: str) -> tuple[str, int | Literal["all"]]:
    """("*", 3) from "3", ("A", "all") from "A=all"."""
    name, _, number = (part.strip() for part in text.rpartition("="))
    if number == "all":
        return name or "*", "all"
    return _limit(text, "--max-parents")


def _limit(text: str, option: str) -> tuple[str, int]:
    """("*", 3) from "3", ("A", 2) from "A=2"."""
    name, equals, number = (part.strip() for part in text.rpartition("="))
    if not number.isdecimal() or (equals and not name):
        every = ", all" if option == "--max-parents" else ""
        raise ConstraintError(f"{option} {text!r}: expected a whole number{every}, or NAME=NUMBER")
    return name or "*", int(number)


def _arc(text: str) -> tuple[str, str]:
    """("A", "B") from "A->B"."""
    parent, arrow, child = (part.strip() for part in text.partition("->"))
    if not (parent and arrow and child) or "->" in child:
        raise ConstraintError(f"{text!r} is not an arc, expected something like 'A->B'")
    return parent, child


def _pair(text: str) -> list[str]:
    pair = names(text)
    if len(pair) != 2:
        raise ConstraintError(f"{text!r} is not a pair of variables, expected something like 'A,B'")
    return pair


def _order(text: str) -> list[str]:
    order = names(text)
    if len(order) < 2:
        raise ConstraintError(f"--order {text!r}: expected two variables or more, like 'A,B,C'")
    return order


def _separation(text: str) -> tuple[list[str], ...]:
    """(["A"], ["B"], ["C", "D"]) from "A:B|C,D"."""
    sides, _, condition = text.partition("|")
    groups = [names(part) for part in sides.split(":")]
    if len(groups) != 2 or not all(groups):
        raise ConstraintError(f"--independent {text!r}: expected something like 'A:B', or 'A:B|C,D' given C and D")
    return (*groups, names(condition.strip()))


def _tiers(path: str) -> list[list[str]]:
    return [names(line) for _, line in lines(path)]


def _every(read: Callable[[str], Any]) -> Callable[[list[str]], list[Any]]:
    """Read each text of an option that may be repeated."""
    return lambda texts: [read(text) for text in texts]


FIELDS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "forbid": ("forbidden", _every(_arc)),
    "require": ("required", _every(_arc)),
    "tiers": ("tiers", _tiers),
    "roots": ("roots", names),
    "leaves": ("leaves", names),
    "forbid_edge": ("forbidden_edges", _every(_pair)),
    "require_edge": ("required_edges", _every(_pair)),
    "order": ("order", _every(_order)),
    "ancestor": ("ancestors", _every(_arc)),
    "no_ancestor": ("no_ancestors", _every(_arc)),
    "max_children": ("max_children", lambda texts: dict(_limit(text, "--max-children") for text in texts)),
    "max_arcs": ("max_arcs", int),
    "independent": ("independences", _every(_separation)),
}
"""The field of `Constraints` that an option sets, and how its value is read."""


def score_name(method: LocalScore) -> str:
    """What a score is called: "PCARTP", "BDeu"."""
    return repr(method).partition("(")[0]
