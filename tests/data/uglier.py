"""More small files as people have them, beside those of ugly.py and in its form: exports of spreadsheets and databases
in several countries, aligned columns, lines that are no rows, dates of many forms, codes, encodings.

WHOLE has files that are refused, or read, as a whole: the message, or the columns.
"""

from __future__ import annotations

from typing import Any

from tests.data.ugly import OUT, REFUSED, ab, lv, of, r

GERMAN = ["Jan", "Feb", "Mrz", "Apr", "Mai", "Jun", "Jul", "Aug", "Sep", "Okt", "Nov", "Dez"]
FRENCH = [
    "janvier",
    "février",
    "mars",
    "avril",
    "mai",
    "juin",
    "juillet",
    "août",
    "septembre",
    "octobre",
    "novembre",
    "décembre",
]
ENGLISH = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
XK = {"x": r(0.0, 0.25), "k": lv("a", "b")}

CASES: dict[str, tuple[str | bytes, Any, str]] = {
    # columns aligned by blanks
    "aligned to the right": (
        of("  age  height group", lambda i: f"{20 + i:5d}  {150 + i / 4:6.2f} {('ctl', 'case')[i % 2]:>5s}"),
        {"age": r(20, 21), "height": r(150, 150.25), "group": lv("ctl", "case")},
        "certain",
    ),
    "aligned to the left": (
        of("age    height group", lambda i: f"{20 + i:<6d} {150 + i / 4:<6.2f} {('ctl', 'case')[i % 2]:<5s}"),
        {"age": r(20, 21), "height": r(150, 150.25), "group": lv("ctl", "case")},
        "certain",
    ),
    "aligned, with blanks in names": (
        of("body mass   birth date    sex", lambda i: f"{20 + i:<11d} 2001-02-{i + 1:02d}    {'mf'[i % 2]}"),
        {"body mass": r(20, 21), "birth date": r(11354, 11355), "sex": lv("m", "f")},
        "certain",
    ),
    "aligned, without a header": (
        "".join(f"{20.5 + i:7.1f}  {150.25 + i:6.2f} {i % 3:2d}\n" for i in range(24)),
        {"X1": r(20.5, 21.5), "X2": r(150.25, 151.25), "X3": lv("0", "1")},
        "probable",
    ),
    "aligned, as Fortran writes": (
        "".join(f"  {1.5 + i:13.6E}  {2.5 - i:13.6E}\n" for i in range(24)),
        {"X1": r(1.5, 2.5), "X2": r(2.5, 1.5)},
        "probable",
    ),
    # spreadsheets of several countries
    "German": (
        of("Tag;Betrag;Anteil;Art", lambda i: f"{i + 1:02d}.01.2023;{i + 1}.234,50 €;{i},5 %;{'ÄÖ'[i % 2]}").encode(
            "cp1252"
        ),
        {"Tag": r(19358, 19359), "Betrag": r(1234.5, 2234.5), "Anteil": r(0.5, 1.5), "Art": lv("Ä", "Ö")},
        "probable",
    ),
    "French": (
        of(
            "Date;Montant;Groupe", lambda i: f"{i + 1:02d}/02/2023;{i + 1}\u202f234,50\u00a0€;{('été', 'hiver')[i % 2]}"
        ),
        {"Date": r(19389, 19390), "Montant": r(1234.5, 2234.5), "Groupe": lv("été", "hiver")},
        "certain",
    ),
    "Swiss": (of("x;k", lambda i: f"Fr. {i + 1}’234.50;{ab(i)}"), {"x": r(1234.5, 2234.5)}, "certain"),
    "Swiss, no centimes": (of("x;k", lambda i: f"{i + 1}'234.--;{ab(i)}"), {"x": r(1234, 2234)}, "certain"),
    "prices without cents": (of("x;k", lambda i: f"{i + 1},- €;{ab(i)}"), {"x": r(1, 2)}, "certain"),
    "Indian": (of("x,k", lambda i: f'"{i + 1},23,456.50",{ab(i)}'), {"x": r(123456.5, 223456.5)}, "certain"),
    "dollars in brackets": (
        of("x,k", lambda i: f'"{f"(${i + 1},234.50)" if i % 2 else f"${i + 1},234.50"}",{ab(i)}'),
        {"x": r(1234.5, -2234.5)},
        "certain",
    ),
    "a minus before the dollar": (
        of("x,k", lambda i: f"{'-' * (i % 2)}${i}.50,{ab(i)}"),
        {"x": r(0.5, -1.5)},
        "certain",
    ),
    "a currency here and there": (of("x,k", lambda i: f"{'$' * (i % 2)}{i}.50,{ab(i)}"), {"x": r(0.5, 1.5)}, "certain"),
    "two currencies": (of("x;k", lambda i: f"{i},50 {('EUR', 'USD')[i % 2]};{ab(i)}"), REFUSED, "doubtful"),
    "per mille": (of("x,k", lambda i: f"{i / 4} ‰,{ab(i)}"), XK, "certain"),
    "texts of a spreadsheet": (of("x,k", lambda i: f'"=""{i % 3:03d}""",{ab(i)}'), {"x": lv("000", "001")}, "certain"),
    "errors of a German spreadsheet": (
        of("x;k", "#BEZUG!;a", lambda i: f"{i},5;{ab(i)}"),
        {"x": r(None, 0.5)},
        "certain",
    ),
    "a column too narrow": (of("x,k", "########,a", lambda i: f"{i}.5,{ab(i)}"), {"x": r(None, 0.5)}, "probable"),
    "nothing, in German": (
        of("x;k", "k. A.;a", "fehlt;b", lambda i: f"{i},5;{ab(i)}"),
        {"x": r(None, None, 0.5)},
        "probable",
    ),
    "thousands and millions": (of("x,k", lambda i: f"{i}.5{'KM'[i % 2]},{ab(i)}"), REFUSED, "doubtful"),
    "signs of two countries": (of("x;k", lambda i: f"{i}{'.,'[i % 2]}5;{ab(i)}"), REFUSED, "doubtful"),
    # texts of digits that are no numbers
    "blood pressure": (of("x,k", lambda i: f"{110 + i}/{70 + i},{ab(i)}"), REFUSED, "doubtful"),
    "ranges of numbers": (of("x,k", lambda i: f"{i}-{i + 5},{ab(i)}"), REFUSED, "doubtful"),
    "numbers about": (of("x,k", lambda i: f"~{i}.5,{ab(i)}"), REFUSED, "doubtful"),
    "numbers with an error": (of("x,k", lambda i: f"{i}.5±0.2,{ab(i)}"), REFUSED, "doubtful"),
    "two coordinates in a cell": (of("x;k", lambda i: f"48.{i},11.{i};{ab(i)}"), REFUSED, "doubtful"),
    "stars at numbers": (of("x,k", lambda i: f"{i}.5{'*' * (i % 4 == 0)},{ab(i)}"), REFUSED, "doubtful"),
    # dates
    "dates of two forms": (
        of("x,k", lambda i: (f"{i + 1:02d}.03.2021", f"2021-03-{i + 1:02d}")[i % 2] + f",{ab(i)}"),
        {"x": r(18687, 18688)},
        "probable",
    ),
    "some with a time": (
        of("x,k", lambda i: f"2021-03-{i + 1:02d}{(' 12:00', '')[i % 2]},{ab(i)}"),
        {"x": r(18687.5, 18688)},
        "probable",
    ),
    "days and months first side by side": (
        of("x,k", lambda i: (f"{i + 1:02d}/03/2021", f"03/{i + 1:02d}/2021")[i % 2] + f",{ab(i)}"),
        REFUSED,
        "doubtful",
    ),
    "one zone": (
        of("x,k", lambda i: f"2021-03-01T{i:02d}:00:00+02:00,{ab(i)}"),
        {"x": r(18687, 18687 + 1 / 24)},
        "certain",
    ),
    "two zones": (
        of("x,k", lambda i: f"2021-03-01T{i:02d}:00:00+0{1 + i % 2}:00,{ab(i)}"),
        {"x": r(18687 - 1 / 24, 18687 - 1 / 24)},
        "probable",
    ),
    "thousandths of seconds": (
        of("x,k", lambda i: f"2021-03-{i + 1:02d}T12:00:00.000Z,{ab(i)}"),
        {"x": r(18687.5, 18688.5)},
        "certain",
    ),
    "a.m. and p.m.": (
        of("x,k", lambda i: f"{i % 12 + 1}:{i:02d} {'ap'[i % 2]}.m.,{ab(i)}"),
        {"x": r(1, 14 + 1 / 60)},
        "certain",
    ),
    "Americans with a time": (
        of("x,k", lambda i: f"3/{i + 1}/2021 1:30 PM,{ab(i)}"),
        {"x": r(18687.5625, 18688.5625)},
        "certain",
    ),
    "months of years": (
        of("x,k", lambda i: f"{ENGLISH[i % 12]}-{10 + i // 12},{ab(i)}"),
        {"x": r(14610, 14641)},
        "certain",
    ),
    "quarters": (of("x,k", lambda i: f"{2010 + i // 4}Q{i % 4 + 1},{ab(i)}"), {"x": r(14610, 14700)}, "certain"),
    "German months": (of("x;k", lambda i: f"{i + 1}. März 2021;{ab(i)}"), {"x": r(18687, 18688)}, "certain"),
    "German months, short": (
        of("x;k", lambda i: f"{i + 1:02d}-{GERMAN[i % 12]}-2021;{ab(i)}"),
        {"x": r(18628, 18660)},
        "certain",
    ),
    "French months": (of("x;k", lambda i: f"{i + 1} {FRENCH[i % 12]} 2021;{ab(i)}"), {"x": r(18628, 18660)}, "certain"),
    "days of the week before": (
        of("x;k", lambda i: f"Mon, {i + 1:02d} Mar 2021;{ab(i)}"),
        {"x": r(18687, 18688)},
        "certain",
    ),
    "no date for nothing": (
        of("x,k", "0000-00-00,a", lambda i: f"2021-03-{i + 1:02d},{ab(i)}"),
        {"x": r(None, 18687)},
        "probable",
    ),
    "a date that is none": (of("x,k", lambda i: f"2021-03-{i + 1:02d},{ab(i)}", "2021-02-30,a"), REFUSED, "doubtful"),
    "more hours than a day has": (of("x,k", lambda i: f"{2 * i}:30,{ab(i)}"), REFUSED, "doubtful"),
    "days of a spreadsheet": (of("date,k", lambda i: f"{44197 + i},{ab(i)}"), {"date": r(44197, 44198)}, "note"),
    "seconds of a computer": (
        of("time,k", lambda i: f"{1609459200 + 86400 * i},{ab(i)}"),
        {"time": r(1609459200, 1609545600)},
        "note",
    ),
    # codes, levels, marks of missing values
    "postcodes, some with zeros": (
        of("x,k", lambda i: f"{3137 * (i % 20) % 99999:05d},{ab(i)}", n=60),
        {"x": lv("00000", "03137")},
        "probable",
    ),
    "codes like powers": (of("x,k", lambda i: f"{1 + i % 9}E{i % 7},{ab(i)}"), {"x": r(1, 20)}, "probable"),
    "few numbers with a point": (of("x,k", lambda i: f"{i % 5}.0,{ab(i)}"), {"x": r(0, 1)}, "note"),
    "few numbers with two decimals": (of("x,k", lambda i: f"{i % 5}.00,{ab(i)}"), {"x": r(0, 1)}, "note"),
    "7777 and 9999": (
        of("x,k", "7777,a", "9999,b", lambda i: f"{i},{ab(i)}"),
        {"x": r(None, None, 0)},
        "probable",
    ),
    "888": (of("x,k", "888,a", lambda i: f"{20 + i},{ab(i)}"), {"x": r(None, 20)}, "probable"),
    "zeros far below": (of("bmi,k", "0,a", "0,b", lambda i: f"{20 + i / 4},{ab(i)}"), {"bmi": r(0, 0, 20)}, "note"),
    "-1 below all others": (of("age,k", "-1,a", "-1,b", lambda i: f"{20 + i},{ab(i)}"), {"age": r(-1, -1, 20)}, "note"),
    "truths in several languages": (
        of("x,y,z", lambda i: f"{('ja', 'nein')[i % 2]},{('oui', 'non')[i % 2]},{('WAHR', 'FALSCH')[i % 2]}"),
        {"x": lv("ja", "nein"), "y": lv("oui", "non"), "z": lv("WAHR", "FALSCH")},
        "",
    ),
    "truths in capitals and not": (
        of("x,k", lambda i: f"{('True', 'true')[i % 2]},{ab(i)}"),
        {"x": lv("True", "true")},
        "note",
    ),
    "UTF-8 read as another": (
        of("x,k", lambda i: f"{('ZÃ¼rich', 'Bern')[i % 2]},{ab(i)}"),
        {"x": lv("ZÃ¼rich", "Bern")},
        "note",
    ),
    # blanks and quotes
    "blanks on both sides": (of(" x , k ", lambda i: f" {i / 4} , {ab(i)} "), XK, ""),
    "no-break blanks": (of("x,k", lambda i: f"\u00a0{i / 4}\u00a0,{ab(i)}"), XK, "certain"),
    "zero-width blanks": (of("x,k", lambda i: f"\u200b{i / 4},{ab(i)}"), XK, "certain"),
    "tabs before commas": (of("x,k", lambda i: f"{i / 4}\t,{ab(i)}\t"), XK, "certain"),
    "apostrophes for quotes": (of("x,k", lambda i: f"'{i / 4}','{ab(i)}'"), XK, "certain"),
    "commas within apostrophes": (of("x,k", lambda i: f"'{i},5','{ab(i)}'"), {"x": r(0.5, 1.5)}, "certain"),
    "backslashes before quotes": (
        of("x,k", lambda i: f'"say \\"{ab(i)}\\"!",{ab(i)}'),
        {"x": lv('say "a"!', 'say "b"!')},
        "certain",
    ),
    "ends of lines within cells": (
        of("x,t", lambda i: f'{i / 4},"one\ntwo {ab(i)}"'),
        {"t": lv("one\ntwo a", "one\ntwo b")},
        "",
    ),
    # delimiters
    "circumflexes": (of("x^k", lambda i: f"{i / 4}^{ab(i)}"), XK, ""),
    "tildes": (of("x~k", lambda i: f"{i / 4}~{ab(i)}"), XK, ""),
    "the delimiter of Hive": (of("x\x01k", lambda i: f"{i / 4}\x01{ab(i)}"), XK, ""),
    "two bars": (of("x||k", lambda i: f"{i / 4}||{ab(i)}"), {**XK, "X2": OUT}, "certain"),
    "empty columns of a spreadsheet": (
        of("x;k;;;", lambda i: f"{i},5;{ab(i)};;;"),
        {"x": r(0.5, 1.5), "X3": OUT},
        "certain",
    ),
    "a delimiter after the names": (of("x,k,", lambda i: f"{i / 4},{ab(i)}"), XK, "certain"),
    # lines above, below the names, and at the end
    "a padded title, units, gaps in the first rows": (
        of(
            "Export Praxis;;;;\n;;;;\nOrt;Größe;Kosten;Aufnahme;k\n;[cm];[EUR];;",
            lambda i: (
                f"{'süd' if i % 3 else 'nord'};{150 + i},5 cm;{f'1.{100 + i},00 €' if i % 9 else ''};"
                f"{1 + i % 28:02d}.03.2024;{ab(i)}"
            ),
        ),
        {"Ort": lv("nord", "süd"), "Größe": r(150.5, 151.5), "Kosten": r(None, 1101.0), "k": lv("a", "b")},
        "probable",
    ),
    "remarks after %": (of("% by hand\n% on Monday\nx,k", lambda i: f"{i / 4},{ab(i)}"), XK, "certain"),
    "remarks after //": (of("// by hand\nx,k", lambda i: f"{i / 4},{ab(i)}"), XK, "certain"),
    "names behind a mark": (of("# x k z", lambda i: f"{i / 4} {ab(i)} {i % 3}"), {**XK, "z": lv("0", "1")}, "probable"),
    "units below the names": (
        of("x,y,k", "cm,kg,", lambda i: f"{i / 4},{i / 2},{ab(i)}"),
        {**XK, "y": r(0, 0.5)},
        "probable",
    ),
    "units in brackets": (
        of("x,y,k", "[cm],[kg],[-]", lambda i: f"{i / 4},{i / 2},{ab(i)}"),
        {**XK, "y": r(0, 0.5)},
        "probable",
    ),
    "types below the names": (
        of("x,k,y", "num,text,num", lambda i: f"{i / 4},{ab(i)},{i}.5"),
        {**XK, "y": r(0.5)},
        "probable",
    ),
    "questions below the names": (
        of("x,k,y", "How long?,Which?,How much?", lambda i: f"{i / 4},{ab(i)},{i}.5"),
        {**XK, "y": r(0.5)},
        "probable",
    ),
    "three lines of Orange": (
        of("x\tk\ty\nc\td\tc\n\tclass\t", lambda i: f"{i / 4}\t{ab(i)}\t{i}.5"),
        {**XK, "y": r(0.5)},
        "probable",
    ),
    "two lines of names": (
        of("Body,,Lab,\nx,sex,y,k", lambda i: f"{i / 4},{'mf'[i % 2]},{i}.5,{ab(i)}"),
        {**XK, "sex": lv("m", "f"), "y": r(0.5)},
        "probable",
    ),
    "a line of dashes": (of("x,k\n-----,-----", lambda i: f"{i / 4},{ab(i)}"), XK, "certain"),
    "a table of markdown": (
        of("| x | k |\n|---|---|", lambda i: f"| {i / 4} | {ab(i)} |"),
        {"x": r(0.0, 0.25), "X1": OUT},
        "certain",
    ),
    "a total without a word": (
        of("k,x", lambda i: f"{ab(i)},{i}.5", ",288"),
        {"k": lv("a", "b"), "x": r(0.5, 1.5)},
        "probable",
    ),
    "two lines of totals": (
        of("k,x", lambda i: f"{ab(i)},{i}.5", "Total,288", "Mean,12"),
        {"x": r(0.5, 1.5)},
        "probable",
    ),
    "a French total": (of("k;x", lambda i: f"{ab(i)};{i},5", "Total général;288,0"), {"x": r(0.5, 1.5)}, "probable"),
    "a source": (of("k,x", lambda i: f"{ab(i)},{i}.5", "Source: our survey, 2021"), {"x": r(0.5, 1.5)}, "probable"),
    "a source in a line of its own": (
        of("k,x,z", lambda i: f"{ab(i)},{i}.5,1", "", "Source: our survey"),
        {"x": r(0.5)},
        "probable",
    ),
    "a footnote": (of("k,x,z", lambda i: f"{ab(i)},{i}.5,1", "* preliminary,,"), {"x": r(0.5, 1.5)}, "probable"),
    "rows of nothing": (of("k;x;z", lambda i: f"{ab(i)};{i},5;1", ";;", ";;"), {"x": r(0.5, 1.5)}, "certain"),
    "the end of a file of DOS": (of("x,k", lambda i: f"{i / 4},{ab(i)}").encode() + b"\x1a", XK, "certain"),
    "two files in one": (of("x,k", lambda i: f"{i / 4},{ab(i)}") * 2, XK, "probable"),
    "two files of words in one": (
        of("h,k", lambda i: f"{'uvw'[i % 3]},{ab(i)}") * 2,
        {"h": lv("u", "v", "w")},
        "probable",
    ),
    "a mark of UTF-8 within": ("\ufeff".join([of("x,k", lambda i: f"{i / 4},{ab(i)}")] * 2).encode(), XK, "probable"),
    "UTF-32": (of("x,k", lambda i: f"{i / 4},{ab(i)}").encode("utf-32"), XK, "certain"),
    "UTF-16, the other way round": (of("x,k", lambda i: f"{i / 4},{ab(i)}").encode("utf-16-be"), XK, "certain"),
    "ends of lines of old": (of("x,k", lambda i: f"{i / 4},{ab(i)}", end="\r"), XK, ""),
}

