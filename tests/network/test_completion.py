"""Completed rows against queries, one row at a time: the likelihood of what is there, and the draws."""

from __future__ import annotations

import numpy as np
import pytest

import optbn
from optbn.base.errors import NetworkError
from optbn.data.dataset import Categorical
from optbn.network import completion
from optbn.network.completion import complete


def gaps(data, share, rng):
    return {name: rng.random(data.n_rows) < share for name in data.names}


def evidence(network, data, missing, row):
    found = {}
    for name, column in zip(data.names, data.columns, strict=True):
        if not missing[name][row]:
            domain = network.domain(name)
            found[name] = domain.levels[column[row]] if isinstance(domain, Categorical) else float(column[row])
    return found


def mixed():
    rng = np.random.default_rng(2)
    x = rng.normal(size=400)
    a = np.where(x > 0.3, "u", rng.choice(["u", "v", "w"], 400))
    y = np.where(a == "u", 2.0, -1.0) + x * (x > 0) + rng.normal(size=400)
    b = np.where(y + rng.normal(size=400) > 1, "yes", "no")
    data = optbn.Dataset.from_arrays({"x": x, "a": a, "y": y, "b": b})
    return optbn.learn(data, max_parents=2, smoother="bdeu", jobs=1).network, data


@pytest.mark.parametrize("share", [0.15, 0.6])
@pytest.mark.parametrize("kind", ["asia", "child", "mixed"])
def test_likelihoods_are_those_of_queries(kind, share, monkeypatch):
    monkeypatch.setattr(completion, "BLOCK_ROWS", 7)
    rng = np.random.default_rng(1)
    network, data = mixed() if kind == "mixed" else (optbn.load_network(kind), None)
    data = (data or network.sample(25, 3)).take(slice(0, 25))
    missing = gaps(data, share, rng)
    found = complete(network, dict(zip(data.names, data.columns, strict=True)), missing, 3, rng)
    for row in range(data.n_rows):
        known = evidence(network, data, missing, row)
        absent = [name for name in data.names if name not in known]
        if absent and known:
            expected = network.query(absent[0], known).log_evidence
        else:
            expected = network.log_likelihood_rows(data.take(slice(row, row + 1)))[0] if known else 0.0
        assert found.log_likelihood[row] == pytest.approx(expected, abs=1e-9)
    for name in data.names:
        there = ~missing[name]
        assert (found.columns[name][:, there] == data.column(name)[there]).all()


@pytest.mark.parametrize("kind", ["asia", "mixed"])
def test_draws_have_the_posterior_of_the_row(kind):
    rng = np.random.default_rng(5)
    network, data = mixed() if kind == "mixed" else (optbn.load_network("asia"), None)
    data = (data or network.sample(6, 3)).take(slice(0, 6))
    missing = gaps(data, 0.5, rng)
    copies = 4000
    found = complete(network, dict(zip(data.names, data.columns, strict=True)), missing, copies, rng)
    for row in range(data.n_rows):
        known = evidence(network, data, missing, row)
        absent = [name for name in data.names if name not in known]
        for name in absent:
            posterior, drawn = network.query(name, known), found.columns[name][:, row]
            if isinstance(network.domain(name), Categorical):
                shares = np.bincount(drawn, minlength=len(posterior.probabilities)) / copies
                assert shares == pytest.approx(posterior.probabilities, abs=0.04)
            else:
                assert drawn.mean() == pytest.approx(posterior.mean, abs=0.1 * max(1.0, posterior.sd))
                assert drawn.std() == pytest.approx(posterior.sd, rel=0.1)
        two = [name for name in absent if isinstance(network.domain(name), Categorical)][:2]
        if len(two) == 2:  # together, not only one by one
            joint = network.query(two, known).probabilities
            cells = found.columns[two[0]][:, row].astype(int) * joint.shape[1] + found.columns[two[1]][:, row]
            assert np.bincount(cells, minlength=joint.size) / copies == pytest.approx(joint.ravel(), abs=0.04)


def test_an_impossible_row_is_named():
    network = optbn.load_network("asia")
    data = network.sample(3, 1)
    columns = dict(zip(data.names, data.columns, strict=True))
    levels = {name: network.domain(name).levels for name in data.names}
    columns["either"] = np.full(3, levels["either"].index("no"), np.uint8)
    columns["lung"] = np.array([0, levels["lung"].index("yes"), 0], np.uint8)
    columns["lung"][[0, 2]] = levels["lung"].index("no")
    columns["tub"] = np.full(3, levels["tub"].index("no"), np.uint8)
    with pytest.raises(NetworkError, match="row 2 is impossible"):
        complete(network, columns, {"asia": np.ones(3, bool)}, 1, np.random.default_rng(0))
