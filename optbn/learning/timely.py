"""A smoother that keeps to the time there is.

Sampling smoothers go on until their draws suffice, which on a large table can take longer than all the rest. Each
variable may use half of the time that is left; a sampler that has not settled by then is stopped, and that variable
gets the fallback, which counts once. The report has a note of how many did.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from optbn.smoothing.protocol import Estimate, Smoother
from optbn.smoothing.tree import CountTree
from optbn_solvers.base.clock import working

FALLBACK = "m_estimate"


class _OutOfTime(Exception):
    """Raised out of a sampler's progress report."""


@dataclass
class Timely:
    """`chosen` until `deadline` (of `working`), then `fallback`; `gave_way` counts the distributions that did."""

    chosen: Smoother
    fallback: Smoother
    deadline: float
    gave_way: int = field(default=0)

    def fit(self, tree: CountTree, generator: np.random.Generator) -> Estimate:
        left = self.deadline - working()
        if left > 0:
            try:
                return self._fit(tree, generator, working() + left / 2)
            except _OutOfTime:
                pass
        self.gave_way += 1
        return self.fallback.fit(tree, generator)

    def _fit(self, tree: CountTree, generator: np.random.Generator, deadline: float) -> Estimate:
        def watch(done: int, of: int) -> None:
            if working() > deadline and done < of:
                raise _OutOfTime

        if hasattr(self.chosen, "sample"):
            estimate: Estimate = self.chosen.sample(tree, generator, watch)
            return estimate
        return self.chosen.fit(tree, generator)
