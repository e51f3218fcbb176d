"""The native file of a table: what is not a table in its own order is refused, whatever its digest says."""

from __future__ import annotations

import numpy as np
import pytest

from optbn_solvers.base.errors import TableError
from optbn_solvers.base.files import read_table, write_table
from optbn_solvers.base.table import ScoreTable
from tests.naive.solvers import random_unpruned_table


def test_rows_in_another_order_are_refused(tmp_path):
    """Also where the digest is that of the rows in that order."""
    path = tmp_path / "t.parquet"
    table = random_unpruned_table(np.random.default_rng(1), 4)
    write_table(table, path)
    assert read_table(path) == table
    for child in range(4):
        for row in table.rows(child)[:-1]:
            order = np.arange(len(table))
            order[[row, row + 1]] = row + 1, row
            moved = ScoreTable(table.names, table.offsets, table.masks[order], table.units[order], table.exponent)
            write_table(moved, path)
            with pytest.raises(TableError, match="not those of a score table"):
                read_table(path)
