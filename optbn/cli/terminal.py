"""Text on its way to a terminal: names and levels come from files, and a terminal obeys the control characters in text.

Written to a file or a pipe, text is what it is; on a terminal control characters show as their escapes (\\x1b). Colours
and emphasis (the sequences ESC [ numbers m, which our own tables use) pass: they change nothing but looks.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from rich.console import Console

_CONTROL = re.compile(r"\x1b\[[0-9;]*m|[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def harmless(text: str) -> str:
    """The text without control characters but line ends, tabs and colours."""
    return _CONTROL.sub(lambda found: found[0] if len(found[0]) > 1 else repr(found[0])[1:-1], text)


def console() -> Console:
    """Where tables go: as wide as the terminal; in a file or a pipe no line is cut or folded."""
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else 10_000, highlight=False)


class Terminal:
    """A text stream to a terminal through `harmless`; all else is the stream's own."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        self._stream.write(harmless(text))
        return len(text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
