"""Related data sets whose graphs differ in some arcs, each difference at a price: one joint problem, solved exactly.

Over graphs G_1, .., G_D of the domains and a common one G_0

    maximise   sum over d of score_d(G_d)  -  price * sum over d of |arcs that one of G_d and G_0 has|

where all their arcs together have no cycle, so no arc is turned round from one domain to another, and no variable has
more than `max_parents` parents in all of them together. For a variable v whose parents in any of the graphs are U the
best P_0, .., P_D within U are found by themselves:

    f(v | U) = max over P_0 in U of  sum over d of  max over P_d in U of  score_d(v | P_d) - price * |P_d - P_0|

(a symmetric difference), and the sum over v of f(v | U_v) over acyclic U is the problem that every solver of one graph
solves, with its proof. A price of 0 gives each domain the best graph in a common order; a high one a single graph, that
of `learn_domains`. Every family that some domain has is fitted to all domains, so that it borrows strength from all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import DataError, UnsupportedError
from optbn.data.anything import DataLike, as_dataset
from optbn.data.dataset import Categorical, Dataset
from optbn.learning.solving import solve
from optbn.network.network import BayesianNetwork
from optbn.network.structure import Structure
from optbn.scores import load_score
from optbn.scores.protocol import LocalScore
from optbn.smoothing.domains import fit_domains
from optbn.smoothing.protocol import Smoother
from optbn_solvers import ScoreTable
from optbn_solvers.base.kernels.masks import pack_sets

if TYPE_CHECKING:
    from optbn_solvers import Constraints, Solution

Parents = dict[str, tuple[str, ...]]


@dataclass(frozen=True, eq=False)
class DifferingNetworks:
    """common     the graph that differences are counted from
    structures  the graph of each domain, by its level
    networks    the same with parameters
    differences by domain and arc: True where it has an arc that the common graph has not, False where it lacks one
    price       of each of them
    solution    of the joint problem: score less prices, bound, proof; `table` is what it is a solution of
    """

    common: Structure
    structures: Mapping[str, Structure]
    networks: Mapping[str, BayesianNetwork]
    differences: Mapping[tuple[str, tuple[str, str]], bool]
    price: float
    solution: Solution
    table: ScoreTable


def learn_differing(
    data: DataLike,
    domain: str,
    *,
    price: float,
    score: str | LocalScore = "bdeu",
    max_parents: int = 3,
    constraints: Constraints | Mapping[str, Any] | None = None,
    time_limit: float | None = None,
    smoother: str | Smoother | None = None,
    seed: int = 0,
    **settings: Any,
) -> DifferingNetworks:
    """A graph for each domain, alike as far as the price says, and its parameters; columns of levels only.

    domain       the column that says which data set a row is from
    price        nats that an arc more or less than the common graph costs in a domain; log(n) or so is an arc's worth
    score        of each domain's rows, with its `settings`
    max_parents  of a variable, in all domains together
    constraints, time_limit   of the joint problem, as in `solve`
    smoother     of what the domains have in common, as in `fit_domains`;  seed  of one that samples
    """
    rows = as_dataset(data, missing="value")
    column = rows.domain(domain)
    rest = rows.select([name for name in rows.names if name != domain])
    _check(rest, domain, column, price)
    assert isinstance(column, Categorical)
    method = load_score(score, caller=learn_differing, **settings)
    codes = rows.column(domain)
    present = [d for d in range(len(column.levels)) if np.any(codes == d)]
    lattice = _Lattice(rest.n_variables, min(max_parents, rest.n_variables - 1))
    scores = np.array([lattice.scores(method, rest.take(codes == d)) for d in present])
    table = lattice.table(rest.names, scores, price)
    solution = solve(table, time_limit=time_limit, constraints=constraints)
    if solution.choice is None:
        raise UnsupportedError(f"the joint problem is {solution.status}: give it more time")
    common, found = lattice.taken_apart(table, solution.choice, scores, price)
    structures = {column.levels[d]: Structure.from_parents(of) for d, of in zip(present, found, strict=True)}
    differences = {
        (level, arc): arc in of.arcs
        for level, of in structures.items()
        for arc in sorted(set(of.arcs) ^ set(Structure.from_parents(common).arcs))
    }
    networks = _fitted(rows, domain, [column.levels[d] for d in present], found, smoother, seed)
    return DifferingNetworks(Structure.from_parents(common), structures, networks, differences, price, solution, table)


def _check(rest: Dataset, domain: str, column: Any, price: float) -> None:
    if not isinstance(column, Categorical):
        raise DataError(f"column {domain!r} is real, but the domain of a row must have levels; declare it categorical")
    for name in rest.names:
        if not isinstance(rest.domain(name), Categorical):
            raise UnsupportedError(
                f"column {name!r} is real; arcs that differ are for columns of levels: read its few values as levels "
                f"(--column {name}=categorical), cut it into intervals first (pandas.qcut(rows[{name!r}], 5)), or "
                f"leave it out (--ignore {name})"
            )
    if not 0.0 <= price < float("inf"):
        raise UnsupportedError(f"price is {price!r}, expected a number of at least 0; learn_domains has no differences")


class _Lattice:
    """The parent sets of up to `most` variables, by size and in lexicographic order, and the subsets of each."""

    def __init__(self, n: int, most: int) -> None:
        self.n, self.most = n, most
        every = [list(combinations(range(n), k)) for k in range(most + 1)]
        self.sets = [np.array(sets, dtype=np.int32).reshape(len(sets), k) for k, sets in enumerate(every)]
        self.place = {tuple(s): i for i, s in enumerate(s for of in self.sets for s in of.tolist())}

    def scores(self, method: LocalScore, data: Dataset) -> NDArray[np.float64]:
        """float64[sets, n]: the score of every variable given every set; NaN where it is in the set."""
        bound, parts = method.bind(data), []
        for sets in self.sets:
            wanted = np.ones((len(sets), self.n), dtype=np.bool_)
            np.put_along_axis(wanted, sets.astype(np.int64), False, axis=1)
            parts.append(np.where(wanted, bound.block(sets, wanted), np.nan))
        return np.concatenate(parts)

    def subsets(self, size: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """int64[sets of the size, 2^size], the places of the subsets of each, and float64[2^size, 2^size], in how many
        elements two of them differ; subset number b has the elements where b has its bits."""
        members = [[i for i in range(size) if b >> i & 1] for b in range(1 << size)]
        places = [[self.place[tuple(s[i] for i in of)] for of in members] for s in self.sets[size].tolist()]
        apart = [[float((a ^ b).bit_count()) for b in range(1 << size)] for a in range(1 << size)]
        return np.array(places, dtype=np.int64).reshape(len(places), 1 << size), np.array(apart)

    def table(self, names: tuple[str, ...], scores: NDArray[np.float64], price: float) -> ScoreTable:
        """f(v | U) for all v and U."""
        children, sets, values = [], [], []
        for size in range(self.most + 1):
            places, apart = self.subsets(size)
            for v in range(self.n):
                own = ~(self.sets[size] == v).any(axis=1)
                joint = _joint(scores[:, places[own], v], price * apart)
                children.append(np.full(len(joint), v))
                sets += self.sets[size][own].tolist()
                values.append(joint.max(axis=1))
        return ScoreTable.build(names, np.concatenate(children), pack_sets(sets, self.n), np.concatenate(values))

    def taken_apart(
        self, table: ScoreTable, choice: tuple[int, ...], scores: NDArray[np.float64], price: float
    ) -> tuple[Parents, list[Parents]]:
        """The parents in the common graph and in each domain's, of the chosen U."""
        common: Parents = {}
        found: list[Parents] = [{} for _ in scores]
        for v, row in enumerate(choice):
            union = table.parents(row)
            places, apart = self.subsets(len(union))
            at = places[self.sets[len(union)].tolist().index(list(union))]
            sets = [tuple(table.names[union[i]] for i in range(len(union)) if b >> i & 1) for b in range(len(at))]
            shared = int(np.argmax(_joint(scores[:, at[None], v], price * apart)[0]))
            common[table.names[v]] = sets[shared]
            for d, of in enumerate(found):
                of[table.names[v]] = sets[int(np.argmax(scores[d, at, v] - price * apart[shared]))]
        return common, found


