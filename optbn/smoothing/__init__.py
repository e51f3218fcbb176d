"""Parameters of networks: counts on a tree of contexts, and the smoothers that turn them into probabilities.

SMOOTHERS lists them by name; adding one is a module and a line here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from optbn.base.options import check_arguments
from optbn.base.registry import lookup

if TYPE_CHECKING:
    from optbn.smoothing.protocol import Smoother

SMOOTHERS: dict[str, str] = {
    "mle": "optbn.smoothing.mle:MaximumLikelihood",
    "laplace": "optbn.smoothing.laplace:Laplace",
    "bdeu": "optbn.smoothing.bdeu:BDeu",
    "m_estimate": "optbn.smoothing.m_estimate:MEstimate",
    "m_branch": "optbn.smoothing.m_branch:MBranch",
    "hdp": "optbn.smoothing.hdp:HDP",
    "hierarchical": "optbn.smoothing.hierarchical:Hierarchical",
    "gradient": "optbn.smoothing.gradient:Gradient",
}

TREES: dict[str, str] = {
    "best": "optbn.smoothing.fitting:fitted",
    "average": "optbn.learning.averaged:fitted_averages",
}
"""What answers for local trees: the one that there is, or the average over all on the same parents."""


def load_smoother(smoother: str | Smoother, *, caller: Callable[..., Any] | None = None, **settings: Any) -> Smoother:
    """A smoother by name with its settings, or the one given; names that do not exist list those that do.

    caller   the function whose keywords the settings are: a wrong one may be a slip in the name of an argument of it
    """
    if not isinstance(smoother, str):
        return smoother

    cls = lookup("smoother", SMOOTHERS, smoother)
    check_arguments(caller, settings, f"smoother {smoother!r}", cls.__dataclass_fields__)
    made: Smoother = cls(**settings)
    return made
