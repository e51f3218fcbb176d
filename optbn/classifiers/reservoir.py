"""A uniform sample of the rows of a stream whose length is not known.

Every row gets a random key, and those with the smallest keys are the sample: each set of rows is as likely as any other
of its size, however the stream is cut into batches. Once enough rows are held, a row is taken only if its key is below
those of the sample so far, so what is copied is about size log(rows / size) rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class Reservoir:
    """`add` Arrow record batches in order; `batches` are then the sampled rows, in their order."""

    def __init__(self, size: int, random: np.random.Generator) -> None:
        self._size, self._random = size, random
        self._pieces: list[tuple[NDArray[np.float64], Any]] = []
        self._limit = np.inf
        self._held = 0

    def add(self, batch: Any) -> None:
        """Draw from the next rows."""
        self._take(self._random.random(batch.num_rows), batch)
        if self._held > 2 * self._size:
            self._shrink()

    def batches(self) -> list[Any]:
        """The sample; it has fewer rows than asked for only if there were no more."""
        self._shrink()
        return [batch for _, batch in self._pieces]

    def _take(self, keys: NDArray[np.float64], batch: Any) -> None:
        rows = np.flatnonzero(keys < self._limit)
        if len(rows):
            self._pieces.append((keys[rows], batch.take(rows) if len(rows) < len(keys) else batch))
            self._held += len(rows)

    def _shrink(self) -> None:
        """Only the smallest keys."""
        if self._held <= self._size:
            return
        self._limit = float(np.partition(np.concatenate([keys for keys, _ in self._pieces]), self._size)[self._size])
        pieces, self._pieces, self._held = self._pieces, [], 0
        for keys, batch in pieces:
            self._take(keys, batch)
