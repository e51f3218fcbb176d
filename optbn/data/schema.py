"""What the columns are: declared by the user or by the file, inferred where nobody says.

The rule for a column nobody declared looks at the different texts in it, over all rows and with missing values set
aside, so the order of the rows does not matter:

1. no number among them, or at most `FEW` different texts:    categorical, unless rule 2 makes it real;
2. all of them numbers:   categorical when they are at most `FEW` = 10 different whole numbers, otherwise real
   with the observed range. A decimal point or an exponent makes a number not whole: 1.0 is a measurement, 1 a code;
3. anything else, numbers in other ways of writing, dates, codes, texts among numbers: see `optbn.data.judge`.

Blanks around a number do not matter; files with columns of one width have them.

Why ten: digits, school grades and opinion scales are categories to a Bayesian network; ages and counts are not.
Inferred levels stand in the order of their numbers when all are numbers, otherwise in the order of their characters.
Typed files speak for themselves: floating-point columns are real, Booleans, dictionaries and enumerations categorical;
their whole numbers and strings follow the rule above.

A schema is written as JSON, one entry per column, all of them optional:

    {"sex": ["f", "m"],                          levels, in this order, seen in the data or not
     "size": {"ordinal": ["s", "m", "l"]},       levels whose order means something
     "age": "real",                              a number; the range is the observed one
     "x": {"real": [0, 8]},                      a number in a declared range
     "n": {"real": [0, 99], "whole": true},       a whole number in it; also "unit": "days" since 1970, or "hours"
     "code": "categorical",                      levels from the data
     "z": {"real": [0, 8], "absent": true},      a number, or none: a missing value is a value like others
     "id": "ignore",                             not a variable
     "price": {"real": [0, 9], "written": "$1,234.5", "missing": ["-"]},     how it is written, by an example, and
                                                 what stands for a missing value; "dd.mm.yyyy hh:mm" for dates
     "age": {"kind": "categorical", "written": "1.5"}}                       levels that are numbers: 1.0 is 1
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from optbn.base.errors import DataError
from optbn.data.dates import DateForm
from optbn.data.domains import Categorical, Domain, Real
from optbn.data.numerals import Notation, Numeral
from optbn_solvers.base.atomic import replacing

FEW = 10
"""At most this many different whole numbers are levels; more of them are measurements."""

Kind = Literal["categorical", "real", "ignore"]
Declared = Domain | Kind
"""What can be said about a column: everything, or only what kind it is."""

UNITS = ("days", "hours")
FORMS = '["a", "b"], {"ordinal": ["a", "b"]}, {"real": [0, 1]}, "categorical", "real" or "ignore"'
WAYS = 'an example, "1,234.5" or "1.234,5 %" say, or a form of dates, "dd.mm.yyyy" say'

# possessive (++): a long run of digits is gone through once, whatever follows it
_NUMBER = re.compile(r" *+[+-]?(?:(?:\d++\.?\d*+|\.\d++)(?:e[+-]?\d++)?|inf(?:inity)?) *+", re.IGNORECASE | re.ASCII)
_WHOLE = re.compile(r" *+[+-]?\d++ *+", re.ASCII)
_PADDED = re.compile(r" *+[+-]?0\d", re.ASCII)


@dataclass(frozen=True)
class Written:
    """How the values of a column are written: the way of its numbers or dates (None: as programs write them), and the
    texts that stand for a missing value, beside those of the file."""

    way: Notation | DateForm | None = None
    missing: tuple[str, ...] = ()

    def number(self, text: str) -> float | None:
        """The number of a text, None if it is none."""
        return self.way(text) if self.way is not None else parse_number(text)

    def level(self, text: str) -> str:
        """The level a text stands for: a whole number for one in any way of writing, where there is such a way."""
        number = self.way(text) if self.way is not None else None
        return text if number is None else str(int(number)) if number.is_integer() else repr(number)

    @cached_property
    def absent(self) -> frozenset[float]:
        """The numbers among what stands for a missing value."""
        numbers = (self.number(text) for text in self.missing)
        return frozenset(number for number in numbers if number is not None)


PLAIN = Written()


def way_of(example: str) -> Notation | DateForm | None:
    """The way of writing that an example shows; None if it shows none."""
    return DateForm.of(example) or Notation.of(example)


@dataclass(frozen=True)
class Schema:
    """Columns by name, each with what is declared about it; `written` says how some of them are written."""

    columns: Mapping[str, Declared] = field(default_factory=dict)
    written: Mapping[str, Written] = field(default_factory=dict)

    @classmethod
    def of(cls, source: SchemaLike) -> Schema:
        """The schema of a source: a schema, a mapping in Python or JSON form, the path of a JSON file, or nothing."""
        if source is None:
            return cls()
        if isinstance(source, Schema):
            return source
        if isinstance(source, Mapping):
            return cls._of("schema", source)
        if isinstance(source, str | os.PathLike):
            return cls._load(Path(source))
        raise DataError(f"a schema is a mapping or the path of a JSON file, not {type(source).__name__}")

    @classmethod
    def _load(cls, path: Path) -> Schema:
        try:
            entries = json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=_unrepeated)
        except UnicodeDecodeError as error:
            raise DataError(f"{path}: not valid UTF-8 ({error.reason} at byte {error.start})") from None
        except json.JSONDecodeError as error:
            raise DataError(f"{path}: line {error.lineno}, column {error.colno}: {error.msg}; expected JSON") from None
        except DataError as error:
            raise DataError(f"{path}: {error}") from None
        except (ValueError, RecursionError) as error:  # a number of thousands of digits, a thousand lists in lists
            raise DataError(f"{path}: {error}; expected JSON of a schema") from None
        if not isinstance(entries, dict):
            raise DataError(f'{path}: expected a JSON object like {{"age": "real", "sex": ["f", "m"]}}')
        return cls._of(str(path), entries)

    @classmethod
    def _of(cls, where: str, entries: Mapping[str, Any]) -> Schema:
        columns: dict[str, Declared] = {}
        written: dict[str, Written] = {}
        for name, entry in entries.items():
            place = f"{where}: column {name!r}"
            if isinstance(entry, Mapping) and ("written" in entry or "missing" in entry):
                written[name] = _written(place, entry)
                entry = {key: value for key, value in entry.items() if key not in ("written", "missing")}
                entry = entry["kind"] if set(entry) == {"kind"} else entry
            if not (isinstance(entry, Mapping) and not entry and name in written):
                columns[name] = _declared(place, entry)
        return cls(columns, written)

    def to_json(self) -> str:
        """One line per column; what `Schema.of` reads back equal."""
        names = [*self.columns, *(name for name in self.written if name not in self.columns)]
        lines = [f"  {_text(name)}: {_text(self._entry(name))}" for name in names]
        return "{\n" + ",\n".join(lines) + "\n}\n"

    def _entry(self, name: str) -> Any:
        entry = _plain(self.columns[name]) if name in self.columns else {}
        written = self.written.get(name, PLAIN)
        if written == PLAIN:
            return entry
        if isinstance(entry, str):
            entry = {"kind": entry}
        elif isinstance(entry, list):
            entry = {"categorical": entry}
        way = {"written": written.way.example} if written.way is not None else {}
        return {**entry, **way, **({"missing": list(written.missing)} if written.missing else {})}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to the file at `path` as JSON, for `--schema` and `optbn.read`."""
        with replacing(path) as file:
            file.write(self.to_json().encode())

    @property
    def closed(self) -> frozenset[str]:
        """The columns whose levels are declared, so that none may be added."""
        return frozenset(name for name, entry in self.columns.items() if isinstance(entry, Categorical))

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def __contains__(self, name: object) -> bool:
        return name in self.columns

    def __getitem__(self, name: str) -> Declared:
        return self.columns[name]


