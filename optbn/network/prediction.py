"""What a network says about one variable in every row of data.

Data come as they are (`rows`): their cells are matched to the network's levels by text; a cell without a value is not
known, and the prediction sums over it. A row in which the target's Markov blanket is known needs nothing but the
distributions of the target and of its children; any other is a query of its own, one per different row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import NetworkError, UnsupportedError
from optbn.base.registry import unknown
from optbn.data.anything import DataLike, as_dataset, is_file
from optbn.data.arrays import code_dtype
from optbn.data.dataset import Categorical, Dataset, Domain, Real
from optbn.data.policies import LEVEL, MissingLike
from optbn.data.read import options, read_source
from optbn.data.source import open_source

if TYPE_CHECKING:
    from optbn.network.network import BayesianNetwork

UNSEEN = ("refuse", "missing")
ANY_NUMBER = Real(-1e300, 1e300)


@dataclass(frozen=True)
class Rows:
    """Columns in the network's codes (-1: not known) or numbers (nan: not known; in those of `absent` a value)."""

    columns: Mapping[str, NDArray[Any]]
    n: int
    absent: frozenset[str] = frozenset()

    def known(self, name: str) -> NDArray[np.bool_]:
        """bool[n]: the rows in which the variable has a value."""
        column = self.columns[name]
        if name in self.absent:
            return np.ones(self.n, dtype=np.bool_)
        here: NDArray[np.bool_] = ~np.isnan(column) if column.dtype.kind == "f" else column >= 0
        return here


def complete(network: BayesianNetwork, data: DataLike, names: tuple[str, ...]) -> Dataset:
    """The named columns as a Dataset in the network's domains; missing values and unseen levels are refused."""
    if isinstance(data, Dataset):
        return network.conform(data, names)
    kinds = {
        name: d if isinstance(d := network.domain(name), Categorical) else replace(ANY_NUMBER, absent=d.absent)
        for name in names
    }
    return network.conform(_read(network, data, kinds, "refuse"), names)


def rows(network: BayesianNetwork, data: DataLike, needed: tuple[str, ...], unseen: str = "refuse") -> Rows:
    """All columns of the data that the network has; those needed must be there.

    unseen   what a level means that the network does not have: refuse it, or take the cell as missing
    """
    if unseen not in UNSEEN:
        raise unknown("way to treat unseen levels", unseen, UNSEEN)
    if isinstance(data, Dataset):
        found = data
    else:
        found = _read(network, data, _kinds(network), "value")
    lacking = [name for name in needed if name not in found.names]
    if lacking:
        more = f" (and {len(lacking) - 1} more)" if len(lacking) > 1 else ""
        raise NetworkError(f"the data have no column {lacking[0]!r}{more}")
    columns = {}
    for name in found.names:
        if name in network.names:
            columns[name] = _matched(network, name, found, unseen)
    absent = frozenset(name for name in columns if isinstance(d := network.domain(name), Real) and d.absent)
    return Rows(columns, found.n_rows, absent)


def _read(network: BayesianNetwork, data: Any, kinds: Mapping[str, Any], missing: MissingLike) -> Dataset:
    """The columns of these kinds, of all that the data have; the others are left out."""
    if is_file(data):
        return _of_file(data, kinds, missing, {})
    if isinstance(data, np.ndarray) and data.ndim == 2:
        if data.shape[1] != network.n_variables:
            raise NetworkError(
                f"an array of {data.shape[1]} columns without names; the network has {network.n_variables} variables"
            )
        data = dict(zip(network.names, data.T, strict=True))
    if isinstance(data, Mapping):
        names = list(map(str, data))
    elif isinstance(data, np.ndarray):
        names = list(data.dtype.names or ())
    else:
        names = list(map(str, getattr(data, "columns", ())))
    return as_dataset(data, {name: kinds.get(name, "ignore") for name in names}, missing)


def columns_in(network: BayesianNetwork, path: str, **form: Any) -> Dataset:
    """The columns of a file that the network knows; `form` are the options of `optbn.read` for the form of files."""
    return _of_file(path, _kinds(network), "value", form)


def _of_file(path: Any, kinds: Mapping[str, Any], missing: MissingLike, form: Mapping[str, Any]) -> Dataset:
    source = open_source(path, options(**form))
    there = {name: kind for name, kind in kinds.items() if name in source.names}
    if not there:
        raise NetworkError(f"{source.where}: no column is a variable of the network; it has {', '.join(kinds)}")
    return read_source(source, there, missing=missing, columns=list(there)).logged()


def _kinds(network: BayesianNetwork) -> dict[str, str]:
    return {
        name: "categorical" if isinstance(domain, Categorical) else "real"
        for name, domain in zip(network.names, network.domains, strict=True)
    }


def _matched(network: BayesianNetwork, name: str, data: Dataset, unseen: str) -> NDArray[Any]:
    """A column in the network's codes, -1 where its value is missing or, if that is wanted, unknown to the network."""
    wanted, own, column = network.domain(name), data.domain(name), data.column(name)
    if not isinstance(wanted, Categorical) or not isinstance(own, Categorical):
        if isinstance(wanted, Categorical) or isinstance(own, Categorical):
            network.conform(data, (name,))  # says which is which
        return column
    at = {level: code for code, level in enumerate(wanted.levels)}
    codes = np.array([at.get(level, -1) for level in own.levels], dtype=np.int64)
    matched: NDArray[np.int64] = codes[column]
    if unseen == "refuse":
        strange = (matched < 0) & ~np.array([level == LEVEL for level in own.levels])[column]
        if strange.any():
            row = int(np.argmax(strange))
            raise NetworkError(
                f"column {name!r}, row {row + 1}: the network has no level {own.levels[column[row]]!r}; it has "
                f'{", ".join(wanted.levels)} (unseen="missing" takes such a cell as not known)'
            )
    return matched


