"""ARFF (Weka): typed attributes, then rows of comma-separated values.

The data section is rewritten line by line as csv (comments go, quotes become double quotes) and takes the way of
`delimited` from there. Nominal attributes declare their levels in order, numeric ones are real, strings and dates
follow the rule of `schema`; only `?` is missing. Sparse rows are refused.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from optbn.base.errors import DataError
from optbn.data.dataset import Categorical
from optbn.data.delimited import parse
from optbn.data.encodings import HEAD
from optbn.data.fields import Fields
from optbn.data.policies import TOKENS
from optbn.data.schema import Declared
from optbn.data.source import Options, Source
from optbn.data.text import Origin, Text

# In time linear in the line, so possessive (++), and a text that begins with a quote ends with one.
_QUOTED = r"""'(?:[^'\\]++|\\.)*+'|"(?:[^"\\]++|\\.)*+\""""
_ATTRIBUTE = re.compile(rf"""@attribute\s++({_QUOTED}|(?!['"])[^\s{{]++)\s*+(\{{.*\}}|\w.*)$""", re.IGNORECASE)
_FIELD = re.compile(rf"""\s*+({_QUOTED}|(?!['"])[^\s,]++(?:[^\S\t]++[^\s,]++)*+|)(?:\s*+$|(\s*+,|[^\S\t]*+\t))""")
_ESCAPE = re.compile(r"\\(.)")


def open_table(path: Path | str | IO[bytes] | Origin, options: Options) -> Source:
    """A file or a binary stream."""
    origin = Origin.of(path)
    encoding, findings = origin.encoding(options.encoding)
    names, declared, lines = _header(origin.text(encoding))
    current = origin.text(encoding)
    stream: Any = _AsCsv(origin.where, lines)
    if Text(origin.where, stream, None).ended():
        raise DataError(f"{origin.where}: there are no rows below @data")
    tokens = ("?",) if options.missing_tokens == TOKENS else options.missing_tokens

    def rows(wanted: Sequence[str]) -> Iterator[Any]:
        nonlocal current
        current = origin.text(encoding)
        below: Any = _AsCsv(origin.where, _header(current)[2])
        return parse(Text(origin.where, below, None), names, wanted, Fields())

    return Source(
        origin.where,
        tuple(names),
        rows,
        declared,
        tokens=tokens,
        position=lambda: current.position(),
        findings=findings,
    )


def _header(text: Text) -> tuple[list[str], dict[str, Declared], Iterator[tuple[int, str]]]:
    """Names, what is declared of them, and the lines below."""
    lines = _numbered(text)
    names: list[str] = []
    declared: dict[str, Declared] = {}
    for number, line in lines:
        low = line.lower()
        if low.startswith("@attribute"):
            found = _ATTRIBUTE.match(line)
            if not found:
                raise DataError(f"{text.where}: line {number}: expected @attribute NAME TYPE, got {line[:60]!r}")
            name = _plain(found[1])
            try:
                kind = _declaration(found[2])
            except DataError as error:
                raise DataError(f"{text.where}: line {number}: attribute {name!r}: {error}") from None
            names.append(name)
            if kind is not None:
                declared[name] = kind
        elif low.startswith("@data"):
            return names, declared, lines
        elif not low.startswith("@relation"):
            raise DataError(f"{text.where}: line {number}: expected @attribute or @data, got {line[:60]!r}")
    raise DataError(f"{text.where}: no @data line")


def _declaration(kind: str) -> Declared | None:
    word = kind.split()[0].lower()
    if kind.startswith("{"):
        return Categorical(tuple(_fields(kind[1 : kind.rindex("}")])))
    if word in ("numeric", "real", "integer"):
        return "real"
    if word in ("string", "date"):
        return None
    raise DataError(f"type {word!r}; expected numeric, {{levels}}, string or date")


def _fields(line: str) -> list[str]:
    fields, at = [], 0
    while True:
        found = _FIELD.match(line, at)
        if not found:
            raise DataError(f"a quote is opened and never closed, or text follows one: {line[at:][:60]!r}")
        fields.append(_plain(found[1]))
        if not found[2]:
            return fields
        at = found.end()


def _plain(text: str) -> str:
    return _ESCAPE.sub(r"\1", text[1:-1]) if text[:1] in ("'", '"') else text


def _numbered(text: Text) -> Iterator[tuple[int, str]]:
    """Lines with their numbers, without comments and blank ones."""
    try:
        for number, raw in enumerate(io.BufferedReader(text, HEAD), start=1):
            try:
                line = raw.decode("utf-8-sig" if number == 1 else "utf-8").strip()
            except UnicodeDecodeError as error:
                bad = raw[error.start : error.start + 1].hex()
                raise DataError(
                    f"{text.where}: line {number}: byte 0x{bad} is not UTF-8; give the encoding (latin-1, say)"
                ) from None
            if line and not line.startswith("%"):
                yield number, line
    except OSError:
        if text.trouble:
            raise text.trouble from None
        raise


class _AsCsv:
    """The data rows as a stream of csv."""

    def __init__(self, where: str, lines: Iterator[tuple[int, str]]) -> None:
        self._where = where
        self._lines = lines

    def read(self, count: int) -> bytes:
        rows: list[str] = []
        size = 0
        for number, line in self._lines:
            if line.startswith("{"):
                raise DataError(f"{self._where}: line {number}: a sparse row, which optbn does not read; make it dense")
            try:
                fields = _fields(line)
            except DataError as error:
                raise DataError(f"{self._where}: line {number}: {error}") from None
            rows.append(",".join(map(_quoted, fields)))
            size += len(rows[-1]) + 1
            if size >= count:
                break
        return "".join(row + "\n" for row in rows).encode()


def _quoted(field: str) -> str:
    return '"' + field.replace('"', '""') + '"' if '"' in field or "," in field else field
