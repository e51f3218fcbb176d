"""Programs that tests start and interrupt."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any


@contextmanager
def interruptible(command: Sequence[str], **options: Any) -> Iterator[subprocess.Popen[Any]]:
    """The running program, which hears Ctrl-C, and does not outlive the block.

    A shell starts what goes to the background with SIGINT ignored, and the children of the tests would inherit that.
    """
    process = subprocess.Popen(command, preexec_fn=_hear_interrupts, **options)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def _hear_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
