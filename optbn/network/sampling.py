"""Forward sampling: every variable is drawn given its parents, parents first.

Each variable has a random stream of its own, spawned from the seed by the variable's position, and rows are made in
blocks that go through all variables while their codes are still in cache. A stream is consumed row by row, so
 - the rows of sample(n, seed) are the first rows of sample(m, seed) for every m > n, whatever the block,
 - nothing depends on threads, and for categorical variables nothing on the machine: the bits of PCG64 are compared
   with running sums whose order of addition is fixed. (Normal and Student-t leaves use numpy's Generator.)
Cost: O(n * variables * levels) compares; an alarm row takes about a microsecond.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import LimitError, NetworkError
from optbn.base.memory import readable
from optbn.base.settings import check_seed
from optbn.data.arrays import code_dtype
from optbn.data.dataset import Categorical, Dataset, Domain, Real
from optbn_solvers.base.memory import half_of_memory

if TYPE_CHECKING:
    from optbn.network.network import BayesianNetwork

BLOCK = 1 << 15


def sample(network: BayesianNetwork, n: int, seed: int, progress: Callable[[int], None] | None = None) -> Dataset:
    """n rows. The declared range of a real variable is widened where a drawn value lies outside.

    `progress` hears from time to time how many rows there are.
    """
    _check_fits(network, n)
    columns: list[NDArray[Any]] = [
        np.empty(n if n > 0 else 0, dtype=code_dtype(len(d.levels)) if isinstance(d, Categorical) else np.float64)
        for d in network.domains
    ]
    for begin, block in _blocks(network, n, seed):
        rows = len(block[0]) if block else 0
        for column, part in zip(columns, block, strict=True):
            column[begin : begin + rows] = part
        if progress:
            progress(begin + rows)
    return covering_dataset(network.names, network.domains, columns)


def _check_fits(network: BayesianNetwork, n: int) -> None:
    """Refuse what is no number of rows, and what would fill the memory."""
    if not isinstance(n, Integral) or isinstance(n, bool) or n < 0:
        raise NetworkError(f"cannot draw {n!r} rows; expected a whole number, at least 0")
    row = sum(
        np.dtype(code_dtype(len(d.levels))).itemsize if isinstance(d, Categorical) else 8 for d in network.domains
    )
    if n * row > half_of_memory():
        raise LimitError(
            f"{n:,} rows of {len(network.names)} variables take {readable(n * row)} of memory: draw fewer, or write "
            "them as csv, which is written as it is drawn"
        )


def sample_blocks(network: BayesianNetwork, n: int, seed: int) -> Iterator[tuple[int, Dataset]]:
    """The same rows as (first row, Dataset) of at most BLOCK rows each, never holding all."""
    for begin, block in _blocks(network, n, seed):
        yield begin, covering_dataset(network.names, network.domains, block)


def _blocks(network: BayesianNetwork, n: int, seed: int) -> Iterator[tuple[int, list[NDArray[Any]]]]:
    if n < 0:
        raise NetworkError(f"cannot draw {n} rows")
    check_seed(seed)
    streams = [np.random.Generator(np.random.PCG64(s)) for s in np.random.SeedSequence(seed).spawn(len(network.names))]
    structure = network.structure
    for begin in range(0, n, BLOCK):
        rows = min(BLOCK, n - begin)
        block: list[NDArray[Any]] = [np.empty(0)] * len(network.names)
        for v in structure.order:
            parents = [block[p] for p in structure.parent_sets[v]]
            block[v] = network.cpds[v].sample(parents, rows, streams[v])
        yield begin, block


def covering_dataset(names: Sequence[str], domains: Sequence[Domain], columns: list[NDArray[Any]]) -> Dataset:
    """Drawn values as data: codes in their smallest type, a real variable's declared range widened to hold them."""
    domains = tuple(_covering(d, c) for d, c in zip(domains, columns, strict=True))
    columns = [
        c.astype(code_dtype(len(d.levels)), copy=False) if isinstance(d, Categorical) else c
        for d, c in zip(domains, columns, strict=True)
    ]
    return Dataset(tuple(names), domains, tuple(columns))


def _covering(domain: Domain, column: NDArray[Any]) -> Domain:
    if isinstance(domain, Real) and len(column):
        numbers = column[~np.isnan(column)] if domain.absent else column
        if len(numbers):
            low, high = min(domain.low, float(numbers.min())), max(domain.high, float(numbers.max()))
            return replace(domain, low=low, high=high)
    return domain
