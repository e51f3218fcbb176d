"""A network as inference sees it: every variable that is not given has finitely many states.

A categorical variable's states are its levels. A real variable meets its children only through thresholds, those of
their trees and bins (x < cut goes left): two values between the same neighbouring thresholds are the same to every
child. So an unobserved real variable is, for inference, the interval it lies in, and nothing is lost: the probability
of an interval given the parents' cell is a difference of two values of the leaf's distribution function, and given the
interval the value is independent of everything but the cell. A real variable that is given enters by its density. One
that may have no number has one state more, the last: none, which its children see as what is above infinity.

    P(states | evidence) is proportional to  prod_v  table_v(states of v and of its parents)

Tables are scaled by their largest entry, with the logarithm kept, so that densities neither overflow nor vanish.
Cost: one look-up per combination of states of a family; a table that would not fit is refused before it is made.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import LimitError, UnsupportedError
from optbn.base.numbers import texts_of
from optbn.base.registry import unknown
from optbn.data.dataset import Categorical
from optbn.data.policies import LEVEL
from optbn.network.cpds import CPD, BinnedTableCPD, TableCPD, TreeCPD
from optbn.network.leaves import CategoricalLeaves, MixedLeaves
from optbn.network.moments import EVERY, shares, support_of
from optbn.network.ranges import Range, number_of, range_of, states_in

if TYPE_CHECKING:
    from optbn.network.network import BayesianNetwork

MAX_ENTRIES = 1 << 27  # one gigabyte of float64 in one table

Value = str | float | tuple[float | None, float | None] | Range
Evidence = Mapping[str, Value]


@dataclass(frozen=True, eq=False)
class Factor:
    """A non-negative table over some variables, one axis each, times exp(log_scale)."""

    scope: tuple[str, ...]
    table: NDArray[np.float64]
    log_scale: float = 0.0


@dataclass(frozen=True)
class States:
    """The states of the variables of a network, and the tables over them, given values of some variables.

    given   a level's code for a categorical variable, the value of a real one
    within  the ranges that other variables are known to lie in
    """

    network: BayesianNetwork
    given: Mapping[str, int | float]
    within: Mapping[str, Range] = field(default_factory=dict)

    @classmethod
    def under(cls, network: BayesianNetwork, evidence: Evidence) -> States:
        """Check the evidence: variables that exist, levels that exist, finite numbers, ranges of either."""
        if not isinstance(evidence, Mapping):
            kind = type(evidence).__name__
            raise UnsupportedError(f"evidence is a dictionary such as {{'age': 40}}, not of type {kind}")
        given: dict[str, int | float] = {}
        within: dict[str, Range] = {}
        for name, value in evidence.items():
            domain = network.domain(name)
            if isinstance(domain, Categorical):
                if str(value) in domain.levels:
                    given[name] = domain.levels.index(str(value))
                elif found := range_of(value):
                    within[name] = found
                else:
                    raise unknown(f"level of {name!r} called", str(value), domain.levels)
                continue
            if domain.absent and (str(value) == LEVEL or value != value):
                given[name] = math.nan
            elif found := range_of(value, domain.unit):
                within[name] = found
            elif (number := number_of(value, domain.unit)) is not None:
                given[name] = number
            else:
                raise UnsupportedError(f"{name!r} is real: {value!r} is not a number it could have")
        return cls(network, given, within)

    @property
    def known(self) -> set[str]:
        """The variables that something is known of."""
        return {*self.given, *self.within}

    def ends(self, name: str) -> tuple[float, float]:
        """The interval that a real variable is known to lie in."""
        leaves = self.network.cpd(name).leaves
        return self.within[name].ends(support_of(leaves).whole) if name in self.within else EVERY

    @cached_property
    def _cuts(self) -> dict[str, NDArray[np.float64]]:
        """Per real variable the thresholds that its children have for it, ascending."""
        found: dict[str, set[float]] = {
            name: set()
            for name, domain in zip(self.network.names, self.network.domains, strict=True)
            if not isinstance(domain, Categorical)
        }
        for cpd in self.network.cpds:
            for parent, points in _thresholds(cpd):
                found[parent].update(points)
        return {name: np.array(sorted(points - {math.inf})) for name, points in found.items()}

    def may_be_absent(self, name: str) -> bool:
        """Whether a variable is real and may have no number."""
        domain = self.network.domain(name)
        return not isinstance(domain, Categorical) and domain.absent

    def cuts(self, name: str) -> NDArray[np.float64]:
        """The ends of a real variable's intervals: interval i is cuts[i - 1] <= x < cuts[i]."""
        return self._cuts[name]

    @cached_property
    def _sizes(self) -> dict[str, int]:
        return {
            name: len(domain.levels) if isinstance(domain, Categorical) else len(self._cuts[name]) + 1 + domain.absent
            for name, domain in zip(self.network.names, self.network.domains, strict=True)
        }

    def size(self, name: str) -> int:
        """How many states a variable has."""
        return self._sizes[name]

    def labels(self, name: str) -> tuple[str, ...]:
        """What the states are called: levels, or intervals such as "1.5 <= x < 2"."""
        domain = self.network.domain(name)
        if isinstance(domain, Categorical):
            return domain.levels
        cuts, none = self._cuts[name].tolist(), (LEVEL,) if domain.absent else ()
        ends = [domain.text(cut) for cut in cuts] if domain.unit else texts_of(cuts, 6)
        if not ends:
            return ("any number", *none) if none else ("any",)
        inner = (f"{a} <= x < {b}" for a, b in pairwise(ends))
        return (f"x < {ends[0]}", *inner, f"x >= {ends[-1]}", *none)

    def check_size(self, names: Sequence[str], what: str) -> None:
        """Refuse a table over these variables that would not fit."""
        entries = math.prod(self.size(name) for name in names)
        if entries > MAX_ENTRIES:
            raise LimitError(
                f"exact inference would need a table of {entries:.2g} entries {what} (the limit is {MAX_ENTRIES:.2g}); "
                "give more evidence, ask for fewer targets, or estimate from samples"
            )

    def free_parents(self, name: str) -> tuple[str, ...]:
        """The parents that are not given."""
        return tuple(p for p in self.network.cpd(name).parents if p not in self.given)

    def cells(self, name: str) -> tuple[tuple[str, ...], NDArray[np.int64]]:
        """The free parents, and which cell of the variable's distribution each of their combinations of
        states is: int64[combinations], the last parent fastest."""
        cpd = self.network.cpd(name)
        free = self.free_parents(name)
        self.check_size(free, f"for the distribution of {name!r}")
        sizes = [self.size(p) for p in free]
        n = math.prod(sizes)
        codes = dict(zip(free, (axis.ravel() for axis in np.indices(sizes)), strict=True)) if free else {}
        columns = []
        for parent, domain in zip(cpd.parents, cpd.parent_domains, strict=True):
            if parent in self.given:
                kind = np.int64 if isinstance(domain, Categorical) else np.float64
                columns.append(np.full(n, self.given[parent], dtype=kind))
            elif isinstance(domain, Categorical):
                columns.append(codes[parent])
            else:
                columns.append(self._inside(parent)[codes[parent]])
        return free, cpd.cells(columns, n)

    def _inside(self, name: str) -> NDArray[np.float64]:
        """A value in each interval of a real variable."""
        cuts = self._cuts[name]
        inside = np.concatenate([np.nextafter(cuts[:1], -np.inf), cuts]) if len(cuts) else np.zeros(1)
        return np.append(inside, np.nan) if self.may_be_absent(name) else inside

    def factor(self, name: str) -> Factor:
        """P(name | parents) over what is not given of them; scaled to a largest entry of one if the name itself is."""
        cpd = self.network.cpd(name)
        if isinstance(cpd, TableCPD):
            family = (*cpd.parents, name)
            table = cpd.probabilities[tuple(int(self.given[v]) if v in self.given else slice(None) for v in family)]
            table = table * self._inside_range(name) if name in self.within else table
            scope = tuple(v for v in family if v not in self.given)
            top = float(table.max()) if name in self.given else 0.0
            scale = top if top > 0.0 else 1.0
            return Factor(scope, np.asarray(table / scale), math.log(scale))
        free, cells = self.cells(name)
        sizes = [self.size(p) for p in free]
        leaves = self.network.cpd(name).leaves
        if name in self.given:
            with np.errstate(divide="ignore"):
                logs = leaves.log_density(cells, np.full(len(cells), self.given[name], dtype=_kind(leaves)))
            top = float(logs.max())
            if top == -np.inf:
                return Factor(free, np.zeros(sizes))
            return Factor(free, np.exp(logs - top).reshape(sizes), top)
        self.check_size((*free, name), f"for the distribution of {name!r}")
        rows = self._levels(name, leaves) if isinstance(leaves, CategoricalLeaves) else self.intervals(name)
        return Factor((*free, name), rows[cells].reshape(*sizes, -1))

    def intervals(self, name: str) -> NDArray[np.float64]:
        """float64[cells, states]: the probability of each state of a real variable in each of its cells."""
        leaves = self.network.cpd(name).leaves
        numbers = shares(leaves, self._cuts[name], self.ends(name))
        if not isinstance(leaves, MixedLeaves):
            return numbers
        absent = np.zeros(leaves.cells) if name in self.within else leaves.absent
        return np.column_stack([(1.0 - leaves.absent)[:, None] * numbers, absent])

    def _inside_range(self, name: str) -> NDArray[np.float64]:
        """1 for the levels in the range that is given, 0 for the others."""
        return np.array(states_in(name, self.network.domain(name), self.within[name]), dtype=np.float64)

    def _levels(self, name: str, leaves: CategoricalLeaves) -> NDArray[np.float64]:
        return leaves.probabilities * self._inside_range(name) if name in self.within else leaves.probabilities


def _kind(leaves: object) -> type[np.generic]:
    return np.int64 if isinstance(leaves, CategoricalLeaves) else np.float64


def _thresholds(cpd: CPD) -> list[tuple[str, list[float]]]:
    """(real parent, its thresholds in this distribution)."""
    real = [i for i, domain in enumerate(cpd.parent_domains) if not isinstance(domain, Categorical)]
    if isinstance(cpd, BinnedTableCPD):
        return [(cpd.parents[i], cpd.cuts[i].tolist()) for i in real]
    if isinstance(cpd, TreeCPD):
        return [(cpd.parents[i], cpd.tree.threshold[cpd.tree.parent == i].tolist()) for i in real]
    return []
