"""Missing values: what counts as one, and the four things that can be done about it.

A Dataset has none. Readers therefore refuse data with missing values, naming the counts, until the user has chosen:

    refuse     (the default) a DataError with the number per column
    as_level   "missing" becomes one more level of a categorical column (or the declared level of that name)
    drop       rows with a missing value are left out
    impute     the most frequent level (the first of equals), or the median

In text files a value is missing when it is one of `TOKENS` and not a declared level of its column; "None" and "." are
not among them, since real data use both as levels. Typed files have nulls of their own (and NaN), and no tokens.
One policy holds for all columns, or a mapping gives one per column: {"age": "impute", "job": "as_level"}.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from optbn.data.dataset import Categorical, Dataset, Domain, code_dtype
from optbn.errors import DataError

TOKENS: tuple[str, ...] = ("", "?", "NA", "N/A", "<NA>", "NaN", "nan", "null", "NULL")
LEVEL = "missing"
POLICIES = ("refuse", "as_level", "drop", "impute")

Policy = Literal["refuse", "as_level", "drop", "impute"]
MissingLike = str | Mapping[str, str]

_log = logging.getLogger("optbn.data")


@dataclass(frozen=True)
class Encoded:
    """A column as read: codes with len(levels) standing for missing, or float64 with NaN for missing."""

    name: str
    domain: Domain
    values: NDArray[Any]
    closed: bool  # the levels were declared: none may be added

    @property
    def missing(self) -> NDArray[np.bool_]:
        absent: NDArray[np.bool_]
        if isinstance(self.domain, Categorical):
            absent = self.values == len(self.domain.levels)
            return absent
        absent = np.isnan(self.values)
        return absent


def policies(missing: MissingLike, names: Sequence[str]) -> dict[str, str]:
    """The policy of each column; a policy or column that does not exist is refused."""
    from optbn.registry import unknown

    chosen = {name: missing for name in names} if isinstance(missing, str) else dict(missing)
    for name, policy in chosen.items():
        if name not in names:
            raise unknown("column", name, names)
        if policy not in POLICIES:
            raise unknown("way to treat missing values", policy, POLICIES)
    if not names and isinstance(missing, str) and missing not in POLICIES:
        raise unknown("way to treat missing values", missing, POLICIES)
    return {name: chosen.get(name, "refuse") for name in names}


def resolve(where: str, columns: list[Encoded], missing: MissingLike) -> Dataset:
    """The Dataset of these columns, with their missing values treated. Empties the list as it goes, to save memory."""
    chosen = policies(missing, [column.name for column in columns])
    absent = {c.name: mask for c in columns if (mask := c.missing).any()}
    refused = {name: int(mask.sum()) for name, mask in absent.items() if chosen[name] == "refuse"}
    if refused:
        raise DataError(refusal(where, refused))
    keep: NDArray[np.bool_] | None = None
    dropped = [mask for name, mask in absent.items() if chosen[name] == "drop"]
    if dropped:
        keep = ~np.logical_or.reduce(dropped)
        rows, left = len(keep), int(keep.sum())
        if not left:
            raise DataError(f"{where}: no row is without a missing value, so drop would leave none; use impute")
        _log.info("%s: %d of %d rows dropped for missing values", where, rows - left, rows)
    names, domains, values = [], [], []
    columns.reverse()
    while columns:
        column = columns.pop()
        domain, array = _treat(where, column, chosen[column.name], absent.get(column.name))
        names.append(column.name)
        domains.append(domain)
        values.append(array if keep is None else array[keep])
    return Dataset(tuple(names), tuple(domains), tuple(values))


def refusal(where: str, counts: Mapping[str, int]) -> str:
    """One line that names the columns, their counts and the ways out."""
    listed = sorted(counts.items(), key=lambda item: -item[1])
    shown = ", ".join(f"{name!r} {count:,}" for name, count in listed[:8])
    more = f" and {len(listed) - 8} more columns" if len(listed) > 8 else ""
    return (
        f"{where}: {sum(counts.values()):,} missing values ({shown}{more}); "
        "choose what to do with them: missing = as_level, drop or impute"
    )


def _treat(where: str, column: Encoded, policy: str, absent: NDArray[np.bool_] | None) -> tuple[Domain, NDArray[Any]]:
    """Domain and values of one column under its policy (rows of `drop` are removed by the caller)."""
    domain, values = column.domain, column.values
    if isinstance(domain, Categorical):
        size = len(domain.levels)
        if absent is not None and policy == "as_level":
            if LEVEL in domain.levels:
                values = np.where(absent, domain.levels.index(LEVEL), values)
            elif column.closed:
                raise DataError(
                    f"{where}: column {column.name!r} has missing values but its declared levels "
                    f"do not include {LEVEL!r}; declare it, or use drop or impute"
                )
            else:
                domain, size = Categorical((*domain.levels, LEVEL), domain.ordered), size + 1
        elif absent is not None:
            values = np.where(absent, np.bincount(values, minlength=size)[:size].argmax(), values)
        return domain, values.astype(code_dtype(size), copy=False)
    if absent is not None and policy == "as_level":
        raise DataError(f"{where}: column {column.name!r} is real, so as_level does not apply; use drop or impute")
    if absent is not None and policy == "impute":
        values = np.where(absent, np.median(values[~absent]), values)
    elif absent is not None:  # these rows are about to be dropped; any value in range will do
        values = np.where(absent, domain.low, values)
    return domain, values
