"""Where the rows of a classifier come from: arrays in memory, or a file that is read once per pass.

A structure asks for `sample`, to find cut points, and then for as many passes of coded batches as it needs; it never
sees whether the rows fit into memory. A file is read once before that: for the levels of its columns, for which of them
have missing values, and for a uniform sample of its rows of given size. The first pass codes the rows and puts them
`aside`, a byte a value, for those that follow; only one block of them is ever in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import DataError, UnsupportedError
from optbn.base.numbers import counted
from optbn.base.registry import unknown
from optbn.classifiers.aside import Coded
from optbn.classifiers.pairs import Batch
from optbn.classifiers.reservoir import Reservoir
from optbn.data.anything import with_weights
from optbn.data.column import Known
from optbn.data.dataset import Categorical, Real
from optbn.data.discretise.table import Table, Values, code_type
from optbn.data.discretise.transformer import Column, Discretizer
from optbn.data.encode import Encoder
from optbn.data.findings import refuse
from optbn.data.missing import Encoded
from optbn.data.read import encoded_blocks, options, survey
from optbn.data.schema import Schema
from optbn.data.source import open_source

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

    def once(self, discretizer: Discretizer) -> Iterator[Batch]:
        """One pass over all rows, coded."""

    def batches(self, discretizer: Discretizer) -> Callable[[], Iterator[Batch]]:
        """A function that makes a pass over all rows, coded, as often as it is called."""


@dataclass(frozen=True, eq=False)
class InMemory:
    """Rows in memory."""

    table: Table
    classes: NDArray[np.int64]
    weights: NDArray[np.float64]
    n_classes: int

    @property
    def n_rows(self) -> int:
        return len(self.classes)

    def sample(self) -> Sample:
        return self.table, self.classes, self.weights

    def once(self, discretizer: Discretizer) -> Iterator[Batch]:
        yield discretizer.encode(self.table), self.classes, self.weights

    def batches(self, discretizer: Discretizer) -> Callable[[], Iterator[Batch]]:
        held = list(self.once(discretizer))
        return lambda: iter(held)

    def take(self, rows: NDArray[np.int64]) -> InMemory:
        """Some of the rows, perhaps repeatedly."""
        return InMemory([v.take(rows) for v in self.table], self.classes[rows], self.weights[rows], self.n_classes)


class OnDisk:
    """The rows of a file, by pass. `classes` are the levels of the target, `names` the attributes; a column `weights`
    says how many rows each row counts for, and is no attribute."""

    def __init__(
        self, path: Any, target: str, schema: Any, sample_size: int, seed: int, progress: Callable[[int], None] | None,
        how: Mapping[str, Any], weights: str | None = None,
    ) -> None:  # fmt: skip

        if isinstance(sample_size, bool) or not isinstance(sample_size, int | np.integer) or sample_size < 1:
            raise UnsupportedError(f"sample_size={sample_size!r}: expected a whole number of rows, 1 or more")
        self._path, self._how = path, {key: value for key, value in how.items() if key != "strict"}
        self._progress = progress
        source = self._open()
        self.where = source.where
        if target not in source.names:
            raise DataError(f"{self.where}: {unknown('column', target, source.names)}")
        if weights is not None and (weights not in source.names or weights == target):
            others = [name for name in source.names if name != target]
            raise DataError(f"{self.where}: {unknown('column of weights', weights, others)}")
        declared = Schema.of(schema if weights is None else with_weights(schema, weights))
        if declared.columns.get(target) == "ignore":
            raise DataError(f"{self.where}: the target {target!r} is ignored by the schema")
        reservoir = Reservoir(sample_size, np.random.default_rng(seed))
        columns = survey(self._watched(source, reservoir), declared, keep=False)
        findings = [*source.findings, *(finding for column in columns for finding in column.findings)]
        refuse(self.where, findings, bool(how.get("strict")))
        found = {column.name: column for column in columns if not column.ignored}
        if target not in found:
            raise DataError(f"{self.where}: the target {target!r} only names the rows")
        self.known = {name: Known(column.domain, column.written) for name, column in found.items()}
        self._weights = weights
        if weights is not None:
            check_weights(self.where, found.get(weights), weights)
        self.target = target
        domain = found[target].domain
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
        self.names = tuple(name for name in self.known if name not in (target, weights))
        if not self.names:
            raise DataError(f"{self.where}: there is no column besides the target {target!r}")
        self._incomplete = {name for name in self.names if found[name].n_missing}
        chosen = Encoder(source.where, self.known, source.tokens)
        for batch in reservoir.batches():
            chosen.add(batch.select(list(self.known)))
        sampled = {column.name: column for column in chosen.finish()}
        self._sample, self._sample_classes, self._sample_weights = self._rows_of(sampled)
        if weights is not None:
            self.n_rows = sum(len(classes) for _, classes, _ in self.blocks())  # those of weight 0 do not exist

    def _watched(self, source: Any, reservoir: Reservoir) -> Any:
        """The source, of whose first pass the reservoir draws its rows."""
        self.n_rows, begun = 0, False

        def rows(wanted: Sequence[str]) -> Iterator[Any]:
            nonlocal begun
            if begun:
                yield from source.rows(wanted)
                return
            begun = True
            for batch in source.rows(wanted):
                yield batch
                for begin in range(0, batch.num_rows, ROWS):
                    part = batch.slice(begin, ROWS)
                    reservoir.add(part)
                    self.n_rows += part.num_rows
                    if self._progress is not None:
                        self._progress(self.n_rows)

        return replace(source, rows=rows)

    def _open(self) -> Any:
        return open_source(self._path, options(**self._how))

    def blocks(self) -> Iterator[Sample]:
        """Attributes, classes and weights of consecutive rows."""
        first = 0
        for block in encoded_blocks(self._open(), self.known, ROWS):
            first += len(block[0].values)
            yield self._rows_of({column.name: column for column in block})
            if self._progress is not None:
                self._progress(first)

    def _rows_of(self, columns: Mapping[str, Encoded]) -> Sample:
        """Those of weight 0 do not exist."""
        table, classes = [_values(columns[name]) for name in self.names], columns[self.target].values.astype(np.int64)
        if self._weights is None:
            return table, classes, np.ones(len(classes))
        weights = columns[self._weights].values.astype(np.float64)
        some = np.flatnonzero(weights > 0)
        return [each.take(some) for each in table], classes[some], weights[some]

    def drawn(self) -> Sample:
        """The sample as the file has it."""
        return self._sample, self._sample_classes, self._sample_weights

    def sample(self) -> Sample:
        return [self._with_missing(values) for values in self._sample], self._sample_classes, self._sample_weights

    def _with_missing(self, values: Values) -> Values:
        """A column with missing values anywhere has them in the sample, so that they get a level."""
        if values.name not in self._incomplete or not len(values) or values.absent().any():
            return values
        data = values.data.copy()
        data[0] = np.nan if values.levels is None else -1
        return Values(values.name, data, values.levels)

    def once(self, discretizer: Discretizer) -> Iterator[Batch]:
        for table, classes, weights in self.blocks():
            yield discretizer.encode(table), classes, weights

    def batches(self, discretizer: Discretizer) -> Callable[[], Iterator[Batch]]:
        return Coded(lambda: self.once(discretizer), self._progress)


def check_weights(where: str, column: Any, name: str) -> None:
    """Refuse a column that has something else than weights."""
    if column is None or not isinstance(column.domain, Real):
        raise DataError(f"{where}: column {name!r} has no numbers, so it cannot be weights")
    if column.n_missing:
        absent = counted(column.n_missing, "missing value")
        raise DataError(f"{where}: column {name!r} has {absent}, and every row needs a weight")
    if column.domain.low < 0 or not np.isfinite(column.domain.high):
        worst = column.domain.low if column.domain.low < 0 else column.domain.high
        raise DataError(f"{where}: column {name!r} has the weight {worst:g}, which is not a number of at least 0")
    if column.domain.high == 0:
        raise DataError(f"{where}: column {name!r}: all weights are 0, so no row counts")


def tables(path: Any, columns: Sequence[Column], how: Mapping[str, Any]) -> Iterator[list[Values]]:
    """The named columns of a file in blocks of rows, in this order; other columns are not looked at."""
    source = open_source(path, options(**how))
    known: dict[str, Any] = {}
    for column in columns:
        if column.name not in source.names:
            raise DataError(f"{source.where}: {unknown('column', column.name, source.names)}")
        known[column.name] = Known("categorical" if column.levels is not None else "real")
    for block in encoded_blocks(source, known, ROWS):
        found = {column.name: column for column in block}
        yield [_values(found[name]) for name in known]


def _values(column: Encoded) -> Values:
    if not isinstance(column.domain, Categorical):
        return Values(column.name, column.values)
    codes = column.values.astype(code_type(len(column.domain.levels)))
    codes[codes == len(column.domain.levels)] = -1
    return Values(column.name, codes, column.domain.levels)
