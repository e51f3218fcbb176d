"""What the columns are: declared by the user or by the file, inferred where nobody says.

The rule for a column nobody declared looks at the different texts in it, over all rows and with missing values set
aside, so the order of the rows does not matter:

1. no number among them, or at most `FEW` different texts:    categorical, unless rule 2 makes it real;
2. all of them numbers:   categorical when they are at most `FEW` = 10 different whole numbers, otherwise real
   with the observed range. A decimal point or an exponent makes a number not whole: 1.0 is a measurement, 1 a code;
3. more than `FEW` texts, of which the numbers alone would be real: refused, naming the first text that is no number.
   Such a column is nearly always a measurement with an unknown token for missing values or a unit left in.
   Likewise more than `FEW` numbers some of which have a comma: is 1,5 a half more than 1, and 1,500 more than 1000?

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
     "code": "categorical",                      levels from the data
     "id": "ignore"}                             not a variable
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from optbn.base.errors import DataError
from optbn.data.dataset import Categorical, Domain, Real

FEW = 10
"""At most so many different whole numbers are levels; more of them are measurements."""

Kind = Literal["categorical", "real", "ignore"]
Declared = Domain | Kind
"""What can be said about a column: everything, or only what kind it is."""

FORMS = '["a", "b"], {"ordinal": ["a", "b"]}, {"real": [0, 1]}, "categorical", "real" or "ignore"'

# possessive (++): a long run of digits is gone through once, whatever follows it
_NUMBER = re.compile(r" *+[+-]?(?:(?:\d++\.?\d*+|\.\d++)(?:e[+-]?\d++)?|inf(?:inity)?) *+", re.IGNORECASE | re.ASCII)
_WHOLE = re.compile(r" *+[+-]?\d++ *+", re.ASCII)
_PADDED = re.compile(r" *+[+-]?0\d", re.ASCII)
_COMMA = re.compile(
    r" *+[+-]?(?:(?:\d++,\d*+|,\d++)(?:e[+-]?\d++)?|\d{1,3}(?:,\d{3})++(?:\.\d*+)?) *+", re.IGNORECASE | re.ASCII
)


@dataclass(frozen=True)
class Schema:
    """Columns by name, each with what is declared about it."""

    columns: Mapping[str, Declared] = field(default_factory=dict)

    @classmethod
    def of(cls, source: SchemaLike) -> Schema:
        """A schema from itself, a mapping in Python or JSON form, the path of a JSON file, or nothing."""
        if source is None:
            return cls()
        if isinstance(source, Schema):
            return source
        if isinstance(source, Mapping):
            return cls({name: _declared(f"schema: column {name!r}", said) for name, said in source.items()})
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
        return cls({name: _declared(f"{path}: column {name!r}", said) for name, said in entries.items()})

    def to_json(self) -> str:
        """One line per column; what `Schema.of` reads back equal."""
        lines = [f"  {_text(name)}: {_text(_plain(said))}" for name, said in self.columns.items()]
        return "{\n" + ",\n".join(lines) + "\n}\n"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it as JSON, for `--schema` and `optbn.read`."""
        from optbn_solvers.base.files.atomic import replacing

        with replacing(path) as file:
            file.write(self.to_json().encode())

    @property
    def closed(self) -> frozenset[str]:
        """The columns whose levels are declared, so that none may be added."""
        return frozenset(name for name, said in self.columns.items() if isinstance(said, Categorical))

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


def has_comma(text: str) -> bool:
    """A number written with a comma for the point, or with commas between thousands."""
    return _COMMA.fullmatch(text) is not None


def makes_real(numbers: Collection[str]) -> bool:
    """Whether a column of just these numbers would be real."""
    return bool(numbers) and (len(numbers) > FEW or not all(map(is_whole, numbers)))


def infer(texts: Collection[str]) -> Kind:
    """The kind of an undeclared column with these different texts (the rule above); DataError when refused."""
    numbers = [text for text in texts if is_number(text)]
    commas = [text for text in texts if has_comma(text)]
    if commas and len(texts) > FEW and len(commas) + len(numbers) == len(texts):
        raise Mixed(commas[0])
    if not makes_real(numbers):
        return "categorical"
    if len(numbers) == len(texts):
        return "real"
    if len(texts) <= FEW:
        return "categorical"
    raise Mixed(next(text for text in texts if not is_number(text)))


class Mixed(Exception):
    """A column of numbers with this text among them."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


def level_order(texts: Collection[str]) -> tuple[str, ...]:
    """Inferred levels in their canonical order."""
    if all(map(is_number, texts)):
        return tuple(sorted(texts, key=lambda text: (float(text), text)))
    return tuple(sorted(texts))


def _declared(where: str, said: Any) -> Declared:
    try:
        match said:
            case Categorical() | Real() | "categorical" | "real" | "ignore":
                return said
            case [*levels]:
                return Categorical(_levels(levels))
            case {"categorical": [*levels], **rest} if not rest:
                return Categorical(_levels(levels))
            case {"ordinal": [*levels], **rest} if not rest:
                return Categorical(_levels(levels), ordered=True)
            case {"real": [int() | float() as low, int() | float() as high], **rest} if not rest:
                return Real(float(low), float(high))
    except DataError as error:
        raise DataError(f"{where}: {error}") from None
    except OverflowError:
        raise DataError(f"{where}: a bound of the range is too large for a floating-point number") from None
    shown = repr(said) if len(repr(said)) <= 60 else repr(said)[:57] + "..."
    raise DataError(f"{where}: {shown} is not a declaration; expected {FORMS}")


def _levels(levels: list[Any]) -> tuple[str, ...]:
    if not levels:
        raise DataError("no levels are declared; expected at least one")
    for level in levels:
        if not isinstance(level, str | int) or isinstance(level, bool):
            raise DataError(f'level {level!r} is not a text; write it as it stands in the data, "{level}" say')
    return tuple(map(str, levels))


def _plain(said: Declared) -> Any:
    match said:
        case Categorical(levels, ordered):
            return {"ordinal": list(levels)} if ordered else list(levels)
        case Real(low, high):
            return {"real": [low, high]}
    return said


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries: dict[str, Any] = {}
    for name, value in pairs:
        if name in entries:
            raise DataError(f"column {name!r} is declared twice")
        entries[name] = value
    return entries
