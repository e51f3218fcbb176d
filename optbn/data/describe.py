"""What is in a table: kinds, levels with their counts, ranges, missing values. `optbn describe` prints it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from optbn.data.dataset import Categorical, Dataset
from optbn.data.missing import Encoded
from optbn.data.read import PathLike, Progress, encoded
from optbn.data.schema import Schema, SchemaLike
from optbn.data.source import Options, open_source


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


@dataclass(frozen=True)
class Description:
    """A table in short; `schema` reads it, or another one like it, the same way again."""

    source: str
    rows: int
    columns: tuple[Levels | Numbers, ...]
    schema: Schema

    @property
    def missing(self) -> int:
        return sum(column.missing for column in self.columns)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        columns = [asdict(column) for column in self.columns]
        return {"source": self.source, "rows": self.rows, "columns": columns}


def describe(
    data: Dataset | PathLike, schema: SchemaLike = None, progress: Progress | None = None, **how: Any
) -> Description:
    """The description of a Dataset, or of a file as it stands, missing values and all; `how` are `source.Options`."""
    if isinstance(data, Dataset):
        where, parts = (
            "the data",
            [
                Encoded(name, domain, values, 0)
                for name, domain, values in zip(data.names, data.domains, data.columns, strict=True)
            ],
        )
    else:
        source = open_source(data, Options(**how))
        where, parts = source.where, encoded(source, schema, progress)
    rows = len(parts[0].values) if parts else 0
    domains = Schema({part.name: part.domain for part in parts})
    return Description(where, rows, tuple(map(_column, parts)), domains)


def _column(part: Encoded) -> Levels | Numbers:
    domain = part.domain
    if isinstance(domain, Categorical):
        size = len(domain.levels)
        counts = np.bincount(part.values, minlength=size)[:size]
        kind = "ordinal" if domain.ordered else "categorical"
        return Levels(part.name, kind, domain.levels, tuple(counts.tolist()), part.n_missing)
    values = part.values[~part.absent()] if part.n_missing else part.values
    span = (domain.low, domain.high)
    if not len(values):
        return Numbers(part.name, "real", span, None, None, None, part.n_missing)
    exponent = int(np.frexp(np.abs(values).max())[1])  # scaled to below one, exactly: squares of 1e200 have no number
    small = np.ldexp(values, -exponent)
    told = np.ldexp([small.mean(), small.std(), *np.quantile(small, (0.25, 0.5, 0.75))], exponent).tolist()
    mean, sd, low, middle, high = told
    return Numbers(part.name, "real", span, mean, sd, (low, middle, high), part.n_missing)
