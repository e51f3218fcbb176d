"""Names and levels that other programs can read, and the way back to what they were.

Each program reads less than its format allows: pyAgrum's BIF has no level "<5", pgmpy's no variables that differ only
in case, GeNIe's XDSL identifiers only. `legal` renames what a program could not read and keeps the original as a
property of the variable; when such a file is read, the draft takes the `originals` back.

The property is `optbn_original = NAME LEVEL LEVEL ...`. In its words every character but ASCII letters, digits, "." and
"-" is written as its number between underscores ("a b" is a_32_b), which no reader of any of the formats trips over.

What the programs read was found by giving it to them (tests/network/test_dialects.py does where they are installed) and
for bnlearn, Hugin and GeNIe from their manuals.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from optbn.base.errors import NetworkError
from optbn.base.registry import unknown
from optbn.data.dataset import Categorical, Domain

if TYPE_CHECKING:
    from optbn.network.network import BayesianNetwork

NAME = r"[A-Za-z_][A-Za-z0-9_]*"
BIF_WORDS = "network variable probability property type discrete default table"
ORIGINAL = "optbn_original = "


@dataclass(frozen=True)
class Dialect:
    """What a program reads.

    formats   that it reads, of those that we write; those of bare graphs do not carry the original names
    level     what a level looks like; names of variables are `NAME` for all
    reserved  words that are neither
    caseless  that names differ only in case does not tell them apart
    """

    formats: tuple[str, ...]
    level: str
    reserved: str = ""
    caseless: bool = False
    name: str = NAME


DIALECTS: dict[str, Dialect] = {
    "pgmpy": Dialect(("bif", "net"), r"[A-Za-z0-9_.<>=+-]+", caseless=True),
    "pyagrum": Dialect(("bif", "net"), r"[A-Za-z_][A-Za-z0-9_.-]*|[0-9]+", BIF_WORDS),
    "bnlearn": Dialect(("bif", "net", "modelstring"), r"[A-Za-z0-9_.<>+-]+", name="[A-Za-z][A-Za-z0-9_]*"),
    "hugin": Dialect(("net",), r'[ -$&-\[\]-~]*[!-$&-\[\]-~](?<!")', "net node class potential discrete"),
    "genie": Dialect(("xdsl", "net"), "[A-Za-z][A-Za-z0-9_]*", name="[A-Za-z][A-Za-z0-9_]*"),
    "tetrad": Dialect(("tetrad",), "(?s:.*)"),
}
READABLE = {">=": "ge", "<=": "le", ">": "gt", "<": "lt", "=": "eq", "+": "plus", "%": "pct", "&": "and"}


def dialect(reader: str) -> Dialect:
    """By the program's name."""
    if reader not in DIALECTS:
        raise unknown("program to write for", reader, DIALECTS)
    return DIALECTS[reader]


def legal(network: BayesianNetwork, reader: str) -> BayesianNetwork:
    """The network in words that the program reads."""
    rule = dialect(reader)
    names = dict(zip(network.names, _renamed(network.names, rule.name, rule.reserved, rule.caseless), strict=True))
    domains: dict[str, Domain] = {}
    properties = {names.get(variable, ""): tuple(texts) for variable, texts in network.properties.items()}
    for name, domain in zip(network.names, network.domains, strict=True):
        domains[name] = domain
        levels: tuple[str, ...] = ()
        if isinstance(domain, Categorical):
            levels = domain.levels
            domains[name] = replace(domain, levels=tuple(_renamed(levels, rule.level, rule.reserved)))
        if names[name] != name or domains[name] != domain:
            text = ORIGINAL + " ".join(map(_coded, (name, *levels)))
            properties[names[name]] = (*properties.get(names[name], ()), text)
    cpds: list[Any] = []
    for name, cpd in zip(network.names, network.cpds, strict=True):
        parents = {names[p]: domains[p] for p in cpd.parents}
        made: Any = replace  # the kinds of distributions share these fields, which a type checker cannot know
        cpds.append(made(cpd, domain=domains[name], parents=tuple(parents), parent_domains=tuple(parents.values())))
    title = _renamed([network.name], rule.name, rule.reserved)[0] if network.name else ""
    if title != network.name:
        properties[""] = (*properties.get("", ()), ORIGINAL + _coded(network.name))
    return replace(
        network,
        names=tuple(names.values()),
        domains=tuple(domains.values()),
        cpds=tuple(cpds),
        name=title,
        properties=properties,
        precision={names[name]: rows for name, rows in network.precision.items()},
    )


def checked_names(network: BayesianNetwork, pattern: str, format: str, reader: str) -> None:
    """Refuse a network with a name that the format would tear apart."""
    bad = next((name for name in network.names if not re.fullmatch(pattern, name)), None)
    if bad is not None:
        raise NetworkError(
            f"{format} cannot hold the name {bad!r}; add --for {reader} (reader={reader!r}) to change it"
        )


def originals(properties: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Of each variable that was renamed ("": the network) its own name and, after it, those of its levels."""
    return {
        variable: [_decoded(word) for word in text.removeprefix(ORIGINAL).split()]
        for variable, texts in properties.items()
        for text in texts
        if text.startswith(ORIGINAL)
    }


def _renamed(words: Iterable[str], pattern: str, reserved: str, caseless: bool = False) -> list[str]:
    """The words in their order; one that does not fit becomes one that does, and that no other is."""
    words = list(words)
    fits = re.compile(pattern).fullmatch
    key = str.lower if caseless else str
    out: dict[int, str] = {}
    taken: set[str] = set(reserved.split())
    for number, word in enumerate(words):  # those that may stay, first
        if fits(word) and key(word) not in taken:
            out[number] = word
            taken.add(key(word))
    for number, word in enumerate(words):
        if number not in out:
            plain = _plain(word)
            shorter = plain if fits(plain) else f"x{plain}"
            out[number] = next(
                each
                for each in (shorter, *(f"{shorter}_{n}" for n in range(2, len(words) + len(taken) + 3)))
                if key(each) not in taken
            )
            taken.add(key(out[number]))
    return [out[number] for number in range(len(words))]


def _plain(word: str) -> str:
    """Letters, digits and underscores that remind of the word."""
    for mark, name in READABLE.items():
        word = word.replace(mark, f" {name} ")
    word = re.sub(r"^-(?=[0-9])", " minus ", word)
    return re.sub("[^A-Za-z0-9]+", "_", word.strip()).strip("_")


def _coded(word: str) -> str:
    return re.sub("[^A-Za-z0-9.-]", lambda match: f"_{ord(match[0])}_", word) or "__"


def _decoded(word: str) -> str:
    def letter(match: re.Match[str]) -> str:
        number = int(match[1] or "0")
        if number > 0x10FFFF:
            raise NetworkError(f"the original name {word[:40]!r} has a character number {number}, which does not exist")
        return chr(number) if match[1] else ""

    return re.sub(r"_([0-9]{0,7})_", letter, word)
