"""What is fitted to what: a structure of any kind, its families over the data's domains, and the rows in batches."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from optbn.base.errors import DataError, UnsupportedError
from optbn.base.foreign import Graph
from optbn.data.anything import DataLike, as_dataset, is_file
from optbn.data.dataset import Categorical, Dataset, Domain, Real
from optbn.data.schema import Schema, SchemaLike
from optbn.network.catalog import load_network
from optbn.network.network import BayesianNetwork
from optbn.network.structure import Structure
from optbn.network.structure_files import read_parents, read_structure
from optbn.smoothing.family import Family

StructureLike = BayesianNetwork | Structure | Mapping[str, Sequence[str]] | Graph | str | os.PathLike[str]


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