WHOLE: dict[str, tuple[bytes, str]] = {
    "JSON": (b'[{"x": 1, "k": "a"}, {"x": 2, "k": "b"}]', "this is JSON, expected a table"),
    "lines of JSON": (b'{"x": 1, "k": "a"}\n{"x": 2, "k": "b"}\n', "this is JSON, expected a table"),
    "a page": (b"<html><body><table></table></body></html>\n", "this is HTML, expected a table"),
    "a zero byte": (b"x,k\n1,a\n2\0,b\n", r"a zero byte at 9\), expected rows of text; take zero bytes out"),
    "letters of DOS": ("x,k\nZürich,a\nKöln,b\n".encode("cp437"), "hardly Western; --encoding"),
    "Cyrillic letters": ("x,k\nМосква,a\nТверь,b\n".encode("cp1251"), "hardly Western; --encoding"),
    "Japanese letters": ("x,k\n東京,a\n大阪,b\n".encode("shift_jis"), "hardly Western; --encoding"),
    "a row too short": (b"x,k,z\n1,a,2\n1,b\n2,a,2\n", "row 2 has 2 fields, expected 3: '1,b'; missing cells need"),
    "a row too long": (b"x,k\n1,a\n1,b,c\n2,a\n", "row 2 has 3 fields, expected 2: '1,b,c'; a cell with a delimiter"),
    "a row that is cut": (b"x,k\n1,a\n1,b\n2,a\n3", "row 4 has 1 field, expected 2: '3'; missing cells need"),
    "a remark among the rows": (b"x,k\n1,a\n# no\n2,a\n3,b\n", "row 2 has 1 field, expected 2: '# no'; a remark among"),
    "aligned, with a gap": (
        of("id   x     y", lambda i: f"{i:<4d} {'' if i == 5 else i / 4:<5} {ab(i)}").encode(),
        "row 6 has 2 fields, expected 3",
    ),
    "a million digits": (
        of("x,k", f"{'1' * 1_000_000},a", lambda i: f"{i / 4},{ab(i)}").encode(),
        "row 1: '1111.*not a fin",
    ),
    "nothing": (b"", "the file is empty"),
    "blank lines": (b"\n\n\n", "nothing but blank lines"),
    "a header alone": (b"x,k\n", "a header with 2 names but no rows"),
}
