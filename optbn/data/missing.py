"""Missing values: what counts as one, and the five things that can be done about it.

Readers refuse data with missing values, naming the counts, until the user has chosen (`learn` chooses `value`):

    refuse     a DataError with the number per column
    value      it is a value like others: a level of a categorical column, no number in a real one. Nothing is invented
               and no row is left out; a real variable's leaves are a share of rows without a number and a distribution
               of the numbers of the others, and as a parent it is parted into those with and those without one first
    as_level   "missing" becomes one more level of a categorical column (or the declared level of that name)
    drop       rows with a missing value are left out
    impute     the most frequent level (the first of equals), or the median

In text files a value is missing when it is one of `TOKENS` and not a declared level of its column; "None" and "." are
not among them, since real data use both as levels. Typed files have nulls of their own (and NaN), and no tokens.
One policy holds for all columns, with exceptions if need be: "as_level, age=impute"; or a mapping gives one per column,
{"age": "impute", "job": "as_level"}, and the others refuse.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import DataError
from optbn.base.numbers import counted
from optbn.base.registry import unknown
from optbn.data.arrays import code_dtype
from optbn.data.dataset import Categorical, Dataset, Domain, Real
from optbn.data.findings import Finding
from optbn.data.policies import LEVEL, POLICIES, MissingLike
from optbn.data.schema import PLAIN, Written

AS_VALUE = f"a value like others (the level {LEVEL!r}, or no number)"
"""What becomes of missing cells where missing is a value."""


@dataclass(frozen=True)
class Encoded:
    """A column as read: codes with len(levels) standing for missing, or float64 with NaN for missing.

    written   how its values are written, where the reader inferred it
    findings  what was noticed
    ignored   it is no variable
    """

    name: str
    domain: Domain
    values: NDArray[Any]
    n_missing: int
    written: Written = PLAIN
    findings: tuple[Finding, ...] = ()
    ignored: bool = False

    def absent(self) -> NDArray[np.bool_]:
        """Which rows have no value."""
        rows: NDArray[np.bool_]
        if isinstance(self.domain, Categorical):
            rows = self.values == len(self.domain.levels)
        else:
            rows = np.isnan(self.values)
        return rows


def policies(missing: MissingLike, names: Sequence[str]) -> dict[str, str]:
    """The policy of each column; a policy or column that does not exist is refused."""
    if not isinstance(missing, str | Mapping):
        raise DataError(
            f"missing = {missing!r}; expected one of {', '.join(POLICIES)}, or a mapping of columns to them"
        )
    known, default = set(names), "refuse"
    chosen = {}
    if isinstance(missing, str):
        for part in missing.split(","):
            name, sign, policy = part.strip().rpartition("=")
            if sign:
                chosen[name] = policy
            else:
                default = policy
    else:
        chosen = dict(missing)
    if default not in POLICIES:
        raise unknown("way to treat missing values", default, POLICIES)
    for name, policy in chosen.items():
        if name not in known:
            raise unknown("column", name, names)
        if policy not in POLICIES:
            raise unknown("way to treat missing values", str(policy), POLICIES)
    return {name: chosen.get(name, default) for name in names}


def resolve(
    where: str, columns: list[Encoded], missing: MissingLike, closed: Collection[str] = ()
) -> tuple[Dataset, list[Finding]]:
    """The Dataset of these columns, with their missing values treated, and what was done; to the `closed` ones no level
    may be added. Empties the list as it goes, to save memory."""
    chosen = policies(missing, [column.name for column in columns])
    refuse_missing(where, columns, chosen)
    dropped = [column.absent() for column in columns if column.n_missing and chosen[column.name] == "drop"]
    keep = ~np.logical_or.reduce(dropped) if dropped else None
    done = _done(columns, chosen, keep)
    names, domains, values = [], [], []
    columns.reverse()
    while columns:
        column = columns.pop()
        domain = domain_after(where, column, chosen[column.name], closed)
        array = _filled(where, column, domain, chosen[column.name]) if column.n_missing else column.values
        if keep is not None:
            array = array[keep]
        if isinstance(domain, Categorical):
            array = array.astype(code_dtype(len(domain.levels)), copy=False)
        names.append(column.name)
        domains.append(domain)
        values.append(array)
    return Dataset(tuple(names), tuple(domains), tuple(values)), done


def _done(columns: Sequence[Encoded], chosen: Mapping[str, str], keep: NDArray[np.bool_] | None) -> list[Finding]:
    """What becomes of the missing values, with numbers."""
    done = []
    if keep is not None:
        gone = int(len(keep) - keep.sum())
        if gone:
            done.append(Finding("certain", f"{gone:,} of {counted(len(keep), 'row')} left out for missing values"))
    words = {
        "impute": "filled with the most frequent level or the median",
        "as_level": f"the level {LEVEL!r}",
        "value": AS_VALUE,
    }
    for policy, what in words.items():
        there = [column for column in columns if column.n_missing and chosen[column.name] == policy]
        if there:
            cells = sum(column.n_missing for column in there)
            of = f"{counted(cells, 'missing cell')} of {counted(len(there), 'column')}"
            done.append(Finding("certain", f"{of}: {what}"))
    return done


def refuse_missing(where: str, columns: Sequence[Encoded], chosen: Mapping[str, str]) -> None:
    """Raise one line that names the columns with missing values nobody decided about, their counts and the ways out."""
    counts = {c.name: c.n_missing for c in columns if _is_open(c) and chosen[c.name] == "refuse"}
    if not counts:
        _refuse_levels(where, [c.name for c in columns if _has_no_levels(c, chosen[c.name])])
        return
    listed = sorted(counts.items(), key=lambda item: -item[1])
    shown = ", ".join(f"{name!r} {count:,}" for name, count in listed[:8])
    more = f" and {len(listed) - 8} more columns" if len(listed) > 8 else ""
    raise DataError(
        f"{where}: {counted(sum(counts.values()), 'missing value')} ({shown}{more}); "
        "choose what to do with them: missing = value, drop or impute (--missing on the command line)"
    )


def _is_open(column: Encoded) -> bool:
    """Whether it has missing values that its domain does not know of."""
    return bool(column.n_missing) and not (isinstance(column.domain, Real) and column.domain.absent)


def _has_no_levels(column: Encoded, policy: str) -> bool:
    return bool(column.n_missing) and policy == "as_level" and not isinstance(column.domain, Categorical)


def _refuse_levels(where: str, real: Sequence[str]) -> None:
    """Real columns get no level more: name them all, and what to write for them."""
    if not real:
        return
    columns = f"column {real[0]!r} is" if len(real) == 1 else f"columns {', '.join(map(repr, real))} are"
    apart = ", ".join(f"{name}=impute" for name in real)
    raise DataError(
        f"{where}: {columns} real, so as_level does not apply; use drop or impute, "
        f"for {'it' if len(real) == 1 else 'them'} alone by missing = 'as_level, {apart}'"
    )


def domain_after(where: str, column: Encoded, policy: str, closed: Collection[str]) -> Domain:
    """The domain once missing values are treated: as_level may add a level."""
    if not column.n_missing or policy not in ("as_level", "value"):
        return column.domain
    if isinstance(column.domain, Real) and policy == "value":
        return replace(column.domain, absent=True)
    assert isinstance(column.domain, Categorical), "refused before"
    if LEVEL in column.domain.levels:
        return column.domain
    if column.name in closed:
        raise DataError(
            f"{where}: column {column.name!r} has missing values and its declared levels do not include {LEVEL!r}; "
            "declare it, or use drop or impute"
        )
    return Categorical((*column.domain.levels, LEVEL), column.domain.ordered)


def _filled(where: str, column: Encoded, domain: Domain, policy: str) -> NDArray[Any]:
    """The values with something in place of each missing one (anything in range where its row is about to go)."""
    absent = column.absent()
    if isinstance(domain, Real) and domain.absent and policy in ("value", "refuse"):
        return column.values
    if policy == "impute" and absent.all():
        raise DataError(
            f'{where}: column {column.name!r} has no values at all; leave it out (--ignore, or "ignore" in the schema)'
        )
    fill: float
    if isinstance(domain, Categorical):
        size = len(column.domain.levels) if isinstance(column.domain, Categorical) else 0
        if policy in ("as_level", "value"):
            fill = domain.levels.index(LEVEL)
        else:
            fill = int(np.bincount(column.values, minlength=size)[:size].argmax()) if size else 0
    else:
        fill = float(np.median(column.values[~absent])) if policy == "impute" else domain.low
    return np.where(absent, column.values.dtype.type(fill), column.values)
