"""The files of benchpress (Rios, Moffa, Kuipers 2021), a platform that benchmarks structure learners.

Data: csv; where columns are categorical, the second line has the number of levels of each, which are 0, 1, ...; an
empty field is missing; hard interventions are columns of repeated names at the right. Constraints ("edgeConstraints"):
JSON with arcs, groups and tiers; names that the data do not have are ignored, as one file may serve several data sets.
A module writes the graph as a matrix with a line of names, its seconds, and its number of tests ("None" here); when its
time is up, an empty matrix.
"""

from __future__ import annotations

import csv
import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from optbn.base.errors import DataError, UnsupportedError
from optbn.data.dataset import Dataset

if TYPE_CHECKING:
    from optbn.data.dataset import Dataset
    from optbn_solvers import Constraints

KEYS = {
    "forbidden_edges", "required_edges", "tiers", "tier_settings", "forbidden_groups", "required_groups",
    "context_all", "context_tier", "source_nodes",
}  # fmt: skip
NOTHING = "None"
"""What stands for nothing in its files and settings."""


def read_data(path: str | PathLike[str], discrete: bool | None = None, missing: str = "refuse") -> Dataset:
    """The rows of a data file. Without `discrete`, a second line of whole numbers above all values of their columns,
    which are whole numbers too, is taken for the numbers of levels."""
    with open(path, newline="", encoding="utf-8-sig") as file:
        rows = [row for row in csv.reader(file) if row]
    if len(rows) < 2:
        raise DataError(f"{path}: expected a line of names and rows below")
    names, body = [name.strip() for name in rows[0]], rows[1:]
    _refuse_interventions(path, names)
    for number, row in enumerate(body, 2):
        if len(row) != len(names):
            raise DataError(f"{path}, row {number}: {len(row)} fields, but there are {len(names)} names")
    sizes = _cardinalities(body)
    if discrete is None:
        discrete = sizes is not None
    if not discrete:
        columns = {name: _numbers(path, name, [row[i] for row in body]) for i, name in enumerate(names)}
        return Dataset.from_arrays(columns, schema=dict.fromkeys(names, "real"), missing=missing)
    if sizes is None:
        raise DataError(f"{path}: the second line of categorical data has the numbers of levels, and these are not")
    if len(body) < 2:
        raise DataError(f"{path}: there are names and numbers of levels, but no rows")
    levels = {name: [str(level) for level in range(size)] for name, size in zip(names, sizes, strict=True)}
    coded = {
        name: np.array([str(int(float(row[i]))) if row[i].strip() else None for row in body[1:]], dtype=object)
        for i, name in enumerate(names)
    }
    return Dataset.from_arrays(coded, schema=levels, missing=missing)


def read_constraints(path: str | PathLike[str], names: Sequence[str]) -> Constraints:
    """The constraints of a file, for these variables."""
    from optbn_solvers import Constraints

    try:
        record = json.loads(Path(path).read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: {error}") from None
    if not isinstance(record, dict) or not record.keys() <= KEYS:
        extra = sorted(record.keys() - KEYS) if isinstance(record, dict) else "no object"
        raise DataError(f"{path}: expected an object with the keys {', '.join(sorted(KEYS))}; found {extra}")
    try:
        tiers = [[name for name in tier if name in names] for tier in record.get("tiers") or ()]
        forbidden = {*_pairs(record, "forbidden"), *_between_tiers(tiers, record.get("tier_settings") or {})}
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


def _refuse_interventions(path: str | PathLike[str], names: Sequence[str]) -> None:
    first = list(dict.fromkeys(names))
    if len(first) == len(names):
        return
    targets = names[len(first) :]
    if names[: len(first)] == first and set(targets) <= set(first):
        listed = ", ".join(dict.fromkeys(targets))
        raise UnsupportedError(
            f"{path}: there are rows with interventions on {listed} (columns of repeated names), which cannot be scored"
            " yet; give the rows without interventions, and leave these columns out"
        )
    raise DataError(f"{path}: a name stands over two columns that are not those of interventions, at the right")


def _cardinalities(body: Sequence[Sequence[str]]) -> list[int] | None:
    """The second line, if it can be that: whole numbers, each above all values of its column, which are codes."""
    try:
        sizes = [int(field) for field in body[0]]
        codes = [[float(field) for field in column if field.strip()] for column in zip(*body[1:], strict=True)]
    except ValueError:
        return None
    good = all(all(value.is_integer() and 0 <= value < k for value in c) for k, c in zip(sizes, codes, strict=False))
    return sizes if good and min(sizes) >= 1 else None


def _numbers(path: str | PathLike[str], name: str, fields: Sequence[str]) -> Any:
    try:
        return np.array([float(field) if field.strip() else np.nan for field in fields])
    except ValueError as error:
        raise DataError(f"{path}, column {name!r}: {error}; expected numbers") from None


def _pairs(record: Mapping[str, Any], which: str) -> Iterator[tuple[str, str]]:
    """The arcs and the groups, every cause with every effect."""
    yield from ((u, v) for u, v in record.get(f"{which}_edges") or ())
    for group in record.get(f"{which}_groups") or ():
        yield from ((u, v) for u, v in itertools.product(group["cause"], group["effect"]) if u != v)


def _between_tiers(tiers: Sequence[Sequence[str]], settings: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The arcs that tiers forbid: backwards; within and beyond the next one where the settings say so."""
    within = settings.get("forbid_within_tiers") or settings.get("forbidden_within_tiers")
    only_next = settings.get("can_only_cause_next_tier")
    for i, j in itertools.product(range(len(tiers)), repeat=2):
        if j < i or (j == i and within) or (j > i + 1 and only_next):
            yield from ((u, v) for u, v in itertools.product(tiers[i], tiers[j]) if u != v)


def _context(
    record: Mapping[str, Any], tiers: Sequence[Sequence[str]], names: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """The arcs from context variables to all others, or to all others of their tier."""
    everywhere, local = set(record.get("context_all") or ()), set(record.get("context_tier") or ())
    context = everywhere | local
    for group, causes in ((names, everywhere), *((tier, local & set(tier)) for tier in tiers)):
        yield from ((u, v) for u, v in itertools.product(sorted(causes), group) if v not in context)
