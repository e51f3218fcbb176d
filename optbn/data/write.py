"""Writing a Dataset, or a stream of them: csv and tsv for everybody, parquet and Arrow with the schema inside.

Text is quoted only where it must be; days and hours are written as dates and times of day. A csv file holds the levels
that occur, so the schema should go with it when the others matter (`data.schema.save`); parquet and Arrow files come
back exactly as they were.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet
from numpy.typing import NDArray

from optbn.base.errors import DataError
from optbn.base.files import check_writable
from optbn.base.registry import unknown
from optbn.data.anything import DataLike, as_dataset
from optbn.data.arrow import from_numpy, from_texts, to_arrow
from optbn.data.dataset import Categorical, Dataset, Domain, Real
from optbn_solvers.base.atomic import replacing

ROWS = 65_536
DAY = 86_400e6  # microseconds
STEPS = {"days": (-719_162 * DAY, 2_932_897 * DAY), "hours": (0.0, DAY)}
"""What can be written as a date (from the year 1 to 9999) or as a time of day, in microseconds."""
RESOLUTIONS: dict[Any, float] = {"D": DAY, "m": 60e6, "s": 1e6, "us": 1.0}


def write(
    data: DataLike | Iterable[Dataset], path: str | os.PathLike[str] | IO[bytes], format: str | None = None
) -> None:
    """Write the data (a Dataset, a data frame, arrays by name) to the file at `path`, in the format of its ending, or
    in `format`.

    "-" is csv to stdout, as is a binary stream. Several datasets with the same columns are written one after the other,
    as they come.
    """
    one = hasattr(data, "columns") or isinstance(data, Mapping | np.ndarray)
    blocks = _blocks(as_dataset(data) if one else data)  # type: ignore[arg-type]
    if hasattr(path, "write"):
        _writer(format or "csv")(blocks, path)
        return
    if path == "-":
        _writer(format or "csv")(blocks, sys.stdout.buffer)
        sys.stdout.buffer.flush()
        return
    path = Path(path)
    chosen = format or ENDINGS.get(path.suffix.lower())
    if chosen is None:
        raise DataError(f"{path}: unknown file ending {path.suffix!r}, expected one of {', '.join(ENDINGS)}")
    writer = _writer(chosen)

    check_writable(path)
    with replacing(path) as file:
        writer(blocks, file)


def _blocks(data: Dataset | Iterable[Dataset]) -> Iterator[Dataset]:
    """Datasets of moderate size; the first may have no rows, so that there is always one."""
    whole = [data] if isinstance(data, Dataset) else data
    first = None
    for one in whole:
        if first is None:
            first = one
            yield one.take(slice(0))
        if (one.names, one.domains) != (first.names, first.domains):
            raise DataError("the datasets to write into one file differ in their columns")
        for start in range(0, one.n_rows, ROWS):
            yield one.take(slice(start, start + ROWS))
    if first is None:
        raise DataError("there is no dataset to write")


def _writer(format: str) -> Callable[[Iterator[Dataset], Any], None]:
    if format not in WRITERS:
        raise unknown("data format to write", format, WRITERS)
    return WRITERS[format]


def _csv(blocks: Iterator[Dataset], file: IO[bytes], delimiter: str = ",") -> None:
    """Rows as text. Levels are quoted once, beforehand; Arrow joins the fields of each row, and with the line end as
    part of the last field the joined rows lie in memory as the file wants them."""
    first = next(blocks)
    file.write((delimiter.join(_quoted(name, delimiter) for name in first.names) + "\n").encode())
    ends = [""] * (first.n_variables - 1) + ["\n"]
    tables = [
        from_texts(_quoted(level, delimiter) + end for level in domain.levels)
        if isinstance(domain, Categorical)
        else None
        for domain, end in zip(first.domains, ends, strict=True)
    ]
    for block in blocks:
        fields = [
            _numbers(domain, values, end) if table is None else table.take(from_numpy(values))
            for domain, table, values, end in zip(block.domains, tables, block.columns, ends, strict=True)
        ]
        _, _, joined = pc.binary_join_element_wise(*fields, *from_texts([delimiter])).buffers()
        file.write(joined)


def _tsv(blocks: Iterator[Dataset], file: IO[bytes]) -> None:
    _csv(blocks, file, "\t")


def _quoted(text: str, delimiter: str) -> str:
    plain = text and text.strip() == text and not any(c in text for c in (delimiter, '"', "\n", "\r"))
    return text if plain else '"' + text.replace('"', '""') + '"'


def _numbers(domain: Domain, values: NDArray[np.float64], end: str) -> Any:
    """Texts of numbers: days as dates (with the time of day, to the microsecond, where they are not whole), hours as
    times of day, as far as there are such."""
    unit = domain.unit if isinstance(domain, Real) else ""
    if not unit:
        return _decimals(values, end)
    there = np.isfinite(values)
    steps = np.rint(np.where(there, values, 0.0) * (DAY if unit == "days" else DAY / 24))
    low, high = STEPS[unit]
    if not len(steps) or steps.min() < low or steps.max() >= high:
        return _decimals(values, end)
    finest = next(one for one, size in RESOLUTIONS.items() if not (steps % size).any())
    if unit == "hours" or not (isinstance(domain, Real) and domain.whole):
        finest = "m" if finest == "D" else finest
    texts = np.datetime_as_string(steps.astype(np.int64).astype("datetime64[us]"), unit=finest).tolist()
    shown = (text[11:] if unit == "hours" else text.replace("T", " ") for text in texts)
    return from_texts((text if known else "") + end for text, known in zip(shown, there.tolist(), strict=True))


def _decimals(values: NDArray[np.float64], end: str) -> Any:
    """The shortest decimals that read back as these numbers; 1.0 keeps its point, which says that it is no level."""
    texts = from_numpy(values).cast(pa.string())
    whole = pc.match_substring_regex(texts, "^-?[0-9]+$")
    with_point, without, nothing = from_texts([".0" + end, end, ""])
    return pc.binary_join_element_wise(texts, pc.if_else(whole, with_point, without), nothing)


def _parquet(blocks: Iterator[Dataset], file: IO[bytes]) -> None:
    with pyarrow.parquet.ParquetWriter(file, to_arrow(next(blocks)).schema) as writer:
        for block in blocks:
            writer.write_table(to_arrow(block))


def _arrow(blocks: Iterator[Dataset], file: IO[bytes]) -> None:
    with pa.ipc.new_file(file, to_arrow(next(blocks)).schema) as writer:
        for block in blocks:
            writer.write_table(to_arrow(block))


WRITERS: dict[str, Callable[[Iterator[Dataset], Any], None]] = {
    "csv": _csv,
    "tsv": _tsv,
    "parquet": _parquet,
    "arrow": _arrow,
}

ENDINGS: dict[str, str] = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
}
