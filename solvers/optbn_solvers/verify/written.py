"""The scores as they are written: the checker's own reading of a text file of scores, in exact fractions.

The bound that `verify` proves is about the table's grid. What that says of the file is checked here, without the
compiled parser and the code that made the table:
    the graph     its scores, as decimals of whatever length, add up to the stated score but for half a quantum each
    the table     every family of the file is a row of it, with its score to half a quantum; or one of its subsets is,
                  and scores as much; or it alone loses more, against its variable's best, than the graph loses in all
Then no graph of the file scores more than the bound and n quanta (`ScoreTable.tolerance`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation, localcontext
from fractions import Fraction
from pathlib import Path

import numpy as np

from optbn_solvers.base.errors import CheckFailed
from optbn_solvers.base.solution import Solution
from optbn_solvers.base.table import ScoreTable

KINDS = (".jkl", ".jaa", ".pss")
WORD = (1 << 64) - 1
LONGEST = 1 << 20  # digits of a number that is added up
SHOWN = 40  # digits
LOWEST, HIGHEST = -(1 << 14), 1 << 12  # powers of ten: beyond, it is not a 64-bit float, or as good as 0


@dataclass(frozen=True)
class Written:
    """A file of scores: the variables, and per variable {parents as bits: score as it is written}."""

    names: tuple[str, ...]
    scores: tuple[dict[int, str], ...]

    def exact(self, child: int, parents: int) -> Fraction:
        """The score of a family."""
        return fraction(self.scores[child][parents])


def fraction(text: str) -> Fraction:
    """The exact value of a decimal of any length."""
    try:
        number = Decimal(text)
        lowest = number.as_tuple().exponent
    except InvalidOperation:
        raise CheckFailed(f"{text[:40]!r} in the score file is not a number") from None
    if not isinstance(lowest, int) or lowest < LOWEST or number.adjusted() > HIGHEST or len(text) > LONGEST:
        raise CheckFailed(f"the score {text[:40]!r}... of the file has too many digits to be added up exactly")
    return Fraction(*number.as_integer_ratio())


def in_decimals(number: Fraction) -> str:
    """A sum of decimals in full, or where that is long, its first digits."""
    with localcontext() as context:
        context.prec = SHOWN
        quotient = Decimal(number.numerator) / Decimal(number.denominator)
    return (
        f"{quotient:f}" + ("" if Fraction(quotient) == number else "...")
        if abs(quotient.adjusted()) < SHOWN
        else f"{quotient}"
    )


def read(path: str | Path) -> Written:
    """A .jkl, .jaa or .pss file that `read_table` could read; where a family is written twice, its first score."""
    lines = [line.split() for line in Path(path).read_text("utf-8-sig").split("\n")]
    lines = [tokens for tokens in lines if tokens and tokens[0] != "#"]
    counted = Path(path).suffix.lower() != ".pss"
    blocks = list(_counted(lines) if counted else _headed(lines))
    names = tuple(name for name, _ in blocks)
    bit = {name: 1 << v for v, name in enumerate(names)}
    first = 2 if counted else 1
    scores: list[dict[int, str]] = []
    try:
        for _, rows in blocks:
            own: dict[int, str] = {}
            for row in rows:
                own.setdefault(sum(map(bit.__getitem__, row[first:])), row[0])
            scores.append(own)
    except KeyError as error:
        raise CheckFailed(f"{path}: {error} is not a variable of the file") from None
    return Written(names, tuple(scores))


def _counted(lines: Sequence[list[str]]) -> Iterator[tuple[str, Sequence[list[str]]]]:
    """(variable, its rows) of a .jkl file."""
    at = 1
    while at < len(lines):
        name, count = lines[at][0], int(lines[at][1])
        yield name, lines[at + 1 : at + 1 + count]
        at += 1 + count


def _headed(lines: Sequence[list[str]]) -> Iterator[tuple[str, Sequence[list[str]]]]:
    """The same of a .pss file."""
    rows: list[list[str]] = []
    name = None
    for tokens in lines:
        if tokens[0] == "VAR":
            if name is not None:
                yield name, rows
            name, rows = " ".join(tokens[1:]), []
        elif tokens[0] != "META":
            rows.append(tokens)
    if name is not None:
        yield name, rows


def check_written(table: ScoreTable, solution: Solution, written: Written) -> Fraction:
    """The exact score of the solution's graph in the file; CheckFailed where table or solution are wrong about it."""
    assert solution.choice is not None and solution.score is not None
    return check_graphs(table, [solution.choice], [solution.score], written)[0]


