"""The first use on a machine: every kernel that a run of `learn` needs is compiled on a corner of its data.

What is compiled is kept on disk (optbn_solvers.base.compiled), so this happens once. Scoring the corner shows whether
it is needed at all; only then are the search and the fit rehearsed as well. That one line can say how long it took, and
that the estimate of the cost measures scoring alone, is what it is for; limits leave compiling out wherever it happens.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from optbn.base.errors import OptbnError
from optbn.data.dataset import Dataset, Real
from optbn.learning.local import with_local_models
from optbn.learning.structure import Stopwatch, best_structure
from optbn.scores.pipeline import table_of_sets
from optbn.scores.scoring import Scoring
from optbn.smoothing.fitting import fitted
from optbn_solvers.base.clock import compiling

if TYPE_CHECKING:
    from optbn.learning.watcher import Watcher
    from optbn.scores.protocol import LocalScore
    from optbn.smoothing.protocol import Smoother

CORNER = (200, 4)  # rows, and columns of each kind


def rehearse(data: Dataset, method: LocalScore, solver: str, smoother: str | Smoother | None, watcher: Watcher) -> None:
    """Score, solve and fit a corner of the data, the latter two if the first had to be compiled."""

    def begun() -> None:
        compiling.listeners.remove(begun)
        watcher.compiling(None)

    before, seconds = compiling.kernels, compiling.seconds
    compiling.listeners.append(begun)
    try:
        with suppress(OptbnError):
            scoring = scored_corner(data, method)
            table = table_of_sets(scoring, jobs=1)
            if compiling.kernels > before:
                learned = best_structure(table, 0, Stopwatch(), solver=solver)
                shapes = with_local_models(learned.structure, scoring.data, scoring.bound)
                fitted(shapes, scoring.data, smoother, seed=0, threads=1)
    finally:
        if begun in compiling.listeners:
            compiling.listeners.remove(begun)
    if compiling.kernels > before:
        watcher.compiling(compiling.seconds - seconds)


def scored_corner(data: Dataset, method: LocalScore) -> Scoring:
    """The score bound to some rows of some columns of each kind; trees over many levels take long."""
    rows, columns = CORNER
    domains = {name: data.domain(name) for name in data.names}
    real = [name for name, domain in domains.items() if isinstance(domain, Real)]
    levels = {name: len(domain.levels) for name, domain in domains.items() if not isinstance(domain, Real)}
    categorical = sorted(levels, key=lambda name: levels[name])
    corner = data.select(categorical[:columns] + real[:columns]).take(slice(rows))
    return Scoring.of(corner, method, min(2, corner.n_variables - 1))
