"""What inference answers: the posterior of some variables, of a real one with its moments, the most probable values."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn.base.registry import unknown
from optbn.network.render import columns


@dataclass(frozen=True, eq=False)
class Posterior:
    """P(variables | evidence): `probabilities` has one axis per variable, in order, and sums to one.

    levels        per variable the names of its states: levels, or the intervals between a real variable's thresholds
    log_evidence  log P(evidence), natural, a density in the real variables given; 0.0 when nothing was given
    """

    variables: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    probabilities: NDArray[np.float64]
    log_evidence: float

    def as_dict(self) -> dict[tuple[str, ...], float]:
        """{levels in order: probability}."""
        flat = self.probabilities.ravel()
        return {key: float(p) for key, p in zip(itertools.product(*self.levels), flat, strict=True)}

    def to_frame(self) -> Any:
        """A pandas data frame: a column per variable with its levels, and "probability"."""
        import pandas

        rows = [(*key, p) for key, p in self.as_dict().items()]
        return pandas.DataFrame(rows, columns=[*self.variables, "probability"])

    def __getitem__(self, levels: str | tuple[str, ...]) -> float:
        """The probability of a level, or of a level per variable."""
        key = (levels,) if isinstance(levels, str) else tuple(levels)
        found = self.as_dict()
        if key not in found:
            raise unknown("level of the posterior", ", ".join(map(str, key)), [", ".join(each) for each in found])
        return found[key]

    def __str__(self) -> str:
        rows = [(*key, f"{p:.6g}") for key, p in self.as_dict().items()]
        return columns([(*self.variables, "probability"), *rows], right=(len(self.variables),))


@dataclass(frozen=True, eq=False)
class RealPosterior(Posterior):
    """P(a real variable | evidence): mean and standard deviation of its numbers, beside the probabilities of its
    intervals (and of no number, where it may have none).

    Either is nan where it does not exist (Student-t leaves with too few degrees of freedom).
    """

    mean: float
    sd: float
    quantile: Callable[[float], float] = field(repr=False)
    """The number below which that share of the numbers lies."""


@dataclass(frozen=True)
class Explanation:
    """The most probable assignment of every variable given the evidence, and its log joint probability.

    Of a real variable that is not given it is the most probable interval between two thresholds of its children (in
    `intervals`, where there are any); the value in `assignment` is the mean there.
    """

    assignment: Mapping[str, str]
    log_joint: float
    intervals: Mapping[str, str] = field(default_factory=dict)
