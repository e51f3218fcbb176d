"""Forty mistakes that users make, and the one line that each gets: what is wrong, where, and what to do.

Every case runs in a folder of its own with the files of `prepare`; a message is compared in full (… stands for a part
that is not).
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import optbn
from optbn.cli import main
from tests.processes import interruptible

ASIA = "asia, bronc, dysp, either, lung, smoke, tub, xray"


@pytest.fixture(scope="module")
def prepared(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("mistakes")
    texts = {
        "ragged.csv": "a,b\n1,2\n3\n",
        "empty.csv": "",
        "head.csv": "a,b\n",
        "holes.csv": "a,b,c\n1,,x\n2,u,y\n1,,x\n1,,y\n",
        "twice.csv": "a,a\n1,2\n3,4\n",
        "infinite.csv": "a,b\n" + "".join(f"{i * 0.37},x\n" for i in range(40)) + "inf,y\n",
        "bad.jkl": "bad",
        "two.jkl": "2\na 2\n-1.0 0\n-0.5 1 b\nb 1\n-1.0 0\n",
        "bad.json": '{"a": 1}',
        "cut.json": '{"format": "optbn-network", "vers',
        "bad.bif": "network {",
        "tiers.txt": "asia, smoke\nlung, asia\n",
        "bad.parquet": "PAR1 and no more",
        "cycle.graphml": '<graphml><graph edgedefault="directed"><node id="a"/><node id="b"/>'
        '<edge source="a" target="b"/><edge source="b" target="a"/></graph></graphml>',
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    rng = np.random.default_rng(1)
    optbn.write(optbn.load_network("asia").sample(100, 1), folder / "asia.csv")
    semicolons = (folder / "asia.csv").read_text().replace(",", ";")
    (folder / "semicolons.csv").write_text(semicolons)
    rows = [f"u{i},{'xy'[rng.integers(2)]},{'pq'[rng.integers(2)]}" for i in range(500)]
    (folder / "names.csv").write_text("\n".join(["id,a,b", *rows]))
    wide = [",".join(f"v{i}" for i in range(300))]
    wide += [",".join(rng.choice(["a", "b"], 300).tolist()) for _ in range(60)]
    (folder / "wide.csv").write_text("\n".join(wide))
    (folder / "latin.csv").write_bytes("größe,b\nä,x\nö,y\n".encode("latin-1"))
    (folder / "sheet.xlsx").write_bytes(b"PK\x03\x04" + bytes(100))
    (folder / "renamed.csv").write_bytes(b"PK\x03\x04" + bytes(100))
    (folder / "picture.csv").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)))
    (folder / "folder").mkdir()
    optbn.write_network(optbn.load_network("asia"), folder / "asia.bif")
    (folder / "full.bif").symlink_to("/dev/full")
    return folder


MISTAKES = [
    ("learn nothing.csv", "nothing.csv: no such file"),
    ("learn folder", "folder: is a folder, expected a file"),
    ("learn asia.csv --target dyps", f"no column 'dyps' (did you mean 'dysp'?); there are: {ASIA}"),
    (
        "learn semicolons.csv --delimiter , --target dysp",
        "no column 'dysp'…; there are: asia;tub;smoke;lung;bronc;either;xray;dysp",
    ),
    ("learn ragged.csv", "ragged.csv: row 2 has 1 field, expected 2: '3'; missing cells need their delimiters"),
    ("learn empty.csv", "empty.csv: the file is empty"),
    ("learn head.csv", "head.csv: a header with 2 names but no rows below it"),
    (
        "learn holes.csv --missing refuse",
        "holes.csv: 3 missing values ('b' 3); choose what to do with them: missing = value, drop or impute "
        "(--missing on the command line)",
    ),
    (
        "learn holes.csv --missing dorp",
        "no way to treat missing values 'dorp' (did you mean 'drop'?); there are: as_level, drop, impute, refuse, "
        "value",
    ),
    (
        "learn twice.csv --strict",
        "twice.csv: columns 1 and 2 are both named 'a'; the second is called 'a.2'",
    ),
    (
        "learn infinite.csv",
        "infinite.csv: column 'a', row 41: inf is not a finite number; "
        "if it marks a missing value: --missing-token inf",
    ),
    (
        "learn latin.csv --strict",
        "latin.csv: byte 0xf6 at 2 is not UTF-8; read as cp1252, the usual encoding of western Windows; "
        "--encoding for another one",
    ),
    ("learn sheet.xlsx", "sheet.xlsx: a spreadsheet; save the sheet as csv and read that"),
    (
        "learn renamed.csv",
        "renamed.csv: this is a zip (or spreadsheet) file, expected csv; unpack it or save it as csv",
    ),
    ("learn picture.csv", "picture.csv: this is a PNG file, expected csv; optbn does not read those"),
    ("learn bad.parquet", "bad.parquet: …"),
    (
        "learn asia.csv -o asia.csv",
        "asia.csv holds the data, which the network would overwrite; choose another name",
    ),
    ("convert asia n.bif --for weka", "no program to write for 'weka'; there are: …"),
    (
        "learn wide.csv -D 7",
        "scoring the … families of at most 7 of 300 variables would take about …: lower max_parents, or set a time "
        "limit, and the size is chosen to fit it",
    ),
    (
        "learn wide.csv -D 7 --memory 1M",
        "scoring the … families of at most 7 of 300 variables would take about …",
    ),
    ("learn asia.csv -D many", "--max-parents 'many': expected a whole number, all, or NAME=NUMBER"),
    ("learn asia.csv -D -1", "--max-parents '-1': expected a whole number, all, or NAME=NUMBER"),
    ("learn asia.csv --memory lots", "memory 'lots' is not a size, expected something like 4G or 500M"),
    ("learn asia.csv --time-limit 0", "Invalid value for '--time-limit': … (see optbn learn --help)"),
    (
        "learn asia.csv --score bdue",
        "no score 'bdue' (did you mean 'bdeu'?); there are: aic, bdeu, bds, bge, bic, fnml, ft, ftp, hmd, k2, pcart, "
        "pcart-avg, pcartp, qnml",
    ),
    (
        "learn asia.csv --score bge",
        "column 'asia' is categorical, BGe cannot score it together with real columns: use a score for mixed data "
        "(pcart, ft), or leave it out",
    ),
    ("learn asia.csv --score bdeu --set es=10", "score 'bdeu' has no setting 'es'; it has: ess, …"),
    ("learn asia.csv --solver ipl", "no solver 'ipl' (did you mean 'ilp'?); there are: …"),
    ("learn asia.csv --smoother hpd", "no smoother 'hpd' (did you mean 'hdp'?); there are: …"),
    (
        "learn asia.csv -o model.xls",
        "model.xls: cannot tell the format by the name; the extensions are .bif …, or name a format",
    ),
    ("learn asia.csv -o no/such/model.bif", "no/such/model.bif: there is no folder no/such"),
    (f"learn asia.csv -o {'n' * 245}.bif", f"{'n' * 245}.bif: the name is too long for this folder"),
    ("learn asia.csv -r page.pdf", "page.pdf: a report is a page (.html) or the record behind it (.json)"),
    ("learn asia.csv -r folder", "folder: …"),
    ("learn asia.csv --score bic --smoother mle -o full.bif", "full.bif: …o space left on device…"),
    ("learn asia.csv --forbid asia-dysp", "'asia-dysp' is not an arc, expected something like 'A->B'"),
    ("learn asia.csv --forbid asai->dysp", f"no variable 'asai' (did you mean 'asia'?); there are: {ASIA}"),
    (
        "learn asia.csv --require asia->dysp --require dysp->asia",
        "the required arcs form a cycle: asia -> dysp -> asia",
    ),
    ("learn asia.csv --tiers none.txt", "none.txt: no such file"),
    ("learn asia.csv --tiers tiers.txt", "'asia' is in tier 1 and in tier 2"),
    ("learn asia.csv --schema none.json", "none.json: no such file"),
    ("learn asia.csv --schema bad.json", "bad.json: column 'a': 1 is not a declaration; expected …"),
    ("learn asia.csv --store kept", "--store needs --max-parents: …"),
    ("score asia.csv --store asia.csv -o x.jkl", "the store asia.csv is a file, expected a folder"),
    ("solve bad.jkl", "bad.jkl, line 1: expected the number of variables, found 'bad'"),
    (
        "solve asia.csv",
        "asia.csv: cannot read score files of kind 'csv'; the kinds are .jkl, .jaa, .pss, .parquet",
    ),
    ("query bad.json P(x)", "bad.json: JSON, but no network that optbn wrote (it has no 'format')"),
    ("query cut.json P(x)", "cut.json:1:…: expected JSON (…)"),
    ("query bad.bif P(x)", "bad.bif:1:…: expected …"),
    ("query alram P(x)", "no bundled network 'alram' (did you mean 'alarm'?); there are: …"),
    (
        "query asia P(lung,smoke=yes)",
        "'P(lung,smoke=yes)': before the bar stand names, for how probable each level is, or values (A=value, x>2), …",
    ),
    (
        "query asia P(lung|smoke)",
        "cannot read the question 'P(lung|smoke)'; write P(A, B | C=value), P(A=value | x>2), P(* | C=value) or "
        "MPE(C=value), with quotes around names that hold commas, bars or equals signs",
    ),
    ("query asia P(lung|tub=yes,tub=no)", "'P(lung|tub=yes,tub=no)': 'tub' is given twice"),
    ("learn asia.csv --order asia", "--order 'asia': expected two variables or more, like 'A,B,C'"),
    ("learn asia.csv --ignore asa", f"asia.csv: no column 'asa' (did you mean 'asia'?); there are: {ASIA}"),
    ("learn asia.csv --decimal ;", "the decimal sign ';' is neither . nor a comma"),
    ("describe asia.csv --save-schema none/s.json", "none/s.json: there is no folder none"),
    ("fit asia.csv -S asia -o x.bif --report none/r.json", "none/r.json: there is no folder none"),
    ("predict asia asia.csv -o none/p.csv", "none/p.csv: there is no folder none"),
    ("solve two.jkl --proof none/p.proof", "none/p.proof: there is no folder none"),
    ("solve two.jkl --k-best 2 --gap 1", "--gap does not go with --k-best: …"),
    ("solve two.jkl --start bad.json", "--start bad.json: not a solution file: …"),
    ("query nursery.jsn P(lung)", "nursery.jsn: no such file"),
    ("query asia P(lung|smoke=maybe)", "no level of 'smoke' called 'maybe'; there are: no, yes"),
    ("show asia --cpd lungs", f"no variable 'lungs' (did you mean 'lung'?); there are: {ASIA}"),
    ("convert asia asia.txt", "asia.txt: cannot tell the format by the name; the extensions are …"),
    (
        "sample asia -n 1000000000000 -o x.parquet",
        "1,000,000,000,000 rows of 8 variables take 7.28 TB of memory: draw fewer, or write them as csv, which is "
        "written as it is drawn",
    ),
    ("sample asia -n ten", "Invalid value for '-n' / '--rows': … (see optbn sample --help)"),
    ("compare asia alarm", "the graphs are over different variables: one is without …"),
    ("fit -S cycle.graphml asia.csv", "cycle.graphml: the parents form a cycle: …"),
    ("predict bad.json asia.csv", "bad.json: is not a classifier written by optbn (…)"),
    ("frobnicate", "No such command 'frobnicate'. (see optbn --help)"),
]


@pytest.mark.parametrize(("command", "message"), MISTAKES, ids=[command for command, _ in MISTAKES])
def test_a_mistake_gets_one_line(prepared, monkeypatch, capsys, command, message):
    monkeypatch.chdir(prepared)
    with pytest.raises(SystemExit) as end:
        main(command.split(" "))
    out, err = capsys.readouterr()
    expected = ".*".join(map(re.escape, f"optbn: {message}\n".split("…")))
    assert re.fullmatch(expected, err), err
    assert end.value.code == 2 and out == ""


def test_there_are_forty():
    assert len(MISTAKES) >= 40


def learn(*arguments: str) -> str:
    return f"{sys.executable} -m optbn learn {' '.join(arguments)} --score bic --smoother mle -D 1"


@pytest.mark.parametrize(("name", "text"), [("dos", "\r\n"), ("mac", "\r")])
def test_line_ends_of_other_systems_are_no_mistake(prepared, tmp_path, capsys, name, text):
    path = tmp_path / f"{name}.csv"
    path.write_bytes((prepared / "asia.csv").read_bytes().replace(b"\n", text.encode()))
    assert optbn.read(path) == optbn.read(prepared / "asia.csv")


def test_huge_integers_and_dates_keep_their_digits(tmp_path):
    path = tmp_path / "x.csv"
    ids = ["9007199254740993", "9007199254740995", "12345678901234567890123"]
    rows = [f"{ids[i % 3]},2024-01-{1 + i % 3:02d},x" for i in range(9)]
    path.write_text("\n".join(["id,day,c", *rows]))
    data = optbn.read(path)
    assert set(data.domain("id").levels) == set(ids)
    assert data.domain("day").levels == ("2024-01-01", "2024-01-02", "2024-01-03")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_one_may_not_write_to(prepared, tmp_path, monkeypatch, capsys):
    tmp_path.chmod(0o555)
    with pytest.raises(SystemExit):
        main(["learn", str(prepared / "asia.csv"), "-o", str(tmp_path / "x.bif")])
    assert "permission denied; choose a folder that you may write to" in capsys.readouterr().err


def test_the_rights_are_asked_for_before_the_work(prepared, monkeypatch, capsys):
    monkeypatch.chdir(prepared)
    monkeypatch.setattr("os.access", lambda path, mode: False)
    with pytest.raises(SystemExit):
        main(["learn", "asia.csv", "-o", "new.bif"])
    assert capsys.readouterr().err == "optbn: new.bif: permission denied; choose a folder that you may write to\n"


def test_a_run_killed_half_way_leaves_what_was_there(prepared, tmp_path):
    (tmp_path / "x.bif").write_text("precious")
    command = f"{sys.executable} -m optbn learn {prepared}/wide.csv -D 4 --yes -o {tmp_path}/x.bif".split()
    with interruptible(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stderr.readline()  # what scoring will cost; then it scores
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130
        assert process.stderr.read().decode().strip().endswith("optbn: interrupted; nothing was written")
    assert (tmp_path / "x.bif").read_text() == "precious" and os.listdir(tmp_path) == ["x.bif"]


def test_a_damaged_store_is_said_and_not_believed(prepared, tmp_path, capsys):
    store, data = tmp_path / "store", str(prepared / "asia.csv")
    for _ in range(2):
        with pytest.raises(SystemExit) as end:
            main(["score", data, "--store", str(store), "-o", str(tmp_path / "x.jkl"), "--score", "bic"])
        code = end.value.code
        if (store / "run.json").read_text() != "junk":
            assert not code
            (store / "run.json").write_text("junk")
    err = capsys.readouterr().err
    assert code == 2 and str(store) in err and err.count("\n") == 1
