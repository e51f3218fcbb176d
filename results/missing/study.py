"""What is lost with missing values, and how much of it each way of treating them keeps.

A cell samples a network, hides cells, treats what is missing, finds the optimum (bdeu, at most 3 parents; pcartp, at
most 2, where columns are real), and reports the distance of its class from the truth and the log-likelihood of fresh,
complete rows. Hidden are

    MCAR   cells at random, that share of all
    MAR    twice that share of every second column, three times as many where the column before it, which is complete,
           is in its upper half as where it is in the lower

wine and iris are networks of real and categorical columns: the optima of scikit-learn's data of those names.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from optbn.data.dataset import Categorical, Dataset, Real
from optbn.data.policies import LEVEL
from optbn.evaluate.distances import compare
from optbn.learning.completing import Incomplete, Search, completed
from optbn.learning.local import with_local_models
from optbn.learning.structure import learn_structure
from optbn.network.catalog import load_network
from optbn.network.network import BayesianNetwork
from optbn.report.tables import standard_error, table
from optbn.scores import load_score
from optbn.smoothing.fitting import fit

Row = Mapping[str, Any]
METHODS = ("all observed", "mode, median", "a value", "model")


def cell(network: str, mechanism: str, share: float, repeat: int, method: str, rows: int, fresh: int) -> dict[str, Any]:
    """One sample, one way."""
    truth = truth_of(network)
    seed = zlib.crc32(f"{network} {mechanism} {share} {repeat}".encode())
    data, unseen = truth.sample(rows, seed), truth.sample(fresh, seed + 1)
    gaps = _gaps(data, mechanism, share, np.random.default_rng(seed))
    mixed = 0 in data.cardinalities
    score, parents = ("pcartp", 2) if mixed else ("bdeu", 3)
    begin = time.process_time()
    if method == "mode, median":
        data = _filled(data, gaps)
    elif method != "all observed":
        data = _marked(data, gaps)
        if method == "model":
            data = completed(Incomplete.of(data), Search(parents, jobs=1), seed=repeat).data
    found = learn_structure(data, score, parents, jobs=1)
    fitted = fit(with_local_models(found.structure, data, load_score(score).bind(data)), data, "m_estimate")
    return {
        "shd": compare(truth, found.structure, sid=False).shd_cpdag,
        "held_out": fitted.log_likelihood(unseen) / fresh,
        "optimal": bool(found.solution.gap == 0.0),
        "seconds": time.process_time() - begin,
    }


@cache
def truth_of(name: str) -> BayesianNetwork:
    """A bundled network, or the optimum of data with real columns."""
    if name not in ("wine", "iris"):
        return load_network(name)
    from sklearn import datasets

    bunch = getattr(datasets, f"load_{name}")()
    columns = {f"x{i}": column for i, column in enumerate(bunch.data.T)}
    data = Dataset.from_arrays({**columns, "kind": bunch.target.astype(str)})
    found = learn_structure(data, "pcartp", 2, jobs=1)
    return fit(with_local_models(found.structure, data, load_score("pcartp").bind(data)), data, "m_estimate")


def _gaps(data: Dataset, mechanism: str, share: float, generator: np.random.Generator) -> list[np.ndarray]:
    """bool[rows] per column."""
    found = []
    for v in range(data.n_variables):
        chance = np.full(data.n_rows, share)
        if mechanism == "MAR":
            before = data.columns[v - 1] if v % 2 else None
            upper = np.zeros(data.n_rows) if before is None else before > np.median(before)
            chance = np.zeros(data.n_rows) if before is None else 2 * share * np.where(upper, 1.5, 0.5)
        found.append(generator.random(data.n_rows) < chance)
    return found


def _marked(data: Dataset, gaps: Sequence[np.ndarray]) -> Dataset:
    """A missing value is a value: a level, or no number."""
    domains: list[Categorical | Real] = []
    columns = []
    for domain, column, gap in zip(data.domains, data.columns, gaps, strict=True):
        if not gap.any():
            domains.append(domain)
            columns.append(column)
        elif isinstance(domain, Categorical):
            domains.append(Categorical((*domain.levels, LEVEL)))
            columns.append(np.where(gap, len(domain.levels), column).astype(np.uint8))
        else:
            domains.append(Real(domain.low, domain.high, absent=True))
            columns.append(np.where(gap, np.nan, column))
    return Dataset(data.names, tuple(domains), tuple(columns))


def _filled(data: Dataset, gaps: Sequence[np.ndarray]) -> Dataset:
    """The commonest level, or the median."""
    columns = []
    for domain, column, gap in zip(data.domains, data.columns, gaps, strict=True):
        there = column[~gap]
        fill = np.bincount(there).argmax() if isinstance(domain, Categorical) else np.median(there)
        columns.append(np.where(gap, fill, column).astype(column.dtype))
    return Dataset(data.names, data.domains, tuple(columns))


def report(rows: Sequence[Row], folder: Path) -> str:
    """Means over repeats, and the ratio of the distances."""
    results = {_key(row): row["result"] for row in rows if row["status"] == "done"}
    parts = []
    for measure, name in (("shd", "SHD between CPDAGs"), ("held_out", "Held out, nats per row"), ("seconds", "CPU s")):
        body = []
        for group in sorted({key[:3] for key in results}):
            values = {
                m: [r[measure] for key, r in results.items() if key[:3] == group and key[4] == m] for m in METHODS
            }
            cells = [f"{np.mean(v):.2f} ± {standard_error(v):.2f}" if v else "" for v in values.values()]
            body.append([group[0], group[1], f"{group[2]:.0%}", *cells])
        parts.append(f"## {name}\n\n{table(('network', 'mechanism', 'missing', *METHODS), body)}")
    sums = {m: sum(r["shd"] for key, r in results.items() if key[4] == m) for m in METHODS}
    if sums["mode, median"]:
        ratio = sums["model"] / sums["mode, median"]
        parts.append(f"\nThe distances of the model add up to {ratio:.2f} times those of mode and median.\n")
    return "\n".join(parts)


def _key(row: Row) -> tuple[str, str, float, int, str]:
    cell = row["cell"]
    return cell["network"], cell["mechanism"], cell["share"], cell["repeat"], cell["method"]
