"""Everything that is a scikit-learn estimator, under one name: `from optbn.sklearn import StructureLearner, ESKDB`.

Names are imported when first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from optbn.classifiers import _EXPORTS as classifiers

if TYPE_CHECKING:
    from optbn.learning.estimator import StructureLearner as StructureLearner

_EXPORTS = {"StructureLearner": "optbn.learning.estimator"}


def _places() -> dict[str, str]:
    return {**_EXPORTS, **classifiers}


def __getattr__(name: str) -> Any:
    if name.startswith("__") or name not in _places():
        raise AttributeError(f"module 'optbn.sklearn' has no attribute {name!r}")
    return getattr(importlib.import_module(_places()[name]), name)


def __dir__() -> list[str]:
    return sorted(_places())
