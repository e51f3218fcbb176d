"""Scores of categorical data that are sums over the cells of contingency tables.

All of BDeu, BDs, K2, BIC, AIC, fNML and qNML have the form, for a child of r levels whose parents P have q
configurations (declared levels, observed or not),

    score(v, P) = sum over cells of P + v: joint(count) - sum over cells of P: parent(count) - penalty(q, r)

with terms that vanish at count 0. So one table per *set* of variables serves every member as the child: a block asks
for the distinct sets P + v, each is counted and summed once, and its sum goes to all its families of the block. A
score is then a few lines: its three functions.

Before anything is counted, families that provably are not above their floor are left out: that is the sound pruning
of large problems, and costs some nanoseconds per family where counting costs hundreds.

(1) Where a parameter has a price (BIC, AIC), score(v, P) <= - penalty, because likelihoods are at most 1.
(2) There a member u of P brings N I(v; u | P - u), and

        I(v; u | P - u) <= min( H(v | P - u), H(u | P - u) ) <= min over t in P - u of min( H(v | t), H(u | t) ),

    since conditions take entropy away. If that is not more than the parameters it adds cost, then P - u is as good as P
    (de Campos, Scanagatta, Corani, Zaffalon 2018). Entropies of pairs are all that it takes.
(3) Where the first row of a configuration of P has probability 1/r whatever its value (BDeu, BDs, K2; with fNML that is
    the most it can have), score(v, P) <= - log(r) times the configurations that occur.

What these discard is discarded with everything above it, because larger sets have more parameters, less entropy and
more configurations. So they also end the enumeration of all sets (growing.py), together with two ceilings on whatever
is above a set that has been counted: (1) with the fewest parameters that one more member brings, and

(4) Where a level's first row in a configuration has probability at most 1/r whatever came before it (BDeu, BDs, K2:
    (a/q) / (r a/q + t) <= 1/r for every t), score(v, Q) <= - log(r) times the cells of Q + v that occur, which are at
    least those of P + v. BDeu has a tighter bound on them, see descent.py.

Cost per distinct set: about a pass over the rows in which all members but one are away from their commonest level,
plus its cells; see kernels/counts.py for how tables of smaller sets pay for the rest.
"""

from __future__ import annotations

import math
import threading
from abc import ABC, abstractmethod
from collections import Counter
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import UnsupportedError
from optbn.data.dataset import Dataset
from optbn.scores.count_table import CountTable, categorical_levels, count_table
from optbn.scores.descent import Urns
from optbn.scores.kernels import counts as kernels
from optbn.scores.kernels.bounds import ROUNDING, worth_counting
from optbn.scores.kernels.sets import binomials, join, sets_between
from optbn.scores.protocol import BoundScore, Floats
from optbn.scores.terms import Term, TermBook, n_log_n

DENSE_CELLS = 1 << 14  # tables with more cells are laid out only if rows are as many
DENSE_CELLS_PER_ROW = 16  # and if weights make them more, not for ever


class CountTerms(ABC):
    """What a score of this family says; q and cells = q r are floats because products of levels have no limit.

    observed  whether q stands for the configurations of P that occur in the data instead of the declared ones
    uniform   whether the first row of every configuration has probability at most 1/r
    whole     whether counts must be whole numbers
    urn       whether every level's first row in a configuration has, whatever came before it
    """

    observed: ClassVar[bool] = False
    uniform: ClassVar[bool] = True
    whole: ClassVar[bool] = False
    urn: ClassVar[bool] = False

    def bind(self, data: Dataset) -> BoundScore:
        return CountScore(self, data)

    @abstractmethod
    def joint(self, cells: float) -> Term:
        """What a cell of parents and child with n rows adds, one of q r = `cells`."""

    @abstractmethod
    def parent(self, configurations: float, levels: int) -> Term:
        """What a configuration of the parents with n rows takes away."""

    def prior_rows(self) -> float | None:
        """The rows of prior in a table, where they are spread evenly over its declared cells: see descent.py."""
        return None

    def penalty(self, configurations: float, levels: int, rows: float) -> float:
        return 0.0

    def price(self, rows: float) -> float:
        """What a parameter costs, where that is all there is beside the likelihood: penalty = price q (r - 1); or 0."""
        return 0.0


