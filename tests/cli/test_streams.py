"""Streams that are closed, full or no longer read, and Ctrl-C while the program starts: one line or silence."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

OPTBN = f"{sys.executable} -m optbn"


def shell(line):
    return subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize(
    ("line", "code", "error"),
    [
        ("{} networks >&-", 0, ""),
        ("{} networks 2>&-", 0, ""),
        ("{} networks <&- >&- 2>&-", 0, ""),
        ("{} describe nowhere.csv 2>&-", 2, ""),
        ("{} describe - <&-", 2, "optbn: stdin"),
        ("{} networks >/dev/full", 2, "optbn: No space left on device"),
        ("{} networks | head -1; exit ${{PIPESTATUS[0]}}", 0, ""),
    ],
)
def test_streams_that_are_not_there(line, code, error):
    found = shell(line.format(OPTBN))
    assert found.returncode == code and found.stderr.strip().startswith(error), found.stderr
    assert error or not found.stderr


def test_a_closed_stderr_does_not_take_what_is_written(tmp_path):
    path = tmp_path / "a.csv"
    assert shell(f"{OPTBN} sample asia -n 50 -o {path} 2>&- >&- <&-").returncode == 0
    assert len(path.read_text().splitlines()) == 51


@pytest.mark.parametrize("after", [0.05, 0.15, 0.3])
def test_ctrl_c_while_it_starts_is_a_line_at_most(after):
    start = (
        "import os, signal, runpy, sys; signal.signal(signal.SIGINT, signal.default_int_handler); print(flush=True);"
    )
    code = start + "sys.argv = ['optbn', 'networks']; runpy.run_module('optbn', run_name='__main__')"
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(after)
    os.kill(process.pid, signal.SIGINT)
    _, error = process.communicate(timeout=60)
    if "runpy.py" in error and "optbn/" not in error:
        return  # Python itself was still starting
    ended = (0, 130, -signal.SIGINT)  # by the signal itself once all is done: 130 to a shell, too
    assert process.returncode in ended and error in ("", "optbn: interrupted\n"), error
