"""Names of months and days of the week, in the languages that tables are mostly written in."""

from __future__ import annotations

import unicodedata

_MONTHS = (
    "january jan januar jaenner janner janvier janv enero ene gennaio gen januari janeiro",
    "february feb februar februari fevrier fevr fev febrero febbraio fevereiro",
    "march mar marz maerz mrz maart mrt mars marzo marco",
    "april apr avril avr abril abr aprile",
    "may mai mei mayo maggio mag maio",
    "june jun juni juin junio giugno giu junho",
    "july jul juli juillet juil julio luglio lug julho",
    "august aug augustus aout agosto ago",
    "september sep sept septembre septiembre settembre set setembro",
    "october oct oktober okt octobre octubre ottobre ott outubro out",
    "november nov novembre noviembre novembro",
    "december dec dezember dez decembre diciembre dic dicembre dezembro",
)
_NUMBERS = {word: number for number, words in enumerate(_MONTHS, start=1) for word in words.split()}
WEEKDAYS = (
    r"(?:mon|tue|tues|wed|thu|thur|thurs|fri|sat|sun)(?:day|sday|nesday|rsday|urday)?|mo|di|mi|do|fr|sa|so|"
    r"(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch|sonnabend|lun|mar|mer|jeu|ven|sam|dim|"
    r"(?:lun|mar|mercre|jeu|vendre|same)di|dimanche"
)


def month(text: str) -> int:
    """The number of a month, written as one or as a word; 0 if it is none."""
    if text.isdigit():
        return int(text)
    plain = unicodedata.normalize("NFKD", text.casefold())
    return _NUMBERS.get("".join(sign for sign in plain if not unicodedata.combining(sign)), 0)
