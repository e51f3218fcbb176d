"""What every verb gets from the root: help, one-line mistakes, quiet pipes, tracebacks only on request."""

from __future__ import annotations

import subprocess
import sys

import pytest

from optbn.cli import VERBS, build_app, main


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "optbn", *arguments], capture_output=True, text=True)


def test_every_verb_has_an_example_in_its_help(capsys):
    for verb in VERBS:
        with pytest.raises(SystemExit) as end:
            main([verb, "--help"])
        out = capsys.readouterr().out
        assert end.value.code == 0
        assert "Example" in out and f"optbn {verb}" in out, verb


def test_version_and_help():
    from optbn import __version__

    assert run("--version").stdout.strip() == __version__
    done = run("--help")
    assert done.returncode == 0 and all(verb in done.stdout for verb in VERBS)
    assert build_app().info.name == "optbn"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["frob"], "No such command"),
        (["sample", "asia", "-n", "-3"], "Invalid value"),
        (["sample"], "Missing argument"),
        (["show", "asia", "--cpds"], "No such option"),
        (["show", "asiaa"], "did you mean 'asia'"),
    ],
)
def test_mistakes_are_one_line(capsys, arguments, words):
    with pytest.raises(SystemExit) as end:
        main(arguments)
    err = capsys.readouterr().err
    assert end.value.code == 2 and words in err and err.count("\n") == 1 and err.startswith("optbn: ")


def test_a_closed_pipe_is_no_error():
    command = f"{sys.executable} -m optbn sample asia -n 300000 | head -1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "0" and done.stderr == ""


def test_a_traceback_only_with_debug():
    plain, debug = run("show", "asiaa"), run("show", "asiaa", "--debug")
    assert "Traceback" not in plain.stderr and "Traceback" in debug.stderr


def test_an_interrupt_says_nothing_of_what_it_left_half_made() -> None:
    script = """
from optbn.cli import _fail

class Half:
    def __del__(self):
        raise AttributeError("half made")

try:
    half = Half()
    raise KeyboardInterrupt
except KeyboardInterrupt:
    _fail("interrupted", 130)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (130, "optbn: interrupted\n")
