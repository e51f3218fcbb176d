"""What the networks compared have in common beside the constraints: the best of them is the best of these alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from optbn.scores.left_out import Hurried, dear_sets, families_left_out
from optbn.scores.scoring import Scoring

if TYPE_CHECKING:
    from optbn.data.dataset import Dataset
    from optbn.scores.protocol import LocalScore

SHOWN = 8  # columns that a note names
OFTEN = 3  # columns that families left out have most often


def restrictions(
    scoring: Scoring, unscored: int = 0, likeliest: tuple[int, int] | None = None, dear: int = 0
) -> tuple[str, ...]:
    """In words that go on "the best network"; `unscored` families there was no time for. Sets of one member more may be
    there among `likeliest` parents only (how many members, of how many parents), but for `dear` families. Of those that
    the score leaves out some may have been scored after all: then `dear` is less by these, or below 0."""
    size, limits = scoring.sets.largest, []
    if size < scoring.data.n_variables - 1:
        more = f", or {likeliest[0]} of its {likeliest[1]} likeliest" if likeliest else ""
        limits.append(f"with at most {size} parent{'' if size == 1 else 's'} per variable{more}")
    if scoring.candidates is not None:
        limits.append(f"of the {scoring.candidates} likeliest parents of each variable")
    if wide := _coarsened(scoring):
        several = f"with {len(wide)} wide columns coarsened as parents"
        limits.append("with 1 wide column coarsened as a parent" if len(wide) == 1 else several)
    left_out = dear + unscored + (0 if scoring.unlimited else families_left_out(scoring.bound, scoring.sets))
    if left_out:
        limits.append(f"but for {left_out:,} {'family' if left_out == 1 else 'families'} left out")
    return tuple(limits)


def coarsened(scoring: Scoring) -> list[str]:
    """Notes on the columns that are no parents with all their levels, and on weights that are rounded for trees."""
    return [*_levels(scoring), *_weights(scoring)]


def why_left_out(scoring: Scoring) -> str:
    """A note on the families that the score leaves out one by one: what they have in common, and what would help."""
    among = np.zeros(scoring.sets.n, np.int64)
    for dear in dear_sets(scoring.bound, scoring.sets):
        among += np.bincount(dear.ravel(), minlength=len(among))
    often = [repr(scoring.data.names[v]) for v in np.argsort(-among, kind="stable")[:OFTEN] if among[v]]
    where = f"most often with {', '.join(often)} among the parents"
    if isinstance(scoring.bound, Hurried):
        return (
            f"families that would take too long are left out, {where}; more time lets them in, or fewer levels or cuts"
        )
    return f"families whose trees are too many to go through are left out, {where}; fewer levels or cuts let them in"


def _weights(scoring: Scoring) -> list[str]:
    columns, weights = getattr(scoring.bound, "columns", None), scoring.data.weights
    if weights is None or columns is None or columns.data.weights.unit == weights.unit:
        return []
    unit = columns.data.weights.unit
    return [f"the weights of the rows are rounded to multiples of {unit:.3g} where trees are scored"]


def _levels(scoring: Scoring) -> list[str]:
    wide = _coarsened(scoring)
    if not wide:
        return []
    data, apart = scoring.data, getattr(scoring.bound, "columns").most_levels - 1  # noqa: B009
    names = [f"{data.names[v]!r} ({data.cardinalities[v]:,} levels)" for v in wide]
    if len(wide) == 1:
        return [
            f"as a parent, {names[0]} has its {apart} most frequent levels apart and all others together; "
            "as a child it is whole"
        ]
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return [
        f"as parents, {', '.join(names[:SHOWN])}{more} have their {apart} most frequent levels apart and all others "
        "together; as children they are whole"
    ]


def _coarsened(scoring: Scoring) -> tuple[int, ...]:
    """The variables that may be parents, but not with all their levels."""
    columns, parents = getattr(scoring.bound, "columns", None), set(np.flatnonzero(scoring.sets.allowed.any(axis=0)))
    return () if columns is None else tuple(v for v in columns.coarsened if v in parents and scoring.sets.largest > 0)


def restrictions_of(data: Dataset, method: LocalScore, max_parents: int, memory: int | str | None) -> tuple[str, ...]:
    """Those of the best network by a score with at most this many parents, where no time runs out."""
    return restrictions(Scoring.of(data, method, min(max_parents, max(0, data.n_variables - 1)), memory=memory))


def named(restrictions: tuple[str, ...]) -> str:
    """ "Best network with at most 2 parents per variable, but for 73 families left out"."""
    return " ".join(["Best network", ", ".join(restrictions)]).strip()
