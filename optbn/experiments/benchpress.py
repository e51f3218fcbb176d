"""The files of benchpress (Rios, Moffa, Kuipers 2021), a platform that benchmarks structure learners.

Data: csv; where columns are categorical, the second line has the number of levels of each, which are 0, 1, ...; an
empty field is missing; hard interventions are columns of repeated names at the right. Constraints ("edgeConstraints")
are read by `optbn.learning.constraint_files`.
A module writes the graph as a matrix with a line of names, its seconds, and its number of tests ("None" here); when its
time is up, an empty matrix.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from os import PathLike
from typing import Any

import numpy as np

from optbn.base.errors import DataError, UnsupportedError
from optbn.data.dataset import Dataset

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
