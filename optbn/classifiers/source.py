"""Where the rows of a classifier come from: arrays in memory, or a file that is read once per pass.

A structure asks for `sample`, to find cut points, and then for as many passes of coded batches as it needs; it never
sees whether the rows fit into memory. A file is read once before that: for the levels of its columns, for which of them
have missing values, and for a uniform sample of its rows of given size. The rows are encoded again in every pass, so
nothing grows with their number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import DataError, UnsupportedError
from optbn.base.numbers import counted
from optbn.classifiers.pairs import Batch
from optbn.classifiers.reservoir import Reservoir
from optbn.data.dataset import Categorical
from optbn.data.discretise.table import Table, Values, code_type
from optbn.data.discretise.transformer import Column, Discretizer
from optbn.data.missing import Encoded

Sample = tuple[Table, NDArray[np.int64], NDArray[np.float64]]
"""Columns, classes, weights."""

ROWS = 65_536
"""Rows of a file that are encoded at a time."""


class Source(Protocol):
    @property
    def n_classes(self) -> int: ...

    @property
    def n_rows(self) -> int: ...

    def sample(self) -> Sample:
        """Rows to find cut points from."""

    def batches(self, discretizer: Discretizer) -> Callable[[], Iterator[Batch]]:
        """A function that makes one pass over all rows, coded."""


@dataclass(frozen=True, eq=False)
class InMemory:
    """Rows that are there."""

    table: Table
    classes: NDArray[np.int64]
    weights: NDArray[np.float64]
    n_classes: int

    @property
    def n_rows(self) -> int:
        return len(self.classes)

    def sample(self) -> Sample:
        return self.table, self.classes, self.weights

    def batches(self, discretizer: Discretizer) -> Callable[[], Iterator[Batch]]:
        codes = discretizer.encode(self.table)
        return lambda: iter([(codes, self.classes, self.weights)])

    def take(self, rows: NDArray[np.int64]) -> InMemory:
        """Some of the rows, perhaps repeatedly."""
        return InMemory([v.take(rows) for v in self.table], self.classes[rows], self.weights[rows], self.n_classes)


class OnDisk:
    """The rows of a file, by pass. `classes` are the levels of the target, `names` the attributes."""

    def __init__(
        self, path: Any, target: str, schema: Any, sample_size: int, seed: int, progress: Callable[[int], None] | None,
        how: Mapping[str, Any],
    ) -> None:  # fmt: skip
        from optbn.data.encode import Encoder
        from optbn.data.read import wanted
        from optbn.data.schema import Schema

        if isinstance(sample_size, bool) or not isinstance(sample_size, int | np.integer) or sample_size < 1:
            raise UnsupportedError(f"sample_size={sample_size!r}: expected a whole number of rows, 1 or more")
        self._path, self._how = path, how
        self._progress = progress
        source = self._open()
        self.where = source.where
        if target not in source.names:
            from optbn.base.registry import unknown

            raise DataError(f"{self.where}: {unknown('column', target, source.names)}")
        said = wanted(source, Schema.of(schema), None)
        if target not in said:
            raise DataError(f"{self.where}: the target {target!r} is ignored by the schema")
        survey = Encoder(source.where, said, source.levels_given, source.tokens, keep=False)
        reservoir = Reservoir(sample_size, np.random.default_rng(seed))
        for batch in source.rows(list(said)):
            for begin in range(0, batch.num_rows, ROWS):
                part = batch.slice(begin, ROWS)
                survey.add(part)
                reservoir.add(part)
                if progress is not None:
                    progress(survey.rows)
        if not survey.rows:
            raise DataError(f"{self.where}: there are no rows")
        self.n_rows = survey.rows
        found = {column.name: column for column in survey.finish()}
        self.said = {name: column.domain for name, column in found.items()}
        self.target = target
        domain = self.said[target]
        if not isinstance(domain, Categorical):
            raise DataError(
                f"{self.where}: the target {target!r} is real; declare it in the schema as categorical, "
                f'{{"{target}": "categorical"}}, if its values are classes'
            )
        if found[target].n_missing:
            absent = counted(found[target].n_missing, "missing value")
            raise DataError(f"{self.where}: the target {target!r} has {absent}")
        self.classes = domain.levels
        self.n_classes = len(domain.levels)
        self.names = tuple(name for name in self.said if name != target)
        if not self.names:
            raise DataError(f"{self.where}: there is no column besides the target {target!r}")
        self._incomplete = {name for name in self.names if found[name].n_missing}
        chosen = Encoder(source.where, self.said, source.levels_given, source.tokens)
        for batch in reservoir.batches():
            chosen.add(batch)
        columns = {column.name: column for column in chosen.finish()}
        self._sample = [_values(columns[name]) for name in self.names]
        self._sample_classes = columns[target].values.astype(np.int64)
        for values in self._sample:
            self._keep_missing(values)

    def _open(self) -> Any:
        from optbn.data.source import Options, open_source

        return open_source(self._path, Options(**self._how))

    def _blocks(self) -> Iterator[tuple[list[Values], NDArray[np.int64]]]:
        """Attributes and classes of consecutive rows."""
        from optbn.data.encode import Encoder

        source = self._open()
        encoder, first = None, 0
        for batch in source.rows(list(self.said)):
            for begin in range(0, batch.num_rows, ROWS):
                encoder = Encoder(source.where, self.said, source.levels_given, source.tokens, first_row=first)
                part = batch.slice(begin, ROWS)
                encoder.add(part)
                first += part.num_rows
                columns = {column.name: column for column in encoder.finish()}
                yield [_values(columns[name]) for name in self.names], columns[self.target].values.astype(np.int64)
                if self._progress is not None:
                    self._progress(first)

    def sample(self) -> Sample:
        return self._sample, self._sample_classes, np.ones(len(self._sample_classes))

    def _keep_missing(self, values: Values) -> None:
        """A column with missing values anywhere has them in the sample, so that they get a level."""
        if values.name in self._incomplete and len(values) and not values.absent().any():
            values.data[0] = np.nan if values.levels is None else -1

    def batches(self, discretizer: Discretizer) -> Callable[[], Iterator[Batch]]:
        def one_pass() -> Iterator[Batch]:
            for table, y in self._blocks():
                yield discretizer.encode(table), y, np.ones(len(y))

        return one_pass


def tables(path: Any, columns: Sequence[Column], how: Mapping[str, Any]) -> Iterator[list[Values]]:
    """The named columns of a file in blocks of rows, in this order; other columns are not looked at."""
    from optbn.base.registry import unknown
    from optbn.data.encode import Encoder
    from optbn.data.source import Options, open_source

    source = open_source(path, Options(**how))
    said: dict[str, Any] = {}
    for column in columns:
        if column.name not in source.names:
            raise DataError(f"{source.where}: {unknown('column', column.name, source.names)}")
        said[column.name] = "categorical" if column.levels is not None else "real"
    first = 0
    for batch in source.rows(list(said)):
        for begin in range(0, batch.num_rows, ROWS):
            encoder = Encoder(source.where, said, source.levels_given, source.tokens, first_row=first)
            part = batch.slice(begin, ROWS)
            encoder.add(part)
            first += part.num_rows
            found = {column.name: column for column in encoder.finish()}
            yield [_values(found[name]) for name in said]
    if not first:
        raise DataError(f"{source.where}: there are no rows")


def _values(column: Encoded) -> Values:
    if not isinstance(column.domain, Categorical):
        return Values(column.name, column.values)
    codes = column.values.astype(code_type(len(column.domain.levels)))
    codes[codes == len(column.domain.levels)] = -1
    return Values(column.name, codes, column.domain.levels)
