"""`optbn networks`, `show`, `sample` and `convert` as a user meets them."""

from __future__ import annotations

import itertools
import json
import os
import pty
import signal
import subprocess
import sys
import time

import pytest

import optbn
from optbn.network.formats import encode
from tests.network.test_network import mixed_network
from tests.processes import interruptible

OPTBN = [sys.executable, "-m", "optbn"]


def test_networks(run):
    code, out, err = run("networks")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].split("  ")[0] == "network" and len(lines) == 25
    assert lines[1].split() == ["alarm", "37", "46", "509", "4", "4"]
    listed = json.loads(run("networks", "--json")[1])
    assert listed["munin"]["nodes"] == 1041 and "CC BY-SA" in listed["munin"]["licence"]


def test_show(run, tmp_path):
    code, out, err = run("show", "asia")
    assert (code, err) == (0, "")
    assert out.startswith("asia: 8 variables, 8 arcs, 18 parameters\n")
    assert "either    yes, no  lung, tub\n" in out
    summary = json.loads(run("show", "asia", "--json")[1])
    assert summary["counts"] == {"variables": 8, "arcs": 8, "parameters": 18}
    assert summary["variables"][5] == {"name": "either", "levels": ["yes", "no"], "parents": ["lung", "tub"]}
    out = run("show", "asia", "--cpd", "dysp")[1]
    assert out.splitlines()[0] == "P(dysp | bronc, either)"
    assert out.splitlines()[2:4] == ["bronc  either  yes   no", "yes    yes     0.9  0.1"]
    assert json.loads(run("show", "asia", "--cpd", "tub", "--json")[1]) == {
        "kind": "table",
        "parents": ["asia"],
        "rows": [[0.05, 0.95], [0.01, 0.99]],
    }


def test_show_trees_bins_and_densities(run, tmp_path):
    path = tmp_path / "mixed.json"
    path.write_bytes(encode(mixed_network(), "json"))
    assert "X         real, 0 to 8" in run("show", str(path))[1]
    assert "A         a < b < c" in run("show", str(path))[1]
    assert run("show", str(path), "--cpd", "T")[1].splitlines()[2:] == [
        "A in {a, c}: y 0.1, n 0.9",
        "A in {b}",
        "  X < 2: y 0.2, n 0.8",
        "  X >= 2: y 0.9, n 0.1",
    ]
    assert run("show", str(path), "--cpd", "S")[1].splitlines()[2:5] == [
        "T  X           location  scale  dof",
        "y  x < 1              0      1  5.5",
        "y  1 <= x < 2         1      2  5.5",
    ]
    assert json.loads(run("show", str(path), "--cpd", "T", "--json")[1])["nodes"][0] == {
        "parent": "A",
        "levels": ["a", "c"],
        "left": 1,
        "right": 2,
    }


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "arrow", "feather"])
def test_sample_writes_what_the_library_draws(run, tmp_path, ending):
    path = tmp_path / f"data.{ending}"
    assert run("sample", "asia", "-n", "500", "--seed", "7", "-o", str(path)) == (0, "", "")
    data = optbn.read(path)
    expected = optbn.load_network("asia").sample(500, 7)
    assert optbn.load_network("asia").conform(data) == expected
    assert os.listdir(tmp_path) == [path.name]


def test_sample_to_stdout_in_blocks(run, monkeypatch):
    whole = run("sample", "alarm", "-n", "100")[1]
    monkeypatch.setattr("optbn.network.sampling.BLOCK", 30)
    assert run("sample", "alarm", "-n", "100", "-o", "-")[1] == whole
    assert len(whole.splitlines()) == 101
    assert run("sample", "asia", "-n", "0")[1] == "asia,tub,smoke,lung,bronc,either,xray,dysp\n"


