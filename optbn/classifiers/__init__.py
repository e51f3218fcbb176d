"""Bayesian network classifiers as scikit-learn estimators, each a file with one class and a line in CLASSIFIERS."""

from __future__ import annotations

import importlib
from typing import Any

from optbn.base.errors import UnknownNameError
from optbn.base.registry import lookup

CLASSIFIERS: dict[str, str] = {
    "nb": "optbn.classifiers.naive_bayes:NaiveBayes",
    "tan": "optbn.classifiers.tan:TAN",
    "kdb": "optbn.classifiers.kdb:KDB",
    "skdb": "optbn.classifiers.skdb:SKDB",
    "aode": "optbn.classifiers.aode:AODE",
    "a2de": "optbn.classifiers.a2de:A2DE",
    "kdf": "optbn.classifiers.kdf:KDF",
    "eskdb": "optbn.classifiers.eskdb:ESKDB",
    "optimal": "optbn.classifiers.optimal:OptimalBN",
    "discriminative": "optbn.classifiers.discriminative.estimator:DiscriminativeBN",
    "soft": "optbn.classifiers.soft.estimator:SoftKDB",
    "softeskdb": "optbn.classifiers.soft.estimator:SoftESKDB",
    "blend": "optbn.classifiers.soft.blend:Blend",
    "bydomain": "optbn.classifiers.by_domain:ByDomain",
    "tree": "optbn.classifiers.trees.estimator:ProbabilityTree",
    "forest": "optbn.classifiers.trees.forest:ProbabilityForest",
}

_EXPORTS = {target.partition(":")[2]: target.partition(":")[0] for target in CLASSIFIERS.values()}


def load_classifier(name: str, **settings: Any) -> Any:
    """An unfitted classifier by name; settings it does not have are refused with those it has."""
    made = lookup("classifier", CLASSIFIERS, name)()
    known = made.get_params(deep=False)
    unknown = sorted(set(settings) - set(known))
    if unknown:
        raise UnknownNameError(f"classifier {name!r} has no setting {unknown[0]!r}; it has: {', '.join(known)}")
    return made.set_params(**settings)


def __getattr__(name: str) -> Any:
    if name not in _EXPORTS:
        raise AttributeError(f"module 'optbn.classifiers' has no attribute {name!r}")

    return getattr(importlib.import_module(_EXPORTS[name]), name)
