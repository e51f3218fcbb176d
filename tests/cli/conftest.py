"""Verbs called in this process."""

import pytest

from optbn.cli import main


@pytest.fixture
def run(capsysbinary):
    """Call a verb: its exit code, and what it writes to stdout and stderr."""

    def call(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as stop:
            main(list(arguments))
        captured = capsysbinary.readouterr()
        return int(stop.value.code or 0), captured.out.decode(), captured.err.decode()

    return call