SchemaLike = Schema | Mapping[str, Any] | str | os.PathLike[str] | None


def is_number(text: str) -> bool:
    """A decimal number; a whole one padded with zeros (007) is a label."""
    return _NUMBER.fullmatch(text) is not None and not (_WHOLE.fullmatch(text) and _PADDED.match(text))


def parse_number(text: str) -> float | None:
    """The number written there, padded or not."""
    return float(text) if _NUMBER.fullmatch(text) else None


def is_whole(text: str) -> bool:
    return _WHOLE.fullmatch(text) is not None and not _PADDED.match(text)


def looks_like_number(text: str) -> bool:
    """Whether a text is a number as programs or people write it, 1.5 or 1,5 or 12 %; a name of a column is none."""
    return is_number(text) or Numeral.of(text) is not None


def makes_real(numbers: Collection[str]) -> bool:
    """Whether a column of just these numbers would be real."""
    return bool(numbers) and (len(numbers) > FEW or not all(map(is_whole, numbers)))


def level_order(texts: Collection[str]) -> tuple[str, ...]:
    """Inferred levels in their canonical order."""
    if all(map(is_number, texts)):
        return tuple(sorted(texts, key=lambda text: (float(text), text)))
    return tuple(sorted(texts))


def _declared(where: str, entry: Any) -> Declared:
    try:
        match entry:
            case Real():
                return replace(entry, declared=True)
            case Categorical() | "categorical" | "real" | "ignore":
                return entry
            case [*levels]:
                return Categorical(_levels(levels))
            case {"categorical": [*levels], **rest} if not rest:
                return Categorical(_levels(levels))
            case {"ordinal": [*levels], **rest} if not rest:
                return Categorical(_levels(levels), ordered=True)
            case {"real": [int() | float() as low, int() | float() as high], **rest} if _is_form(rest):
                form: Any = rest
                return Real(float(low), float(high), declared=True, **form)
    except DataError as error:
        raise DataError(f"{where}: {error}") from None
    except OverflowError:
        raise DataError(f"{where}: a bound of the range is too large for a floating-point number") from None
    shown = repr(entry) if len(repr(entry)) <= 60 else repr(entry)[:57] + "..."
    raise DataError(f"{where}: {shown} is not a declaration; expected {FORMS}")