def _joint(scores: NDArray[np.float64], prices: NDArray[np.float64]) -> NDArray[np.float64]:
    """float64[U, subsets]: for each common set what the domains get together; scores float64[domains, U, subsets]."""
    total = np.zeros(scores.shape[1:])
    for own in scores:
        total += (own[:, :, None] - prices).max(axis=1)
    return total


def _fitted(
    rows: Dataset,
    domain: str,
    levels: list[str],
    found: list[Parents],
    smoother: str | Smoother | None,
    seed: int,
) -> dict[str, BayesianNetwork]:
    """Each family is fitted for all domains at once, and goes to those that have it: round k has the k-th of each."""
    families = {v: list(dict.fromkeys(of[v] for of in found)) for v in found[0]}
    rounds = []
    for k in range(max(map(len, families.values()))):
        structure = Structure.from_parents({v: of[min(k, len(of) - 1)] for v, of in families.items()})
        rounds.append(fit_domains(structure, rows, domain, smoother, seed=seed))
    networks = {}
    for level, of in zip(levels, found, strict=True):
        parts = {v: rounds[families[v].index(parents)][level] for v, parents in of.items()}
        names = tuple(of)
        networks[level] = BayesianNetwork(
            names, tuple(parts[v].domain(v) for v in names), tuple(parts[v].cpd(v) for v in names), level,
            precision={v: parts[v].precision[v] for v in names if v in parts[v].precision},
        )  # fmt: skip
    return networks
