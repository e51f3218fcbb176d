"""Bayesian network classifiers with discriminative parameters."""

from __future__ import annotations

import importlib
from typing import Any

_EXPORTS = {
    "DiscriminativeBN": "optbn.classifiers.discriminative.estimator",
    "Curve": "optbn.classifiers.discriminative.training",
    "plot_curves": "optbn.classifiers.discriminative.training",
}


def __getattr__(name: str) -> Any:
    if name not in _EXPORTS:
        raise AttributeError(f"module 'optbn.classifiers.discriminative' has no attribute {name!r}")

    return getattr(importlib.import_module(_EXPORTS[name]), name)
