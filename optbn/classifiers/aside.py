"""Blocks of rows put aside for further passes, in a temporary file without a name; one is in memory at a time."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn.classifiers.pairs import Batch
from optbn.data.discretise.table import code_type

LARGEST = 1 << 30
"""Bytes of coded rows that are put aside; those of a larger file are coded again in every pass."""


class Aside:
    """Add blocks, each of arrays with a line for every row; iterate as often as needed, also in several threads."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115
        self._lock = threading.Lock()
        self._blocks: list[list[tuple[np.dtype[Any], tuple[int, ...]]]] = []
        self.size = self.rows = 0

    def add(self, *arrays: NDArray[Any]) -> None:
        """Put a block aside."""
        self._blocks.append([(array.dtype, array.shape) for array in arrays])
        for array in arrays:
            self._file.write(np.ascontiguousarray(array).data)
            self.size += array.nbytes
        self.rows += len(arrays[0])

    def __iter__(self) -> Iterator[list[NDArray[Any]]]:
        at = 0
        for block in self._blocks:
            arrays = [np.empty(shape, kind) for kind, shape in block]
            with self._lock:
                self._file.seek(at)
                for array in arrays:
                    if self._file.readinto(array.reshape(-1).view(np.uint8).data) != array.nbytes:
                        raise OSError("the temporary file of rows is shorter than what was written to it")
                    at += array.nbytes
            yield arrays


class Coded:
    """Passes over coded rows: `code` makes the first one, which puts them aside for the others.

    progress  called in the others with the number of rows so far, as `code` does in the first
    """

    def __init__(self, code: Callable[[], Iterator[Batch]], progress: Callable[[int], None] | None) -> None:
        self._code, self._progress = code, progress
        self._aside: Aside | None = None

    def __call__(self) -> Iterator[Batch]:
        if self._aside is None:
            yield from self._first()
            return
        rows = 0
        for codes, classes, weights in self._aside:
            rows += len(classes)
            if self._progress is not None:
                self._progress(rows)
            yield codes.astype(np.int32), classes.astype(np.int64), weights if len(weights) else np.ones(len(classes))

    def _first(self) -> Iterator[Batch]:
        aside = Aside()
        for codes, classes, weights in self._code():
            if aside.size <= LARGEST:
                aside.add(_small(codes), _small(classes), weights[:0] if (weights == 1.0).all() else weights)
            yield codes, classes, weights
        if aside.size <= LARGEST:
            self._aside = aside


def _small(codes: NDArray[Any]) -> NDArray[Any]:
    """As few bytes as they need."""
    return codes.astype(code_type(int(codes.max(initial=0)) + 1))
