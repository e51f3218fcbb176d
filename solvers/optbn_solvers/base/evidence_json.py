"""Evidence as JSON: every class of base.solution as a structure of the same fields, tagged where several may stand.

The classes are the one definition. Their structures are made of them here: JSON needs the tags, and solving does
without msgspec.
"""

from __future__ import annotations

import functools
import operator
from dataclasses import MISSING, fields
from types import UnionType
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

import msgspec

from optbn_solvers.base.solution import (
    ClauseRow,
    ClusterRow,
    Evidence,
    Exhausted,
    LimitRow,
    Literal,
    Part,
    Parts,
    Proof,
    RowBound,
    SubsetRow,
    Tree,
)

# each class after those it is made of, with the field that says which one it is
TAGS: dict[type, tuple[str | None, str | None]] = {
    Literal: (None, None),
    ClusterRow: ("row", "cluster"),
    SubsetRow: ("row", "subset"),
    ClauseRow: ("row", "clause"),
    LimitRow: ("row", "limit"),
    RowBound: ("kind", "rows"),
    Proof: ("kind", "proof"),
    Tree: ("kind", "tree"),
    Exhausted: ("kind", "exhausted"),
    Part: (None, None),
    Parts: ("kind", "parts"),
}
STRUCTURES: dict[Any, Any] = {}


def _with_structures(hint: Any) -> Any:
    """A type with structures in place of the classes in it."""
    if hint in STRUCTURES or not get_args(hint):
        return STRUCTURES.get(hint, hint)
    inner = tuple(map(_with_structures, get_args(hint)))
    return functools.reduce(operator.or_, inner) if isinstance(hint, UnionType) else get_origin(hint)[inner]


def _structure(kind: type, tag_field: str | None, tag: str | None) -> type[msgspec.Struct]:
    """The structure of a class."""
    hints = get_type_hints(kind)
    own = [
        (each.name, _with_structures(hints[each.name]), *(() if each.default is MISSING else (each.default,)))
        for each in fields(kind)
    ]
    return msgspec.defstruct(kind.__name__, own, tag_field=tag_field, tag=tag)


for _kind, _tag in TAGS.items():
    STRUCTURES[_kind] = _structure(_kind, *_tag)
CLASSES = {structure: kind for kind, structure in STRUCTURES.items()}

if TYPE_CHECKING:
    AnyEvidence = Any  # a union of types that are made above
else:
    AnyEvidence = _with_structures(Evidence)


def written(evidence: Evidence) -> AnyEvidence:
    """Evidence as structures that JSON can hold."""
    return _across(evidence, STRUCTURES)


def read(evidence: AnyEvidence) -> Evidence:
    """The evidence again."""
    found: Evidence = _across(evidence, CLASSES)
    return found


def _across(value: Any, to: dict[Any, Any]) -> Any:
    """A value on the other side, with all that it holds."""
    if type(value) in to:
        names = value.__struct_fields__ if isinstance(value, msgspec.Struct) else value.__match_args__
        return to[type(value)](*(_across(getattr(value, name), to) for name in names))
    if isinstance(value, tuple) and value and (type(value[0]) in to or isinstance(value[0], tuple)):
        return tuple(_across(each, to) for each in value)
    return value
