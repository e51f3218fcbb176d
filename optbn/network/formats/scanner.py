"""Walking through BIF and NET text with exact positions.

Comments are blanked first, character by character, so every later position is one in the file. The parsers then match
compiled regular expressions at a cursor; a run of numbers is one match, converted in bulk, because the published
networks are twenty megabytes of numbers and little else. (A grammar tool's token per number costs microseconds each;
this parses all of them in about two seconds.)
"""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import cached_property
from typing import NoReturn

from optbn.base.errors import NetworkError

QUOTED = r'"(?:[^"\\]|\\[\s\S])*+"'
_QUOTED = re.compile(QUOTED)
_SPACE = re.compile(r"\s*+")
NUMBER = re.compile(r"[-+]?(?:[0-9]++\.?[0-9]*+|\.[0-9]++)(?:[eE][-+]?[0-9]++)?")  # in time linear in its length
NUMBERS = re.compile(r"[-+.0-9eE\s]*+")
_TOKEN = re.compile(rf'{QUOTED}|[^\s(){{}}\[\];,|="]++|.', re.DOTALL)


def decode_text(content: bytes, source: str) -> str:
    """The text of a file: UTF-8, with or without a byte-order mark."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        column = error.start - content.rfind(b"\n", 0, error.start)
        raise NetworkError(
            f"{source}:{line}:{column}: expected UTF-8 text, found the byte 0x{content[error.start]:02x}; "
            "convert the file first (iconv -f latin1 -t utf-8)"
        ) from None


def quote(text: str) -> str:
    """The text in double quotes, `"` and `\\` escaped by a backslash."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def unquote(token: str) -> str:
    """The text of a token: without its quotes and their escapes, or as it stands."""
    if not token.startswith('"') or not _QUOTED.fullmatch(token):
        return token
    return re.sub(r'\\(["\\])', r"\1", token[1:-1])


def one_line(text: str) -> str:
    """The text as part of a message: every run of white space is a space."""
    return " ".join(text.split())


class Scanner:
    """A cursor over the text; `line_comment` is a regular expression (BIF: //, NET: also %)."""

    def __init__(self, text: str, source: str, line_comment: str = "//") -> None:
        self.source = source
        self.text = text
        self.pos = 0
        if re.search(rf'{line_comment}|/\*|"', text):
            comments = re.compile(rf'{QUOTED}|(?:{line_comment})[^\n]*+|/\*.*?\*/|/\*|"', re.DOTALL)
            self.text = comments.sub(self._blank, text)

    def _blank(self, match: re.Match[str]) -> str:
        found = match[0]
        if found in ('"', "/*"):
            self.fail(f"the end of this {'quoted text' if found == chr(34) else 'comment'}", match.start(), "none")
        if found[0] == '"':
            return found
        return re.sub(r"[^\n]", " ", found)

    def where(self, at: int) -> str:
        """ "file:line:column" of a position, both counted from 1."""
        line = bisect_left(self._newlines, at)
        return f"{self.source}:{line + 1}:{at - (self._newlines[line - 1] if line else -1)}"

    @cached_property
    def _newlines(self) -> list[int]:
        return [match.start() for match in re.finditer("\n", self.text)]

    def fail(self, expected: str, at: int | None = None, found: str | None = None) -> NoReturn:
        """Raise: what was expected at a position (default: the cursor; white space is skipped) and what is there."""
        at = self._after_space(self.pos if at is None else at)
        if found is None:
            token = _TOKEN.match(self.text, at)
            found = "the end of the file" if token is None else token[0] if token[0][0] == '"' else repr(token[0])
        if len(found) > 60:
            found = found[:57] + "..."
        raise NetworkError(f"{self.where(at)}: {one_line(f'expected {expected}, found {found}')}")

    def _after_space(self, at: int) -> int:
        match = _SPACE.match(self.text, at)
        return match.end() if match else at

    def skip(self) -> int:
        """Move over white space; the position after it."""
        self.pos = self._after_space(self.pos)
        return self.pos

    def at_end(self) -> bool:
        return self.skip() == len(self.text)

    def take(self, literal: str) -> bool:
        """Move over this punctuation if it comes next."""
        if self.text.startswith(literal, self.skip()):
            self.pos += len(literal)
            return True
        return False

    def expect(self, literal: str) -> None:
        if not self.take(literal):
            self.fail(repr(literal))

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Match at the cursor (after white space) and move over it."""
        found = pattern.match(self.text, self.skip())
        if found is not None:
            self.pos = found.end()
        return found

    def need(self, pattern: re.Pattern[str], expected: str) -> re.Match[str]:
        found = self.match(pattern)
        if found is None:
            self.fail(expected)
        return found

    def numbers(self, begin: int, end: int, separators: str = ",") -> list[float]:
        """The numbers in text[begin:end], separated by white space and the given characters."""
        body = self.text[begin:end]
        for separator in separators:
            body = body.replace(separator, " ")
        tokens = body.split()
        if NUMBERS.fullmatch(body):
            try:
                return [*map(float, tokens)]
            except ValueError:
                pass
        for token in re.finditer(r"\S+", body):
            if NUMBER.fullmatch(token[0]) is None:
                self.fail("a number", begin + token.start())
        raise AssertionError("a run of numbers that is none has a token that is none")
