"""The published Java code's results on its own folds.

Its conventions: MDLP that pays for places between values, m = 1, levels of the header whether they occur or not. NB,
TAN and KDB are then the same to the last printed digit (here to 3 decimals). Where the product differs on purpose:

SKDB   the published leave-one-out pass is not what fitting without the row gives (tests.naive.classifiers.
       published_losses); with it the results are the published ones on the sets listed here. On iris, glass,
       tic-tac-toe and segment the published code still selects otherwise, in a way that is not understood.
AODE   the published numbers are not those of the definition, nor of the variants tried (joint or conditional prior,
       with and without back-off, frequency limits of 0, 1, 30, averages of joints, of posteriors, of logarithms): on
       car they lie between AODE's and naive Bayes'. The product is checked by definition (test_structures).
nursery  the header has a level that the shared file lacks, .0001 of RMSE.
"""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from optbn.classifiers import load_classifier
from optbn.classifiers.forest import LeaveOneOut
from optbn.data.discretise.mdlp import MDLP
from optbn.evaluate.cross_validation import cross_validate, read_folds
from tests.naive.classifiers import published_losses
from tests.paths import shared_data, shared_neighbour

FILES = {"letter-recog": "letter", "statlog-image-segmentation": "segment"}
HEADER = {"german": {"purpose": 11, "personal-status": 5}}
"""Levels declared in the published files, where the shared ones keep only those that occur."""

METHODS = {"NB-M": ("nb", {}), "TAN-M": ("tan", {}), "KDB1-M": ("kdb", {"k": 1}), "KDB5-M": ("kdb", {"k": 5})}
SETS = ["iris", "glass", "vehicle", "tic-tac-toe", "german", "car-evaluation", "nursery", "statlog-image-segmentation"]


def published(name: str) -> tuple[pd.DataFrame, np.ndarray, list, dict]:
    """Attributes, classes, folds and results."""
    import pyarrow.parquet as pq

    frame = pq.read_table(shared_data("datasets", f"{FILES.get(name, name)}.parquet")).to_pandas()
    target = next(column for column in frame.columns if column.lower() == "class")
    for column, levels in HEADER.get(name, {}).items():
        categories = frame[column].cat
        missing = levels - len(categories.categories)
        frame[column] = categories.add_categories([f"unused {i}" for i in range(missing)])
    results = json.loads(shared_neighbour("golden", "bnc", "bnc_java_results.json").read_text())[name]
    folds = read_folds(shared_neighbour("golden", "bnc", "folds", f"{name}.json"))
    return frame.drop(columns=target), np.asarray(frame[target].astype(str)), folds, results


@pytest.mark.parametrize("name", SETS)
def test_nb_tan_kdb(name: str) -> None:
    X, y, folds, results = published(name)
    tried = 0
    for method, (kind, settings) in METHODS.items():
        if method not in results:
            continue
        rounds = min(results[method]["nExp"], 2 if len(y) > 2000 else 5)
        if rounds < results[method]["nExp"]:
            continue
        made = load_classifier(kind, discretizer=MDLP("values"), **settings)
        scores = cross_validate(made, X, y, folds[:rounds]).scores()
        assert scores["rmse"] == pytest.approx(results[method]["rmse"], abs=5e-4), method
        assert scores["zero_one"] == pytest.approx(results[method]["err"], abs=5e-4), method
        tried += 1
    assert tried >= 3 or len(y) > 2000


class PublishedPass(LeaveOneOut):
    """The published leave-one-out pass in place of ours."""

    def __init__(self, parents, trees, class_counts, m=1.0) -> None:
        super().__init__(parents, trees, class_counts, m)
        self.parents = parents

    def add(self, batch) -> None:
        sizes = {int(i): int(size) for i, size in zip(self.forest.attribute, self.forest.sizes, strict=True)}
        k = len(self.losses) - 1
        self.losses = published_losses(batch[0], batch[1], sizes, len(self.class_counts), self.parents, k)


@pytest.mark.parametrize("name", ["vehicle", "car-evaluation", "german", "nursery"])
def test_skdb_with_the_published_leave_one_out(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from optbn.classifiers import skdb

    X, y, folds, results = published(name)
    monkeypatch.setattr(skdb, "LeaveOneOut", PublishedPass)
    rounds = results["SKDB-M"]["nExp"]
    scores = cross_validate(load_classifier("skdb", discretizer=MDLP("values")), X, y, folds[:rounds]).scores()
    assert scores["rmse"] == pytest.approx(results["SKDB-M"]["rmse"], abs=5e-4)
    assert scores["zero_one"] == pytest.approx(results["SKDB-M"]["err"], abs=5e-4)


@pytest.mark.parametrize("name", ["glass", "vehicle"])
def test_the_ensemble_is_at_least_as_good_as_the_published_one_well_seeded(name: str) -> None:
    X, y, folds, results = published(name)
    scores = cross_validate(load_classifier("eskdb"), X, y, folds[:5]).scores()
    assert scores["rmse"] <= results["ESKDBR-M(scrambled seeds,5exp)"]["rmse"] + 0.003
