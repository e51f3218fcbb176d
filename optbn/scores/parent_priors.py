"""Priors over parent sets: what every score may add to a family, log pi_v(P).

    uniform     0
    size        -log binom(n-1, |P|): every number of parents alike (pcartp and ftp are pcart and ft with it)
    arcs        -|P| log(n-1): every parent costs as much
    arcs=E      |P| log p + (n-1-|P|) log(1-p), p = E / (n (n-1)): each arc by itself, E of them expected
    beliefs     sum over u of log b_uv if u is a parent of v, else log(1 - b_uv): a probability per arc. A mapping
                {("A", "B"): 0.9, "*": 0.1}, or a file of lines "A -> B: 0.9" and, for all arcs not named, "*: 0.1"
                (without it .5)

Pruning under a prior: a score may discard a family that is not above its subsets in its own terms, which is right for
the sum with the prior where the prior of no subset is smaller: floor - log pi(P) is then at least the subsets' own
scores, and a family that is not above it is not above its floor. Elsewhere the score is given no floor.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import DataError, UnsupportedError
from optbn.base.registry import unknown
from optbn.data.dataset import Dataset
from optbn.scores.left_out import too_dear
from optbn.scores.protocol import BoundScore, LocalScore

Floats = NDArray[np.float64]
Beliefs = Mapping[Any, float]
"""A probability by (parent, child), or by "*" for the arcs that are not named."""


@dataclass(frozen=True)
class WithPrior:
    """A score whose families get the log of a prior added; a LocalScore."""

    score: LocalScore
    prior: str | Beliefs

    @property
    def paper(self) -> str:
        return getattr(self.score, "paper", "")

    def bind(self, data: Dataset) -> BoundWithPrior:
        return BoundWithPrior(self.score.bind(data), bound_prior(self.prior, data.names))


@dataclass(frozen=True, eq=False)
class BoundPrior:
    """log pi_v(P) = by_size[|P|] + constant[v] + sum over the members u of weight[u, v]."""

    by_size: Floats
    constant: Floats
    weight: Floats

    def log(self, sets: NDArray[np.int32]) -> Floats:
        """float64[m, n]: of every response with every set."""
        members: Floats = self.weight[sets].sum(axis=1)
        return members + (self.by_size[sets.shape[1]] + self.constant)

    def highest(self, sets: NDArray[np.int32]) -> Floats:
        """float64[m, n]: at least the prior of a set and of any above it."""
        more = np.maximum(self.weight, 0.0)
        most = self.by_size[sets.shape[1] :].max() + self.constant
        members: Floats = np.minimum(self.weight, 0.0)[sets].sum(axis=1)
        return members + more.sum(axis=0) + most

    def falls(self, sets: NDArray[np.int32]) -> NDArray[np.bool_]:
        """bool[m, n]: where no proper subset has a smaller prior."""
        k = sets.shape[1]
        by_size = bool((self.by_size[:k] >= self.by_size[k]).all())
        return np.asarray((self.weight[sets] <= 0).all(axis=1) & by_size)

    def falls_above(self, sets: NDArray[np.int32]) -> NDArray[np.bool_]:
        """bool[m, n]: where no larger set has a greater prior than without a member of this one."""
        by_size = bool((np.diff(self.by_size) <= 0).all())
        return np.asarray((self.weight[sets] <= 0).all(axis=1) & by_size)


@dataclass(frozen=True, eq=False)
class BoundWithPrior:
    """See WithPrior."""

    bound: BoundScore
    prior: BoundPrior

    def block(self, sets: NDArray[np.int32], wanted: NDArray[np.bool_], floor: Floats | None = None) -> Floats:
        """See optbn.scores.protocol.BoundScore."""
        log = self.prior.log(sets)
        if floor is not None:
            floor = np.where(self.prior.falls(sets), floor - log, -np.inf)
        return self.bound.block(sets, wanted, floor) + log

    @property
    def ends(self) -> bool:
        """Whether the score can end an enumeration."""
        return getattr(self.bound, "ends", False)

    def bounded_block(
        self, sets: NDArray[np.int32], wanted: NDArray[np.bool_], floor: Floats | None = None
    ) -> tuple[Floats, Floats]:
        """See optbn.scores.protocol. What the score discards below a floor, with everything above, is still discarded
        by the highest prior up there; and dropping a member does not lower the prior, if it falls all the way up."""
        highest = self.prior.highest(sets)
        if floor is not None:
            floor = np.where(self.prior.falls_above(sets), floor - highest, -np.inf)
        scores, ceilings = self.bound.bounded_block(sets, wanted, floor)  # type: ignore[attr-defined]
        return scores + self.prior.log(sets), ceilings + highest

    def fitted(self, child: int, parents: tuple[int, ...]) -> Any:
        """The local structure, with the score of the sum where it knows its score."""
        found = self.bound.fitted(child, parents)
        if not hasattr(found, "score"):
            return found
        log = self.prior.log(np.array([parents], np.int32).reshape(1, -1))[0, child]
        return replace(found, score=found.score + float(log))

    def alone(self, child: int) -> Any:
        """See optbn.scores.protocol."""
        found = self.bound.alone(child)  # type: ignore[attr-defined]
        return replace(found, score=found.score + float(self.prior.log(np.empty((1, 0), np.int32))[0, child]))

    def limit_memory(self, size: int) -> None:
        """See optbn.scores.protocol."""
        if hasattr(self.bound, "limit_memory"):
            self.bound.limit_memory(size)

    def too_dear(self, sets: NDArray[np.int32]) -> NDArray[np.bool_]:
        """See optbn.scores.protocol."""
        return too_dear(self.bound, sets)

    def bytes(self, sets: NDArray[np.int32]) -> int:
        """See optbn.scores.protocol."""
        return int(self.bound.bytes(sets)) if hasattr(self.bound, "bytes") else 0

    @property
    def preparation(self) -> float:
        """See optbn.scores.protocol."""
        return float(getattr(self.bound, "preparation", 0.0))

    @property
    def columns(self) -> Any:
        """The data as predictors, where the score has such."""
        return getattr(self.bound, "columns", None)

    def seconds(self, sets: NDArray[np.int32]) -> Floats:
        """See optbn.scores.protocol."""
        return self.bound.seconds(sets) if hasattr(self.bound, "seconds") else np.zeros(len(sets))


def bound_prior(prior: str | Beliefs, names: tuple[str, ...]) -> BoundPrior:
    """A prior over the parent sets of these variables."""
    n = len(names)
    flat, none = np.zeros(n), np.zeros((n, n))
    if isinstance(prior, Mapping):
        return _of_beliefs(prior, names)
    if prior == "uniform":
        return BoundPrior(flat, flat, none)
    if prior == "size":
        return BoundPrior(np.array([-math.log(math.comb(n - 1, k)) for k in range(n)]), flat, none)
    if prior == "arcs":
        return BoundPrior(np.array([-k * math.log(max(n - 1, 1)) for k in range(n)]), flat, none)
    if prior.startswith("arcs="):
        p = _expected(prior) / max(1, n * (n - 1))
        if p >= 1:
            raise UnsupportedError(f"prior is {prior!r}, but {n} variables have {n * (n - 1)} pairs: expect fewer arcs")
        by_size = [k * math.log(p) + (n - 1 - k) * math.log1p(-p) for k in range(n)]
        return BoundPrior(np.array(by_size), flat, none)
    return _of_beliefs(read_beliefs(prior), names)


def check_prior(prior: object) -> None:
    """Refuse a prior that does not exist, before there are data."""
    if isinstance(prior, Mapping):
        for arc, belief in prior.items():
            _check_belief(arc, belief)
        _check_pairs(prior)
    elif not isinstance(prior, str):
        raise UnsupportedError(f"prior is {prior!r}, expected {_FORMS}")
    elif prior.startswith("arcs="):
        _expected(prior)
    elif prior not in ("uniform", "size", "arcs") and not Path(prior).is_file():
        raise UnsupportedError(f"prior is {prior!r}, and there is no such file; expected {_FORMS}")


_FORMS = "uniform, size, arcs, arcs=E with the number of arcs expected, or a file of lines 'A -> B: 0.9'"


def read_beliefs(path: str) -> dict[Any, float]:
    """The beliefs in a file."""
    found: dict[Any, float] = {}
    for number, line in enumerate(Path(path).read_text(encoding="utf-8-sig").splitlines(), 1):
        text = line.partition("#")[0].strip()
        if not text:
            continue
        arc, colon, value = text.rpartition(":")
        ends = tuple(name.strip() for name in arc.split("->"))
        key = "*" if arc.strip() == "*" else ends
        try:
            belief = float(value)
        except ValueError:
            belief = math.nan
        if not colon or math.isnan(belief) or (key != "*" and len(ends) != 2):
            raise DataError(f"{path}, line {number}: expected 'A -> B: 0.9' or '*: 0.1', found {line.strip()!r}")
        if key in found:
            raise DataError(f"{path}, line {number}: {arc.strip()!r} is listed twice")
        _check_belief(key, belief)
        found[key] = belief
    _check_pairs(found)
    return found


def _of_beliefs(beliefs: Beliefs, names: tuple[str, ...]) -> BoundPrior:
    n = len(names)
    probability = np.full((n, n), float(beliefs.get("*", 0.5)))
    for arc, belief in beliefs.items():
        if arc == "*":
            continue
        for name in arc:
            if name not in names:
                raise unknown("variable", name, names)
        probability[names.index(arc[0]), names.index(arc[1])] = belief
    np.fill_diagonal(probability, 0.5)
    absent = np.log1p(-probability)
    np.fill_diagonal(absent, 0.0)
    return BoundPrior(np.zeros(n), absent.sum(axis=0), np.log(probability) - np.log1p(-probability))


def _check_belief(arc: Any, belief: Any) -> None:
    named = "*" if arc == "*" else " -> ".join(map(str, arc)) if isinstance(arc, tuple) and len(arc) == 2 else None
    if named is None or (arc != "*" and arc[0] == arc[1]):
        raise UnsupportedError(
            f"a belief is about {arc!r}, expected a pair of different variables, or '*' for the others"
        )
    if isinstance(belief, bool) or not isinstance(belief, int | float) or not 0 < belief < 1:
        raise UnsupportedError(
            f"the belief in {named} is {belief!r}, expected a number between 0 and 1; to forbid or require an arc "
            "there are constraints"
        )


def _expected(prior: str) -> float:
    try:
        expected = float(prior.removeprefix("arcs="))
    except ValueError:
        expected = math.nan
    if not 0 < expected < math.inf:
        raise UnsupportedError(f"prior is {prior!r}, expected a number of arcs above 0, like arcs=20")
    return expected


def _check_pairs(beliefs: Beliefs) -> None:
    """No graph has an arc both ways, so beliefs in the two add up to at most 1."""
    for arc, belief in beliefs.items():
        both = belief + beliefs.get(arc[::-1], 0.0) if arc != "*" else 0.0
        if both > 1.0:
            u, v = arc
            raise UnsupportedError(
                f"the beliefs in {u} -> {v} and {v} -> {u} contradict each other: they add up to {both:g}, and no "
                "graph has both; lower one of them"
            )
