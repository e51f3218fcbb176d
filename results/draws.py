"""A data set of the collection, made small for a study: rows to learn from, and as many others to judge by."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

import numpy as np

from optbn.data.read import read
from optbn.experiments.intersection import locate, prepared

if TYPE_CHECKING:
    from optbn.data.dataset import Dataset


def two_draws(data: str, repeat: int, rows: int, columns: int, most_levels: int) -> tuple[Dataset, Dataset]:
    """Disjoint draws of `rows` rows each (at most half of all); `data` is a path, or a name below $OPTBN_DATA/datasets.

    Of more than `columns` columns evenly chosen ones are kept, the first and the last always among them; of more than
    `most_levels` levels of a column the rarest become one. Missing values are imputed.
    """
    whole = read(locate(data), missing="impute")
    if whole.n_variables > columns:
        whole = whole.select([whole.names[i] for i in np.linspace(0, whole.n_variables - 1, columns).astype(int)])
    whole = prepared(whole, most_levels)
    random = np.random.default_rng(zlib.crc32(f"{data} {repeat}".encode()))
    order, size = random.permutation(whole.n_rows), min(rows, whole.n_rows // 2)
    return whole.take(np.sort(order[:size])), whole.take(np.sort(order[size : 2 * size]))
