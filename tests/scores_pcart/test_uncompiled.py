"""Small tables without the kernels (optbn/scores/trees/uncompiled.py): the same bits as with them, and when."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from numba import config

from optbn.data.dataset import Dataset, Real
from optbn.scores.pcart import PCART
from optbn.scores.trees import uncompiled
from optbn.scores.trees.grace import grace
from tests.scores_pcart.columns import all_sets, random_data

KINDS = ("c2", "c3", "c4", "c5", "o3", "o5", "r", "r")


@pytest.fixture
def nothing_at_hand(monkeypatch):
    monkeypatch.setattr(uncompiled, "at_hand", lambda kernel: False)


def odd_data(seed: int) -> Dataset:
    """Of every second seed with gaps in real columns, of every third with weights."""
    rng = np.random.default_rng(seed)
    data = random_data(rng, [KINDS[i] for i in rng.integers(0, len(KINDS), 5)], int(rng.integers(1, 300)))
    if seed % 2:
        domains, columns = list(data.domains), list(data.columns)
        for v, domain in enumerate(domains):
            if isinstance(domain, Real) and rng.random() < 0.5:
                columns[v] = np.where(rng.random(data.n_rows) < 0.2, np.nan, columns[v])
                domains[v] = replace(domain, absent=True)
        data = Dataset(data.names, tuple(domains), tuple(columns))
    return data.weighted(rng.integers(1, 5, data.n_rows) * 1.0) if seed % 3 == 0 else data


@pytest.mark.twin
@pytest.mark.parametrize("seed", range(4 if config.DISABLE_JIT else 60))
def test_the_same_bits_and_the_same_trees(seed, monkeypatch, nothing_at_hand):
    bound = PCART(max_splits=seed % 4, gamma=(0.25, None)[seed % 2]).bind(odd_data(seed))
    for k in range(3 if config.DISABLE_JIT else 4):
        sets, wanted = all_sets(5, k)
        wanted &= np.random.default_rng(seed).random(wanted.shape) < 0.8
        found = []
        for left in (math.inf, 0.0):
            monkeypatch.setattr(grace, "left", left)
            trees = [bound.fitted(v, tuple(u for u in range(5) if u != v)[-k:] if k else ()) for v in range(2)]
            found.append((bound.block(sets, wanted), [(tree.nodes, tree.score) for tree in trees]))
        np.testing.assert_array_equal(found[0][0], found[1][0])
        assert found[0][1] == found[1][1]


def test_it_ends(monkeypatch, nothing_at_hand):
    """Once a large table was bound, or the seconds are spent; small tables alone do not end it."""
    monkeypatch.setattr(grace, "left", 1.0)
    small, large = (random_data(np.random.default_rng(0), kinds, 50) for kinds in (["c2"] * 5, ["c4"] * 23))
    costs, sets = PCART().bind(small).costs, all_sets(5, 2)[0]
    assert uncompiled.doable(costs, sets)
    PCART().bind(small).block(*all_sets(5, 3))
    assert 0 < grace.left < 1.0
    PCART().bind(large)
    assert grace.left == 0 and not uncompiled.doable(costs, sets)


def test_what_is_at_hand_is_used(monkeypatch):
    monkeypatch.setattr(grace, "left", 1.0)
    data = random_data(np.random.default_rng(0), ["c2"] * 5, 50)
    PCART().bind(data).block(*all_sets(5, 2))  # may have to compile
    monkeypatch.setattr(grace, "left", 1.0)
    monkeypatch.setattr(uncompiled, "at_hand", lambda kernel: True)
    PCART().bind(data).block(*all_sets(5, 2))
    assert grace.left == 1.0


def test_the_first_small_table_on_a_machine_waits_for_no_tree_kernel(tmp_path):
    code = (
        "import optbn; from optbn.scores.kernels.trees import score_trees;"
        "print(len(optbn.score_table(optbn.load_network('asia').sample(200, seed=1), 'pcart', 2, jobs=1)),"
        "len(score_trees.signatures))"
    )
    fresh = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path), "NUMBA_DISABLE_JIT": "0"}
    done = subprocess.run([sys.executable, "-c", code], env=fresh, capture_output=True, text=True, check=True)
    kept, compiled = map(int, done.stdout.split())
    assert kept > 8
    assert compiled == 0
