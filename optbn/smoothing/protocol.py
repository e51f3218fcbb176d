"""What a smoother is: a frozen dataclass of its settings with one verb, `fit(tree, generator) -> Estimate`.

Adding one is a file with such a class and a line in SMOOTHERS; the conformance tests run over the registry.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from optbn.smoothing.tree import CountTree


@dataclass(frozen=True)
class Estimate:
    """Probabilities for every context of a count tree.

    probabilities  float64[m, K], the child's distribution in the context of each node
    unseen         float64[m, K], its distribution in a full configuration that was never seen and left the tree below
                   that node; most smoothers back off, and then this is `probabilities`
    deviations     float64[m, K], posterior standard deviations of `probabilities`, where they are not a Dirichlet's
    precision      float64[m], how many rows (real and imagined) each of `probabilities` is worth: its posterior is
                   Dirichlet(precision * probabilities), or is matched by it; None where there is no posterior
    unseen_precision  float64[m], the same of `unseen`
    diagnostics    what the method has to say about its own quality (R-hat, effective draws, chosen constants...)
    """

    probabilities: NDArray[np.float64]
    unseen: NDArray[np.float64]
    deviations: NDArray[np.float64] | None = None
    diagnostics: Mapping[str, Any] = field(default_factory=dict)
    precision: NDArray[np.float64] | None = None
    unseen_precision: NDArray[np.float64] | None = None

    def at(self, tree: CountTree, nodes: NDArray[np.integer]) -> NDArray[np.float64]:
        """float64[len(nodes), K]: the answer for rows whose deepest node is given (see `CountTree.locate`)."""
        return np.asarray(np.where(tree.is_leaf[nodes][:, None], self.probabilities[nodes], self.unseen[nodes]))

    def precision_at(self, nodes: NDArray[np.integer], seen: NDArray[np.bool_]) -> NDArray[np.float64] | None:
        """float64[len(nodes)]: what the answer for each node is worth, as a configuration that was seen or not."""
        if self.precision is None or self.unseen_precision is None:
            return None
        return np.where(seen, self.precision[nodes], self.unseen_precision[nodes])


def matched_precision(mean: NDArray[np.float64], deviations: NDArray[np.float64]) -> NDArray[np.float64]:
    """float64[m]: the precision of the Dirichlet with these means whose variances have the same sum in each row."""
    variety, variance = 1.0 - (mean**2).sum(axis=1), (deviations**2).sum(axis=1)
    ratio = np.divide(variety, variance, out=np.full(len(mean), CERTAIN), where=variance > 0)
    return np.clip(ratio - 1.0, 1.0 / CERTAIN, CERTAIN)


CERTAIN = 1e9
"""The precision of what has no variance, such as the one level of a constant."""


class Smoother(Protocol):
    """Settings; `fit` is a pure function of the tree and of the generator's state."""

    def fit(self, tree: CountTree, generator: np.random.Generator) -> Estimate: ...


Progress = Callable[[str, int, int], None]
"""Called as progress(what, done, of)."""
