"""Files of constraints, read by what is in them and written by their ending.

ours        JSON: {"format": "optbn-constraints 1"}, which may be missing, and the fields of `Constraints`
benchpress  JSON ("edgeConstraints"): arcs, groups, tiers with settings, context variables, sources; names that the data
            do not have are left out, as one file may serve several data sets
Tetrad      text (.txt, .knowledge): /knowledge, then parts with a line per item
                addtemporal     1 a b     tiers in order; 1* forbids arcs within a tier, 1- arcs that skip the next one
                forbiddirect    a b       (or a ==> b);   requiredirect  likewise
                forbiddengroup  a b       and on the next line  c d: from each of the first to each of the second;
                                          requiredgroup  likewise

Tiers of Tetrad and benchpress forbid arcs backwards, like ours. What a format cannot say is refused when written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from itertools import product
from os import PathLike
from pathlib import Path
from typing import Any

from optbn.base.errors import DataError, UnsupportedError
from optbn.base.files import saving
from optbn_solvers.base.constraints import Constraints

FORMAT = "optbn-constraints 1"
BENCHPRESS = {
    "forbidden_edges", "required_edges", "tiers", "tier_settings", "forbidden_groups", "required_groups",
    "context_all", "context_tier", "source_nodes",
}  # fmt: skip
PARTS = ("addtemporal", "forbiddirect", "requiredirect", "forbiddengroup", "requiredgroup")
GROUPS = {"forbiddengroup": "forbiddirect", "requiredgroup": "requiredirect"}
SPELLED = {"forbidden": "forbiddirect", "required": "requiredirect"}
TIER = re.compile(r"(\d+)([*-]*)$")


def read_constraints(path: str | PathLike[str], names: Sequence[str]) -> Constraints:
    """The constraints in the file at `path`, on the variables `names`."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
        if not text.lstrip().startswith(("{", "[")):
            return _of_tetrad(path, text)
        record = json.loads(text)
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8 text (byte {error.start})") from None
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: {error}") from None
    if isinstance(record, dict) and (record.get("format") == FORMAT or _has_our_names(record)):
        return _of_ours(path, record)
    return of_benchpress(path, record, names)


def write_constraints(constraints: Constraints, path: str | PathLike[str]) -> None:
    """Write constraints to the file at `path`: as JSON of ours, or as Tetrad's text for .txt and .knowledge."""
    if Path(path).suffix.lower() in (".txt", ".knowledge"):
        text = _as_tetrad(constraints)
    else:
        text = json.dumps({"format": FORMAT, **constraints.stated()}, indent=1) + "\n"
    with saving(path) as partial:
        partial.write_text(text, encoding="utf-8")


def of_benchpress(path: str | PathLike[str], record: Any, names: Sequence[str]) -> Constraints:
    """What edgeConstraints say about these variables."""
    if not isinstance(record, dict) or not record.keys() <= BENCHPRESS:
        extra = sorted(record.keys() - BENCHPRESS) if isinstance(record, dict) else "no object"
        raise DataError(
            f"{path}: expected an object with the keys {', '.join(sorted(BENCHPRESS))}; found {extra} (files of "
            f'optbn say "format": "{FORMAT}")'
        )
    try:
        tiers = [[name for name in tier if name in names] for tier in record.get("tiers") or ()]
        settings = record.get("tier_settings") or {}
        within = settings.get("forbid_within_tiers") or settings.get("forbidden_within_tiers")
        only_next = settings.get("can_only_cause_next_tier")
        flags = [(bool(within), bool(only_next))] * len(tiers)
        forbidden = {*_pairs(record, "forbidden"), *_between_tiers(tiers, flags)}
        required = {*_pairs(record, "required"), *_context(record, tiers, names)}
        roots = [name for name in record.get("source_nodes") or () if name in names]
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise DataError(f"{path}: not in the form of edgeConstraints ({type(error).__name__}: {error})") from None
    known = set(names)
    return Constraints(
        required=tuple(sorted(pair for pair in required if set(pair) <= known)),
        forbidden=tuple(sorted(pair for pair in forbidden if set(pair) <= known)),
        roots=tuple(roots),
    )


def _has_our_names(record: Mapping[str, Any]) -> bool:
    """Only fields of ours, and not only those that benchpress has, too."""
    return record.keys() <= {field.name for field in fields(Constraints)} and not record.keys() <= BENCHPRESS


