"""Lists of names as programs write them into BIF: with commas or without, quoted or not."""

from __future__ import annotations

import re
from collections.abc import Callable

from optbn.network.formats.scanner import QUOTED, unquote

_ITEM = re.compile(rf'(?:[^",]++|{QUOTED})++')
_LISTED = re.compile(rf'{QUOTED}|[^\s,"]++')


def readings(text: str) -> list[list[str]]:
    """The ways to read a list of names: at commas (so names may hold spaces), or at white space and commas."""
    if '"' in text:
        items = [item.strip() for item in _ITEM.findall(text)]
        words = [unquote(word) for word in _LISTED.findall(text)]
    else:
        items = [item.strip() for item in text.removesuffix(",").split(",")]
        words = text.replace(",", " ").split()
    if "" in items:
        return [words]
    at_commas = [unquote(item) for item in items]
    return [at_commas, words] if "," in text else [words, at_commas]


def names_in(text: str, fits: Callable[[list[str]], bool]) -> list[str] | None:
    """The first way to read the list that fits; None if none does."""
    return next((names for names in readings(text) if fits(names)), None)
