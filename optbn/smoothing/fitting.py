"""Parameters for a structure: one pass over the data counts every family, then each gets its smoothed CPD.

The structure may be a network, whose local models are kept (tables, trees, bins) and only their numbers replaced, or a
bare DAG, whose families become tables. Data may be a Dataset or a file, which is read in batches and never held.
Randomness is per variable, spawned from the seed, so the result does not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from optbn.base.registry import lookup
from optbn.base.settings import check_seed
from optbn.base.threads import check_jobs
from optbn.data.anything import DataLike
from optbn.data.interventions import Interventions
from optbn.data.schema import SchemaLike
from optbn.network.cpds import CPD
from optbn.network.network import BayesianNetwork
from optbn.network.structure import Structure
from optbn.smoothing import TREES, load_smoother
from optbn.smoothing.default import all_whole, smoother_for
from optbn.smoothing.family import FamilyFit
from optbn.smoothing.normal import LeafKind, check_kind
from optbn.smoothing.protocol import Smoother
from optbn.smoothing.rows import StructureLike, as_structure, families_and_rows

Progress = Callable[[str, int, int | None], None]
"""Called as progress("counting" or "fitting", done, of how many if known)."""


@dataclass(frozen=True)
class Fitted:
    """A network with its parameters, and per variable the counts and estimates they come from."""

    network: BayesianNetwork
    families: Mapping[str, FamilyFit]
    rows: int

    def deviations(self, name: str) -> NDArray[np.float64] | None:
        """Posterior standard deviations of a variable's probabilities; see `FamilyFit.deviations`."""
        return self.families[name].deviations()

    def diagnostics(self) -> dict[str, Mapping[str, Any]]:
        """What the smoother reports about each variable."""
        return {name: f.estimate.diagnostics for name, f in self.families.items() if f.estimate is not None}


def fit(
    structure: StructureLike,
    data: DataLike,
    smoother: str | Smoother | None = None,
    *,
    seed: int = 0,
    weights: str | ArrayLike | None = None,
    leaves: LeafKind = "normal",
    trees: str = "best",
    threads: int = 1,
    schema: SchemaLike = None,
    reading: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    **settings: Any,
) -> BayesianNetwork:
    """The network over `structure` with parameters from `data`.

    structure  a network (its local models stay), a Structure, {variable: parents}, a networkx DiGraph, a bundled name,
               or a file: a network, a structure, a solver's solution
    data       a Dataset, a data frame, arrays, or a file, read in one pass if the structure is a network
    smoother   a name from SMOOTHERS with `settings` as keywords, or a smoother; by default hierarchical for trees, hdp
               for tables (optbn/smoothing/default.py)
    schema     what is known about the columns of a file; `reading` are other options of `optbn.Dataset.batches`
    weights    a column of non-negative row weights, or an array of them; rows of weight 0 do not exist
    leaves     "normal" (posterior means) or "student" (posterior predictive) for real variables
    trees      "best" (the local models stay), or "average": categorical variables get what all trees on their parents
               predict together, exactly (optbn/learning/averaged.py), and the smoother serves the others
    seed       of the smoothers that sample; threads  how many, without consequence for the result
    progress   called with ("counting" or "fitting", how many are done, of how many if that is known)
    Without any rows every distribution is its prior.
    """
    made: Fitted = lookup("way with trees", TREES, trees)(
        structure, data, smoother, seed=seed, weights=weights, leaves=leaves, threads=threads, schema=schema,
        reading=reading, progress=progress, **settings,
    )  # fmt: skip
    return made.network


def fitted(
    structure: StructureLike,
    data: DataLike,
    smoother: str | Smoother | None = None,
    *,
    seed: int = 0,
    weights: str | ArrayLike | None = None,
    leaves: LeafKind = "normal",
    threads: int = 1,
    schema: SchemaLike = None,
    reading: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    interventions: Interventions | None = None,
    **settings: Any,
) -> Fitted:
    """`fit`, with the counts, diagnostics and deviations behind the network.

    interventions   the rows in which a variable was set do not count for its own distribution
    """
    check_kind(leaves)
    check_seed(seed)
    check_jobs(threads)
    chosen = None if smoother is None else load_smoother(smoother, caller=fit, **settings)
    graph = as_structure(structure)
    families, _, blocks = families_and_rows(graph, data, weights, schema, reading)
    if smoother is None and settings:
        chosen = load_smoother(smoother_for(families), caller=fit, **settings)
    fits = [FamilyFit(family) for family in families]
    rows, whole = 0, True
    for columns, n, row_weights in blocks:
        whole = whole and all_whole(row_weights)
        for f in fits:
            counting = None if interventions is None else interventions.counting(f.family.name)
            f.add(columns, n, row_weights if counting is None else _masked(row_weights, counting[rows : rows + n]))
        rows += n
        if progress is not None:
            progress("counting", rows, None)
    chosen = chosen or load_smoother(smoother_for(families, whole))
    network = finished(graph, fits, chosen, seed, leaves, threads, progress)
    return Fitted(network, {f.family.name: f for f in fits}, rows)


def _masked(weights: NDArray[np.float64] | None, counting: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Weights of 0 for the rows that do not count."""
    return counting.astype(np.float64) if weights is None else weights * counting


def generator_of(seed: int, variable: int) -> np.random.Generator:
    """The random numbers of one variable."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(variable,)))


def finished(
    structure: BayesianNetwork | Structure, fits: Sequence[FamilyFit], smoother: Smoother, seed: int, leaves: str,
    threads: int, progress: Progress | None = None,
) -> BayesianNetwork:  # fmt: skip
    """The network of what is counted; compiled kernels release the interpreter, so threads do work side by side."""

    def one(i: int) -> CPD:
        return fits[i].finish(smoother, generator_of(seed, i), leaves)

    def with_reports(cpds: Iterable[CPD]) -> Iterator[CPD]:
        for done, cpd in enumerate(cpds, start=1):
            if progress is not None:
                progress("fitting", done, len(fits))
            yield cpd

    if threads == 1:
        cpds = tuple(with_reports(map(one, range(len(fits)))))
    else:
        with ThreadPoolExecutor(threads) as pool:
            cpds = tuple(with_reports(pool.map(one, range(len(fits)))))
    names, domains = tuple(f.family.name for f in fits), tuple(f.family.domain for f in fits)
    precision = {f.family.name: f.precision for f in fits if f.precision is not None}
    if isinstance(structure, BayesianNetwork):
        return BayesianNetwork(names, domains, cpds, structure.name, structure.properties, precision)
    return BayesianNetwork(names, domains, cpds, precision=precision)
