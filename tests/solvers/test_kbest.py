"""The k best graphs against all acyclic graphs."""

from __future__ import annotations

import numpy as np
import pytest

from optbn_solvers import Budget
from optbn_solvers.base.errors import InfeasibleError, StoppedError, TableError, TooLargeError
from optbn_solvers.base.table import ScoreTable
from tests.kbest import k_best
from tests.naive.solvers import KINDS, random_table, random_unpruned_table, scores_of_all_dags


@pytest.mark.twin
def test_against_all_acyclic_graphs():
    rng = np.random.default_rng(1)
    for trial in range(90):
        table = random_table(rng, int(rng.integers(1, 6)), KINDS[trial % len(KINDS)])
        if trial % 3 == 0:
            table = random_unpruned_table(rng, table.n)
        everything = scores_of_all_dags(table)
        if not everything:
            with pytest.raises(InfeasibleError):
                k_best(table, 3, only_listed=True)
            continue
        for k in (1, 2, 7, 50):
            found = k_best(table, k, only_listed=True)
            assert len(found) == len(set(found)) == min(k, len(everything))
            masks = [tuple(int(table.masks[row, 0]) for row in choice) for choice in found]
            assert all(
                everything[graph] == table.total_units(choice) for graph, choice in zip(masks, found, strict=True)
            )
            assert [everything[graph] for graph in masks] == sorted(everything.values(), reverse=True)[:k]


def test_dominated_rows_are_kept_on_request():
    masks = np.array([[0], [0], [1], [1]], dtype=np.uint64)
    args = ["a", "b"], np.array([0, 1, 1, 1]), masks, np.array([0.0, 0.0, -1.0, -1.0])
    assert len(ScoreTable.build(*args)) == 2
    table = ScoreTable.build(*args, keep_dominated=True)
    assert len(table) == 3 and len(k_best(table, 5, only_listed=True)) == 2


def test_limits():
    table = random_table(np.random.default_rng(2), 12)
    with pytest.raises(TooLargeError, match="12 variables need 200 x"):
        k_best(table, 10, Budget(memory=1000), only_listed=True)
    with pytest.raises(TableError, match="expected a number from 1"):
        k_best(table, 0, only_listed=True)
    stopped = Budget()
    stopped.stop()
    with pytest.raises(StoppedError, match="stopped after"):
        k_best(table, 2, stopped, only_listed=True)
    events = []
    k_best(table, 2, progress=events.append, only_listed=True)
    assert events[-1].nodes == 2**12
