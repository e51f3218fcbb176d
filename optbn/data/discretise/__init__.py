"""Discretisers: scikit-learn transformers that turn columns of any kind into codes 0, 1, ...

Each is a file with one class whose verb is `cut_points`, and a line here. What they share (mixed frames, missing
values as a level of their own, levels seen at fitting) is in `transformer`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from optbn.base.errors import UnsupportedError
from optbn.base.registry import lookup

if TYPE_CHECKING:
    from optbn.data.discretise.transformer import Discretizer

DISCRETIZERS: dict[str, str] = {
    "equal_width": "optbn.data.discretise.equal_width:EqualWidth",
    "equal_frequency": "optbn.data.discretise.equal_frequency:EqualFrequency",
    "k_means": "optbn.data.discretise.k_means:KMeans",
    "mdlp": "optbn.data.discretise.mdlp:MDLP",
    "decision_tree": "optbn.data.discretise.decision_tree:DecisionTree",
    "random_mdlp": "optbn.data.discretise.random_mdlp:RandomMDLP",
    "random_cuts": "optbn.data.discretise.random_cuts:RandomCuts",
}


def load_discretizer(discretizer: str | Discretizer, **settings: Any) -> Discretizer:
    """A fresh discretiser by name with its settings, or an unfitted copy of the one given."""
    from sklearn.base import clone

    from optbn.data.discretise.transformer import Discretizer

    if isinstance(discretizer, str):
        made: Discretizer = lookup("discretizer", DISCRETIZERS, discretizer)(**settings)
        return made
    if not isinstance(discretizer, Discretizer):
        raise UnsupportedError(
            f"discretizer={discretizer!r}: expected one of {', '.join(DISCRETIZERS)}, or one of these as an object"
        )
    copy: Discretizer = clone(discretizer)
    return copy
