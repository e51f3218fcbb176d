"""A Bayesian network: variables with domains, and one local distribution per variable that together have no cycle.

    P(x) = prod_v P(x_v | x_parents(v))

Data may come with its own level order: values are matched by the text of their level (`conform`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import NetworkError, UnsupportedError
from optbn.data.dataset import Categorical, Dataset, Domain, code_dtype
from optbn.network.cpds import CPD
from optbn.network.equivalence import Cpdag
from optbn.network.structure import Structure
from optbn_solvers.base.errors import repeated

if TYPE_CHECKING:
    from optbn.network.inference import Explanation, Posterior
    from optbn.network.intervals import UncertainPosterior


@dataclass(frozen=True)
class BayesianNetwork:
    """names, domains and CPDs, one each per variable; parents are named by the CPDs.

    name        what the network is called, for people
    properties  what a file said besides (variable, or "" for the network -> "key = value" lines); kept by every format
    precision   of fitted parameters: how many rows each cell's distribution is worth, float64[cells] per variable. The
                posterior of a cell is Dirichlet(precision * probabilities); see `intervals`. Kept by JSON alone.

    Equal networks have equal names, domains and CPDs, in the same order; nothing else counts.
    """

    names: tuple[str, ...]
    domains: tuple[Domain, ...]
    cpds: tuple[CPD, ...]
    name: str = field(default="", compare=False)
    properties: Mapping[str, tuple[str, ...]] = field(default_factory=dict, compare=False)
    precision: Mapping[str, NDArray[np.float64]] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        if not len(self.names) == len(self.domains) == len(self.cpds):
            raise NetworkError(f"{len(self.names)} names, {len(self.domains)} domains and {len(self.cpds)} CPDs")
        by_name = dict(zip(self.names, self.domains, strict=True))
        for name, domain, cpd in zip(self.names, self.domains, self.cpds, strict=True):
            if cpd.domain != domain:
                raise NetworkError(f"the CPD of {name!r} was made for another domain")
            for parent, expected in zip(cpd.parents, cpd.parent_domains, strict=True):
                if parent in by_name and by_name[parent] != expected:
                    raise NetworkError(f"the CPD of {name!r} was made for another domain of its parent {parent!r}")
        _ = self.structure  # acyclic, parents known, names unique
        for name, rows in self.precision.items():
            cells = self.cpd(name).leaves.cells
            if rows.shape != (cells,) or not (np.isfinite(rows) & (rows > 0)).all():
                raise NetworkError(f"the precision of {name!r} must be {cells} finite numbers above 0")

    @cached_property
    def structure(self) -> Structure:
        """The DAG."""
        return Structure.from_parents(_unique(self.names, [cpd.parents for cpd in self.cpds]))

    @property
    def n_variables(self) -> int:
        return len(self.names)

    @property
    def n_arcs(self) -> int:
        return self.structure.n_arcs

    @property
    def n_parameters(self) -> int:
        """Free parameters of all CPDs."""
        return sum(cpd.n_parameters for cpd in self.cpds)

    def index(self, name: str) -> int:
        """The position of a variable; an unknown name lists the nearest."""
        return self.structure.index(name)

    def domain(self, name: str) -> Domain:
        """What values a variable has: Categorical levels, or a Real range."""
        return self.domains[self.index(name)]

    def cpd(self, name: str) -> CPD:
        """The local distribution of a variable given its parents."""
        return self.cpds[self.index(name)]

    def parents(self, name: str) -> tuple[str, ...]:
        """The names of its parents, in the order of its distribution."""
        return self.structure.parents(name)

    def children(self, name: str) -> tuple[str, ...]:
        """The names of its children."""
        return self.structure.children(name)

    def markov_blanket(self, name: str) -> tuple[str, ...]:
        """Parents, children and the children's other parents: given these, the rest says nothing about `name`."""
        return self.structure.markov_blanket(name)

    def to_networkx(self) -> Any:
        """A networkx DiGraph over the names; the nodes carry `domain` and `cpd`."""
        from optbn.network.interop.networkx import network_to_networkx

        return network_to_networkx(self)

    @classmethod
    def from_networkx(cls, graph: Any) -> BayesianNetwork:
        """From a DiGraph whose nodes carry a `cpd` (`Structure.from_networkx` takes a bare one)."""
        from optbn.network.interop.networkx import network_from_networkx

        return network_from_networkx(graph)

    def to_pgmpy(self) -> Any:
        """A pgmpy DiscreteBayesianNetwork; real variables are refused by name."""
        from optbn.network.interop.pgmpy import to_pgmpy

        return to_pgmpy(self)

    @classmethod
    def from_pgmpy(cls, model: Any) -> BayesianNetwork:
        """From a pgmpy model with tables."""
        from optbn.network.interop.pgmpy import from_pgmpy

        return from_pgmpy(model)

    def to_pyagrum(self) -> Any:
        """A pyAgrum BayesNet; real variables are refused by name."""
        from optbn.network.interop.pyagrum import to_pyagrum

        return to_pyagrum(self)

    @classmethod
    def from_pyagrum(cls, other: Any) -> BayesianNetwork:
        """From a pyAgrum BayesNet."""
        from optbn.network.interop.pyagrum import from_pyagrum

        return from_pyagrum(other)

    def to_cpdag(self) -> Cpdag:
        """The essential graph: what all Markov-equivalent networks share."""
        return self.structure.to_cpdag()

    def conform(self, data: Dataset, names: Sequence[str] | None = None) -> Dataset:
        """The named columns of the data (default: all of the network's) in the network's domains, matched by level.

        Nothing is copied where the domains agree already.
        """
        names = self.names if names is None else names
        missing = [name for name in names if name not in data.names]
        if missing:
            raise NetworkError(
                f"the data have no column {missing[0]!r}" + f" (and {len(missing) - 1} more)" * (len(missing) > 1)
            )
        columns = [_recode(name, data.column(name), data.domain(name), self.domain(name)) for name in names]
        domains = [mine if isinstance(mine := self.domain(name), Categorical) else data.domain(name) for name in names]
        return Dataset(tuple(names), tuple(domains), tuple(columns))

    def log_likelihood(self, data: Dataset) -> float:
        """log P(data), natural; -inf if some row is impossible."""
        return float(self.log_likelihood_rows(data).sum())

    def log_likelihood_rows(self, data: Dataset) -> NDArray[np.float64]:
        """float64[rows]: log P of every row."""
        columns = dict(zip(self.names, self.conform(data).columns, strict=True))
        total = np.zeros(data.n_rows)
        for name, cpd in zip(self.names, self.cpds, strict=True):
            total += cpd.log_density(columns[name], [columns[p] for p in cpd.parents])
        return total

    def predict_proba(self, target: str, data: Dataset) -> NDArray[np.float64]:
        """float64[rows, r]: P(target = k | the row's other values); only the Markov blanket's columns are needed.

        A row that the network holds impossible whatever the target is refused: it has no such distribution.
        """
        domain = self.domain(target)
        if not isinstance(domain, Categorical):
            raise UnsupportedError(f"{target!r} is real; predict_proba needs a categorical target")
        blanket = self.markov_blanket(target)
        columns = dict(zip(blanket, self.conform(data, blanket).columns, strict=True))
        factors = [(name, self.cpd(name)) for name in (target, *self.children(target))]
        scores = np.zeros((data.n_rows, len(domain.levels)))
        for k in range(len(domain.levels)):
            columns[target] = np.full(data.n_rows, k, dtype=code_dtype(len(domain.levels)))
            for name, cpd in factors:
                scores[:, k] += cpd.log_density(columns[name], [columns[p] for p in cpd.parents])
        best = scores.max(axis=1, keepdims=True)
        impossible = ~np.isfinite(best[:, 0])
        if impossible.any():
            raise NetworkError(
                f"row {int(np.argmax(impossible)) + 1} is impossible under the network whatever {target!r} is "
                "(a probability of zero); smooth the parameters"
            )
        weights = np.exp(scores - best)
        answer: NDArray[np.float64] = weights / weights.sum(axis=1, keepdims=True)
        return answer

    @overload
    def query(
        self, targets: str | Sequence[str], evidence: Mapping[str, str | float] | None = None, *, interval: None = None
    ) -> Posterior: ...

    @overload
    def query(
        self, targets: str | Sequence[str], evidence: Mapping[str, str | float] | None = None, *, interval: float
    ) -> UncertainPosterior: ...

    def query(
        self,
        targets: str | Sequence[str],
        evidence: Mapping[str, str | float] | None = None,
        *,
        interval: float | None = None,
    ) -> Posterior:
        """P(targets | evidence), exact, for a variable or several jointly.

        evidence   a level for a categorical, a number for a real variable. Real variables that are not given are summed
                   over exactly, too: their children see them through finitely many thresholds (see `states`).
        For a single real target the answer is a RealPosterior, with mean and sd. What would need too large a table is
        refused beforehand. With `interval` (such as 0.9) every probability has an interval; the network needs its
        `precision`, and its variables levels.
        """
        from optbn.network.inference import query
        from optbn.network.intervals import query_interval

        return query(self, targets, evidence) if interval is None else query_interval(self, targets, evidence, interval)

    def posteriors(self, evidence: Mapping[str, str | float] | None = None) -> dict[str, Posterior]:
        """The posterior of each variable that is not given: `query` of each, for the price of about two."""
        from optbn.network.inference import posteriors

        return posteriors(self, evidence)

    def most_probable(self, evidence: Mapping[str, str | float] | None = None) -> Explanation:
        """The most probable levels of all variables given the evidence; every real variable must be given."""
        from optbn.network.inference import most_probable

        return most_probable(self, evidence)

    def sample(self, n: int, seed: int, evidence: Mapping[str, str | float] | None = None) -> Dataset:
        """n independent rows, reproducible by seed, of P(.) or of P(. | evidence); see `sampling` and `inference`."""
        if evidence:
            from optbn.network.inference import sample_given

            return sample_given(self, n, seed, evidence)
        from optbn.network.sampling import sample

        return sample(self, n, seed)

    def __repr__(self) -> str:
        title = f"{self.name!r}, " if self.name else ""
        return (
            f"BayesianNetwork({title}{self.n_variables} variables, {self.n_arcs} arcs, {self.n_parameters} parameters)"
        )