def test_convert(run, tmp_path):
    network = optbn.load_network("child")
    steps = ["child.bif", "a.net", "b.xml", "c.json", "d.bif.gz"]
    assert run("convert", "child", str(tmp_path / steps[0])) == (0, "", "")
    for source, target in itertools.pairwise(steps):
        assert run("convert", str(tmp_path / source), str(tmp_path / target)) == (0, "", "")
    assert optbn.read_network(tmp_path / steps[-1]) == network
    assert run("convert", "cancer", "-", "--to", "dot")[1].startswith('digraph "cancer" {')
    (tmp_path / "odd").write_bytes(encode(network, "net"))
    assert run("convert", str(tmp_path / "odd"), str(tmp_path / "e.bif"), "--from", "net")[0] == 0
    assert optbn.read_network(tmp_path / "e.bif") == network


def test_convert_for_a_program_and_with_intervals(run, tmp_path):
    network = mixed_network()
    optbn.write_network(network, tmp_path / "m.json")
    choices = ["--for", "pyagrum", "--discretise", "3"]
    code, _, err = run("convert", str(tmp_path / "m.json"), str(tmp_path / "m.bif"), *choices)
    assert code == 0 and "cut into 3 intervals; 0." in err and "nats per row" in err
    made = optbn.read_network(tmp_path / "m.bif")
    assert made.structure == network.structure and made.domain("X").levels[0].startswith("<")
    assert "<" not in (tmp_path / "m.bif").read_text()


def test_parameters_for_the_graph_of_another_program(run, tmp_path):
    asia = optbn.load_network("asia")
    optbn.write(asia.sample(200, 1), tmp_path / "a.csv")
    for ending in ("edges", "tetrad", "modelstring", "dot", "csv"):
        optbn.write_network(asia, tmp_path / f"graph.{ending}")
        graph, fitted = str(tmp_path / f"graph.{ending}"), str(tmp_path / "f.json")
        code, _, err = run("fit", str(tmp_path / "a.csv"), "-S", graph, "--smoother", "bdeu", "-o", fitted)
        assert code == 0, err
        assert set(optbn.read_network(fitted).structure.arcs) == set(asia.structure.arcs)
    (tmp_path / "open.edges").write_text("asia -- tub\n")
    code, _, err = run("fit", str(tmp_path / "a.csv"), "-S", str(tmp_path / "open.edges"))
    assert code == 2 and "a direction for every edge" in err


def test_convert_rescales_on_request(run, tmp_path):
    path = tmp_path / "coarse.bif"
    path.write_text("variable a { type discrete [2] { x, y }; }\nprobability ( a ) { table 0.33 0.66; }")
    code, _, err = run("convert", str(path), "-", "--to", "bif")
    assert code == 2
    assert err == (
        f"optbn: {path}:2:21: distribution of 'a': probabilities sum to 0.99, not 1; "
        "read it with rescale (--rescale) to divide by the sum\n"
    )
    assert "0.6666666666666667" in run("convert", str(path), "-", "--to", "bif", "--rescale")[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["show", "alram"], "no bundled network 'alram' (did you mean 'alarm'?); there are: alarm, "),
        (["show", "no/such.bif"], "no/such.bif: no such file"),
        (["show", "asia", "--cpd", "lungs"], "no variable 'lungs' (did you mean 'lung'?)"),
        (["sample", "asia", "-o", "x.xls"], "x.xls: cannot tell the format by the name; the extensions are .csv"),
        (["sample", "asia", "-o", "no/such/x.csv"], "no/such/x.csv: there is no folder no/such"),
        (["convert", "asia", "x.txt"], "x.txt: cannot tell the format by the name; the extensions are .bif"),
        (["convert", "-", "x.bif"], "reading from stdin needs --from with the format"),
        (["convert", "asia", "-"], "writing to stdout needs --to with the format"),
        (["convert", "asia", "-", "--to", "bift"], "no network format 'bift' (did you mean 'bif'?)"),
    ],
)
def test_mistakes_get_one_line(run, arguments, message):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith(f"optbn: {message}") and err.count("\n") == 1


@pytest.mark.parametrize("verb", ["networks", "show", "sample", "convert"])
def test_help_has_an_example(run, verb):
    code, out, _ = run(verb, "--help")
    assert code == 0 and f"Example: optbn {verb}" in out


