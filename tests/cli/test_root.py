"""What every verb gets from the root: help, one-line mistakes, quiet pipes, tracebacks only on request."""

from __future__ import annotations

import os
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


def test_an_interrupt_does_not_wait_for_a_thread_that_compiles() -> None:
    script = """
import threading, time
from optbn.cli import _fail
from optbn_solvers.base.clock import compiling

threading.Thread(target=time.sleep, args=(60,)).start()
compiling.begin()
_fail("interrupted", 130)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=30)
    assert (done.returncode, done.stderr) == (130, "optbn: interrupted\n")


def test_an_interrupt_while_the_main_thread_compiles_is_raised_before_the_next_pass(tmp_path) -> None:
    script = """
import os, signal
import numpy as np
from numba.core import event
from optbn.cli import _interrupt
from optbn.smoothing.kernels.counting import tally

class Pressed(event.Listener):
    def on_start(self, event):
        os.kill(os.getpid(), signal.SIGINT)

    def on_end(self, event):
        pass

signal.signal(signal.SIGINT, _interrupt)
keys, pressed = np.zeros(3, dtype=np.int64), Pressed()
event.register("numba:compile", pressed)
try:
    tally(np.zeros(2), keys)
except KeyboardInterrupt:
    print("interrupted")
event.unregister("numba:compile", pressed)
counts = np.zeros(2)
tally(counts, keys)
print(counts)
"""
    own = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=own)
    assert (done.stdout, done.stderr) == ("interrupted\n[3. 0.]\n", "")
