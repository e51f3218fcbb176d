"""The smoothers that the studies compare, with the settings they run with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from optbn.smoothing import load_smoother
from optbn.smoothing.protocol import Smoother

METHODS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "mle": ("mle", {}),
    "laplace": ("laplace", {}),
    "bdeu 1": ("bdeu", {"ess": 1.0}),
    "bdeu 10": ("bdeu", {"ess": 10.0}),
    "m 1": ("m_estimate", {}),
    "m cv": ("m_estimate", {"m": "cv"}),
    "m-branch": ("m_branch", {}),
    "gradient a=1": ("gradient", {"penalty": float("inf")}),
    "gradient": ("gradient", {}),
    "hierarchical": ("hierarchical", {}),
    "hdp": ("hdp", {"sweeps": 2000, "chains": 1}),
}


def made(name: str) -> Smoother:
    """The smoother behind a name of METHODS."""
    smoother, settings = METHODS[name]
    return load_smoother(smoother, **settings)


def number(value: float) -> float | None:
    """For JSON, which has no infinity."""
    return float(value) if np.isfinite(value) else None


def mean_or_infinite(values: Sequence[float | None]) -> float:
    """The mean; infinite when one of the values is (None)."""
    return float("inf") if any(v is None for v in values) else float(np.mean([v for v in values if v is not None]))


def shown(value: float, best: float) -> str:
    """Three digits, the best in bold, infinity as such."""
    if not np.isfinite(value):
        return "∞"
    text = f"{value:.3g}"
    return f"**{text}**" if value <= best * 1.0000001 else text
