"""How long a process may do without kernels that are not compiled yet: to compile them takes ten seconds."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

LONGEST = 1.5
"""Seconds."""
SHORTEST_LIMIT = 20 * LONGEST
"""A limit on time below this had better be measured with the kernels, for what they take to compile does not count."""


class Grace:
    """The seconds that are left."""

    def __init__(self) -> None:
        self.left = LONGEST

    def covers(self, seconds: float) -> bool:
        """Whether they are enough for so much work."""
        return 0 < seconds <= self.left

    @contextmanager
    def used(self) -> Iterator[None]:
        """What the thread does inside is taken off."""
        begun = time.thread_time()
        try:
            yield
        finally:
            self.left -= time.thread_time() - begun

    def end(self) -> None:
        """The kernels will be needed anyway."""
        self.left = 0.0


grace = Grace()
