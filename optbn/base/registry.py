"""Named things (scores, smoothers, readers...) in lazy dictionaries: name -> "module:attribute"."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Iterable, Mapping
from typing import Any

from optbn.base.errors import UnknownNameError


def unknown(kind: str, name: object, known: Iterable[str]) -> UnknownNameError:
    """The error for a name that does not exist, with the nearest one and the list of all."""
    known = sorted(known)
    near = difflib.get_close_matches(str(name), known, n=1)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    return UnknownNameError(f"no {kind} {name!r}{hint}; there are: {', '.join(known)}")


def lookup(kind: str, registry: Mapping[str, str], name: str) -> Any:
    """The attribute registered under `name`; `kind` is the word used in the error."""
    if name not in registry:
        raise unknown(kind, name, registry)
    module, _, attribute = registry[name].partition(":")
    return getattr(importlib.import_module(module), attribute)


def names_in(place: str) -> list[str]:
    """The names in a registry, "module:REGISTRY"; a function there gives them."""
    module, _, attribute = place.partition(":")
    registry = getattr(importlib.import_module(module), attribute)
    return list(registry() if callable(registry) else registry)
