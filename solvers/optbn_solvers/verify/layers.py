"""Is there an acyclic graph above a bound? The checker's own search, for up to 62 variables.

A state is a set U of placed variables with f(U), the best score of an acyclic graph on U; a step places one variable
more with its best family inside U. A state whose f(U) and a bound on the rest do not exceed the target leads to nothing
better and is dropped. The variables are cut into groups; the recursion over subsets says for each group what placing
the rest of it brings at most when parents outside the group are free (optbn_solvers.verify.subsets).

Rows that come with a claim help, whoever made them: with multipliers y_C >= 0 of clusters, a family that is disjoint
from C counts y_C more in that bound, and where none of C is placed yet, y_C goes off, as the member of C that will come
first takes such a family. Only clusters across groups are needed: what is inside a group its recursion knows.

Few variables, or some more in a dense table, are one group, and g(all) is the optimum. The work is counted and may be
limited.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from optbn_solvers.base.clock import compiling
from optbn_solvers.base.errors import OutOfTime, TooMuch
from optbn_solvers.base.memory import half_of_memory
from optbn_solvers.verify.families import FITS, Families, Ints, worth_of_arcs
from optbn_solvers.verify.kernels import layers
from optbn_solvers.verify.subsets import LARGEST, order_of, rests

ONE = 14  # variables that are one group
SCANNED = 300  # where the search would look at many families for each set, more variables are one group
SLICE = 1 << 24  # families looked at between looks at the clock, if each state looks at all: hundredths of a second
STEPS = 1e9  # of the checker's own searches in a second, at best
MANY = 60 * STEPS
AT_ONCE = 4  # additions of the recursion over subsets in the time of a step
FIRST = 4  # entries of a new hash table per state of the layer
BYTES = 24  # of an entry


def _spent() -> float:
    """The CPU seconds of this thread, without what compiling took."""
    return time.thread_time() - compiling.seconds


@dataclass
class Work:
    """What searches may do in all, in steps (STEPS a second), and what they did; bytes is the most memory.

    Some steps take three times as long as others, so the clock of the thread ends a search as well, half a time late;
    what a first run compiles does not count.
    """

    most: float
    bytes: int
    out_of_time: Callable[[], bool] = lambda: False
    done: float = 0.0
    begun: float = field(default_factory=_spent)

    def count(self, steps: float) -> None:
        """A search is about to do this many steps more."""
        self.done += steps
        if self.done > self.most or (_spent() - self.begun) * STEPS > 1.5 * self.most:
            raise TooMuch
        if self.out_of_time():
            raise OutOfTime


@dataclass(frozen=True)
class Best:
    """The units of the best graph and (variable, its family) in an order; the target and nothing if none has more."""

    units: int
    order: list[tuple[int, int]]


def best_above(families: Families, target: int, work: Work, clusters: Sequence[tuple[int, int]] = ()) -> Best:
    """The best graph with more than `target` units, if there is one; TooMuch before that is known.

    clusters   (members as bits, multiplier) that may help
    """
    n = families.n
    if n <= ONE or (n <= LARGEST and n << n <= SCANNED * len(families.child)):
        work.count(n * n * 2.0**n / AT_ONCE)
        g = rests(families, range(n))
        optimum = int(g[-1])
        return Best(optimum, order_of(families, g)) if optimum > target else Best(target, [])
    return _Layers(families, target, work, clusters).best()


def most_units(listed: Sequence[Sequence[tuple[int, int]]], target: int, steps: float = MANY) -> int | None:
    """The units of the best choice of (parents as bits, units) per variable, or the target if none has more.

    None where that would be too much work.
    """
    families = Families.of(listed)
    try:
        return None if families is None else best_above(families, target, Work(steps, half_of_memory())).units
    except TooMuch:
        return None


class _Layers:
    """The search for more variables than one group has."""

    def __init__(self, families: Families, target: int, work: Work, clusters: Sequence[tuple[int, int]]) -> None:
        self.families, self.target, self.work, self.n = families, target, work, families.n
        self.bytes = work.bytes
        count = -(-self.n // ONE)
        self.group = _groups(families, count)
        self.place = np.array([int((self.group[:v] == self.group[v]).sum()) for v in range(self.n)], dtype=np.int64)
        sides = [sum(1 << int(v) for v in np.flatnonzero(self.group == k)) for k in range(count)]
        across = [(c, y) for c, y in clusters if y > 0 and not any(c & ~side == 0 for side in sides)]
        if sum(y for _, y in across) > FITS // self.n:
            across = []
        self.clusters = np.array([c for c, _ in across], dtype=np.int64)
        self.weights = np.array([y for _, y in across], dtype=np.int64)
        adjusted = families.units.copy()
        for c, y in across:
            adjusted[(c >> families.child & 1 == 1) & (families.masks & c == 0)] += y
        raised, _ = families.kept(np.ones(len(adjusted), dtype=np.bool_), adjusted)
        self.rest = np.zeros((count, 1 << int(np.bincount(self.group).max())), dtype=np.int64)
        for k in range(count):
            members = np.flatnonzero(self.group == k).tolist()
            work.count(len(members) ** 2 * 2.0 ** len(members) / AT_ONCE + len(families.child))
            self.rest[k, : 1 << len(members)] = rests(raised, members)

    def best(self) -> Best:
        sets, values = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
        kept: list[tuple[Ints, Ints]] = []  # (sets, the family that was placed last) of each layer
        for _ in range(self.n):
            sets, values, how = self.next_layer(sets, values)
            if not len(sets):
                return Best(self.target, [])
            kept.append((sets, how))
        return Best(int(values[0]), self.order(kept))

    def next_layer(self, sets: Ints, values: Ints) -> tuple[Ints, Ints, Ints]:
        """The states with one variable more that can still lead above the target."""
        families, work = self.families, self.work
        order = np.argsort(sets)  # states next to each other have successors that are
        sets, values = sets[order], values[order]
        tables = _tables(1 << (FIRST * len(sets) + 2 * self.n).bit_length())
        used = np.zeros(2, dtype=np.int64)
        known = families.offsets, families.masks, families.units, families.before, families.adjacent
        groups, clusters = (self.group, self.place, self.rest), (self.clusters, self.weights)
        many = max(1, SLICE // len(families.child))
        at = end = 0
        while at < len(sets):
            if at < end:  # it is full
                larger = _tables(2 * len(tables[0]))
                layers.copy(*tables, *larger, used)
                tables = larger
            end = min(len(sets), at + many)
            if BYTES * len(tables[0]) > self.bytes:
                raise TooMuch
            at = layers.expand(at, end, sets, values, self.target, known, groups, clusters, tables, used)
            work.count(int(used[1]))
            used[1] = 0
        full = tables[0] != layers.EMPTY
        found, values, how = (table[full] for table in tables)
        self.bytes -= 2 * found.nbytes  # kept for the way back
        return found, values, how

    def order(self, kept: Sequence[tuple[Ints, Ints]]) -> list[tuple[int, int]]:
        """Back through the layers."""
        state, found = (1 << self.n) - 1, []
        for sets, how in reversed(kept):
            row = int(how[np.flatnonzero(sets == state)[0]])
            v = int(self.families.child[row])
            found.append((v, row))
            state &= ~(1 << v)
        return found[::-1]


def _tables(size: int) -> tuple[Ints, Ints, Ints]:
    """An empty hash table."""
    return np.full(size, layers.EMPTY, dtype=np.int64), np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)


def _groups(families: Families, count: int) -> Ints:
    """The group of each variable: in turn, then swaps, as long as they bring together what depends on each other.

    Two variables do where each loses by giving up the other as a parent: then an order of them costs something.
    """
    n, loss = families.n, worth_of_arcs(families)
    weight = np.minimum(loss, loss.T)
    group = np.arange(n) * count // n
    improved = True
    while improved:
        improved = False
        near = np.stack([weight[:, group == k].sum(axis=1) for k in range(count)], axis=1)  # [v, group]
        own = near[np.arange(n), group]
        # of swapping u and v: what each gains where the other was, less the pair's own weight, which stays apart
        gain = near[:, group] - own[:, None]
        gain = gain + gain.T - 2 * weight
        gain[group[:, None] == group[None, :]] = -np.inf
        u, v = np.unravel_index(int(np.argmax(gain)), gain.shape)
        if gain[u, v] > 1e-6 * (1 + weight.sum()):
            group[u], group[v] = group[v], group[u]
            improved = True
    return group.astype(np.int64)
