"""Missing values by the model: what is observed stays, rounds gain, arcs that filling with the mode loses come back."""

from __future__ import annotations

import json

import numpy as np
import pytest

import optbn
from optbn.base.errors import DataError, UnsupportedError
from optbn.cli import main
from optbn.data.dataset import Categorical, Dataset, Real
from optbn.data.policies import LEVEL
from optbn.learning.completing import Incomplete, Search, completed


def with_gaps(data: Dataset, share: float, seed: int) -> Dataset:
    rng = np.random.default_rng(seed)
    domains, columns = [], []
    for domain, column in zip(data.domains, data.columns, strict=True):
        gap = rng.random(data.n_rows) < share
        if isinstance(domain, Categorical):
            domains.append(Categorical((*domain.levels, LEVEL)))
            columns.append(np.where(gap, len(domain.levels), column).astype(np.uint8))
        else:
            domains.append(Real(domain.low, domain.high, absent=True))
            columns.append(np.where(gap, np.nan, column))
    return Dataset(data.names, tuple(domains), tuple(columns))


@pytest.fixture(scope="module")
def asia():
    return optbn.load_network("asia").sample(400, 1)


def test_what_is_observed_stays_and_rows_keep_their_weight(asia):
    incomplete = Incomplete.of(with_gaps(asia, 0.2, 1).weighted(np.full(400, 2.0)))
    found = completed(incomplete, Search(2, jobs=1), copies=4, rounds=3)
    assert found.data.total_weight == pytest.approx(800) and len(found.rounds) <= 3
    whole = ~incomplete.rows
    for name in asia.names:
        column, before = found.data.column(name), asia.column(name)
        assert (column[: whole.sum()] == before[whole]).all()
        copies = column[whole.sum() :].reshape(4, -1)
        there = ~incomplete.missing[name][incomplete.rows]
        assert (copies[:, there] == before[incomplete.rows][there]).all()
    assert all(each.proved for each in found.rounds)
    assert found.rounds[-1].log_likelihood > found.rounds[0].log_likelihood


def test_the_likelihood_is_that_of_what_is_observed(asia):
    incomplete = Incomplete.of(with_gaps(asia.take(slice(0, 20)), 0.3, 2))
    network = optbn.load_network("asia")
    _, observed = incomplete.by(network, 2, np.random.default_rng(0))
    total = 0.0
    for row in range(20):
        gap = {name for name, missing in incomplete.missing.items() if missing[row]}
        known = {name: network.domain(name).levels[asia.column(name)[row]] for name in asia.names if name not in gap}
        if gap:
            total += network.query(min(gap), known).log_evidence
        else:
            total += network.log_likelihood(asia.take(slice(row, row + 1)))
    assert observed == pytest.approx(total)


def test_arcs_come_back(asia):
    """Of strong arcs that a third of missing cells hides, more are found than after filling with the mode."""
    truth = optbn.load_network("child")
    data = truth.sample(600, 4)
    incomplete = Incomplete.of(with_gaps(data, 0.3, 4))
    filled = completed(incomplete, Search(2, jobs=1)).network
    columns = [
        np.where(incomplete.missing[name], np.bincount(column[~incomplete.missing[name]]).argmax(), column)
        for name, column in zip(data.names, data.columns, strict=True)
    ]
    mode = Dataset(data.names, data.domains, tuple(c.astype(np.uint8) for c in columns))
    other = optbn.learn(mode, score="bdeu", max_parents=2, smoother="m_estimate", jobs=1).network
    fresh = truth.sample(2000, 5)
    assert filled.log_likelihood(fresh) > other.log_likelihood(fresh) + 2000 * 0.3


def test_learn_takes_mixed_data_with_gaps(tmp_path, capsys):
    rng = np.random.default_rng(3)
    x = rng.normal(size=200)
    frame = {"x": x, "y": 2 * x + rng.normal(size=200), "a": np.where(x > 0, "hi", "lo")}
    data = with_gaps(Dataset.from_arrays(frame), 0.2, 6)
    learned = optbn.learn(data, missing="model", max_parents=2, jobs=1)
    assert not learned.network.domain("x").absent and LEVEL not in learned.network.domain("a").levels
    assert any("drawn 5 times" in note for note in learned.report.notes)
    assert "with gaps filled by a model" in learned.report.outcome.proof and "gaps" in learned.report.title
    optbn.write(data, tmp_path / "gaps.csv")
    with pytest.raises(SystemExit):
        main(["learn", str(tmp_path / "gaps.csv"), "--missing", "model", "-D", "1", "--json"])
    report = json.loads(capsys.readouterr().out)
    assert not any("a value like others" in note for note in report["notes"])
    again = optbn.learn(Dataset.from_arrays(frame), missing="model", max_parents=1, jobs=1)
    assert not any("drawn" in note for note in again.report.notes)


def test_bad_input_is_named(asia):
    empty = Dataset(("a", "b"), (Categorical(("x", LEVEL)),) * 2, (np.ones(3, np.uint8), np.zeros(3, np.uint8)))
    with pytest.raises(DataError, match="'a' has no values"):
        Incomplete.of(empty)
    with pytest.raises(UnsupportedError, match="0 copies"):
        completed(Incomplete.of(with_gaps(asia, 0.1, 1)), copies=0)
    with pytest.raises(UnsupportedError, match="does not go with lags"):
        optbn.learn(asia, missing="model", lags=1)
