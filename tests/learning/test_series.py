"""Lagged rows by hand, arcs that never point backwards, and forecasts against the last value."""

from __future__ import annotations

import numpy as np
import pytest

import optbn
from optbn.base.errors import OptbnError
from optbn.cli import main
from optbn.data.dataset import Categorical, Dataset, Real
from optbn.data.lags import lagged, now
from optbn.network.dynamic import DynamicNetwork

BINARY = Categorical(("0", "1"))


def series(rows=700, seed=2):
    """x follows y of two steps before, y is its own past or chance, z follows x at once."""
    rng = np.random.default_rng(seed)
    x, y, z = (np.zeros(rows, dtype=np.uint8) for _ in range(3))
    for t in range(2, rows):
        y[t] = y[t - 1] if rng.random() < 0.7 else rng.integers(0, 2)
        x[t] = y[t - 2] if rng.random() < 0.9 else 1 - y[t - 2]
        z[t] = x[t] if rng.random() < 0.9 else 1 - x[t]
    return Dataset(("x", "y", "z"), (BINARY,) * 3, (x, y, z))


def test_rows_by_hand():
    who = np.array([0, 0, 0, 1, 1, 1], dtype=np.uint8)
    columns = (np.array([2.0, 0, 1, 5, 3, 4]), who, np.array([12.0, 10, 11, 25, 23, 24]))
    data = Dataset(("t", "id", "v"), (Real(0.0, 9.0), Categorical(("a", "b")), Real(0.0, 99.0)), columns)
    found = lagged(data, 1, "t", "id")
    assert found.names == ("v", "v[-1]")
    assert found.column("v").tolist() == [11, 12, 24, 25] and found.column("v[-1]").tolist() == [10, 11, 23, 24]
    assert lagged(data, 2, "t", "id").n_rows == 2
    turned = lagged(data.take(np.array([3, 1, 5, 0, 2, 4])), 1, "t", "id")
    assert [column.tolist() for column in turned.columns] == [column.tolist() for column in found.columns]


def test_the_truth_is_found_and_nothing_points_backwards():
    learned = optbn.learn(series(), score="bdeu", lags=2)
    dynamic = DynamicNetwork(learned.network)
    assert {("y", "x", 2), ("y", "y", 1)} <= set(dynamic.arcs())
    assert all(not now(child)[1] for _, child in learned.network.structure.arcs)
    assert learned.report.outcome.proved and dynamic.lags == 2 and dynamic.variables == ("x", "y", "z")
    past = optbn.learn(series(), score="bdeu", lags=2, past_only=True)
    assert DynamicNetwork(past.network).slice().n_arcs == 0


def test_forecasts_beat_the_last_value():
    data = series(900)
    dynamic = DynamicNetwork(optbn.learn(data.take(slice(0, 700)), score="bdeu", lags=2).network)
    model = last = 0.0
    for t in range(700, 800):
        truth = int(data.column("x")[t])
        share = dynamic.forecast(data.take(slice(0, t)), 1, 200)[0]["x"][str(truth)]
        model += np.log(max(share, 1e-3))
        last += np.log(0.9 if data.column("x")[t - 1] == truth else 0.1)
    assert model > last


def test_samples_have_the_laws_of_the_step():
    data = series(3000)
    dynamic = DynamicNetwork(optbn.learn(data, score="bdeu", lags=2).network)
    made = dynamic.sample(3000, seed=1)
    agree = [np.mean(each.column("x")[2:] == each.column("y")[:-2]) for each in (data, made)]
    assert abs(agree[0] - agree[1]) < 0.05
    again = dynamic.sample(3000, seed=1)
    assert all((one == other).all() for one, other in zip(made.columns, again.columns, strict=True))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"lags": 700}, "the longest series has 700 rows"),
        ({"lags": 1, "time_column": "when"}, "no column 'when'"),
        ({"lags": 1, "time_column": "y"}, "have the same time; if they belong to different series"),
        ({"lags": 1, "targets": "y"}, "does not go with"),
        ({"time_column": "y"}, "needs lags"),
    ],
)
def test_what_cannot_be_is_refused(settings, message):
    with pytest.raises(OptbnError, match=message):
        optbn.learn(series(), score="bdeu", **settings)


def test_the_command_line(tmp_path):
    optbn.write(series(), tmp_path / "s.csv")
    out = tmp_path / "step.json"
    with pytest.raises(SystemExit) as ended:
        main(["learn", str(tmp_path / "s.csv"), "--score", "bdeu", "--lags", "2", "-D", "2", "-o", str(out)])
    assert ended.value.code == 0
    assert ("y", "x", 2) in DynamicNetwork(optbn.read_network(out)).arcs()
