"""RMSE of the published study of smoothed trees: four smoothers, on its folds where they are known."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from optbn.classifiers.study import labelled
from optbn.evaluate.cross_validation import cross_validate, read_folds, stratified_folds
from optbn.smoothing.gradient import Gradient
from optbn.trees.estimator import ProbabilityTree
from optbn.trees.member import TreeMember
from tests.paths import shared_data, shared_neighbour

SMOOTHERS = {"MLE": "mle", "Laplace": "laplace", "M-est": "m_estimate", "HGS": Gradient(alpha=1.0)}

FILES = {
    "statlog-image-segmentation": "segment", "letter-recog": "letter", "breast-cancer-wisconsin": "breast-w",
    "page-blocks": "page-blocks-classification", "turkiye-student": "turkiye-student-evaluation",
}  # fmt: skip

ON_ITS_FOLDS = ("car-evaluation", "german", "glass", "iris", "spambase", "statlog-image-segmentation", "tic-tac-toe",
                "vehicle")  # fmt: skip

EXACT = ("car-evaluation", "german", "iris", "tic-tac-toe", "vehicle")
"""All four decimals."""

ON_OTHER_FOLDS = ("balance-scale", "breast-cancer-wisconsin", "mushroom", "page-blocks", "pendigits", "turkiye-student",
                  "yeast")  # fmt: skip
"""Also within .003 on chance folds: magic, letter-recog, shuttle, which take longer. Not: kr-vs-kp, nursery,
waveform-5000, house-votes-84, ionosphere, zoo, whose folds are not known; soybean, of which the study had 307 rows, and
splice, of which it had 3177; hepatitis, on its folds, for reasons not found (MLE .424 for .406)."""


class AsPublished(ProbabilityTree):
    """Branches without training rows get the raw frequencies of the node above, as in the published code."""

    def _learn(self, source, smoother, seed):
        [member], weights = super()._learn(source, smoother, seed)
        counts = member.tree.counts
        inner = member.tree.children[:, None] > 0
        raw = np.where(inner, counts / counts.sum(axis=1, keepdims=True), member.probabilities)
        return [TreeMember(**{**vars(replace(member)), "probabilities": raw})], weights


@pytest.mark.parametrize("name", [*ON_ITS_FOLDS, *ON_OTHER_FOLDS])
def test_rmse(name: str) -> None:
    known = json.loads(shared_neighbour("golden", "bnc", "hgs_raw_results.json").read_text())["sheets"]["HGS"][name]
    X, y = labelled(FILES.get(name, name), str(shared_data("datasets")))
    if name in ON_ITS_FOLDS:
        folds = read_folds(shared_neighbour("golden", "bnc", "folds10", f"{name}.json"))
    else:
        folds = stratified_folds(y, 10, 1)
    assert len(y) == known["size"]
    for published, smoother in SMOOTHERS.items():
        made = AsPublished(smoother, missing="fractional", resolution=1e-5)
        found = cross_validate(made, X, y, folds).scores()["rmse"]
        assert found == pytest.approx(known[published]["rmse"], abs=6e-5 if name in EXACT else 3e-3)
