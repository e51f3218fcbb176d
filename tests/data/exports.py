"""Files as banks, survey sites, laboratories, loggers, statistics programs and clinics export them, in the form of
ugly.py: small likenesses of seven that optbn was tried on."""

from __future__ import annotations

from typing import Any

from tests.data.ugly import OUT, REFUSED, lv, of, r

_IMPORTS = '"{""ImportId"":""startDate"",""timeZone"":""UTC""}","{""ImportId"":""QID1""}","{""ImportId"":""QID2""}"'
_ACCOUNT = "Umsätze;Zeitraum: 30 Tage\n\nKontonummer:;DE12 3456 7890\nKontostand:;1.234,56 EUR\n\n"
_GRADES = ("none", "primary", "college")

CASES: dict[str, tuple[str | bytes, Any, str]] = {
    "a bank's account": (
        (
            _ACCOUNT
            + of(
                '"Buchung";"Empfänger";"Betrag";"Währung"',
                lambda i: f'"{i + 1:02d}.01.23";"{("REWE", "Miete")[i % 2]}";"-1.{i + 100},50";"EUR"',
            )
        ).encode("latin-1"),
        {"Buchung": r(19358, 19359), "Empfänger": lv("REWE", "Miete"), "Betrag": r(-1100.5, -1101.5)},
        "probable",
    ),
    "a survey site": (
        of(
            "StartDate,Q1,Q2",
            'Start Date,How old are you?,"I am satisfied, mostly"',
            _IMPORTS,
            lambda i: f"2023-01-{i + 1:02d} 10:30:00,{20 + i},{('1 - never', '5 - always')[i % 2]}",
        ),
        {"StartDate": r(19358 + 10.5 / 24), "Q1": r(20, 21), "Q2": lv("1 - never", "5 - always")},
        "probable",
    ),
    "a laboratory": (
        of("Probe;x;HBsAg", lambda i: f"P-{i:05d};{'<0,6' if i == 5 else f'{i},5'};{('neg.', 'pos.')[i % 2]}").encode(
            "cp1252"
        ),
        REFUSED,
        "doubtful",
    ),
    "a logger": (
        "# logger v2.3\n# site: roof\n"
        + of(
            "TIMESTAMP\tRECORD\tTemp\tStatus",
            lambda i: f"2023-05-01 00:{i:02d}:00.500\t{i}\t{'NAN' if i == 1 else i / 4}\t{('OK', 'ERR 17')[i % 2]}",
            "TIMESTAMP\tRECORD\tTemp\tStatus",
            lambda i: f"2023-05-01 01:{i:02d}:00.500\t{24 + i}\t{i / 4}\tOK",
        ),
        {"TIMESTAMP": r(19478 + 0.5 / 86400), "RECORD": OUT, "Temp": r(0, None, 0.5), "Status": lv("OK", "ERR 17")},
        "probable",
    ),
    "padded, with dates of SAS": (
        of(
            "AGE     ,EDUC      ,VISIT    ,K",
            lambda i: f"{'.' if i == 1 else 20 + i:>8},{_GRADES[i % 3]:<10},{i + 1:02d}JAN2020,{i % 2}",
        ),
        {"AGE": r(20, None, 22), "EDUC": lv("none", "primary", "college"), "VISIT": r(18262, 18263)},
        "certain",
    ),
    "a clinic": (
        of(
            "Alter;Größe;Temp.;Kosten",
            lambda i: f"{50 + i} J.;{1.5 + i / 100:.2f} m;{36 + i // 10},{i % 10}°C;€ 1.{i + 100},50",
        ),
        {"Alter": r(50, 51), "Größe": r(1.5, 1.51), "Temp.": r(36, 36.1), "Kosten": r(1100.5, 1101.5)},
        "certain",
    ),
    "classes in numbers, some not given": (
        of("Klasse;x", lambda i: f"{'-' if i == 1 else 'n/a' if i == 9 else i % 3 + 1};{'ab'[i % 2]}"),
        {"Klasse": lv("1", None, "3"), "x": lv("a", "b", "a")},
        "probable",
    ),
    "blood pressure, some twice": (
        of("x;k", lambda i: f"{110 + i % 40}/{70 + i % 40};{'ab'[i % 2]}", n=60),
        REFUSED,
        "doubtful",
    ),
}
