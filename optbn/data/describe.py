"""What is in a table: kinds, levels with their counts, ranges, missing values. `optbn describe` prints it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from optbn.data.dataset import Categorical, Dataset
from optbn.data.findings import Finding, Grade
from optbn.data.missing import Encoded
from optbn.data.read import PathLike, Progress, options, survey
from optbn.data.remarks import notes
from optbn.data.schema import PLAIN, Declared, Schema, SchemaLike
from optbn.data.source import open_source
from optbn.data.texts import quoted


@dataclass(frozen=True)
class Levels:
    """A categorical or ordinal column: every declared level with its count, missing values apart."""

    name: str
    kind: str
    levels: tuple[str, ...]
    counts: tuple[int, ...]
    missing: int


@dataclass(frozen=True)
class Numbers:
    """A real column: its declared range, and its values in short (None without any)."""

    name: str
    kind: str
    range: tuple[float, float]
    mean: float | None
    sd: float | None
    quartiles: tuple[float, float, float] | None
    missing: int
    whole: bool = False
    unit: str = ""


@dataclass(frozen=True)
class Description:
    """A table in short; `schema` reads it, or another one like it, the same way again.

    findings  what was noticed, the doubtful first; columns that are left out stand here alone
    """

    source: str
    rows: int
    columns: tuple[Levels | Numbers, ...]
    schema: Schema
    findings: tuple[Finding, ...] = ()

    @property
    def missing(self) -> int:
        return sum(column.missing for column in self.columns)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        columns = [asdict(column) for column in self.columns]
        findings = [finding.to_dict() for finding in self.findings]
        return {"source": self.source, "rows": self.rows, "columns": columns, "findings": findings}

    @property
    def options(self) -> tuple[str, ...]:
        """What to write on the command line for the reading described, where it is doubtful."""
        return tuple(dict.fromkeys(pair for finding in self.findings for pair in _pairs(finding.settle)))


def describe(
    data: Dataset | PathLike, schema: SchemaLike = None, progress: Progress | None = None, **how: Any
) -> Description:
    """The description of a Dataset, or of a file as it stands, missing values and all; `how` are `source.Options`."""
    if isinstance(data, Dataset):
        parts = [
            Encoded(name, domain, values, 0)
            for name, domain, values in zip(data.names, data.domains, data.columns, strict=True)
        ]
        return Description("the data", data.n_rows, tuple(map(_column, parts)), data.schema)
    source = open_source(data, options(**how))
    declared = Schema.of(schema)
    found = survey(source, declared, progress=progress)
    kept = [part for part in found if not part.ignored]
    rows = len(kept[0].values) if kept else 0
    domains: dict[str, Declared] = {part.name: "ignore" if part.ignored else part.domain for part in found}
    written = {part.name: part.written for part in kept if part.written != PLAIN}
    inferred = [part.name for part in kept if part.name not in declared and part.name not in source.declared]
    findings = [*source.findings, *(finding for part in found for finding in part.findings)]
    findings += notes({part.name: part.domain for part in kept}, inferred, rows)
    ranked = sorted(findings, key=lambda finding: ORDER.index(finding.grade))
    return Description(source.where, rows, tuple(map(_column, kept)), Schema(domains, written), tuple(ranked))


ORDER: tuple[Grade, ...] = ("doubtful", "probable", "certain", "note")


def _pairs(words: tuple[str, ...]) -> list[str]:
    return [f"{option} {quoted(value)}" for option, value in zip(words[::2], words[1::2], strict=True)]


def _column(part: Encoded) -> Levels | Numbers:
    domain = part.domain
    if isinstance(domain, Categorical):
        size = len(domain.levels)
        counts = np.bincount(part.values, minlength=size)[:size]
        kind = "ordinal" if domain.ordered else "categorical"
        return Levels(part.name, kind, domain.levels, tuple(counts.tolist()), part.n_missing)
    values = part.values[~part.absent()] if part.n_missing else part.values
    span = (domain.low, domain.high)
    form = (bool(domain.whole), domain.unit)
    if not len(values):
        return Numbers(part.name, "real", span, None, None, None, part.n_missing, *form)
    exponent = int(np.frexp(np.abs(values).max())[1])  # scaled to below one, exactly: squares of 1e200 have no number
    small = np.ldexp(values, -exponent)
    numbers = np.ldexp([small.mean(), small.std(), *np.quantile(small, (0.25, 0.5, 0.75))], exponent).tolist()
    mean, sd, low, middle, high = numbers
    return Numbers(part.name, "real", span, mean, sd, (low, middle, high), part.n_missing, *form)