def test_pipes():
    """stdin to stdout, a reader that leaves early, and describe at the other end."""
    sample = [*OPTBN, "sample", "asia", "-n", "200000"]
    first = subprocess.Popen(sample, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert first.stdout.readline() == b"asia,tub,smoke,lung,bronc,either,xray,dysp\n"
    first.stdout.close()
    assert first.stderr.read() == b""
    first.wait(timeout=60)
    text = subprocess.run([*OPTBN, "sample", "asia", "-n", "1000"], capture_output=True, check=True).stdout
    described = subprocess.run([*OPTBN, "describe", "-"], input=text, capture_output=True, check=True).stdout
    assert b"1,000 rows, 8 columns (8 categorical, 0 real)" in described
    network = encode(optbn.load_network("asia"), "bif")
    convert = [*OPTBN, "convert", "-", "-", "--from", "bif", "--to", "bif"]
    assert subprocess.run(convert, input=network, capture_output=True, check=True).stdout == network


def test_an_interrupt_leaves_no_half_file_and_a_terminal_sees_progress(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("precious")
    controller, terminal = pty.openpty()
    with interruptible([*OPTBN, "sample", "alarm", "-n", "10000000", "-o", str(path)], stderr=terminal) as process:
        os.close(terminal)
        shown = b""
        while b"rows" not in shown:
            shown += os.read(controller, 1000)
        while not any(partial.stat().st_size for partial in tmp_path.glob(".x.csv*")):
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130
    os.close(controller)
    assert path.read_text() == "precious" and os.listdir(tmp_path) == ["x.csv"]


def test_shell_completion():
    def complete(words: str, at: int) -> list[str]:
        environment = os.environ | {"_OPTBN_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(at)}
        code = "import sys; sys.argv[0] = 'optbn'; from optbn.cli import main; main()"
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
        return done.stdout.split()

    assert complete("optbn show mun", 2) == ["munin", "munin1", "munin2", "munin3", "munin4"]
    assert complete("optbn convert x y --to x", 5) == ["xmlbif", "xdsl"]
    assert complete("optbn netw", 1) == ["networks"]


def test_verbs_make_a_pipeline():
    """sample | learn - -o - | query -; what learn says goes to stderr."""
    rows = subprocess.run([*OPTBN, "sample", "cancer", "-n", "500"], capture_output=True, check=True).stdout
    learn = [*OPTBN, "learn", "-", "-o", "-", "--score", "bdeu"]
    learned = subprocess.run(learn, input=rows, capture_output=True, check=True)
    assert b"candidate parent sets" in learned.stderr and json.loads(learned.stdout)["format"] == "optbn-network"
    ask = [*OPTBN, "query", "-", "P(Cancer | Xray=positive)", "--json"]
    answer = subprocess.run(ask, input=learned.stdout, capture_output=True, check=True)
    assert json.loads(answer.stdout)
    both = subprocess.run([*learn, "--json"], input=rows, capture_output=True)
    assert both.returncode == 2 and b"leave one out" in both.stderr


def test_draw(run, tmp_path):
    assert run("draw", "asia")[1].startswith("<svg")
    assert "64.6%" in run("draw", "asia", "--given", "smoke=yes", "--given", "xray=yes")[1]
    for name, more, begins in (
        ("g.svg", ["--cpdag"], "<svg"),
        ("g.tex", [], "\\documentclass"),
        ("c.tex", ["--cpd", "lung"], "% $P("),
        ("c.svg", ["--cpd", "lung"], "<svg"),
        ("g.dot", ["--cpdag"], "digraph"),
    ):
        assert run("draw", "asia", "-o", str(tmp_path / name), *more)[0] == 0
        assert (tmp_path / name).read_text().startswith(begins)
    code, _, err = run("draw", "asia", "-o", str(tmp_path / "g.gif"))
    assert code == 2 and "a picture is .svg" in err
    assert run("draw", "asia", "--given", "smoke")[0] == 2
