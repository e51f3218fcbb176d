"""Bars: on a terminal only, when it takes long, and gone at the end."""

from __future__ import annotations

import io
import subprocess
import sys

import pytest

from optbn.cli.progress import bars


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def watched(monkeypatch) -> Screen:
    """Called in the test itself: between its fixtures and the test pytest sets stderr anew."""
    screen = Screen()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr("sys.stderr", screen)
    return screen


@pytest.mark.parametrize(
    ("style", "shown"),
    [("share", "things ━"), ("share", " 40%"), ("count", "2/5 and a note"), ("number", "2 things")],
)
def test_what_is_shown(monkeypatch, style, shown):
    screen = watched(monkeypatch)
    with bars(style) as show:
        show("things", 0)
        show("things", 2, 5, "and a note")
    assert shown in screen.getvalue() and screen.getvalue().endswith("\x1b[2K")  # the line is empty again


def test_what_is_quick_shows_nothing(monkeypatch):
    screen = watched(monkeypatch)
    with bars(after=60) as show:
        show("things", 1, 2)
    assert screen.getvalue() == ""


def test_a_failure_takes_the_bar_away(monkeypatch):
    screen = watched(monkeypatch)
    with pytest.raises(ZeroDivisionError), bars() as show:
        show("things", 1, 2)
        raise ZeroDivisionError
    assert screen.getvalue().endswith("\x1b[2K")


def test_without_a_terminal_nobody_is_told():
    with bars() as show:
        assert show is None


def test_rich_is_loaded_only_to_show_something():
    code = """
import sys
from optbn.cli.progress import bars
sys.stderr.isatty = lambda: True
with bars(after=60) as show:
    show("things", 1, 2)
assert "rich.progress" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)
