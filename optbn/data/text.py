"""The bytes of a text file on their way to a parser: as UTF-8, and refused as soon as they are plainly not text."""

from __future__ import annotations

import codecs
import io
import re
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from optbn.base.errors import DataError
from optbn.data.encodings import HEAD, MARK, encoding_of, wide_encoding
from optbn.data.findings import Finding

LONGEST_ROW = 1 << 25
Change = Callable[[bytes], bytes]
"""Of whole lines, before they are parted into fields."""
BINARY = "binary content (a zero byte at {:,}), expected rows of text; take zero bytes out of a text"


class Text(io.RawIOBase):
    """A readable stream whose first bytes can be looked at. Errors found while a parser reads are kept in `trouble`,
    since parsers wrap what a stream raises."""

    def __init__(
        self, where: str, stream: IO[bytes], size: int | None, encoding: str = "utf-8", change: Change | None = None
    ) -> None:
        super().__init__()
        self.where = where
        self.row_length = 0
        self.quotes = 0
        self.whole = False  # whether the head is all there is
        self.trouble: DataError | None = None
        self._stream = stream
        self._encoding = encoding
        self._size = size
        self._done = 0
        self._waiting = b""
        self._change = change  # is made to whole lines
        self._cut = b""  # the beginning of a line whose end is still to come
        try:
            codec: codecs.CodecInfo | None = codecs.lookup(encoding)
        except LookupError:
            codec = None
        if codec is None or not codec._is_text_encoding:  # hex and the like encode no text
            raise DataError(f"{where}: there is no encoding {encoding!r}; utf-8 and latin-1 are common")
        self._decoder = None if codec.name in ("utf-8", "utf-8-sig") else codec.incrementaldecoder()

    def head(self) -> bytes:
        """The first bytes, several whole rows of them unless there are fewer; they stay to be read."""
        while True:
            more = self._next(max(HEAD, len(self._waiting)))
            self._waiting += more
            lines = self._waiting.count(b"\n") or self._waiting.count(b"\r")
            self.whole = not more
            if self.whole or (lines > 4 and len(self._waiting) >= HEAD):
                break
            if not lines and len(self._waiting) > LONGEST_ROW:
                raise DataError(
                    f"{self.where}: the first {LONGEST_ROW >> 20} MB have no line end, expected rows of text"
                )
            if len(self._waiting) > 4 * LONGEST_ROW:
                break
        self._waiting = self._waiting.removeprefix(codecs.BOM_UTF8)
        self.row_length = len(self._waiting) // max(1, lines)
        return self._waiting

    def skip(self, count: int) -> None:
        """Leave out the first bytes of what waits."""
        self.quotes -= self._waiting.count(b'"', 0, count)
        self._waiting = self._waiting[count:]

    def ended(self) -> bool:
        """Whether nothing but white space is left."""
        while not self._waiting.strip():
            more = self._next(HEAD)
            if not more:
                return True
            self._waiting += more
        return False

    def position(self) -> tuple[int, int | None]:
        """Bytes done, of how many (None for a pipe)."""
        return self._done, self._size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer unless the stream ends: to the parser a read is a block, which must hold whole rows."""
        filled = 0
        while filled < len(buffer):
            if not self._waiting:
                try:
                    self._waiting = self._next(len(buffer) - filled)
                except DataError as error:
                    self.trouble = error
                    raise OSError(str(error)) from None
                if not self._waiting:
                    break
            count = min(len(buffer) - filled, len(self._waiting))
            buffer[filled : filled + count] = self._waiting[:count]
            self._waiting = self._waiting[count:]
            filled += count
        return filled

    def close(self) -> None:
        if not self.closed and self._size is not None:
            self._stream.close()
        super().close()

    def _raw(self, count: int) -> bytes:
        raw: bytes = self._stream.read(count) or b""
        if not isinstance(raw, bytes):
            raise DataError(f"{self.where}: a stream of text; open it in binary mode")
        self._done += len(raw)
        return raw

    def _next(self, count: int) -> bytes:
        """The next bytes, empty only at the end."""
        raw = self._raw(count)
        if self._decoder is not None:
            raw = self._recoded(raw)
        elif self._done == len(raw) and raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise DataError(f"{self.where}: UTF-16 text, expected UTF-8; give the encoding utf-16")
        zero = raw.find(b"\0")
        if zero >= 0:
            at = self._done - len(raw) + zero
            raise DataError(f"{self.where}: {BINARY.format(at)}")
        if MARK in raw:
            raw = raw.replace(MARK, b"") or self._next(count)
        self.quotes += raw.count(b'"')
        return raw if self._change is None else self._changed(raw, self._change)

    def _changed(self, raw: bytes, change: Change) -> bytes:
        """Whole lines, changed."""
        while raw:
            lines, end, rest = (self._cut + raw).rpartition(b"\n")
            self._cut = rest
            if end:
                return change(lines) + end
            raw = self._raw(HEAD) if self._decoder is None else self._recoded(self._raw(HEAD))
        rest, self._cut = self._cut, b""
        return change(rest)

    def _recoded(self, raw: bytes) -> bytes:
        assert self._decoder is not None
        try:
            text = self._decoder.decode(raw, final=not raw)
            while raw and not text:
                raw = self._raw(HEAD)
                text = self._decoder.decode(raw, final=not raw)
        except UnicodeError as error:
            raise DataError(f"{self.where}: not valid {self._encoding} ({getattr(error, 'reason', error)})") from None
        return text.encode()


HELD = 1 << 26
"""Bytes of a pipe that are held in memory; more go to a temporary file."""


@dataclass(frozen=True)
class Origin:
    """Where a text comes from, to be read from its beginning as often as need be: what a pipe gives is kept."""

    where: str
    open: Callable[[], Any]
    size: int | None

    @classmethod
    def of(cls, path: Path | str | IO[bytes] | Origin) -> Origin:
        """A file, "-" for stdin, or a binary stream."""
        if isinstance(path, Origin):
            return path
        if isinstance(path, Path) and path.is_file():
            return cls(str(path), lambda: path.open("rb", buffering=0), path.stat().st_size)
        if isinstance(path, Path):
            return cls.kept(str(path), path.open("rb"))
        if isinstance(path, str):
            if sys.stdin is None:
                raise DataError("stdin is closed, expected a table")
            return cls.kept("stdin", sys.stdin.buffer)
        name = getattr(path, "name", None)
        return cls.kept(name if isinstance(name, str) else "the stream", path)

    @classmethod
    def kept(cls, where: str, stream: IO[bytes]) -> Origin:
        """A stream from here on; what cannot be gone back to is copied, unless it is plainly no text."""
        if getattr(stream, "seekable", lambda: False)():
            start = stream.tell()

            return cls(where, lambda: _Cursor(stream, start), None)
        first = stream.read(HEAD) or b""
        if not isinstance(first, bytes):
            raise DataError(f"{where}: a stream of text; open it in binary mode")
        zero = first.find(b"\0")
        if zero >= 0 and not wide_encoding(first):
            raise DataError(f"{where}: {BINARY.format(zero)}")
        copy: Any = tempfile.SpooledTemporaryFile(HELD)  # noqa: SIM115 - lives as long as the origin
        copy.write(first)
        shutil.copyfileobj(stream, copy, 1 << 20)
        return cls(where, lambda: _Cursor(copy, 0), None)

    def text(self, encoding: str, change: Change | None = None) -> Text:
        """The text from its beginning, its lines changed."""
        return Text(self.where, self.open(), self.size, encoding, change)

    def encoding(self, declared: str | None) -> tuple[str, tuple[Finding, ...]]:
        """The encoding, and findings about it if nobody declared it."""
        if declared is not None:
            return declared, ()
        stream = self.open()
        try:
            return encoding_of(stream)
        finally:
            if self.size is not None:
                stream.close()

    def last_lines(self, encoding: str) -> tuple[list[str], bool]:
        """The lines at the end, of which the first may be cut, and whether they are all."""
        stream = self.open()
        try:
            end = stream.seek(0, io.SEEK_END)
            count = min(end, HEAD)
            stream.seek(end - count)
            kind = "utf-16-le" if encoding == "utf-16" else encoding
            text = (stream.read(count) or b"").decode(kind, errors="replace")
            return re.split("\r\n|\n|\r", text), count == end
        except (LookupError, UnicodeError):
            return [], False
        finally:
            if self.size is not None:
                stream.close()


class _Cursor:
    """A place of its own in a stream that others go through as well; 0 is where the text begins."""

    def __init__(self, stream: Any, start: int) -> None:
        self._stream = stream
        self._start = self._at = start

    def read(self, count: int) -> Any:
        self._stream.seek(self._at)
        part = self._stream.read(count)
        self._at += len(part or b"")
        return part

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = self._stream.seek(offset if whence else self._start + offset, whence)
        return self._at - self._start