def probabilities(network: BayesianNetwork, target: str, data: DataLike, unseen: str) -> NDArray[np.float64]:
    """See `BayesianNetwork.predict_proba`."""
    domain = network.domain(target)
    if not isinstance(domain, Categorical):
        raise UnsupportedError(f"{target!r} is real; predict_proba needs a categorical target, predict gives its mean")
    blanket = network.markov_blanket(target)
    found = rows(network, data, blanket, unseen)
    full = np.ones(found.n, dtype=bool)
    for name in blanket:
        full &= found.known(name)
    answer = np.empty((found.n, len(domain.levels)))
    answer[full] = _by_blanket(network, target, found, full)
    for members, posterior in _queries(network, target, found, ~full):
        answer[members] = posterior.probabilities
    return answer


def predictions(network: BayesianNetwork, target: str, data: DataLike, unseen: str) -> NDArray[Any]:
    """See `BayesianNetwork.predict`."""
    domain = network.domain(target)
    if isinstance(domain, Categorical):
        best = probabilities(network, target, data, unseen).argmax(axis=1)
        return np.array(domain.levels, dtype=object)[best]
    found = rows(network, data, (), unseen)
    answer = np.empty(found.n)
    for members, posterior in _queries(network, target, found, np.ones(found.n, dtype=bool)):
        answer[members] = posterior.mean
    return answer


def _by_blanket(network: BayesianNetwork, target: str, found: Rows, full: NDArray[np.bool_]) -> NDArray[np.float64]:
    """P(target | its Markov blanket) in the rows that have all of it."""
    domain = network.domain(target)
    assert isinstance(domain, Categorical)
    columns = {name: found.columns[name][full] for name in network.markov_blanket(target)}
    n, factors = int(full.sum()), [(name, network.cpd(name)) for name in (target, *network.children(target))]
    scores = np.zeros((n, len(domain.levels)))
    for k in range(len(domain.levels)):
        columns[target] = np.full(n, k, dtype=code_dtype(len(domain.levels)))
        for name, cpd in factors:
            scores[:, k] += cpd.log_density(columns[name], [columns[p] for p in cpd.parents])
    best = scores.max(axis=1, keepdims=True)
    impossible = ~np.isfinite(best[:, 0])
    if impossible.any():
        raise NetworkError(
            f"row {int(np.flatnonzero(full)[np.argmax(impossible)]) + 1} is impossible under the network whatever "
            f"{target!r} is (a probability of zero); smooth the parameters"
        )
    weights = np.exp(scores - best)
    answer: NDArray[np.float64] = weights / weights.sum(axis=1, keepdims=True)
    return answer


def _queries(network: BayesianNetwork, target: str, found: Rows, wanted: NDArray[np.bool_]) -> Any:
    """(row numbers, posterior of the target given all that they know), once per different row."""
    names = [name for name in found.columns if name != target]
    known = {name: found.known(name) for name in names}
    groups: dict[tuple[Any, ...], list[int]] = {}
    for row in np.flatnonzero(wanted).tolist():
        key = tuple(found.columns[name][row].item() if known[name][row] else None for name in names)
        groups.setdefault(key, []).append(row)
    for key, members in groups.items():
        evidence = {}
        for name, cell in zip(names, key, strict=True):
            if cell is not None:
                domain = network.domain(name)
                evidence[name] = domain.levels[cell] if isinstance(domain, Categorical) else cell
        yield members, network.query(target, evidence)


def conformed(network: BayesianNetwork, data: Dataset, names: Sequence[str]) -> Dataset:
    """See `BayesianNetwork.conform`."""
    missing = [name for name in names if name not in data.names]
    if missing:
        raise NetworkError(
            f"the data have no column {missing[0]!r}" + f" (and {len(missing) - 1} more)" * (len(missing) > 1)
        )
    domains = [network.domain(name) for name in names]
    columns = [
        recoded(name, data.column(name), data.domain(name), mine) for name, mine in zip(names, domains, strict=True)
    ]
    domains = [
        mine if isinstance(mine, Categorical) else data.domain(name) for name, mine in zip(names, domains, strict=True)
    ]
    return Dataset(tuple(names), tuple(domains), tuple(columns))


def recoded(name: str, column: NDArray[Any], own: Domain, wanted: Domain) -> NDArray[Any]:
    """The column with the codes of the wanted domain."""
    if isinstance(own, Categorical) != isinstance(wanted, Categorical):
        kinds = {True: "categorical", False: "real"}
        raise NetworkError(
            f"column {name!r} is {kinds[isinstance(own, Categorical)]} in the data, "
            f"{kinds[isinstance(wanted, Categorical)]} in the network"
        )
    if not (isinstance(own, Categorical) and isinstance(wanted, Categorical)) or own.levels == wanted.levels:
        return column
    known = {level: code for code, level in enumerate(wanted.levels)}
    codes = np.array([known.get(level, -1) for level in own.levels], dtype=np.int64)
    recoded: NDArray[np.int64] = codes[column]
    if (recoded < 0).any():
        row = int(np.argmax(recoded < 0))
        level = own.levels[column[row]]
        raise NetworkError(
            f"column {name!r}, row {row + 1}: the network has no level {level!r}; it has {', '.join(wanted.levels)}"
        )
    return recoded.astype(code_dtype(len(wanted.levels)))
