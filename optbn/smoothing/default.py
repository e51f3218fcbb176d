"""Which smoother serves where none is named: the one that comes nearest to known networks.

hierarchical   the leaves of trees (nearer than hdp in 31 of 36 samples), and rows that count for shares of one
hdp            tables of whole counts
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import UnsupportedError
from optbn.data.dataset import Dataset
from optbn.network.cpds import TreeCPD
from optbn.smoothing.family import Family
from optbn.smoothing.protocol import Smoother

OF_TREES = "hierarchical"
OF_TABLES = "hdp"


def smoother_for(families: Iterable[Family], whole: bool = True) -> str:
    """The name; `whole`: no row counts for a share of one, which hdp cannot count."""
    tables = any(family.parents and not isinstance(family.model, TreeCPD) for family in families)
    return OF_TABLES if tables and whole else OF_TREES


def all_whole(weights: NDArray[np.float64] | None) -> bool:
    """Whether the rows count as often as whole numbers say."""
    return weights is None or bool(np.all(weights == np.rint(weights)))


def check_counts(smoother: Smoother, data: Dataset) -> None:
    """Refuse a smoother of whole counts where rows count for shares of a row."""
    if getattr(smoother, "whole", False) and data.weights is not None and not data.weights.whole:
        raise UnsupportedError(
            f"{type(smoother).__name__} counts whole rows, and the weights of the rows are not whole: round them, or "
            f"use another smoother ({OF_TREES}, m_estimate)"
        )
