"""An opened table: names, what the file itself says about its columns, and its rows as Arrow record batches.

One file per format has an `open_table(path, options) -> Source`; READERS lists them by the ending of the file name.
A file that is plainly something else than its name says is refused at once, from its first bytes.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from optbn.base.errors import DataError, LimitError, OptbnError
from optbn.base.registry import lookup, unknown
from optbn.data import packed
from optbn.data.findings import Finding
from optbn.data.policies import TOKENS
from optbn.data.schema import Declared
from optbn.data.text import Origin

READERS: dict[str, str] = {
    "csv": "optbn.data.delimited:open_table",
    "parquet": "optbn.data.parquet:open_table",
    "arrow": "optbn.data.ipc:open_table",
    "arff": "optbn.data.arff:open_table",
}

ENDINGS: dict[str, str] = {
    ".csv": "csv",
    ".tsv": "csv",
    ".tab": "csv",
    ".txt": "csv",
    ".log": "csv",
    ".dat": "csv",
    ".data": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".arff": "arff",
}

TEXTS = ("csv", "arff")  # the formats of text, which may be packed

_MAGIC: dict[bytes, str] = {  # first bytes of files that people give by mistake, or under another name
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"PK\x03\x04": "zip (or spreadsheet)",
    b"\x1f\x8b": "gzip",
    b"BZh": "bzip2",
    b"(\xb5/\xfd": "zstd",
    b"%PDF": "PDF",
    b"\x89PNG": "PNG",
    b"\x7fELF": "program",
    b"SQLite format 3": "SQLite",
    b"\xff\xfe": "UTF-16 text",
    b"\xfe\xff": "UTF-16 text",
}


@dataclass(frozen=True)
class Options:
    """What a reader needs to be told when it should not find out by itself; all but the format concern text."""

    format: str | None = None  # None: by the ending of the file
    header: bool | None = None  # None: detect
    delimiter: str | None = None
    encoding: str | None = None  # None: UTF-8 unless it cannot be
    decimal: str | None = None  # None: found per column
    missing_tokens: Sequence[str] = TOKENS


@dataclass(frozen=True)
class Source:
    """A table about to be read.

    rows          record batches with (at least) the columns named; may be called again
    declared      what the file says about its columns; the user's schema goes first
    levels_given  columns whose dictionary of levels is a declaration: is it ordered?
    tokens        texts that stand for a missing value
    position      (how much is done, of how much), in bytes or rows; for progress and for planning memory
    unnamed       columns that the file has no name for
    decimal       the sign for decimals where it is known, and whether somebody declared it
    findings      what was noticed about the file as a whole
    """

    where: str
    names: tuple[str, ...]
    rows: Callable[[Sequence[str]], Iterator[Any]]
    declared: Mapping[str, Declared] = field(default_factory=dict)
    levels_given: Mapping[str, bool] = field(default_factory=dict)
    tokens: Sequence[str] = ()
    position: Callable[[], tuple[int, int | None]] = lambda: (0, None)
    unnamed: frozenset[str] = frozenset()
    decimal: str | None = None
    decimal_declared: bool = False
    findings: tuple[Finding, ...] = ()

    def __post_init__(self) -> None:
        first: dict[str, int] = {}
        for i, name in enumerate(self.names, start=1):
            if name in first:
                raise DataError(f"{self.where}: columns {first[name]} and {i} are both named {name!r}; rename one")
            first[name] = i
        if not self.names:
            raise DataError(f"{self.where}: there are no columns")


def open_source(path: str | os.PathLike[str] | Any, options: Options) -> Source:
    """Open a file by its ending, "-" or a binary stream as csv, unless the options say the format."""
    if hasattr(path, "read") or path == "-":
        source: Source = lookup("data format", READERS, options.format or "csv")(path, options)
        return source
    if not isinstance(path, str | os.PathLike):
        raise DataError(f"expected a path, - for stdin, or a binary stream, not a {type(path).__name__}")
    path = Path(path)
    if path.is_dir():
        raise DataError(f"{path}: is a folder, expected a file")
    if not path.exists():
        raise DataError(f"{path}: no such file")
    if path.suffix.lower() in packed.ENDINGS and path.is_file():
        return _open_packed(path, options)
    piped = not path.is_file()  # a named pipe, <(command) of a shell
    found = options.format or ENDINGS.get(path.suffix.lower()) or ("csv" if piped else None)
    if found is None and path.suffix.lower() in (".xlsx", ".xls", ".xlsm", ".ods"):
        raise DataError(f"{path}: a spreadsheet; save the sheet as csv and read that")
    if found is None:
        endings = ", ".join(ENDINGS)
        raise DataError(
            f"{path}: unknown file ending {path.suffix!r}, expected one of {endings}; or say the format (csv, ...)"
        )
    if found not in READERS:
        raise unknown("data format", found, READERS)
    try:
        if not piped:
            _refuse_other_kinds(path, found)
        opened: Source = lookup("data format", READERS, found)(path, options)
    except PermissionError:
        raise DataError(f"{path}: permission denied") from None
    return opened


def _open_packed(path: Path, options: Options) -> Source:
    """The table of texts in a packed file."""
    texts = [ending for ending, kind in ENDINGS.items() if kind in TEXTS]
    if path.suffix.lower() != ".zip" and path.with_suffix("").suffix.lower() not in texts and not options.format:
        expected = ", ".join(f"{ending}{path.suffix}" for ending in texts)
        raise DataError(f"{path}: unknown file ending, expected one of {expected}; or say the format (csv, ...)")
    try:
        stream, ending = packed.unpacked(path, texts)
    except PermissionError:
        raise DataError(f"{path}: permission denied") from None
    found = options.format or ENDINGS[ending]
    if found not in TEXTS:
        raise DataError(f"{path}: {found} is not read from a packed file; unpack it first")
    source: Source = lookup("data format", READERS, found)(Origin.kept(str(path), stream), options)
    return source


def _refuse_other_kinds(path: Path, format: str) -> None:
    with path.open("rb") as file:
        start = file.read(16)
    if not start:
        raise DataError(f"{path}: the file is empty")
    for magic, kind in _MAGIC.items():
        if start.startswith(magic) and kind != format:
            remedy = f"; say format {kind}, or rename it" if kind in READERS else "; optbn does not read those"
            if kind == "zip (or spreadsheet)":
                remedy = "; unpack it or save it as csv"
            if kind in packed.KINDS:
                remedy = f"; give it the ending {path.suffix}{packed.KINDS[kind]}, and optbn unpacks it"
            if kind == "UTF-16 text":
                if format == "csv":
                    return  # the text reader knows the encoding option
                remedy = ""
            raise DataError(f"{path}: this is a {kind} file, expected {format}{remedy}")


@contextlib.contextmanager
def foreign(where: str, what: str) -> Iterator[None]:
    """What Arrow raises about bytes it was given, as a DataError: damaged files lead it to errors of every class."""
    try:
        yield
    except OptbnError:
        raise
    except MemoryError as error:
        raise LimitError(f"{where}: {what}, or out of memory ({reason(error)})") from None
    except Exception as error:
        raise DataError(f"{where}: {what} ({reason(error)})") from None


def reason(error: BaseException) -> str:
    """Somebody else's error in a few words."""
    words = " ".join(str(error).split())
    return words if len(words) <= 160 else words[:157] + "..."
