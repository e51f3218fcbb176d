from __future__ import annotations

import hashlib

import numpy as np
import pytest
from scipy import stats

import optbn
from optbn.base.errors import NetworkError, UnsupportedError
from optbn.data.dataset import Categorical, Real
from optbn.network import sampling
from optbn.network.cpds import TableCPD
from optbn.network.network import BayesianNetwork
from tests.naive.network import naive_joint, random_network
from tests.network.test_network import mixed_network


def test_the_joint_distribution_is_met():
    """Chi-square of all cells of the joint, several networks, fixed seeds."""
    rng = np.random.default_rng(7)
    p_values = []
    for seed in range(8):
        network = random_network(rng, 4)
        joint = naive_joint(network).ravel()
        n = 40_000
        data = network.sample(n, seed)
        shape = [len(d.levels) for d in network.domains]
        counts = np.bincount(
            np.ravel_multi_index([c.astype(np.int64) for c in data.columns], shape), minlength=joint.size
        )
        enough = joint * n >= 5
        observed = np.append(counts[enough], counts[~enough].sum())
        expected = np.append(joint[enough], joint[~enough].sum()) * n
        keep = expected > 0
        p_values.append(stats.chisquare(observed[keep], expected[keep] * (n / expected[keep].sum())).pvalue)
    assert min(p_values) > 1e-3 and max(p_values) > 0.2


def test_real_leaves_are_met():
    network = mixed_network()
    data = network.sample(40_000, 1)
    a, x, t = data.column("A"), data.column("X"), data.column("T")
    for level, (mean, sd) in enumerate([(1, 1), (2, 1), (3, 0.1)]):
        assert stats.kstest(x[a == level], stats.norm(mean, sd).cdf).pvalue > 1e-3
    s = data.column("S")
    for cell in range(6):
        rows = (t == cell // 3) & (np.searchsorted([1.0, 2.0], x, side="right") == cell % 3)
        assert stats.kstest(s[rows], stats.t(5.5, cell, cell + 1).cdf).pvalue > 1e-3
    counts = np.bincount(t[(a == 1) & (x < 2.0)], minlength=2)
    assert stats.chisquare(counts, np.array([0.2, 0.8]) * counts.sum()).pvalue > 1e-3


def test_a_sample_is_pinned():
    """The same bits on every machine and in every version: categorical variables depend on PCG64 alone."""
    codes = np.array(optbn.load_network("alarm").sample(1000, 1).columns, dtype=np.uint8)
    assert (
        hashlib.sha256(codes.tobytes()).hexdigest()
        == "5ced85ba3a6bbcf6f767c7a3c2447b188d6e10db9f14cd34a1fd550e65081243"
    )
    assert optbn.load_network("asia").sample(12, 3).column("bronc").tolist() == [1, 0, 1, 1, 1, 1, 0, 0, 1, 0, 1, 1]


def test_a_shorter_sample_is_the_beginning_of_a_longer_one(monkeypatch):
    for network in (optbn.load_network("child"), mixed_network()):
        long = network.sample(700, 11)
        monkeypatch.setattr(sampling, "BLOCK", 64)
        short = network.sample(150, 11)
        for a, b in zip(short.columns, long.columns, strict=True):
            np.testing.assert_array_equal(a, b[:150])
        blocks = list(sampling.sample_blocks(network, 150, 11))
        assert [begin for begin, _ in blocks] == [0, 64, 128]
        for v in range(network.n_variables):
            np.testing.assert_array_equal(np.concatenate([b.columns[v] for _, b in blocks]), short.columns[v])
        monkeypatch.undo()
    assert network.sample(150, 11) != network.sample(150, 12)


def test_a_row_that_sums_to_less_than_one_never_draws_an_impossible_level():
    domain = Categorical(("a", "b", "c", "d"))
    third = 0.3333333  # published rows look like this
    cpd = TableCPD(domain, (), (), [third, third, 1 - 2 * third - 9e-6, 0.0])
    column = BayesianNetwork(("x",), (domain,), (cpd,)).sample(100_000, 1).columns[0]
    assert column.max() == 2


def test_the_range_grows_where_a_value_falls_outside():
    data = mixed_network().sample(2000, 1)
    domain = data.domain("S")
    assert isinstance(domain, Real)
    assert domain.low == min(0.0, data.column("S").min()) and domain.high == max(8.0, data.column("S").max())


def test_small_and_wrong_requests():
    network = optbn.load_network("asia")
    assert network.sample(0, 1).n_rows == 0 and network.sample(0, 1).names == network.names
    assert network.sample(1, 0).n_rows == 1
    with pytest.raises(NetworkError, match="cannot draw -1 rows"):
        network.sample(-1, 1)
    with pytest.raises(UnsupportedError, match="the seed is -1"):
        network.sample(1, -1)


def test_progress_is_told():
    seen = []
    sampling.sample(optbn.load_network("asia"), sampling.BLOCK + 1, 1, seen.append)
    assert seen == [sampling.BLOCK, sampling.BLOCK + 1]
