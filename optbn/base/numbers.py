"""Texts for numbers and levels: of their things, and different where what they stand for is."""

from __future__ import annotations

from collections.abc import Sequence


def texts_of(numbers: Sequence[float], digits: int) -> list[str]:
    """Each number with this many significant digits; with more where different numbers would look the same."""
    texts: list[str] = []
    for more in range(digits, 18):  # 17 digits tell any two numbers apart
        texts = [f"{number:.{more}g}" for number in numbers]
        if len(set(texts)) == len(set(numbers)):
            break
    return texts


def counted(number: int, thing: str) -> str:
    """ "1 row", "2,000 rows"."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def unused(word: str, taken: Sequence[str]) -> str:
    """The word, or the word with a number if it is taken."""
    candidate, i = word, 2
    while candidate in taken:
        candidate, i = f"{word} {i}", i + 1
    return candidate
