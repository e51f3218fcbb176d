"""Probability estimation trees and forests."""

from __future__ import annotations

import importlib
from typing import Any

_EXPORTS = {
    "ProbabilityTree": "optbn.classifiers.trees.estimator",
    "ProbabilityForest": "optbn.classifiers.trees.forest",
    "Explanation": "optbn.classifiers.trees.explain",
}


def __getattr__(name: str) -> Any:
    if name not in _EXPORTS:
        raise AttributeError(f"module 'optbn.classifiers.trees' has no attribute {name!r}")

    return getattr(importlib.import_module(_EXPORTS[name]), name)