def check_graphs(
    table: ScoreTable, choices: Sequence[Sequence[int]], scores: Sequence[float], written: Written
) -> list[Fraction]:
    """The exact scores of graphs in the file; CheckFailed where the table, or what they are said to score, is wrong."""
    if written.names != table.names:
        raise CheckFailed("the score file names other variables than the score table, or in another order")
    tops = [max(map(float, own.values())) for own in written.scores]
    totals, lost = [], Fraction(0)
    for choice, score in zip(choices, scores, strict=True):
        total, less = _as_written(table, choice, score, written, tops)
        totals.append(total)
        lost = max(lost, less)
    for v, own in enumerate(written.scores):
        _check_variable(table, v, own, tops[v], lost)
    return totals


def _as_written(
    table: ScoreTable, choice: Sequence[int], score: float, written: Written, tops: Sequence[float]
) -> tuple[Fraction, Fraction]:
    """(the exact score of a graph in the file, how far below the variables' best it is)."""
    total, lost = Fraction(0), Fraction(0)
    for v, row in enumerate(choice):
        mask = _mask(table, row)
        if mask not in written.scores[v]:
            raise CheckFailed(f"the family of {table.names[v]!r} in the graph is not in the score file")
        total += written.exact(v, mask)
        lost += Fraction(tops[v]) - Fraction(float(written.scores[v][mask]))
    half = Fraction(2) ** -table.exponent / 2
    if abs(total - Fraction(score)) > table.n * half + _read_error(score):
        raise CheckFailed(
            f"the scores of the graph add up to {float(total)!r} as they are written in the file, "
            f"but the solution says {score!r}"
        )
    return total, lost


def _check_variable(table: ScoreTable, v: int, own: dict[int, str], top: float, lost: Fraction) -> None:
    """The rows of a variable are those of the file that matter."""
    rows = table.rows(v)
    there = {_mask(table, row): row for row in rows}
    masks = list(own)
    scores = np.array([float(text) for text in own.values()])
    places = np.array([there.get(mask, -1) for mask in masks])
    known = places >= 0
    if int(known.sum()) < len(rows):
        raise CheckFailed(f"the score table has a family of {table.names[v]!r} that is not in the score file")
    on_grid = np.ldexp(scores[known], table.exponent)
    if (np.abs(on_grid - table.units[places[known]]) > 0.5).any():
        raise CheckFailed(f"a score of {table.names[v]!r} in the table is not that of the score file")
    left = np.flatnonzero(~known)
    words = np.array([[masks[at] >> 64 * w & WORD for w in range(table.words)] for at in left], dtype=np.uint64)
    with np.errstate(over="ignore"):
        least = np.rint(np.ldexp(scores[left], table.exponent))
    for row in rows:
        if not len(left):
            return
        beaten = (table.masks[row] & ~words == 0).all(axis=1) & (table.units[row] >= least)
        left, words, least = left[~beaten], words[~beaten], least[~beaten]
    if any(Fraction(top) - Fraction(float(scores[at])) < lost for at in left):
        raise CheckFailed(f"a family of {table.names[v]!r} in the score file is missing from the table, and matters")


def _mask(table: ScoreTable, row: int) -> int:
    return sum(word << 64 * w for w, word in enumerate(table.masks[row].tolist()))


def _read_error(score: float) -> Fraction:
    """What reading decimals as floats may add, at most: it is far below what the grid leaves open."""
    return abs(Fraction(score)) / (1 << 50)