def _is_form(entries: Mapping[Any, Any]) -> bool:
    """Whether this is what may stand beside a range."""
    flags = all(isinstance(entries[key], bool) for key in entries.keys() & {"absent", "whole"})
    return flags and entries.keys() <= {"absent", "whole", "unit"} and entries.get("unit", "") in ("", *UNITS)


def _written(where: str, entry: Mapping[str, Any]) -> Written:
    way, missing = entry.get("written"), entry.get("missing", [])
    found = way_of(way) if isinstance(way, str) else None
    if way is not None and found is None:
        raise DataError(f"{where}: {way!r} is no way of writing; expected {WAYS}")
    if not isinstance(missing, list | tuple) or not all(isinstance(text, str | int | float) for text in missing):
        raise DataError(f'{where}: {missing!r} are no texts for missing values; expected a list, ["-", "-999"] say')
    return Written(found, tuple(map(str, missing)))


def _levels(levels: list[Any]) -> tuple[str, ...]:
    if not levels:
        raise DataError("no levels are declared; expected at least one")
    for level in levels:
        if not isinstance(level, str | int) or isinstance(level, bool):
            raise DataError(f'level {level!r} is not a text; write it as it stands in the data, "{level}" say')
    return tuple(map(str, levels))


def _plain(entry: Declared) -> Any:
    match entry:
        case Categorical(levels, ordered):
            return {"ordinal": list(levels)} if ordered else list(levels)
        case Real(low, high, absent):
            form = {"absent": absent, "whole": entry.whole, "unit": entry.unit}
            return {"real": [low, high], **{key: value for key, value in form.items() if value}}
    return entry


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries: dict[str, Any] = {}
    for name, value in pairs:
        if name in entries:
            raise DataError(f"column {name!r} is declared twice")
        entries[name] = value
    return entries
