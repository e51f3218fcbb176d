"""compare, curve, intersect and bench as a user types them."""

from __future__ import annotations

import json

import pytest

from optbn.base.errors import DataError
from optbn.cli import main
from optbn.cli.curve import parse_sizes
from optbn.cli.intersect import parse_fractions
from optbn.data.write import write
from optbn.network.catalog import load_network


def run(capsys, *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as end:
        main(arguments)
    out, err = capsys.readouterr()
    return end.value.code or 0, out, err


def test_compare_a_network_with_itself(capsys):
    code, out, _ = run(capsys, "compare", "asia", "asia")
    assert code == 0 and "SHD            0 between the DAGs" in out
    code, out, _ = run(capsys, "compare", "asia", "asia", "--json")
    assert json.loads(out)["sid"] == 0


def test_compare_prints_what_is_asked_for(capsys, tmp_path):
    known = tmp_path / "known.txt"
    known.write_text("# checked by hand\nasia tub\n\nlung, smoke\n")
    code, out, _ = run(capsys, "compare", "asia", "asia", "--no-sid", "--known", str(known), "--divergence")
    assert code == 0 and "known pairs    0 of 2 wrong" in out and "divergence     0 nats (exact)" in out
    assert "SID" not in out
    data = tmp_path / "d.csv"
    write(load_network("asia").sample(300, 1), data)
    (tmp_path / "g.txt").write_text("asia\nsmoke -- lung\ntub -> either\nlung -> either\nbronc\nxray\ndysp\n")
    arguments = ("compare", "asia", str(tmp_path / "g.txt"), "--data", str(data), "--held-out", str(data))
    code, out, _ = run(capsys, *arguments)
    assert code == 0 and "8 in the first (DAG), 3 in the second (CPDAG)" in out and "the second is " in out
    assert "between the CPDAGs" in out and "between the DAGs" not in out and "held out" in out
    assert "over the DAGs of the second" in out
    found = json.loads(run(capsys, *arguments, "--json")[1])
    assert found["scores"][1] < found["scores"][0] and found["held_out"][1] < found["held_out"][0]
    known.write_text("asia\n")
    code, _, err = run(capsys, "compare", "asia", "asia", "--known", str(known))
    assert code == 2 and "known.txt, line 1: expected two names, got 'asia'" in err


def test_compare_says_which_variables_differ(capsys):
    code, _, err = run(capsys, "compare", "asia", "cancer")
    assert code == 2 and "different variables" in err and err.count("\n") == 1


def test_a_small_curve_is_kept_and_continued(capsys, tmp_path):
    arguments = ("curve", "cancer", "--methods", "bic,bdeu:1", "--sizes", "50:100", "--repeats", "1", "-D", "2")
    code, out, err = run(capsys, *arguments, "-o", str(tmp_path / "c"))
    assert code == 0 and "| 100 |" in out and "4 of 4 cells done" in out and err == ""
    code, again, err = run(capsys, *arguments, "-o", str(tmp_path / "c"))
    assert again == out and err == ""


def test_what_is_not_kept_is_printed_without_its_pictures(capsys):
    with pytest.raises(SystemExit):
        main(["curve", "asia", "--methods", "bdeu", "--sizes", "50,100", "--repeats", "1", "--max-parents", "1"])
    out = capsys.readouterr().out
    assert "## Proofs" in out and "![" not in out


def test_wrong_networks_files_and_sizes_are_one_line(capsys):
    for arguments, words in (
        (("curve", "alarmm"), "did you mean 'alarm'"),
        (("curve", "asia", "--methods", "ftp,bdue"), "did you mean 'bdeu'"),
        (("curve", "asia", "--methods", "bdeu:ten"), "'bdeu:ten': expected an equivalent sample size"),
        (("curve", "asia", "--methods", "bic:1"), "no setting 'ess'"),
        (("intersect", "nothing.csv"), "nothing.csv: no such file"),
        (("bench", "nothing.toml"), "nothing.toml: no such file"),
    ):
        code, _, err = run(capsys, *arguments)
        assert code == 2 and words in err and err.count("\n") == 1


def test_sizes_and_fractions():
    assert parse_sizes("50:400") == (50, 100, 200, 400)
    assert parse_sizes("50,70") == (50, 70)
    assert parse_fractions("1/2, 1/16") == (2, 16)
    for text in ("", "0:5", "9:5", "a", "5,,6", "1:2:3"):
        with pytest.raises(DataError):
            parse_sizes(text)
    for text in ("0.5", "2/3", "1/1", "1/x"):
        with pytest.raises(DataError):
            parse_fractions(text)
