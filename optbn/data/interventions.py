"""Which variables an experiment set, row by row: such a row says nothing about how that variable comes about.

    one column    its cells name the variables that were set, separated by ; (empty, or a missing value: none)
    a column per variable    0/1, yes/no or true/false: whether that variable was set

The columns that say so are not variables of the network.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import DataError
from optbn.data.dataset import Categorical, Dataset
from optbn.data.policies import LEVEL, MissingLike

TargetsLike = str | Mapping[str, str]
"""The column that names the targets, or {variable: the column that says whether it was set}."""

NOTHING = ("", "none", "observational", "-", "na", "nan", "?", LEVEL)
YES, NO = ("1", "1.0", "true", "yes", "y"), ("0", "0.0", "false", "no", "n", *NOTHING)


@dataclass(frozen=True, eq=False)
class Interventions:
    """bool[N] per variable that was ever set: the rows in which it was. `Interventions({})`: nothing was set."""

    rows: Mapping[str, NDArray[np.bool_]]

    @property
    def targets(self) -> frozenset[frozenset[str]]:
        """The different sets of variables that were set together; the empty set where some row is observational."""
        if not self.rows:
            return frozenset([frozenset()])
        names = list(self.rows)
        patterns = np.unique(np.stack([self.rows[name] for name in names], axis=1), axis=0)
        return frozenset(frozenset(name for name, on in zip(names, row, strict=True) if on) for row in patterns)

    @property
    def digest(self) -> str:
        """A name for these rows: two that are equal have one digest."""
        made = hashlib.sha256()
        for name in sorted(self.rows):
            made.update(name.encode() + b"\0" + np.packbits(self.rows[name]).tobytes())
        return made.hexdigest()[:16]

    def counting(self, name: str) -> NDArray[np.bool_] | None:
        """bool[N]: the rows that count for a variable, None for all."""
        return ~self.rows[name] if name in self.rows else None

    def __bool__(self) -> bool:
        return bool(self.rows)


def columns_of(targets: TargetsLike) -> list[str]:
    """The columns that say what was set."""
    return [targets] if isinstance(targets, str) else list(targets.values())


def reading_targets(missing: MissingLike, targets: TargetsLike) -> MissingLike:
    """How to treat missing values where an empty cell of these columns means that nothing was set."""
    levels = dict.fromkeys(columns_of(targets), "as_level")
    if isinstance(missing, str):
        return ", ".join([missing, *(f"{column}={policy}" for column, policy in levels.items())])
    return {**missing, **levels}


def without_targets(data: Dataset, targets: TargetsLike) -> tuple[Dataset, Interventions]:
    """The data without the columns that name targets, and what these say."""
    columns = columns_of(targets)
    for column in columns:
        if column not in data.names:
            raise DataError(f"there is no column {column!r} to take the targets of interventions from")
    variables = tuple(name for name in data.names if name not in columns)
    rows = _named(data, targets, variables) if isinstance(targets, str) else _flagged(data, targets, variables)
    return data.select(variables), Interventions({name: mask for name, mask in rows.items() if mask.any()})


def _named(data: Dataset, column: str, variables: tuple[str, ...]) -> dict[str, NDArray[np.bool_]]:
    """The rows of each variable from a column of names."""
    rows = {name: np.zeros(data.n_rows, dtype=np.bool_) for name in variables}
    codes = data.column(column)
    for level, text in enumerate(_levels(data, column)):
        for name in re.split(r"[;|]", text):
            name = name.strip()
            if name in rows:
                rows[name] |= codes == level
            elif name.lower() not in NOTHING:
                at = f", row {int(np.argmax(codes == level)) + 1}" if data.weights is None else ""  # rows are left out
                raise DataError(f"column {column!r}{at}: {name!r} was set, but it is not a variable of the data")
    return rows


def _flagged(data: Dataset, targets: Mapping[str, str], variables: tuple[str, ...]) -> dict[str, NDArray[np.bool_]]:
    """The rows of each variable from a column that says yes or no."""
    rows = {}
    for name, column in targets.items():
        if name not in variables:
            raise DataError(f"column {column!r} says when {name!r} was set, but that is not a variable of the data")
        on = np.zeros(data.n_rows, dtype=np.bool_)
        for level, text in enumerate(_levels(data, column)):
            if text.strip().lower() in YES:
                on |= data.column(column) == level
            elif text.strip().lower() not in NO:
                raise DataError(f"column {column!r}: {text!r} is neither yes nor no (1, 0, yes, no, true, false)")
        rows[name] = on
    return rows


def _levels(data: Dataset, column: str) -> tuple[str, ...]:
    domain = data.domain(column)
    if not isinstance(domain, Categorical):
        raise DataError(f"column {column!r} is real, and cannot name the targets of interventions; declare its levels")
    return tuple(str(level) for level in domain.levels)
