"""Arcs into a column of numbers that only a few extreme values call for.

A real leaf is a normal density, under which a value far out costs tens of nats. In a column with a long tail (counts,
amounts) a leaf that sets a few such values apart therefore pays, whatever its parents are: the best network then has
arcs that mean nothing. Ranks tell: where the column's values give way to the normal scores of their ranks, and the best
subset of its parents is without one of them, that arc rests on the extremes. The network stays what it is; a note names
the arcs.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from optbn.base.errors import OptbnError
from optbn.data.dataset import Dataset, Real
from optbn.scores.families import Families
from optbn.scores.listed import scores_of
from optbn.scores.scoring import bind
from optbn_solvers.base.clock import working

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from optbn.scores.protocol import BoundScore, LocalScore

SECONDS_PER_ROW = 1e-6  # for its ranks, and to lay it out
FEW_VALUES = 20  # that could be read as levels
SHOWN = 6  # arcs that the note names
MOST_PARENTS = 6  # whose subsets are all scored


def arcs_of_extremes(
    data: Dataset, method: LocalScore, parent_sets: Sequence[Sequence[str]], until: float, memory: int
) -> list[tuple[str, str]]:
    """(parent, child) of those arcs into real columns, as far as there is time until `until` (of `working`)."""
    arcs, took = [], SECONDS_PER_ROW * data.n_rows
    for child, domain, parents in zip(data.names, data.domains, parent_sets, strict=True):
        if not isinstance(domain, Real) or not 0 < len(parents) <= MOST_PARENTS or domain.low == domain.high:
            continue
        begun = working()
        if begun + took > until:
            break
        subsets = [some for size in range(len(parents) + 1) for some in itertools.combinations(parents, size)]
        rows = _by_ranks(data.select([child, *parents]))
        try:
            bound = bind(method, rows, memory)
            if begun + took + _expected(bound, len(parents)) > until:
                continue
            families = Families.build(rows.names, [(child, some) for some in subsets])
            best = subsets[int(scores_of(bound, families, 1, memory).argmax())]
        except OptbnError:  # settings that name other columns, or a family that is too dear
            continue
        arcs += [(parent, child) for parent in parents if parent not in best]
        took = working() - begun
    return arcs


def _expected(bound: BoundScore, parents: int) -> float:
    """The seconds that a score expects of these parents and their subsets, as far as it has a notion."""
    if not hasattr(bound, "seconds"):
        return 0.0
    dearest = float(bound.seconds(np.arange(1, parents + 1, dtype=np.int32)[None, :])[0])
    return float(getattr(bound, "preparation", 0.0)) + 2 * dearest


def extremes_note(data: Dataset, arcs: Sequence[tuple[str, str]]) -> str:
    """The note that names the arcs, or "" without any."""
    if not arcs:
        return ""
    children = sorted({child for _, child in arcs}, key=data.names.index)
    listed = ", ".join(f"{parent} -> {child}" for parent, child in arcs[:SHOWN])
    listed += f" and {len(arcs) - SHOWN} more" if len(arcs) > SHOWN else ""
    one = len(arcs) == 1
    note = f"by ranks there would be no {'arc' if one else 'arcs'} {listed}: "
    note += f"{'it' if one else 'they'} may rest on a few extreme values of the child"
    few = [child for child in children if len(np.unique(data.column(child))) <= FEW_VALUES]
    remedies = [f"read {few[0]!r} as categorical"] if few else []
    remedies += ["look at its largest and smallest values, or take logarithms"] if len(few) < len(children) else []
    return f"{note} ({'; '.join(remedies)})"


def _by_ranks(family: Dataset) -> Dataset:
    """With the normal scores of their ranks for the values of the first column."""
    scores = normal_scores(family.columns[0])
    domain = Real(float(np.nanmin(scores)), float(np.nanmax(scores)), absent=bool(np.isnan(scores).any()))
    rest = [family.columns[i] for i in range(1, len(family.names))]
    return dataclasses.replace(family, domains=(domain, *family.domains[1:]), columns=(scores, *rest))


def normal_scores(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """What a standard normal variable has at the middle of each value's ranks, which ties share; NaN stays."""
    from scipy.special import ndtri

    there = ~np.isnan(values)
    _, at, counts = np.unique(values[there], return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - counts / 2
    scores = np.full(len(values), np.nan)
    scores[there] = ndtri(middle / counts.sum())[at.reshape(-1)]
    return scores
