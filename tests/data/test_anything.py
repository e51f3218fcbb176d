"""Whatever takes data takes a Dataset, a data frame, arrays or a file, with the same answer; the rest is refused."""

from __future__ import annotations

import io

import numpy as np
import polars
import pytest

import optbn
from optbn.learning.edges import edges

NETWORK = optbn.load_network("cancer")
DATA = NETWORK.sample(3000, 1)

FUNCTIONS = {
    "fit": lambda data: optbn.fit(NETWORK, data).log_likelihood(DATA),
    "fit a bare graph": lambda data: optbn.fit(NETWORK.structure, data, "laplace").log_likelihood(DATA),
    "log_likelihood": NETWORK.log_likelihood,
    "predict_proba": lambda data: NETWORK.predict_proba("Cancer", data)[:50].ravel().tolist(),
    "predict": lambda data: [["False", "True"].index(each) for each in NETWORK.predict("Cancer", data)[:50]],
    "score_table": lambda data: len(optbn.score_table(data, "bdeu", 1)),
    "score": lambda data: optbn.score(data, "Cancer", ["Smoker"], "bdeu"),
    "score_families": lambda data: optbn.score_families(data, [("Cancer", ["Smoker"])], "bdeu").scores.tolist(),
    "edges": lambda data: edges(data, "bdeu", 1).score,
}


def forms(tmp_path):
    frame = DATA.to_frame().astype(str)
    path = tmp_path / "data.csv"
    optbn.write(DATA, path)
    structured = np.array(list(frame.itertuples(index=False)), dtype=[(name, "U9") for name in frame])
    return {
        "pandas": frame,
        "polars": polars.from_pandas(frame),
        "mapping": {name: frame[name].to_numpy(dtype=str) for name in frame},
        "structured": structured,
        "path": path,
        "text": str(path),
    }


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_form_of_data_gives_the_same(name, tmp_path):
    expected = FUNCTIONS[name](DATA)
    for form, data in forms(tmp_path).items():
        assert FUNCTIONS[name](data) == pytest.approx(expected, abs=1e-8), form


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("data", [None, 3, [["a", "b"]], np.zeros(4), "no such file.csv"])
def test_what_is_no_data_is_refused_in_a_line(name, data):
    with pytest.raises(optbn.OptbnError) as caught:
        FUNCTIONS[name](data)
    assert "\n" not in str(caught.value)


def test_a_data_frame_is_written_like_its_dataset(tmp_path):
    written = io.BytesIO(), io.BytesIO()
    optbn.write(DATA, written[0])
    optbn.write(DATA.to_frame().astype(str), written[1])
    assert written[0].getvalue() == written[1].getvalue()


def test_an_array_without_names_is_in_the_order_of_the_network():
    array = DATA.to_frame().astype(str).to_numpy(dtype=str)
    assert NETWORK.log_likelihood(array) == pytest.approx(NETWORK.log_likelihood(DATA))
    with pytest.raises(optbn.OptbnError, match="3 columns without names"):
        NETWORK.log_likelihood(array[:, :3])
