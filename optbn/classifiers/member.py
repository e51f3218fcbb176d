"""A network that classifies: its own discretisation of the columns, its parents, its parameters.

Single classifiers have one, ensembles many. P(y | x) is the joint probability of the row with each class, normalised.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import polygamma

from optbn.classifiers.combine import rows_of
from optbn.classifiers.forest import Forest, Parents
from optbn.data.dataset import Categorical
from optbn.data.discretise.table import Table
from optbn.data.discretise.transformer import Column, Discretizer
from optbn.network.cpds import CPD, TableCPD, TreeCPD
from optbn.network.leaves import CategoricalLeaves
from optbn.network.network import BayesianNetwork
from optbn.network.tree import Split, Tree

LARGEST_TABLE = 1 << 16
"""Entries of a table that `network` writes out as such."""


@dataclass(frozen=True, eq=False)
class Member:
    """columns  how the attributes are coded;  prior  float64[C], log P(y);  parents  besides the class
    rows     that the prior is worth, where it has a posterior
    """

    columns: tuple[Column, ...]
    prior: NDArray[np.float64]
    parents: Parents
    forest: Forest
    rows: float | None = None

    def codes(self, table: Table) -> NDArray[np.int32]:
        """int32[n, a]."""
        return Discretizer.encode(self, table)  # type: ignore[arg-type]

    @property
    def columns_(self) -> tuple[Column, ...]:
        """The name under which a discretiser knows them."""
        return self.columns

    def log_joint(self, codes: NDArray[np.int32]) -> NDArray[np.float64]:
        """float64[n, C]: log P(y, x)."""
        out = np.tile(self.prior, (len(codes), 1))
        self.forest.add_logs(codes, out)
        return out

    def posterior(self, table: Table) -> NDArray[np.float64]:
        """float64[n, C]: P(y | x)."""
        return normalised(self.log_joint(self.codes(table)))

    def variances(self, codes: NDArray[np.int32]) -> NDArray[np.float64] | None:
        """float64[n, C]: variances of log P(y, x) in the posterior, summed over its factors; None: it has none."""
        if self.rows is None or self.forest.precision is None:
            return None
        share = np.exp(self.prior)
        out = np.tile(polygamma(1, self.rows * share) - polygamma(1, self.rows), (len(codes), 1))
        self.forest.variances().add_logs(codes, out)
        return out

    def contributions(self, table: Table) -> NDArray[np.float64]:
        """float64[n, a, C]: log P(x_i | y, parents), less its mean over the classes."""
        codes = self.codes(table)
        found = np.zeros((len(codes), len(self.columns), len(self.prior)))
        for t, i in enumerate(self.parents):
            out = np.zeros((len(codes), len(self.prior)))
            self.forest.alone(t).add_logs(codes, out)
            found[:, i] = out - out.mean(axis=1, keepdims=True)
        return found

    def networks(self, target: str, classes: Sequence[str]) -> list[Any]:
        """The one network."""
        return [self.network(target, classes)]

    def network(self, target: str, classes: Sequence[str]) -> Any:
        """The BayesianNetwork over the class and the coded attributes; probabilities are those of the classifier.

        Tables where they are small, otherwise decision trees, which are as large as the count trees.
        """
        names, label = [target], Categorical(tuple(classes))
        domains = {i: Categorical(self.columns[i].labels) for i in self.parents}
        cpds: list[CPD] = [TableCPD(label, (), (), np.exp(self.prior))]
        for t, (i, questions) in enumerate(self.parents.items()):
            given = (label, *(domains[p] for p in questions))
            shape = tuple(len(d.levels) for d in (*given, domains[i]))
            name = self.columns[i].name
            question_names = (target, *(self.columns[p].name for p in questions))
            if math.prod(shape) <= LARGEST_TABLE:
                cpds.append(TableCPD(domains[i], question_names, given, self._table(t, i, questions, shape)))
            else:
                cpds.append(TreeCPD(domains[i], question_names, given, *self._splits(t, given)))
            names.append(name)
        return BayesianNetwork(tuple(names), (label, *domains.values()), tuple(cpds), target)

    def _table(self, t: int, i: int, questions: Sequence[int], shape: tuple[int, ...]) -> NDArray[np.float64]:
        """P(x_i | y, parents) for all configurations, by asking the forest."""
        alone = self.forest.alone(t)
        inner = shape[1:]
        cells = np.indices(inner).reshape(len(inner), -1).T
        codes = np.full((len(cells), len(self.columns)), -1, dtype=np.int32)
        codes[:, [*questions, i]] = cells
        out = np.zeros((len(cells), shape[0]))
        alone.add_logs(codes, out)
        table: NDArray[np.float64] = np.exp(out).T.reshape(shape)
        return np.asarray(table / table.sum(axis=-1, keepdims=True))

    def _splits(self, t: int, given: Sequence[Any]) -> tuple[Any, Any]:
        """The count tree as a decision tree: a node asks for its branches one by one, what is left is its own leaf."""
        children, branch, values = self.forest.tree(t)
        nodes: list[Split | int] = [0]
        leaves: list[int] = []
        waiting = [(0, 0, int(children[0, 0]), 0)]  # count tree node, its depth, its next child, where it goes
        while waiting:
            u, depth, child, place = waiting.pop()
            begin, end = children[u].tolist()
            if child == end:
                nodes[place] = len(leaves)
                leaves.append(u)
            elif child == end - 1 and end - begin == len(given[depth].levels):
                waiting.append((child, depth + 1, int(children[child, 0]), place))
            else:
                left = len(nodes)
                nodes += [0, 0]
                nodes[place] = Split(depth, (int(branch[child]),), left, left + 1)
                waiting.append((u, depth, child + 1, left + 1))
                waiting.append((child, depth + 1, int(children[child, 0]), left))
        rows = np.exp(values[leaves])
        return Tree.build(nodes, given), CategoricalLeaves(rows / rows.sum(axis=1, keepdims=True))


def class_prior(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """log P(y): one imagined row spread evenly over the classes."""
    prior: NDArray[np.float64] = np.log((counts + 1.0 / len(counts)) / (counts.sum() + 1.0))
    return prior


def normalised(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows of exp(logs) that sum to 1; a row that is impossible under every class is uniform."""
    planes = np.array(logs.T, order="C")
    best = planes.max(axis=0)
    lost = ~np.isfinite(best)
    if lost.any():
        planes[:, lost], best[lost] = 0.0, 0.0
    return rows_of(np.exp(planes - best))