def _of_ours(path: str | PathLike[str], record: Mapping[str, Any]) -> Constraints:
    known = [field.name for field in fields(Constraints)]
    extra = sorted(record.keys() - {*known, "format"})
    if extra:
        raise DataError(f"{path}: there is no constraint {extra[0]!r}; there are: {', '.join(known)}")
    try:
        return Constraints(**{name: value for name, value in record.items() if name != "format"})
    except TypeError as error:
        raise DataError(f"{path}: {error}") from None


def _of_tetrad(path: str | PathLike[str], text: str) -> Constraints:
    tiers: dict[int, list[str]] = {}
    flags: dict[int, tuple[bool, bool]] = {}
    pairs: dict[str, list[tuple[str, str]]] = {"forbiddirect": [], "requiredirect": []}
    part, causes = "", list[str]()  # of a group, until the line of its effects
    for number, line in enumerate(text.splitlines(), 1):
        words = line.replace("==>", " ").replace("-->", " ").split()
        if not words or words[0].startswith(("#", "//")) or words == ["/knowledge"]:
            continue
        if words[0] in PARTS and len(words) == 1 and not causes:
            part = words[0]
        elif part == "addtemporal" and (tier := TIER.match(words[0])):
            tiers.setdefault(int(tier[1]), []).extend(words[1:])
            flags[int(tier[1])] = ("*" in tier[2], "-" in tier[2])
        elif part in pairs and len(words) == 2:
            pairs[part].append((words[0], words[1]))
        elif part in GROUPS and not causes:
            causes = words
        elif part in GROUPS:
            pairs[GROUPS[part]] += [(u, v) for u, v in product(causes, words) if u != v]
            causes = []
        else:
            raise DataError(f"{path}, line {number}: {line.strip()[:60]!r} is not knowledge of Tetrad")
    if causes:
        raise DataError(f"{path}: the last group, of {' '.join(causes)[:60]!r}, has no line of effects")
    if not part:
        raise DataError(f"{path}: expected JSON, or Tetrad's knowledge with one of the parts {', '.join(PARTS)}")
    ordered = sorted(tiers)
    groups = [tiers[tier] for tier in ordered]
    more = _between_tiers(groups, [flags[tier] for tier in ordered], backwards=False)
    return Constraints(
        required=tuple(dict.fromkeys(pairs["requiredirect"])),
        forbidden=tuple(dict.fromkeys([*pairs["forbiddirect"], *more])),
        tiers=tuple(map(tuple, groups)),
    )


def _as_tetrad(constraints: Constraints) -> str:
    more = [name for name in constraints.stated() if name not in ("tiers", *SPELLED)]
    if more:
        raise UnsupportedError(f"Tetrad's knowledge cannot say {', '.join(more)}; write the constraints as .json")
    every = {name for pairs in (constraints.required, constraints.forbidden) for pair in pairs for name in pair}
    odd = sorted(name for name in every.union(*constraints.tiers) if len(name.split()) != 1 or ">" in name)
    if odd:
        raise UnsupportedError(
            f"the name {odd[0]!r} cannot stand in Tetrad's knowledge; write the constraints as .json"
        )
    lines = ["/knowledge", "", "addtemporal"]
    lines += [" ".join([str(number), *tier]) for number, tier in enumerate(constraints.tiers, 1)]
    for field, part in SPELLED.items():
        lines += ["", part, *(" ".join(pair) for pair in getattr(constraints, field))]
    return "\n".join(lines) + "\n"


def _pairs(record: Mapping[str, Any], which: str) -> Iterator[tuple[str, str]]:
    """The arcs and the groups, every cause with every effect."""
    yield from ((u, v) for u, v in record.get(f"{which}_edges") or ())
    for group in record.get(f"{which}_groups") or ():
        yield from ((u, v) for u, v in product(group["cause"], group["effect"]) if u != v)


def _between_tiers(
    tiers: Sequence[Sequence[str]], flags: Sequence[tuple[bool, bool]], backwards: bool = True
) -> Iterator[tuple[str, str]]:
    """The arcs that tiers forbid: backwards; within a tier, and beyond the next one, where its flags say so."""
    for i, j in product(range(len(tiers)), repeat=2):
        within, only_next = flags[i]
        if (j < i and backwards) or (j == i and within) or (j > i + 1 and only_next):
            yield from ((u, v) for u, v in product(tiers[i], tiers[j]) if u != v)


def _context(
    record: Mapping[str, Any], tiers: Sequence[Sequence[str]], names: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """The arcs from context variables to all others, or to all others of their tier."""
    everywhere, local = set(record.get("context_all") or ()), set(record.get("context_tier") or ())
    context = everywhere | local
    for group, causes in ((names, everywhere), *((tier, local & set(tier)) for tier in tiers)):
        yield from ((u, v) for u, v in product(sorted(causes), group) if v not in context)
