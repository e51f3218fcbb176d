"""The questions of `optbn query`, as people write them: P(A, B | C=value, x>2), P(A=value | ..), MPE(C=value)."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from optbn.base.errors import UnsupportedError

WORD = r'\s*(?:"([^"]*)"|([^"|,=]*?))\s*'


class Question(NamedTuple):
    """A question: the distribution of each of `targets`, or the probability of the `event` as a whole."""

    kind: Literal["P", "MPE"]
    targets: list[str]
    event: dict[str, str]
    evidence: dict[str, str]


def parse(question: str) -> Question:
    """The question in a text; names and levels may be quoted."""
    wrong = UnsupportedError(
        f"cannot read the question {question!r}; write P(A, B | C=value), P(A=value | x>2), P(* | C=value) or "
        "MPE(C=value), with quotes around names that hold commas, bars or equals signs"
    )
    whole = re.fullmatch(r"\s*(P|MPE)\s*\((.*)\)\s*", question, re.S)
    if not whole:
        raise wrong
    sides = _split(whole[2], "|") or [""]
    if len(sides) > 2:
        raise wrong
    if whole[1] == "MPE":
        if len(sides) == 2 and sides[0].strip():
            raise UnsupportedError(f"{question!r}: MPE chooses all that is not given; write MPE({sides[1].strip()})")
        return Question("MPE", [], {}, _values(question, _split(sides[-1], ","), wrong))
    names, values = [], []
    for part in _split(sides[0], ","):
        match = None if _compared(part) else re.fullmatch(WORD, part)
        if match:
            names.append(match[1] if match[1] is not None else match[2])
        else:
            values.append(part)
    if "" in names or not (names or values):
        raise wrong
    if names and values:
        raise UnsupportedError(
            f"{question!r}: before the bar stand names, for how probable each level is, or values (A=value, x>2), for "
            "how probable these are together; not both"
        )
    event = _values(question, values, wrong)
    return Question("P", names, event, _values(question, _split("".join(sides[1:]), ","), wrong))


def _values(question: str, parts: list[str], wrong: UnsupportedError) -> dict[str, str]:
    """NAME=VALUE and ranges, by name."""
    found: dict[str, str] = {}
    for part in parts:
        if (compared := _compared(part)) is not None:
            name, level = compared
        else:
            match = re.fullmatch(f"{WORD}={WORD}", part)
            if not match:
                raise wrong
            name, level = (match[i] if match[i] is not None else match[i + 1] for i in (1, 3))
        if name in found:
            raise UnsupportedError(f"{question!r}: {name!r} is given twice")
        found[name] = level
    return found


def _compared(part: str) -> tuple[str, str] | None:
    """The name and the range of age>50 or 10<=bmi<20; None for anything else."""
    name, end = r'(?:"(?P<quoted>[^"]*)"|(?P<name>[^"|,=<>]*[^"|,=<> ]))', r"[+-]?[.\d][^<>=]*?"
    match = re.fullmatch(rf"\s*(?:(?P<low>{end})\s*(?P<sign><=?))?\s*{name}\s*(?P<rest>[<>]=?\s*{end})?\s*", part)
    if not match or not (match["sign"] or match["rest"]):
        return None
    rest = match["rest"] or ""
    if match["sign"] and rest.startswith(">"):
        return None
    text = f"{match['low']}{match['sign']}x{rest}" if match["sign"] else rest
    return match["quoted"] if match["quoted"] is not None else match["name"].strip(), text


def _split(text: str, separator: str) -> list[str]:
    """The parts between separators, those within quotes left alone; nothing gives no part."""
    parts, quoted = [""], False
    for character in text:
        quoted ^= character == '"'
        if character == separator and not quoted:
            parts.append("")
        else:
            parts[-1] += character
    return parts if text.strip() else []