class CountScore:
    """A score of the family above tied to its data; a BoundScore."""

    def __init__(self, terms: CountTerms, data: Dataset) -> None:
        self._terms = terms
        self._data = data
        self._levels = np.array(categorical_levels(type(terms).__name__, data), dtype=np.int64)
        if terms.whole and data.weights is not None and not data.weights.whole:
            raise UnsupportedError(
                f"{type(terms).__name__} counts whole rows, and the weights of the rows are not whole: round them, or "
                "use another score (bdeu, bic)"
            )
        self._n, self._rows = data.n_variables, data.total_weight
        self._units, self._unit = np.empty(0, dtype=np.int32), 1.0
        if data.weights is not None:
            self._units, self._unit = data.weights.units, data.weights.unit
        self._codes = np.empty((self._n, data.n_rows), dtype=np.uint16)
        for v, column in enumerate(data.columns):
            self._codes[v] = _commonest_first(column, int(self._levels[v]), self._units)
        self._rare, self._rare_starts = kernels.rare_rows(self._codes)
        units = data.n_rows if data.weights is None else data.weights.total_units
        # By units, not rows: a row of weight 2 and two rows are to be summed in the same order.
        self._dense_cells = max(DENSE_CELLS, min(units, DENSE_CELLS_PER_ROW * data.n_rows))
        self._book = TermBook(units, self._unit, tabulating=not terms.observed)
        self._uniform = terms.uniform and (data.weights is None or data.weights.at_least_one)
        self._urn = terms.urn and self._uniform
        self._distinct_levels, self._level_class = np.unique(self._levels, return_inverse=True)
        self._lower_bytes = 512 << 20
        self._lower: dict[int, tuple[NDArray[np.int32], NDArray[np.int64]]] = {}
        self._served: Counter[int] = Counter()
        self._lock = threading.Lock()
        self._entropy: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None
        self._entropy_lock = threading.Lock()

    def limit_memory(self, size: int) -> None:
        """Keep tables of smaller sets only up to that many bytes."""
        self._lower_bytes = size // 4

    def block(self, sets: NDArray[np.int32], wanted: NDArray[np.bool_], floor: Floats | None = None) -> Floats:
        """See BoundScore."""
        return self.bounded_block(sets, wanted, floor)[0]

    @property
    def ends(self) -> bool:
        """Whether ceilings are finite."""
        return self._urn or self._terms.price(self._rows) > 0

    @property
    def urns(self) -> Urns | None:
        """What descent.py needs, if this score is about urns."""
        prior = self._terms.prior_rows()
        if prior is None or not self._urn:
            return None
        rows, of = np.unique(self._codes.T, axis=0, return_inverse=True)
        units = self._units if len(self._units) else None
        weight = np.floor(np.bincount(of.ravel(), units) * self._unit + ROUNDING).astype(np.int64)
        return Urns(np.ascontiguousarray(rows.T), weight, self._levels, prior)

    def bounded_block(
        self, sets: NDArray[np.int32], wanted: NDArray[np.bool_], floor: Floats | None = None
    ) -> tuple[Floats, Floats]:
        """See optbn.scores.protocol."""
        sets = np.ascontiguousarray(sets, dtype=np.int32)
        price = self._terms.price(self._rows)
        if floor is not None and sets.shape[1] and price:
            alone, given = self._entropies()
            wanted = worth_counting(sets, wanted, np.ascontiguousarray(floor), self._levels, price, alone, given)
        ceilings = np.full(wanted.shape, np.inf)
        if price:
            least = self._cells(sets) * max(2.0, self._levels.min())  # configurations, with a member that has some
            ceilings = -price * least[:, None] * (self._levels - 1.0)
        used = np.flatnonzero(wanted.any(axis=1))
        scores = np.full(wanted.shape, -np.inf)
        if len(used):
            below = None if floor is None else floor[used]
            scores[used], cells = self._scores(sets[used], wanted[used], below)
            if self._urn:
                ceilings[used] = -np.log(self._levels) * cells
        ceilings[:, self._levels == 1] = -np.inf  # nothing to explain: all sets score 0, but for rounding
        return scores, ceilings

    def _scores(
        self, sets: NDArray[np.int32], wanted: NDArray[np.bool_], floor: NDArray[np.float64] | None
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """`block`, where every set is wanted for someone, and how many cells of set and child occur (or 0)."""
        terms = self._terms
        # q per set, then the parents' sums, one column per kind of child that needs its own term
        own_q = self._cells(sets)
        if terms.observed:
            _, occurring = self._sums(sets, np.full((len(sets), 1), -1, dtype=np.int32))
            own_q = occurring.astype(np.float64)
        q_values, q_of = np.unique(own_q, return_inverse=True)
        r_values = [int(r) for r in self._distinct_levels]
        rows_of = np.array(
            [[self._book.row(terms.parent(q, r)) for r in r_values] for q in q_values.tolist()], dtype=np.int32
        ).reshape(len(q_values), len(r_values))
        columns, own_of = np.unique(rows_of, axis=1, return_inverse=True)
        own, occurring = self._sums(sets, columns[q_of])
        if floor is not None and self._uniform:
            most = -occurring[:, None] * np.log(self._levels)
            wanted = wanted & ((most > floor) | (floor == -np.inf))
        joined, where = join(sets, wanted)
        penalty = np.array([[terms.penalty(q, r, self._rows) for r in r_values] for q in q_values.tolist()])
        # the joined sets' sums
        if terms.observed:
            i, v = np.nonzero(where >= 0)
            slots = (sets[i] < v[:, None]).sum(axis=1)
            rows = np.full((len(joined), sets.shape[1] + 1), -1, dtype=np.int32)
            rows[where[i, v], slots] = self._joint_rows(own_q[i] * self._levels[v])
        else:
            rows = self._joint_rows(self._cells(joined))[:, None]
        joint, filled = self._sums(joined, rows)
        scores: NDArray[np.float64] = kernels.assemble(
            sets,
            where,
            joint,
            own,
            own_of.ravel().astype(np.int64),
            penalty.reshape(len(q_values), len(r_values)),
            q_of,
            self._level_class,
        )
        return scores, np.append(filled, 0)[where]

    def fitted(self, child: int, parents: tuple[int, ...]) -> CountTable:
        """The counts behind one score."""
        return count_table(self._data, child, parents)

    def _entropies(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(N H(v) by v, N H(v | t) by t and v)."""
        with self._entropy_lock:
            if self._entropy is None:
                singles = np.arange(self._n, dtype=np.int32)[:, None]
                pairs = sets_between(self._n, 2, 0, self._n * (self._n - 1) // 2, binomials(self._n, 2))
                row = self._book.row(n_log_n())
                one, two = (self._sums(s, np.full((len(s), 1), row, np.int32))[0][:, 0] for s in (singles, pairs))
                given = np.zeros((self._n, self._n))
                given[pairs[:, 0], pairs[:, 1]] = given[pairs[:, 1], pairs[:, 0]] = two
                self._entropy = self._rows * math.log(self._rows) - one, np.maximum(one[:, None] - given, 0.0)
            return self._entropy

    def _joint_rows(self, cells: NDArray[np.float64]) -> NDArray[np.int32]:
        """The rows of the term book for tables of that many cells."""
        values, of = np.unique(cells, return_inverse=True)
        rows = [self._book.row(self._terms.joint(value)) for value in values.tolist()]
        return np.array(rows, dtype=np.int32)[of]

    def _cells(self, sets: NDArray[np.int32]) -> NDArray[np.float64]:
        """float64[m]: the product of the members' levels, multiplied in ascending order."""
        cells = np.ones(len(sets))
        for j in range(sets.shape[1]):
            cells *= self._levels[sets[:, j]]
        return cells

    def _sums(self, sets: NDArray[np.int32], rows: NDArray[np.int32]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        k = sets.shape[1]
        below, terms = (*self._tables(k - 1, len(sets)), binomials(self._n, k)), (*self._book.arrays(), self._unit)
        found: tuple[NDArray[np.float64], NDArray[np.int64]] = kernels.cell_sums(
            sets, self._columns, below, self._dense_cells, np.ascontiguousarray(rows), terms
        )
        return found

    @property
    def _columns(self) -> tuple[NDArray[Any], ...]:
        """See `cell_sums`."""
        return self._codes, self._levels, self._rare, self._rare_starts, self._units

    def _tables(self, k: int, n_sets: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The tables of all k-sets and where each starts, for counting `asked` sets of k + 1; empty when they would not
        fit, or not pay yet: they are made once a sixteenth of their number has been asked for without them.
        """
        none = np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int64)
        if k < 1:
            return none
        with self._lock:
            if k not in self._lower:
                choose = binomials(self._n, k)
                self._served[k] += n_sets
                if choose[self._n, k] < 0 or self._served[k] < choose[self._n, k] / 16:
                    return none
                if 4 * _symmetric(self._levels, k) + 12 * choose[self._n, k] > self._lower_bytes:
                    self._lower[k] = none
                    return none
                self._lower[k] = self._build(k, choose)
            return self._lower[k]

    def _build(self, k: int, choose: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        sets = sets_between(self._n, k, 0, int(choose[self._n, k]), choose)
        starts = np.concatenate([[0], np.cumsum(self._cells(sets))]).astype(np.int64)
        lower = self._lower.get(k - 1, (np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int64)))
        tables = kernels.all_tables(sets, self._columns, (*lower, choose), starts)
        return tables, starts


def _commonest_first(column: NDArray[Any], levels: int, units: NDArray[np.int32]) -> NDArray[np.uint16]:
    """Codes with 0 and the commonest level's code exchanged."""
    common = int(np.argmax(np.bincount(column, units if len(units) else None, minlength=max(levels, 1))))
    new = np.arange(max(levels, 1), dtype=np.uint16)
    new[common], new[0] = 0, common
    exchanged: NDArray[np.uint16] = new[column]
    return exchanged


def _symmetric(levels: NDArray[np.int64], k: int) -> float:
    """The elementary symmetric polynomial: the cells of all k-sets' tables together."""
    e = np.zeros(k + 1)
    e[0] = 1.0
    for size in levels:
        e[1:] += size * e[:-1]
    return float(e[k])
