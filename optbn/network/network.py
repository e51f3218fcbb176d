"""A Bayesian network: variables with domains, and one local distribution per variable that together have no cycle.

    P(x) = prod_v P(x_v | x_parents(v))

Data may come with its own level order: values are matched by the text of their level (`conform`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import NetworkError, UnsupportedError
from optbn.data.dataset import Dataset, Domain
from optbn.network.cpds import CPD
from optbn.network.drawing.graph import draw_graph
from optbn.network.equivalence import Cpdag
from optbn.network.events import probability
from optbn.network.formats import read_network, write_network
from optbn.network.inference import most_probable, posteriors, query, sample_given
from optbn.network.intervals import query_interval
from optbn.network.render import network_text
from optbn.network.sampling import sample
from optbn.network.structure import Structure
from optbn_solvers.base.errors import repeated

if TYPE_CHECKING:
    from optbn.data.anything import DataLike
    from optbn.network.drawing import Picture
    from optbn.network.intervals import UncertainPosterior
    from optbn.network.posterior import Explanation, Posterior


@dataclass(frozen=True)
class BayesianNetwork:
    """names, domains and CPDs, one each per variable; parents are named by the CPDs.

    name        what the network is called, for people
    properties  what a file has besides (variable, or "" for the network -> "key = value" lines); kept by every format
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
        """What values the variable `name` has: Categorical levels, or a Real range."""
        return self.domains[self.index(name)]

    def cpd(self, name: str) -> CPD:
        """The local distribution of the variable `name` given its parents."""
        return self.cpds[self.index(name)]

    def parents(self, name: str) -> tuple[str, ...]:
        """The names of the parents of `name`, in the order of its distribution."""
        return self.structure.parents(name)

    def children(self, name: str) -> tuple[str, ...]:
        """The names of the children of `name`."""
        return self.structure.children(name)

    def markov_blanket(self, name: str) -> tuple[str, ...]:
        """Parents, children and the children's other parents: given these, the rest says nothing about `name`."""
        return self.structure.markov_blanket(name)

    def arcs_frame(self) -> Any:
        """The arcs as a pandas data frame, columns "from" and "to"."""
        import pandas

        return pandas.DataFrame(self.structure.arcs, columns=["from", "to"])

    def save(self, path: str | PathLike[str], reader: str | None = None) -> None:
        """Write the network to the file at `path`, in the format of its ending, for a `reader`; see `write_network`."""
        write_network(self, path, reader=reader)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> BayesianNetwork:
        """The network in the file at `path`, in the format of its ending (see `read_network`)."""
        return read_network(path)

    def draw(
        self, evidence: Mapping[str, Any] | None = None, *, chances: bool = False, essential: bool = False
    ) -> Picture:
        """A picture of the graph, shown in notebooks; its `save` writes svg, png or pdf. In the boxes are `chances`,
        or what follows from the `evidence`; with `essential`, arcs whose direction is open have no head."""
        arcs = self.structure.arcs
        compelled = {(self.names[u], self.names[v]) for u, v in self.to_cpdag().arcs} if essential else set(arcs)
        found = self.posteriors(evidence) if evidence or chances else None
        return draw_graph(self.names, arcs, set(arcs) - compelled, found, evidence)

    def _repr_svg_(self) -> str:
        return self.draw().svg

    def to_networkx(self) -> Any:
        """A networkx DiGraph over the names; the nodes carry `domain` and `cpd`."""
        from optbn.network.interop.networkx import network_to_networkx

        return network_to_networkx(self)

    @classmethod
    def from_networkx(cls, graph: Any) -> BayesianNetwork:
        """From a graph, a DiGraph whose nodes carry a `cpd` (`Structure.from_networkx` takes a bare one)."""
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
        """From `other`, a pyAgrum BayesNet."""
        from optbn.network.interop.pyagrum import from_pyagrum

        return from_pyagrum(other)

    def to_cpdag(self) -> Cpdag:
        """The essential graph: what all Markov-equivalent networks share."""
        return self.structure.to_cpdag()

    def conform(self, data: Dataset, names: Sequence[str] | None = None) -> Dataset:
        """The columns `names` of the data (default: all of the network's) in the network's domains, matched by level.

        Nothing is copied where the domains agree already.
        """
        from optbn.network.prediction import conformed

        return conformed(self, data, self.names if names is None else names)

    def log_likelihood(self, data: DataLike) -> float:
        """log P(data), natural; -inf if some row is impossible. Data are a Dataset, a data frame, arrays or a file; a
        row of a Dataset with weights counts by its weight."""
        rows = self.log_likelihood_rows(data)
        weights = data.weights if isinstance(data, Dataset) else None
        return float(rows.sum() if weights is None else rows @ weights.values)

    def log_likelihood_rows(self, data: DataLike) -> NDArray[np.float64]:
        """float64[rows]: log P of every row of the data."""
        from optbn.network.prediction import complete

        rows = complete(self, data, self.names)
        columns = dict(zip(self.names, rows.columns, strict=True))
        total = np.zeros(rows.n_rows)
        for name, cpd in zip(self.names, self.cpds, strict=True):
            total += cpd.log_density(columns[name], [columns[p] for p in cpd.parents])
        return total

    def predict_proba(self, target: str, data: DataLike, *, unseen: str = "refuse") -> NDArray[np.float64]:
        """float64[rows, r]: P(target = k | the row's other values), exact, for every row of the data.

        The target's Markov blanket must have columns; a cell of theirs without a value is summed over, given all that
        the row has. `unseen` levels are refused, or taken as "missing". A row that the network holds
        impossible whatever the target is refused: it has no such distribution.
        """
        from optbn.network.prediction import probabilities

        return probabilities(self, target, data, unseen)

    def predict(self, target: str, data: DataLike, *, unseen: str = "refuse") -> NDArray[Any]:
        """The target's most probable level in every row of the data, or its mean; `unseen` as in `predict_proba`."""
        from optbn.network.prediction import predictions

        return predictions(self, target, data, unseen)

    @overload
    def query(
        self, targets: str | Sequence[str], evidence: Mapping[str, Any] | None = None, *, interval: float, **more: Any
    ) -> UncertainPosterior: ...

    @overload
    def query(
        self, targets: str | Sequence[str], evidence: Mapping[str, Any] | None = None, **more: Any
    ) -> Posterior: ...

    def query(
        self,
        targets: str | Sequence[str],
        evidence: Mapping[str, Any] | None = None,
        *,
        interval: float | None = None,
        **more: Any,
    ) -> Posterior:
        """P(targets | evidence), exact, for a variable or several jointly: query("lung", smoke="yes").

        evidence   a level for a categorical, a number for a real variable, or a range of either: ">50", "10 <= x < 20",
                   (10, 20), (None, 20); by keyword (`more`), or a dictionary for names that are no keywords. Real
                   variables that are not given are summed over exactly, too: their children see them through finitely
                   many thresholds (see `states`), and with other targets the answer is about these intervals.
        For a single real target the answer is a RealPosterior, with mean and sd. What would need too large a table is
        refused beforehand. With `interval` (such as 0.9) every probability has an interval; the network needs its
        `precision`, and its variables levels.
        """
        if evidence is not None and not isinstance(evidence, Mapping):
            raise UnsupportedError(
                f"evidence is a dictionary such as {{'age': 40}}, not of type {type(evidence).__name__}"
            )
        known = {**(evidence or {}), **more}
        return query(self, targets, known) if interval is None else query_interval(self, targets, known, interval)

    def probability(self, event: Mapping[str, Any], evidence: Mapping[str, Any] | None = None) -> float:
        """P(event | evidence), exact: probability({"lung": "yes", "age": ">60"}, {"smoke": "yes"})."""
        return probability(self, event, evidence or {})

    def posteriors(self, evidence: Mapping[str, str | float] | None = None) -> dict[str, Posterior]:
        """The posterior of each variable that the evidence leaves open: `query` of each, for the price of about two."""
        return posteriors(self, evidence)

    def most_probable(self, evidence: Mapping[str, str | float] | None = None) -> Explanation:
        """The most probable levels, and intervals of real variables, given the evidence; see `Explanation`."""
        return most_probable(self, evidence)

    def sample(self, n: int, seed: int = 0, evidence: Mapping[str, str | float] | None = None) -> Dataset:
        """n independent rows of P(.) or of P(. | evidence): the same ones each time, others for another seed."""
        if evidence:
            return sample_given(self, n, seed, evidence)

        return sample(self, n, seed)

    def __str__(self) -> str:
        return network_text(self)

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
