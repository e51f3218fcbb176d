"""HMD against a general optimiser, against exact integration, against its bound; what must not change it."""

from __future__ import annotations

import numpy as np
import pytest

import optbn
from optbn.base.errors import OptbnError
from optbn.data.dataset import Categorical, Dataset
from optbn.scores import load_score
from tests.naive import phase1 as naive


def scored(data, child, parents, **settings):
    return optbn.score(data, data.names[child], [data.names[u] for u in parents], load_score("hmd", **settings))


@pytest.mark.twin
@pytest.mark.parametrize("seed", range(6))
def test_by_a_general_optimiser(seed):
    rng = np.random.default_rng(seed)
    data = naive.random_categorical(rng, 4, int(rng.integers(5, 200)), levels=4)
    settings = {"alpha0": [1.0, 0.5, 2.0][seed % 3], "spread": [1.5, 3.0][seed % 2]}
    for child, parents in naive.families(4, 2):
        wanted = naive.hmd(data, child, parents, **settings)
        assert scored(data, child, parents, **settings) == pytest.approx(wanted, abs=2e-3)


@pytest.mark.parametrize("seed", range(6))
def test_near_the_exact_evidence_and_never_above_its_bound(seed):
    rng = np.random.default_rng(seed)
    data = naive.random_categorical(rng, 4, int(rng.integers(5, 90)), levels=4, skew=seed % 2 == 0)
    errors = []
    for child, parents in naive.families(4, 2):
        if len(naive.contexts(data, child, parents)) > 1 and data.cardinalities[child] > 1:
            errors.append(scored(data, child, parents) - naive.hmd_exact(data, child, parents))
    assert np.abs(errors).max() < 0.25


@pytest.mark.parametrize("seed", range(4))
def test_what_is_left_out_is_worth_no_more_than_its_floor(seed):
    """The bound holds for the exact evidence, and decides alone."""
    rng = np.random.default_rng(10 + seed)
    data = naive.random_categorical(rng, 4, int(rng.integers(5, 40)), levels=4, skew=False)
    bound = load_score("hmd").bind(data)
    for child, parents in naive.families(4, 3):
        if len(naive.contexts(data, child, parents)) < 2 or data.cardinalities[child] < 2:
            continue
        most = naive.hmd_bound(data, child, parents)
        assert naive.hmd_exact(data, child, parents) <= most + 1e-9
        sets, wanted = np.array([parents], dtype=np.int32), np.arange(4)[None, :] == child
        free = bound.block(sets, wanted)[0, child]
        assert free <= most
        assert bound.block(sets, wanted, np.full((1, 4), most + 1e-9))[0, child] == -np.inf
        assert bound.block(sets, wanted, np.full((1, 4), most - 1e-9))[0, child] == free


def test_names_of_levels_and_parents_that_do_not_vary_change_nothing():
    rng = np.random.default_rng(3)
    data = naive.random_categorical(rng, 3, 80, levels=4, skew=False)
    K = data.cardinalities[0]
    turned = (K - 1 - data.columns[0].astype(int)).astype(data.columns[0].dtype)
    other = Dataset(data.names, data.domains, (turned, *data.columns[1:]))
    for child, parents in ((0, (1,)), (0, (1, 2)), (1, (0,)), (1, (0, 2))):
        assert scored(other, child, parents) == pytest.approx(scored(data, child, parents), abs=1e-7)
    constant = Dataset(
        (*data.names, "same"), (*data.domains, Categorical(("a", "b"))),
        (*data.columns, np.zeros(80, dtype=np.uint8)),
    )  # fmt: skip
    for parents in ((), (1,)):
        assert scored(constant, 0, (*parents, 3)) == scored(data, 0, parents)
    everyone = naive.random_categorical(rng, 2, 200, levels=3, skew=False)
    copy = Dataset(("a", "b", "id"), (*everyone.domains, Categorical(tuple(map(str, range(200))))),
                   (*everyone.columns, np.arange(200, dtype=np.uint8)))  # fmt: skip
    assert scored(copy, 0, (2,)) <= scored(copy, 0, ())  # a context for each row tells nothing


def test_settings_are_checked():
    for wrong in ({"alpha0": 0.0}, {"spread": -1.0}, {"alpha0": float("nan")}):
        with pytest.raises(OptbnError):
            load_score("hmd", **wrong)
