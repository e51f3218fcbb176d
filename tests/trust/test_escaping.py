"""Names are text wherever they go: into the page, into DOT, onto a terminal, into errors."""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys

import numpy as np
import pytest

import optbn
from optbn.cli.terminal import Terminal, harmless
from optbn.data.dataset import Categorical, Dataset
from optbn.data.write import write
from optbn.learning.written import as_dot

NASTY = '"><script>alert(1)</script>', "\x1b]0;owned\x07\x1b[2J", '"]; evil [label="', "[red]b[/red]\\", "$(reboot)`"


@pytest.fixture
def data() -> Dataset:
    rng = np.random.default_rng(1)
    domain = Categorical(("<b>", "\x1b[31m\x9b2J"))
    return Dataset(NASTY, (domain,) * 5, tuple(rng.integers(0, 2, 30).astype(np.uint8) for _ in NASTY))


def test_the_page_holds_no_name_as_code(data):
    page = optbn.learn(data, max_parents=1, score="bdeu", seed=1).page()
    assert "<script>alert" not in page and "<b>" not in page
    assert "\\u003cscript\\u003ealert(1)" in page


def test_dot_quotes_every_name(data):
    from optbn.network.formats import encode

    learned = optbn.learn(data, max_parents=1, score="bdeu", seed=1)
    for text in (encode(learned.network, "dot").decode(), as_dot(*solved(data))):
        bare = re.sub(r'"(?:[^"\\]|\\.)*"', "NAME", text, flags=re.DOTALL)
        assert '"' not in bare and "evil" not in bare and "script" not in bare


def solved(data):
    table = optbn.score_table(data, "bdeu", 1)
    return table, optbn.solve(table)


@pytest.mark.parametrize("command", [["describe", "d.parquet"], ["solve", "s.parquet", "--format", "adjacency"]])
def test_a_terminal_is_not_commanded_by_names(data, tmp_path, command):
    from optbn_solvers.base.files import write_table

    write(data, tmp_path / "d.parquet", "parquet")
    write_table(solved(data)[0], tmp_path / "s.parquet")
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "optbn", *command], stdout=theirs, stderr=subprocess.DEVNULL, cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.getcwd(), "TERM": "xterm"},
    )  # fmt: skip
    os.close(theirs)
    shown = b""
    while True:
        try:
            more = os.read(ours, 65536)
        except OSError:
            break
        if not more:
            break
        shown += more
    os.close(ours)
    assert process.wait() == 0
    rest = re.sub(rb"\x1b\[[0-9;]*m", b"", shown)
    assert b"\x1b" not in rest and b"\x07" not in rest and b"owned" in rest and b"[red]b" in rest


def test_what_passes_to_a_terminal():
    assert harmless("a\tb\n\x1b[1mc\x1b[0m\x1b[2J\x9b\x07é") == "a\tb\n\x1b[1mc\x1b[0m\\x1b[2J\\x9b\\x07é"
    stream = io.StringIO()
    Terminal(stream).writelines(["a\x08", "b"])
    assert stream.getvalue() == "a\\x08b"


def test_errors_are_one_line_of_bounded_length(tmp_path):
    from optbn.base.errors import DataError
    from optbn_solvers.base.errors import TableError

    for kind in (DataError, TableError):
        message = str(kind("a\nb\x1b[2J" + "x" * 100_000 + "end"))
        assert message.startswith("a b\\x1b[2J") and message.endswith("end") and len(message) < 2000
