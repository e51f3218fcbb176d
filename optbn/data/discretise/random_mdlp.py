"""Randomised MDLP, for ensembles: cuts are drawn among those that pass the test of `mdlp`, by their margin.

A cut is drawn with probability proportional to how much it shortens the description, and its two parts are cut in turn.
Where none passes for the whole column one is drawn in proportion to its information gain, so that every member sees
every column that tells anything (Zhang 2020, Algorithm 11).
"""

from __future__ import annotations

from typing import Any

from optbn.data.discretise.mdlp import chosen_cuts
from optbn.data.discretise.transformer import Discretizer


class RandomMDLP(Discretizer):
    """encoding as for MDLP; another random_state gives other cuts."""

    def __init__(self, encoding: str = "values", random_state: Any = None) -> None:
        self.encoding = encoding
        self.random_state = random_state

    def cut_points(self, values: Any, classes: Any, n_classes: int, weights: Any, random: Any) -> Any:
        return chosen_cuts(values, classes, n_classes, weights, self.encoding, random)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = self.random_state is None
        return tags
