"""Parameters for a structure: one pass over the data counts every family, then each gets its smoothed CPD.

The structure may be a network, whose local models are kept (tables, trees, bins) and only their numbers replaced, or a
bare DAG, whose families become tables. Data may be a Dataset or a file, which is read in batches and never held.
Randomness is per variable, spawned from the seed, so the result does not depend on the number of threads.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from optbn.base.errors import DataError, UnsupportedError
from optbn.base.foreign import Graph
from optbn.base.registry import lookup
from optbn.base.settings import check_seed
from optbn.base.threads import check_jobs
from optbn.data.anything import DataLike, as_dataset, is_file
from optbn.data.dataset import Categorical, Dataset, Domain, Real
from optbn.data.interventions import Interventions
from optbn.data.schema import Schema, SchemaLike
from optbn.network.catalog import load_network
from optbn.network.cpds import CPD
from optbn.network.network import BayesianNetwork
from optbn.network.structure import Structure, read_parents, read_structure
from optbn.smoothing.family import Family, FamilyFit
from optbn.smoothing.normal import LeafKind, check_kind
from optbn.smoothing.protocol import Smoother, load_smoother

StructureLike = BayesianNetwork | Structure | Mapping[str, Sequence[str]] | Graph | str | os.PathLike[str]
Progress = Callable[[str, int, int | None], None]
"""Called as progress("counting" or "fitting", done, of how many if known)."""

DEFAULT_SMOOTHER = "hdp"
SHARES_SMOOTHER = "hierarchical"
"""By default where rows count for shares of a row, which hdp cannot count."""


TREES: dict[str, str] = {
    "best": "optbn.smoothing.fitting:fitted",
    "average": "optbn.learning.averaged:fitted_averages",
}
"""What answers for local trees: the one that there is, or the average over all on the same parents."""


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
    smoother: str | Smoother = DEFAULT_SMOOTHER,
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
    smoother   a name from SMOOTHERS with `settings` as keywords, or a smoother
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
    smoother: str | Smoother = DEFAULT_SMOOTHER,
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
    chosen = load_smoother(smoother, caller=fit, **settings)
    graph = as_structure(structure)
    families, _, blocks = families_and_rows(graph, data, weights, schema, reading)
    fits = [FamilyFit(family) for family in families]
    rows = 0
    for columns, n, row_weights in blocks:
        for f in fits:
            counting = None if interventions is None else interventions.counting(f.family.name)
            f.add(columns, n, row_weights if counting is None else _masked(row_weights, counting[rows : rows + n]))
        rows += n
        if progress is not None:
            progress("counting", rows, None)
    network = finished(graph, fits, chosen, seed, leaves, threads, progress)
    return Fitted(network, {f.family.name: f for f in fits}, rows)


def smoother_for(data: Dataset) -> str:
    """The default for the data."""
    return DEFAULT_SMOOTHER if data.weights is None or data.weights.whole else SHARES_SMOOTHER


def check_counts(smoother: Smoother, data: Dataset) -> None:
    """Refuse a smoother of whole counts where rows count for shares of a row."""
    if getattr(smoother, "whole", False) and data.weights is not None and not data.weights.whole:
        raise UnsupportedError(
            f"{type(smoother).__name__} counts whole rows, and the weights of the rows are not whole: round them, or "
            f"use another smoother ({SHARES_SMOOTHER}, m_estimate)"
        )


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


def as_structure(structure: StructureLike) -> BayesianNetwork | Structure:
    """A network or a structure from whatever stands for one."""
    if isinstance(structure, BayesianNetwork | Structure):
        return structure
    if isinstance(structure, str | os.PathLike):
        if Path(structure).suffix.lower() == ".graphml":
            return read_structure(structure)
        return read_parents(structure) or load_network(str(structure))
    if isinstance(structure, Mapping):
        return Structure.from_parents(structure)
    if hasattr(structure, "nodes") and hasattr(structure, "edges"):
        return Structure.from_networkx(structure)
    raise UnsupportedError(
        f"a structure is a network, a Structure, a mapping of parents, a networkx DiGraph or a file, "
        f"not {type(structure).__name__}"
    )


Block = tuple[Mapping[str, NDArray[Any]], int, NDArray[np.float64] | None]
"""Columns by name in the families' domains, how many rows they have, and the rows' weights."""


def families_and_rows(
    structure: BayesianNetwork | Structure,
    data: DataLike,
    weights: str | ArrayLike | None,
    schema: SchemaLike = None,
    reading: Mapping[str, Any] | None = None,
    besides: tuple[str, ...] = (),
) -> tuple[list[Family], dict[str, Domain], Iterator[Block]]:
    """The families of a structure over the domains of the data, and the rows.

    `besides` names columns that come along; the second result is their domains. A Dataset may have weights itself.
    """
    if isinstance(data, Dataset) and data.weights is not None:
        data = data if weights is None else data.weighted(weights)
        assert data.weights is not None
        weights = data.weights.values
    batches = _batches(structure, data, weights if isinstance(weights, str) else None, schema, reading, besides)
    first = next(batches)
    if isinstance(structure, BayesianNetwork):
        families = [Family.of(name, cpd) for name, cpd in zip(structure.names, structure.cpds, strict=True)]
        first = _conform(structure, first, besides, weights)
    else:
        families = []
        for name in structure.names:
            parents = structure.parents(name)
            families.append(Family(name, first.domain(name), parents, tuple(map(first.domain, parents))))

    def blocks() -> Iterator[Block]:
        yield _block(first, weights, 0)
        seen = first.n_rows
        for batch in batches:
            batch = _conform(structure, batch, besides, weights) if isinstance(structure, BayesianNetwork) else batch
            yield _block(batch, weights, seen)
            seen += batch.n_rows
        if weights is not None and not isinstance(weights, str) and len(np.asarray(weights)) != seen:
            raise DataError(f"{len(np.asarray(weights))} weights, but there are {seen} rows")

    return families, {name: first.domain(name) for name in besides}, blocks()


def _batches(
    structure: BayesianNetwork | Structure,
    data: DataLike,
    weights: str | None,
    schema: Any,
    reading: Mapping[str, Any] | None,
    besides: tuple[str, ...],
) -> Iterator[Dataset]:
    """The needed columns, in batches."""
    needed = tuple(dict.fromkeys((*structure.names, *besides, *((weights,) if weights else ()))))

    known: dict[str, Any] = dict(Schema.of(schema).columns)
    if isinstance(structure, BayesianNetwork):
        for name, domain in zip(structure.names, structure.domains, strict=True):
            known.setdefault(
                name, domain if isinstance(domain, Categorical) else replace(ANY_NUMBER, absent=domain.absent)
            )
    if weights:
        known.setdefault(weights, ANY_NUMBER)
    known = {name: kind for name, kind in known.items() if name in needed}
    if is_file(data):
        return Dataset.batches(data, Schema(known), columns=needed, **{"missing": "value", **(reading or {})})
    rows = as_dataset(data, known, "value", reading)
    missing = [name for name in needed if name not in rows.names]
    if missing:
        more = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
        raise DataError(f"the data have no column {missing[0]!r}{more}, which the structure needs")
    return iter([rows.select(needed)])


ANY_NUMBER = Real(-1e300, 1e300)


def _conform(
    network: BayesianNetwork, batch: Dataset, besides: tuple[str, ...], weights: str | ArrayLike | None
) -> Dataset:
    """The batch with the network's levels, and the other columns as they are."""
    inside = network.conform(batch)
    rest = [name for name in (*besides, weights) if isinstance(name, str) and name not in network.names]
    other = batch.select(rest)
    return Dataset((*inside.names, *other.names), (*inside.domains, *other.domains), (*inside.columns, *other.columns))


def _block(batch: Dataset, weights: str | ArrayLike | None, first_row: int) -> Block:
    columns = dict(zip(batch.names, batch.columns, strict=True))
    if weights is None:
        return columns, batch.n_rows, None
    if isinstance(weights, str):
        values, where = batch.numbers(weights), f"column {weights!r}"
    else:
        whole = np.asarray(weights, dtype=np.float64)
        values, where = whole[first_row : first_row + batch.n_rows], "weights"
        if whole.ndim != 1 or len(values) != batch.n_rows:
            raise DataError(f"weights have the shape {whole.shape}, but there are {batch.n_rows} rows")
    bad = ~(np.isfinite(values) & (values >= 0))
    if bad.any():
        row = int(np.argmax(bad))
        raise DataError(f"{where}, row {first_row + row + 1}: the weight {values[row]:g} is not a number of at least 0")
    return columns, batch.n_rows, np.ascontiguousarray(values, dtype=np.float64)