def _unique(names: Sequence[str], parents: Sequence[tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    out = dict(zip(names, parents, strict=True))
    if len(out) != len(names):
        raise NetworkError(f"variable {repeated(names)!r} is named twice")
    return out


def _recode(name: str, column: NDArray[Any], given: Domain, wanted: Domain) -> NDArray[Any]:
    """The column with the codes of the wanted domain."""
    if isinstance(given, Categorical) != isinstance(wanted, Categorical):
        kinds = {True: "categorical", False: "real"}
        raise NetworkError(
            f"column {name!r} is {kinds[isinstance(given, Categorical)]} in the data, "
            f"{kinds[isinstance(wanted, Categorical)]} in the network"
        )
    if not (isinstance(given, Categorical) and isinstance(wanted, Categorical)) or given.levels == wanted.levels:
        return column
    known = {level: code for code, level in enumerate(wanted.levels)}
    codes = np.array([known.get(level, -1) for level in given.levels], dtype=np.int64)
    recoded: NDArray[np.int64] = codes[column]
    if (recoded < 0).any():
        row = int(np.argmax(recoded < 0))
        level = given.levels[column[row]]
        raise NetworkError(
            f"column {name!r}, row {row + 1}: the network has no level {level!r}; it has {', '.join(wanted.levels)}"
        )
    return recoded.astype(code_dtype(len(wanted.levels)))
