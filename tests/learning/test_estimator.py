"""StructureLearner among scikit-learn's own, and against `learn`."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import optbn
from optbn.classifiers import CLASSIFIERS
from optbn.sklearn import StructureLearner


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    table = optbn.load_network("asia").sample(400, 1).to_frame("pandas")
    table["size"] = np.random.default_rng(0).normal(size=400) + 3.0 * (table["smoke"] == "yes")
    return table


@parametrize_with_checks([StructureLearner()])
def test_check_estimator(estimator, check) -> None:
    check(estimator)


def test_it_finds_what_learn_finds(frame) -> None:
    fitted = StructureLearner("bic", max_indegree=2, return_type="dag").fit(frame.drop(columns="size"))
    found = optbn.learn(frame.drop(columns="size"), score="bic", max_parents=2).network
    assert set(fitted.causal_graph_.edges) == set(found.structure.arcs)
    assert (fitted.adjacency_matrix_ == found.structure.to_adjacency()).all()
    assert list(fitted.feature_names_in_) == list(found.names)
    rows = frame.drop(columns="size")
    assert fitted.score(rows) == pytest.approx(found.log_likelihood(rows) / len(rows), abs=0.01)


def test_edges_without_a_direction_are_arcs_each_way(frame) -> None:
    fitted = StructureLearner("bic").fit(frame[["smoke", "bronc"]])
    assert (fitted.adjacency_matrix_ == [[0, 1], [1, 0]]).all()


def test_it_is_searched_cross_validated_cloned_and_kept(frame) -> None:
    values = cross_val_score(StructureLearner(max_indegree=1), frame, cv=2)
    search = GridSearchCV(StructureLearner(), {"max_indegree": [0, 1]}, cv=2).fit(frame)
    assert search.best_params_ == {"max_indegree": 1}
    assert search.best_score_ == pytest.approx(values.mean())
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    assert again.score(frame) == search.score(frame)
    assert clone(again).get_params() == again.get_params()


def test_settings_of_the_score_and_constraints(frame) -> None:
    made = StructureLearner("bdeu", options={"ess": 5}, constraints={"forbidden": [("smoke", "bronc")]})
    learned = made.fit(frame.drop(columns="size")).learned_
    assert ("smoke", "bronc") not in learned.network.structure.arcs
    with pytest.raises(optbn.OptbnError, match="ess"):
        StructureLearner("bdeu", options={"es": 5}).fit(frame)
    with pytest.raises(optbn.OptbnError, match="return_type"):
        StructureLearner(return_type="graph").fit(frame)


def test_new_rows_with_missing_and_unknown_values(frame) -> None:
    holes = frame.astype({"smoke": object}).copy()
    holes.loc[::7, "smoke"] = None
    holes.loc[::5, "size"] = np.nan
    fitted = StructureLearner(max_indegree=1).fit(holes)
    assert np.isfinite(fitted.score_samples(holes.head(20))).all()
    assert np.isfinite(fitted.score(holes.assign(size=1e6)))
    with pytest.raises(ValueError, match="sometimes"):
        fitted.score(holes.assign(smoke="sometimes"))


def test_one_door_for_all_estimators() -> None:
    import optbn.sklearn as door

    assert {target.partition(":")[2] for target in CLASSIFIERS.values()} < set(dir(door))
    assert all(hasattr(getattr(door, name), "fit") for name in dir(door))
