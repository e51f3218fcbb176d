"""Files instead of frames: the same classifier, with memory that does not depend on the rows."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest

from optbn.base.errors import DataError, UnsupportedError
from optbn.classifiers import CLASSIFIERS, load_classifier, source
from optbn.classifiers.aside import Aside
from optbn.classifiers.reservoir import Reservoir
from tests.classifiers.examples import mixed


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "ROWS", 37)


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_fit_file_is_fit(name: str, ending: str, tmp_path, small_blocks: None) -> None:
    X, y = mixed(0)
    X = X.drop(columns="size").assign(age=X.age.round(3), hours=X.hours + 0.5)
    path = tmp_path / f"train.{ending}"
    whole = X.assign(income=y)
    whole.to_csv(path, index=False) if ending == "csv" else whole.to_parquet(path)
    passes: list[int] = []
    fitted = load_classifier(name).fit_file(path, "income", progress=passes.append)
    direct = load_classifier(name).fit(X, y)
    assert list(fitted.classes_) == list(direct.classes_) and fitted.target_ == "income"
    assert list(fitted.feature_names_in_) == list(X.columns)
    assert fitted.predict_proba(X) == pytest.approx(direct.predict_proba(X), abs=1e-12)
    assert np.concatenate(list(fitted.predict_file(path))) == pytest.approx(direct.predict_proba(X), abs=1e-12)
    assert passes[:6] == [37, 74, 111, 148, 185, 200]


@pytest.mark.parametrize("name", ["nb", "kdb", "skdb", "aode", "eskdb"])
@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_a_column_of_weights_is_sample_weight(name: str, ending: str, tmp_path, small_blocks: None) -> None:
    X, y = mixed(0)
    X = X.drop(columns="size").assign(age=X.age.round(3), hours=X.hours + 0.5)
    weights = np.tile([2.0, 0.0, 1.0, 0.5], 50)
    path = tmp_path / f"train.{ending}"
    whole = X.assign(income=y, people=weights)
    whole.to_csv(path, index=False) if ending == "csv" else whole.to_parquet(path)
    fitted = load_classifier(name).fit_file(path, "income", weights="people")
    direct = load_classifier(name).fit(X, y, sample_weight=weights, weight_scale="counts")
    assert list(fitted.feature_names_in_) == list(X.columns)
    assert fitted.predict_proba(X) == pytest.approx(direct.predict_proba(X), abs=1e-12)


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ([1.0, -2.0, 1.0], "the weight -2"),
        ([0.0, 0.0, 0.0], "all weights are 0"),
        ([1.0, None, 2.0], "4 missing value"),
    ],
)
def test_what_is_no_weight_is_named(column, message, tmp_path) -> None:
    import pandas

    rows = pandas.DataFrame({"a": [*"xyx"] * 4, "y": [*"uvu"] * 4, "w": column * 4})
    rows.to_csv(tmp_path / "d.csv", index=False)
    with pytest.raises(DataError, match="column 'w'.*" + message):
        load_classifier("nb").fit_file(tmp_path / "d.csv", "y", weights="w")
    with pytest.raises(DataError, match="column of weights"):
        load_classifier("nb").fit_file(tmp_path / "d.csv", "y", weights="v")


def test_arrow_and_several_passes(tmp_path, small_blocks: None) -> None:
    import pyarrow as pa
    import pyarrow.feather as feather

    X, y = mixed(3)
    feather.write_feather(pa.Table.from_pandas(X.assign(income=y)), tmp_path / "train.arrow")
    passes: list[int] = []
    load_classifier("skdb").fit_file(tmp_path / "train.arrow", "income", progress=passes.append)
    assert passes.count(200) == 4  # levels and sample; pairs, trees, leave-one-out
    passes.clear()
    load_classifier("nb").fit_file(tmp_path / "train.arrow", "income", progress=passes.append)
    assert passes.count(200) == 2


@pytest.mark.parametrize("weights", [None, "people"])
def test_rows_put_aside_are_the_rows_coded_again(weights, tmp_path, small_blocks: None, monkeypatch) -> None:
    X, y = mixed(4)
    X.assign(income=y, people=np.tile([2.0, 0.0, 1.0, 0.5], 50)).to_parquet(tmp_path / "train.parquet")
    found = []
    for largest in (1 << 30, 1000, 0):
        monkeypatch.setattr("optbn.classifiers.aside.LARGEST", largest)
        fitted = load_classifier("skdb").fit_file(tmp_path / "train.parquet", "income", weights=weights)
        found.append(fitted.predict_proba(X.assign(people=1.0) if weights is None else X))
    assert (found[0] == found[1]).all() and (found[0] == found[2]).all()


def test_blocks_come_back_as_they_were_in_several_threads() -> None:
    random = np.random.default_rng(0)
    blocks = [(random.normal(size=(n, 3)), random.integers(0, 9, n).astype(np.int8)) for n in (50_000, 0, 1, 70_000)]
    aside = Aside()
    for block in blocks:
        aside.add(*block)
    assert aside.rows == 120_001
    with ThreadPoolExecutor(4) as pool:
        for back in pool.map(lambda _: list(aside), range(8)):
            for block, again in zip(blocks, back, strict=True):
                assert all(a.dtype == b.dtype and (a == b).all() for a, b in zip(block, again, strict=True))


def test_cut_points_from_a_sample(tmp_path) -> None:
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 3000)
    frame = pd.DataFrame({"x": random.normal(2 * y, 1.0), "rare": np.where(np.arange(3000) == 5, "once", "often")})
    frame.loc[7, "x"] = np.nan
    path = tmp_path / "train.parquet"
    frame.assign(y=y.astype(str)).to_parquet(path)
    few = load_classifier("nb").fit_file(path, "y", sample_size=300)
    column = few.members_[0].columns[0]
    assert column.missing is not None and 1 <= len(column.cuts) < 5
    assert set(few.members_[0].columns[1].levels) == {"often", "once"}
    assert few.score(frame[["x", "rare"]], y.astype(str)) > 0.8
    again = load_classifier("nb").fit_file(path, "y", sample_size=300)
    assert np.array_equal(again.members_[0].columns[0].cuts, column.cuts)


def test_a_reservoir_draws_every_row_alike_and_keeps_their_order() -> None:
    import pyarrow as pa

    batch = pa.record_batch({"i": pa.array(range(50))})
    times = np.zeros(50)
    for seed in range(400):
        samples = []
        for cuts in ([0, 50], [0, 3, 4, 30, 50]):
            reservoir = Reservoir(8, np.random.default_rng(seed))
            for begin, end in itertools.pairwise(cuts):
                reservoir.add(batch.slice(begin, end - begin))
            samples.append([i for part in reservoir.batches() for i in part.column("i").to_pylist()])
        assert samples[0] == samples[1] == sorted(set(samples[0])) and len(samples[0]) == 8
        times[samples[0]] += 1
    expected = 400 * 8 / 50
    assert ((times - expected) ** 2 / expected).sum() < 80  # chi squared of about 49 degrees of freedom: .997
    whole = Reservoir(80, np.random.default_rng(0))
    whole.add(batch)
    assert sum(part.num_rows for part in whole.batches()) == 50


def test_bad_files(tmp_path) -> None:
    path = tmp_path / "train.csv"
    path.write_text("a,y\n1.5,u\n2.5,v\n")
    with pytest.raises(DataError, match=r"train.csv: no column 'z'; there are: a, y"):
        load_classifier("nb").fit_file(path, "z")
    with pytest.raises(DataError, match="the target 'a' is real; declare it in the schema as categorical"):
        load_classifier("nb").fit_file(path, "a", schema={"a": "real"})
    path.write_text("a,y\n1.5,u\n2.5,\n")
    with pytest.raises(DataError, match="the target 'y' has 1 missing value"):
        load_classifier("nb").fit_file(path, "y")
    path.write_text("y\nu\nv\n")
    with pytest.raises(DataError, match="there is no column besides the target 'y'"):
        load_classifier("nb").fit_file(path, "y")
    for size in (0, 1.5):
        with pytest.raises(UnsupportedError, match=f"sample_size={size}: expected a whole number of rows"):
            load_classifier("nb").fit_file(path, "y", sample_size=size)
    path.write_text("a,y\n")
    with pytest.raises(DataError, match="no rows"):
        load_classifier("nb").fit_file(path, "y")
