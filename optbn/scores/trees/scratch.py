"""Memory that a thread which scores block after block takes again: to clear it anew took a quarter of the time.

Only pages that were written to are there, so an array may be much larger than what is used of it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

Empty = Callable[[int, DTypeLike], NDArray[Any]]
"""Makes an array by its length and kind, as np.empty does."""


class Scratch(threading.local):
    """Each thread's own. Their order tells arrays apart: the first one after `begin` is in the memory of the one that
    was first before, where that is enough."""

    def __init__(self) -> None:
        self._rooms: list[NDArray[np.uint8]] = []
        self._taken = 0

    def begin(self) -> None:
        """Whatever was taken may be written over."""
        self._taken = 0

    def empty(self, size: int, kind: DTypeLike) -> NDArray[Any]:
        """See `Empty`."""
        needed = size * np.dtype(kind).itemsize
        if self._taken == len(self._rooms):
            self._rooms.append(np.empty(needed, np.uint8))
        if len(self._rooms[self._taken]) < needed:
            self._rooms[self._taken] = np.empty(needed, np.uint8)
        room = self._rooms[self._taken][:needed]
        self._taken += 1
        return room.view(kind)


def aligned(rows: int, columns: int, dtype: type[np.generic], empty: Empty) -> NDArray[Any]:
    """A matrix whose first element begins a cache line."""
    size = np.dtype(dtype).itemsize
    room = empty(rows * columns + 64 // size, dtype)
    skip = -room.ctypes.data % 64 // size
    return room[skip : skip + rows * columns].reshape(rows, columns)
