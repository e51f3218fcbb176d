"""Do data agree with the independences that a graph implies? A test per pair of variables that are not adjacent.

In a topological order, a variable v is independent of every earlier u that is no parent of it, given its parents. Under
that hypothesis the values of u may be permuted among the rows with the same values of v's parents, so the rank of the
data among such permutations is uniform: the p-values are exact at any sample size, whatever the number of cells. What
is ranked is the mutual information of u and v given the parents; ties are broken at random.

Real variables are tested in quarters of their rows. As a parent such a variable is held only within its quarter, so
what it explains there is left over: then the p-values are too small rather than too large.
Twin: tests/naive/evaluate.py goes through all permutations.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import UnsupportedError
from optbn.data.dataset import Categorical, Dataset
from optbn.evaluate.kernels.permutation import information_rank
from optbn.network.structure import Structure
from optbn_solvers.base.clock import working

QUARTERS = (0.25, 0.5, 0.75)


class Independence(NamedTuple):
    """One that the graph implies, and how likely data as dependent as these are if it holds."""

    one: str
    other: str
    given: tuple[str, ...]
    p: float


@dataclass(frozen=True)
class MarkovCheck:
    """The tests, the smallest p-value first.

    tests        those that the data can decide
    silent       how many they cannot: wherever the parents have the same values, one of the two has one value
    uniformity   p-value of Kolmogorov and Smirnov's test that all p-values are uniform, as if they were independent
    skipped      how many there was no time for
    """

    tests: tuple[Independence, ...]
    silent: int
    uniformity: float
    skipped: int = 0

    def share_below(self, level: float) -> float:
        """Of the p-values; about `level` where the graph holds."""
        return sum(test.p < level for test in self.tests) / len(self.tests) if self.tests else 0.0

    def rejected(self, rate: float = 0.05) -> tuple[Independence, ...]:
        """Those that do not hold, with this rate of false ones among them (Benjamini and Hochberg 1995)."""
        passing = [i for i, test in enumerate(self.tests, start=1) if test.p <= rate * i / len(self.tests)]
        return self.tests[: max(passing, default=0)]


def markov_check(
    structure: Structure, data: Dataset, permutations: int = 999, seed: int = 0, until: float = math.inf
) -> MarkovCheck:
    """Test every pair that is not adjacent, given the parents of the later one; the variables are those of the data.
    Those that there is no time for before `until` (of `working`) are counted."""
    from scipy.stats import kstest

    if data.weights is not None:
        raise UnsupportedError("independences are tested by permuting rows that count alike; leave the weights away")
    codes = [_codes(domain, column) for domain, column in zip(data.domains, data.columns, strict=True)]
    at = [data.index(name) for name in structure.names]
    generator = np.random.default_rng(seed)
    found, silent, skipped = [], 0, 0
    for position, v in enumerate(structure.order):
        parents = structure.parent_sets[v]
        order, starts = _strata([codes[at[p]] for p in parents], data.n_rows)
        for u in structure.order[:position]:
            if u in parents:
                continue
            if working() > until:
                skipped += 1
                continue
            larger, equal, testable = information_rank(
                codes[at[u]][order], codes[at[v]][order], starts, permutations, generator
            )
            if not testable:
                silent += 1
                continue
            p = (larger + generator.random() * (equal + 1)) / (permutations + 1)
            given = tuple(structure.names[w] for w in parents)
            found.append(Independence(structure.names[u], structure.names[v], given, float(p)))
    found.sort(key=lambda test: test.p)
    uniformity = float(kstest([test.p for test in found], "uniform").pvalue) if found else 1.0
    return MarkovCheck(tuple(found), silent, uniformity, skipped)


def _codes(domain: Any, column: NDArray[Any]) -> NDArray[np.int64]:
    """Levels, or the quarter of the rows; rows without a number are a fifth."""
    if isinstance(domain, Categorical):
        return column.astype(np.int64)
    numbers = column[~np.isnan(column)]
    cuts = np.quantile(numbers, QUARTERS) if len(numbers) else np.zeros(3)
    return np.where(np.isnan(column), 4, np.searchsorted(cuts, column, side="left")).astype(np.int64)


def _strata(parents: list[NDArray[np.int64]], n_rows: int) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """The rows in an order in which those with equal parents are together, and where each such part begins."""
    stratum = np.zeros(n_rows, dtype=np.int64)
    for codes in parents:
        _, stratum = np.unique(stratum * (int(codes.max()) + 1) + codes, return_inverse=True)
    order = np.argsort(stratum, kind="stable")
    return order, np.concatenate([[0], np.cumsum(np.bincount(stratum))]).astype(np.int64)
