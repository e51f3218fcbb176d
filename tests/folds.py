"""The folds of published experiments, as files in golden/ have them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray


def read_folds(path: Path) -> list[NDArray[np.int64]]:
    """Per round each row's fold: texts of one digit per row; or one round, as a list of the folds' row numbers."""
    record = json.loads(path.read_text())
    if isinstance(record[0], str):
        return [np.array(list(text), dtype=np.int64) for text in record]
    fold = np.full(sum(map(len, record)), -1, dtype=np.int64)
    for k, rows in enumerate(record):
        fold[rows] = k
    assert fold.min() == 0
    return [fold]
