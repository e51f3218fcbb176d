"""Reference runs of the published experiments, corrected: losses of the first training fold, coded as they coded it."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from optbn.classifiers.discriminative import DiscriminativeBN
from tests.paths import shared_neighbour

STRUCTURES = {"NB": "nb", "TAN": "tan", "KDB": "kdb1"}
STARTS = {"I": "generative", "0": "zero"}
SMALL = ("iris", "tic-tac-toe", "car-evaluation", "german", "statlog-image-segmentation", "nursery", "magic")


def rows(name: str, part: str = "train") -> tuple[pd.DataFrame, np.ndarray]:
    path = shared_neighbour("golden", "bnc", "ccbn", f"{name}_f0_{part}.csv")
    with path.open() as file:
        sizes = [int(size) for size in file.readline()[1:].split(",")]
        codes = np.loadtxt(file, delimiter=",", dtype=np.int64)
    columns = {
        f"a{j}": pd.Categorical.from_codes(codes[:, j], [f"v{v}" for v in range(sizes[j])])
        for j in range(len(sizes) - 1)
    }
    return pd.DataFrame(columns), codes[:, -1]


def reference() -> dict:
    return json.loads(shared_neighbour("golden", "bnc", "ccbn_ref.json").read_text())


@pytest.mark.parametrize("name", ["iris", "german", "car-evaluation", "nursery", "magic"])
def test_naive_bayes_goes_the_same_way(name: str) -> None:
    """The same objective, optimiser and start: the same losses, iteration by iteration."""
    X, y = rows(name)
    for how, record in reference()[f"{name}|NB"].items():
        if how != "MAP":
            fitted = DiscriminativeBN("nb", how[0], init=STARTS[how[2]], l2=0, max_iterations=12, corrections=5).fit(
                X, y
            )
            known = record["nll_f0"][:11]
            assert fitted.curve_.loss[: len(known)] == pytest.approx(known, rel=2e-4, abs=1e-4)


@pytest.mark.parametrize("key", [f"{name}|{kind}" for name in SMALL for kind in STRUCTURES])
def test_final_losses(key: str) -> None:
    """Never worse than the reference by 1e-4; where both converged, never better by more either."""
    name, kind = key.split("|")
    X, y = rows(name)
    for how, record in reference()[key].items():
        if how not in ("w(I)", "d(I)", "e(0)"):
            continue
        fitted = DiscriminativeBN(
            STRUCTURES[kind], how[0], init=STARTS[how[2]], l2=0, max_iterations=2000, tolerance=1e-9
        ).fit(X, y)
        known, found = record["nll_final_f0"], fitted.curve_.loss[-1]
        assert found <= known + 1e-4 * max(known, 1.0)
        if record["nit"][0] < 1000 and kind == "NB":
            assert found >= known - 3e-4 * max(known, 1.0)


@pytest.mark.parametrize("name", ["magic", "german"])
def test_exponents_are_the_first_to_arrive(name: str) -> None:
    """Iterations until 95 % of the way from the generative loss to the optimum (the note: w before e before d)."""
    X, y = rows(name)
    arrived = {}
    for kind in "wed":
        curve = DiscriminativeBN("nb", kind, l2=0, corrections=5).fit(X, y).curve_
        line = curve.loss[0] - 0.95 * (curve.loss[0] - min(curve.loss))
        arrived[kind] = next(i for i, loss in enumerate(curve.loss) if loss <= line)
    assert arrived == {"magic": {"w": 6, "e": 10, "d": 19}, "german": {"w": 4, "e": 7, "d": 13}}[name]


def test_the_penalty_prevents_overfitting() -> None:
    from optbn.evaluate.proper_scores import rmse

    (X, y), (Z, z) = rows("german"), rows("german", "test")
    free, chosen = (rmse(DiscriminativeBN("tan", l2=l2).fit(X, y).predict_proba(Z), z) for l2 in (0, "cv"))
    generative = DiscriminativeBN("tan", l2=np.inf, l2_towards="generative").fit(X, y).predict_proba(Z)
    assert chosen < rmse(generative, z) - 0.02 < free - 0.07
