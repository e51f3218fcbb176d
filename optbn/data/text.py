"""The bytes of a text file on their way to a parser: as UTF-8, and refused as soon as they are plainly not text."""

from __future__ import annotations

import codecs
import io
from typing import IO, Any

from optbn.base.errors import DataError

HEAD = 1 << 16
"""Bytes in which a dialect is looked for (more when rows are long)."""
LONGEST_ROW = 1 << 25


class Text(io.RawIOBase):
    """A readable stream whose first bytes can be looked at. Errors found while a parser reads are kept in `trouble`,
    since parsers wrap what a stream raises."""

    def __init__(self, where: str, stream: IO[bytes], size: int | None, encoding: str = "utf-8") -> None:
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
            raise DataError(f"{self.where}: binary content (a zero byte at {at:,}), expected rows of text")
        self.quotes += raw.count(b'"')
        return raw

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
