"""Small files as people have them, and the reading each is meant to have.

A case is the text of a file (or its bytes) and, per column, the kind with its first values:
R(1.5, 2.5) real, L("a", "b") levels, OUT left out; REFUSED where nothing can be known; and the highest grade of what is
noticed of it ("" where nothing is).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

N = 24


@dataclass(frozen=True)
class R:
    first: tuple[float | None, ...]


@dataclass(frozen=True)
class L:
    first: tuple[str | None, ...]


OUT, REFUSED = "left out", "refused"
NULL = "\\N"


def r(*first: float | None) -> R:
    return R(first)


def lv(*first: str | None) -> L:
    return L(first)


def of(header: str, *rows: str | Callable[[int], str], n: int = N, end: str = "\n") -> str:
    """A header, first rows as they are, and n rows by number."""
    lines = [header]
    for row in rows:
        lines += [row] if isinstance(row, str) else [row(i) for i in range(n)]
    return end.join(lines) + end


def ab(i: int) -> str:
    return "ab"[i % 2]


CASES: dict[str, tuple[str | bytes, Any, str]] = {
    # lines above the table
    "remarks above": (
        of("# made on Monday\n# by hand\nx,k,z", lambda i: f"{i / 4},{ab(i)},{ab(i // 2)}"),
        {"x": r(0.0, 0.25), "k": lv("a", "b"), "z": lv("a", "a")},
        "certain",
    ),
    "a title above": (
        of("Sales of this year\n\nx;k;z", lambda i: f"{i / 4};{ab(i)};{ab(i // 2)}"),
        {"x": r(0.0, 0.25), "k": lv("a", "b"), "z": lv("a", "a")},
        "probable",
    ),
    "a title above, from a spreadsheet": (
        of("Sales;;\n;;\nx;k;z", lambda i: f"{i / 4};{ab(i)};{ab(i // 2)}"),
        {"x": r(0.0, 0.25), "k": lv("a", "b"), "z": lv("a", "a")},
        "probable",
    ),
    "a title above, the first column without a name, gaps below": (
        of("Schools;;;;\n;;;;\n;x;k;z;y", lambda i: f"{i + 1};{i / 4};{ab(i)};{ab(i // 2)};{'' if i % 3 else i + 0.5}"),
        {"X1": OUT, "x": r(0.0, 0.25), "k": lv("a", "b"), "z": lv("a", "a"), "y": r(0.5, None)},
        "probable",
    ),
    "names that are numbers, in quotes as R writes them": (
        of('"","1950","1960"', lambda i: f'"r{i}",{i / 4},{i + 0.5}'),
        {"X1": OUT, "1950": r(0.0, 0.25), "1960": r(0.5, 1.5)},
        "probable",
    ),
    "an X among few numbers": (of("x,k", lambda i: f"{'X' if i % 6 == 5 else i % 6},{ab(i)}"), {"x": lv("0", "1")}, ""),
    "a row with one value first": (
        of("x,k,z", "0.5,,", lambda i: f"{i / 4},{ab(i)},{ab(i // 2)}"),
        {"x": r(0.5, 0.0), "k": lv(None, "a"), "z": lv(None, "a")},
        "",
    ),
    # thousands and decimals
    "thousands with commas": (of("x,k", lambda i: f'"{1 + i},{100 + i}",{ab(i)}'), REFUSED, "doubtful"),
    "thousands and small numbers": (
        of("x,k", lambda i: f'"{1 + i},700",{ab(i)}', "900,a", "12,b"),
        {"x": r(1700, 2700), "k": lv("a", "b")},
        "probable",
    ),
    "thousands, twice": (
        of("x,k", lambda i: f'"{1 + i},000,{500 + i}",{ab(i)}'),
        {"x": r(1000500, 2000501)},
        "certain",
    ),
    "thousands and a point": (of("x,k", lambda i: f'"{1 + i},250.5",{ab(i)}'), {"x": r(1250.5, 2250.5)}, "certain"),
    "apostrophes": (of("x,k", lambda i: f"{1 + i}'250.5,{ab(i)}"), {"x": r(1250.5, 2250.5)}, "certain"),
    "blanks between thousands": (of("x;k", lambda i: f"{1 + i} 250,5;{ab(i)}"), {"x": r(1250.5, 2250.5)}, "certain"),
    "narrow blanks": (of("x;k", lambda i: f"{1 + i}\u202f250;{ab(i)}"), {"x": r(1250, 2250)}, "certain"),
    "decimal commas": (of("x;k", lambda i: f"{i},5;{ab(i)}"), {"x": r(0.5, 1.5), "k": lv("a", "b")}, "certain"),
    "decimal commas, quoted": (of("x,k", lambda i: f'"{i},25",{ab(i)}'), {"x": r(0.25, 1.25)}, "certain"),
    "decimal commas and -": (
        of("x;k", "-;a", lambda i: f"{i},5;{ab(i)}"),
        {"x": r(None, 0.5), "k": lv("a", "a")},
        "certain",
    ),
    "decimal commas and whole numbers": (of("x;k", lambda i: f"{i};{ab(i)}", "7,25;a"), {"x": r(0, 1)}, "certain"),
    "three decimals beside decimal commas": (
        of("x;y", lambda i: f"{i + 1},{500 + i};{i},5"),
        {"x": r(1.5, 2.501), "y": r(0.5, 1.5)},
        "probable",
    ),
    "points between thousands beside decimal commas": (
        of("x;y", lambda i: f"{i + 1}.500;{i},25"),
        {"x": r(1500, 2500), "y": r(0.25, 1.25)},
        "probable",
    ),
    "negative decimal commas": (of("x;k", lambda i: f"{i - 9},5;{ab(i)}"), {"x": r(-9.5, -8.5)}, "certain"),
    "exponents with commas": (of("x;k", lambda i: f"{i},5e2;{ab(i)}"), {"x": r(50, 150)}, "certain"),
    "few decimal commas": (of("x;k", "1,5;a", "2,5;b", "3,0;a"), {"x": r(1.5, 2.5)}, "certain"),
    "few with thousands, either way": (of("x;k", "1,500;a", "2,500;b"), {"x": lv("1,500", "2,500")}, ""),
    "minus in brackets": (of("x,k", lambda i: f'"({i + 1},250.5)",{ab(i)}'), {"x": r(-1250.5, -2250.5)}, "certain"),
    "minus behind": (of("x,k", lambda i: f"{i + 1}.5-,{ab(i)}"), {"x": r(-1.5, -2.5)}, "certain"),
    "a typographic minus": (of("x,k", lambda i: f"\u2212{i + 1}.5,{ab(i)}"), {"x": r(-1.5, -2.5)}, "certain"),
    # what stands around numbers
    "percent": (of("x,k", lambda i: f"{i}%,{ab(i)}"), {"x": r(0, 1)}, "certain"),
    "percent with a blank and a comma": (of("x;k", lambda i: f"{i},5 %;{ab(i)}"), {"x": r(0.5, 1.5)}, "certain"),
    "dollars": (of("x,k", lambda i: f"$ {i}.20,{ab(i)}"), {"x": r(0.2, 1.2)}, "certain"),
    "dollars with thousands": (of("x,k", lambda i: f'"${i + 1},234.50",{ab(i)}'), {"x": r(1234.5, 2234.5)}, "certain"),
    "euros": (of("x;k", lambda i: f"{i + 1}.234,50 \u20ac;{ab(i)}"), {"x": r(1234.5, 2234.5)}, "certain"),
    "kilograms": (of("x,k", lambda i: f"{60 + i} kg,{ab(i)}"), {"x": r(60, 61)}, "certain"),
    "kilograms of many": (of("x,k", lambda i: f"{37 * i + 5}.{i % 10} kg,{ab(i)}"), {"x": r(5, 42.1)}, "certain"),
    "a word behind the numbers": (of("x,k", lambda i: f"{i + 4}.{i % 10} FTE,{ab(i)}"), {"x": r(4, 5.1)}, "probable"),
    "a word behind few numbers": (of("x,k", lambda i: f"{i % 3 + 1} rooms,{ab(i)}"), {"x": lv("1 rooms")}, ""),
    "a letter behind numbers": (of("x,k", lambda i: f"{i % 12 + 1}D,{ab(i)}"), {"x": lv("1D", "2D")}, ""),
    "a code that names the rows": (
        of("area code,k", lambda i: f"{70001 + 7 * i},{ab(i)}"),
        {"area code": OUT},
        "probable",
    ),
    "points between thousands, commas elsewhere": (
        of("x;y;k", lambda i: f"{i + 1}.234 lbs;{i},5;{ab(i)}"),
        {"x": r(1234, 2234), "y": r(0.5, 1.5)},
        "probable",
    ),
    "several units": (of("x,k", lambda i: f"{60 + i} {'kg' if i % 2 else 'lb'},{ab(i)}"), REFUSED, "doubtful"),
    "percent, few": (of("x,k", lambda i: f"{10 * (i % 3)} %,{ab(i)}"), {"x": lv("0 %", "10 %")}, ""),
    "percent, here and there": (
        of("x,k", lambda i: f"{2 * i + 3}{'%' * (i % 2)},{ab(i)}"),
        {"x": r(3, 5)},
        "probable",
    ),
    "percent beside shares": (
        of("x,k", lambda i: f"{f'{i + 30}%' if i % 2 else f'.{i + 30}'},{ab(i)}"),
        REFUSED,
        "doubtful",
    ),
    "letters for thousands": (
        of("x,k", lambda i: f"{(f'{i / 10:.1f}k', f'{i + 100}', f'{i}M')[i % 3]},{ab(i)}", n=60),
        REFUSED,
        "doubtful",
    ),
    "digits of Arabs": (
        of("x,k", lambda i: f"{''.join(chr(0x660 + int(d)) for d in str(i + 10))},{ab(i)}"),
        REFUSED,
        "doubtful",
    ),
    "a total that is short of fields": (
        of("g,x,k", lambda i: f"{ab(i)},{i}.5,{i % 3}", "Total,400.5"),
        {"g": lv("a", "b"), "x": r(0.5, 1.5)},
        "probable",
    ),
    "a total with fields too many": (
        of("g,x,k", lambda i: f"{ab(i)},{i}.5,{i % 3}", "Total,,400.5,,"),
        {"g": lv("a", "b"), "x": r(0.5, 1.5)},
        "probable",
    ),
    "totals and means with colons": (
        of("g,x,k", lambda i: f"{ab(i)},{i}.5,{i % 3}", "Sum:,400.5,7", "Mean:,3.25,1"),
        {"g": lv("a", "b"), "x": r(0.5, 1.5)},
        "probable",
    ),
    "a database's nulls": (
        of("t,n,k", lambda i: f'"say \\"{ab(i)}\\"",{NULL if i % 5 == 4 else i % 3},{ab(i)}'),
        {"t": lv('say "a"', 'say "b"'), "n": lv("0", "1")},
        "certain",
    ),
    "nothing but points": (of("x,k", lambda i: f".,{ab(i)}"), {"x": OUT}, "probable"),
    "two lines of names": (
        of(",2019,,2020,", "region,sales,cost,sales,cost", lambda i: f"{ab(i)},{i}.5,{i}.25,{i + 1}.5,{i}.75"),
        {"region": lv("a", "b"), "2019 sales": r(0.5, 1.5), "2020 cost": r(0.75, 1.75)},
        "probable",
    ),
    "two lines of names, groups again and again": (
        of("shop,north,north,south,south", "shop,in,out,in,out", lambda i: f"{ab(i)},{i}.5,{i}.25,{i + 1}.5,{i}.75"),
        {"shop": lv("a", "b"), "north in": r(0.5, 1.5), "south out": r(0.75, 1.75)},
        "probable",
    ),
    "codes like prices": (of("x,k", lambda i: f"A{i % 12},{ab(i)}"), {"x": lv("A0", "A1")}, ""),
    "rows that end in a delimiter": (
        of("x,k", lambda i: f"{i / 4},{ab(i)},"),
        {"x": r(0.0, 0.25), "k": lv("a", "b")},
        "certain",
    ),
    "more digits than are kept": (
        of("x,k", lambda i: f"{9007199254740992 + 2 * (i // 2)},{ab(i)}"),
        {"x": r(9007199254740992.0, 9007199254740992.0)},
        "note",
    ),
    "no finite number": (of("x,k", "inf,a", lambda i: f"{i / 4},{ab(i)}"), REFUSED, "doubtful"),
    # dates
    "dates": (of("x,k", lambda i: f"2021-03-{i + 1:02d},{ab(i)}"), {"x": r(18687, 18688)}, "certain"),
    "dates as whole numbers": (
        of("x,k", lambda i: f"{20210301 + i},{ab(i)}"),
        {"x": r(18687, 18688)},
        "probable",
    ),
    "whole numbers that are hardly dates": (
        of("x,k", lambda i: f"{20210301 + 17 * i},{ab(i)}"),
        {"x": r(20210301, 20210318)},
        "",
    ),
    "dates of Germans": (of("x,k", lambda i: f"{i + 1:02d}.03.2021,{ab(i)}"), {"x": r(18687, 18688)}, "certain"),
    "years of two digits": (
        of("x,k", lambda i: f"01.03.{(i + 60) % 100:02d},{ab(i)}", n=60),
        {"x": r(-3593, -3228)},
        "probable",
    ),
    "the day first": (of("x,k", lambda i: f"{i + 1:02d}/03/2021,{ab(i)}"), {"x": r(18687, 18688)}, "certain"),
    "the month first": (of("x,k", lambda i: f"03/{i + 1:02d}/2021,{ab(i)}"), {"x": r(18687, 18688)}, "certain"),
    "the day or the month first": (
        of("x,k", lambda i: f"{i % 12 + 1:02d}/{i // 12 + 3:02d}/2021,{ab(i)}"),
        REFUSED,
        "doubtful",
    ),
    "words for months": (of("x,k", lambda i: f"{i + 1} Mar 2021,{ab(i)}"), {"x": r(18687, 18688)}, "certain"),
    "dates and times": (
        of("x,k", lambda i: f"2021-03-01 {i:02d}:00:00,{ab(i)}"),
        {"x": r(18687, 18687 + 1 / 24)},
        "certain",
    ),
    "ISO times": (
        of("x,k", lambda i: f"2021-03-01T{i:02d}:00:00Z,{ab(i)}"),
        {"x": r(18687, 18687 + 1 / 24)},
        "certain",
    ),
    "hours": (of("x,k", lambda i: f"{i:02d}:30,{ab(i)}"), {"x": r(0.5, 1.5)}, "certain"),
    "hours of Americans": (of("x,k", lambda i: f"{i % 12 + 1}:15 PM,{ab(i)}"), {"x": r(13.25, 14.25)}, "certain"),
    "dates and nothing": (of("x,k", "-,a", lambda i: f"2021-03-{i + 1:02d},{ab(i)}"), {"x": r(None, 18687)}, "certain"),
    "1900-01-01 for nothing": (
        of("x,k", "1900-01-01,a", lambda i: f"2021-03-{i + 1:02d},{ab(i)}"),
        {"x": r(None, 18687)},
        "probable",
    ),
    "few dates": (of("x,k", lambda i: f"2021-03-{i % 2 + 1:02d},{ab(i)}"), {"x": lv("2021-03-01", "2021-03-02")}, ""),
    # codes and texts among numbers
    "codes of diseases": (
        of("x,k", lambda i: f"{250 + i},{ab(i)}", "V58,a", "E11.9,b", n=60),
        {"x": lv("250", "251")},
        "probable",
    ),
    "a text among numbers": (of("x,k", lambda i: f"{i}.5,{ab(i)}", "abc,a"), REFUSED, "doubtful"),
    "bounds among numbers": (of("x,k", lambda i: f"{i}.5,{ab(i)}", "<0.1,a", ">90,b"), REFUSED, "doubtful"),
    "unknown among numbers": (of("x,k", "unknown,b", lambda i: f"{i}.5,{ab(i)}"), {"x": r(None, 0.5)}, "probable"),
    "n.a. among numbers": (of("x,k", "n.a.,b", lambda i: f"{i}.5,{ab(i)}"), {"x": r(None, 0.5)}, "probable"),
    "errors of spreadsheets": (of("x,k", "#DIV/0!,b", lambda i: f"{i}.5,{ab(i)}"), {"x": r(None, 0.5)}, "certain"),
    "errors among words": (of("x,k", "#N/A,b", lambda i: f"{ab(i)},{ab(i)}"), {"x": lv(None, "a")}, "certain"),
    "far down": (of("x,k", lambda i: f"{i},{ab(i)}", '"1,5",a', n=3000), {"x": r(0, 1)}, "certain"),
    "postcodes": (of("x,k", lambda i: f"{i % 20:05d},{ab(i)}", n=60), {"x": lv("00000", "00001")}, ""),
    "ranges": (of("x,k", lambda i: f"{('<5', '5-9', '10+')[i % 3]},{ab(i)}"), {"x": lv("<5", "5-9")}, ""),
    # numbers that are none
    "-999": (of("x,k", "-999,b", lambda i: f"{i}.5,{ab(i)}", "-999,b"), {"x": r(None, 0.5)}, "probable"),
    "99999": (of("x,k", "99999,b", lambda i: f"{i}.5,{ab(i)}"), {"x": r(None, 0.5)}, "probable"),
    "999 days": (of("x,k", "999,b", lambda i: f"{i % 27},{ab(i)}", n=60), {"x": r(None, 0)}, "probable"),
    "999 within the range": (of("x,k", lambda i: f"{90 * i + 9},{ab(i)}"), {"x": r(9, 99)}, ""),
    "-9 among zero to nine": (
        of("x,k", "-9,b", "-9,a", lambda i: f"{i % 10},{ab(i)}"),
        {"x": lv(None, None, "0")},
        "probable",
    ),
    "levels with a point": (of("x,k", ",a", lambda i: f"{i % 3}.0,{ab(i)}"), {"x": lv(None, "0", "1")}, "probable"),
    "two numbers with a point": (of("x,k", lambda i: f"{1 + 8 * (i % 2)}.0,{ab(i)}"), {"x": lv("1", "9")}, "probable"),
    "halves": (of("x,k", lambda i: f"{i % 3 / 2},{ab(i)}"), {"x": r(0, 0.5)}, ""),
    "keys": (of("user_id,k", lambda i: f"{10_007 + 13 * i},{ab(i)}"), {"user_id": OUT, "k": lv("a", "b")}, "probable"),
    "long keys": (of("z,k", lambda i: f"{2**60 + i * 1001},{ab(i)}", n=60), {"z": OUT}, "probable"),
    "numbers of rows": (of("z,k", lambda i: f"{i + 1},{ab(i)}", n=60), {"z": OUT, "k": lv("a", "b")}, "probable"),
    "names of rows": (of("z,k", lambda i: f"u{i}x,{ab(i)}", n=60), {"z": OUT, "k": lv("a", "b")}, "probable"),
    "nothing in a column": (of("z,k", lambda i: f",{ab(i)}"), {"z": OUT, "k": lv("a", "b")}, "certain"),
    "a constant": (of("z,k", lambda i: f"1,{ab(i)}"), {"z": lv("1"), "k": lv("a", "b")}, "note"),
    "capitals": (of("z,k", lambda i: f"{'East' if i % 2 else 'EAST'},{ab(i)}"), {"z": lv("EAST", "East")}, "note"),
    # layout
    "no names for the rows' numbers": (of(",k", lambda i: f"{i},{ab(i)}"), {"X1": OUT, "k": lv("a", "b")}, "certain"),
    "a header one name short": (of("x,k", lambda i: f"{i},{i % 3},{ab(i)}"), {"X1": OUT, "x": lv("0", "1")}, "certain"),
    "a delimiter at the end": (of("x,k,", lambda i: f"{i % 3},{ab(i)},"), {"x": lv("0", "1"), "X3": OUT}, "certain"),
    "two of a name": (of("x,x", lambda i: f"{i % 3},{ab(i)}"), {"x": lv("0", "1"), "x.2": lv("a", "b")}, "probable"),
    "sep=": (of("sep=;", "x;k", lambda i: f"{i},5;{ab(i)}"), {"x": r(0.5, 1.5)}, "certain"),
    "numbers of levels": (
        of("x,k", "3,2", lambda i: f"{i % 3},{i % 2}"),
        {"x": lv("0", "1", "2"), "k": lv("0", "1")},
        "certain",
    ),
    "numbers of levels, blanks between": (
        of("x k", "3 2", lambda i: f"{i % 3} {ab(i)}"),
        {"x": lv("0", "1"), "k": lv("a", "b")},
        "certain",
    ),
    "a total": (of("k,x", lambda i: f"{ab(i)},{i}.5", "Total,288"), {"k": lv("a", "b"), "x": r(0.5, 1.5)}, "probable"),
    "latin-1": (
        of("x,k", lambda i: f"caf{'é' if i % 2 else 'e'},{ab(i)}").encode("latin-1"),
        {"x": lv("cafe", "café")},
        "probable",
    ),
    "latin-1 in the header": (
        of("été,k", lambda i: f"{ab(i)},{ab(i)}").encode("latin-1"),
        {"été": lv("a", "b")},
        "probable",
    ),
    "cp1252": (
        of("x,k", lambda i: f"{('„so“', '5€')[i % 2]},{ab(i)}").encode("cp1252"),
        {"x": lv("\u201eso\u201c", "5\u20ac")},
        "probable",
    ),
    "UTF-16": (
        of("x,k", lambda i: f"caf{'é' if i % 2 else 'e'},{ab(i)}").encode("utf-16"),
        {"x": lv("cafe", "café")},
        "certain",
    ),
    "UTF-16 without a mark": (
        of("x,k", lambda i: f"{ab(i)},{ab(i)}").encode("utf-16-le"),
        {"x": lv("a", "b")},
        "certain",
    ),
    "UTF-8 with a mark": (b"\xef\xbb\xbf" + of("x,k", lambda i: f"{ab(i)},{ab(i)}").encode(), {"x": lv("a", "b")}, ""),
    "ends of lines": (of("x\tk", lambda i: f"{ab(i)}\t{ab(i)}", end="\r\n"), {"x": lv("a", "b")}, ""),
    "no header": (of("1,a", lambda i: f"{i % 3},{ab(i)}"), {"X1": lv("1", "0"), "X2": lv("a", "a")}, "probable"),
    "a unit in the name": (of("Weight (kg),k", lambda i: f"{i}.5,{ab(i)}"), {"Weight (kg)": r(0.5, 1.5)}, ""),
    "a long name": (of(f"{'x' * 140_000},k", lambda i: f"{i % 3},{ab(i)}"), {"x" * 140_000: lv("0", "1")}, ""),
    "a long cell": (
        of("x,k", lambda i: f"{'y' * 140_000 if i % 2 else 'z'},{ab(i)}"),
        {"x": lv("z", "y" * 140_000)},
        "",
    ),
}
