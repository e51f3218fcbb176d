"""How likely are new rows under the optimal network of each kind of local model?

A cell draws rows to learn from and as many others to judge by (optbn/experiments/draws.py), finds the optimal network,
and reports the mean log density of the other rows in the units of the file. The methods:

pcartp, pcart-avg, ftp   our scores, with Student-t leaves and m-estimates; pcart-avg averages over all trees
bins                     real columns in five intervals with as many rows each, BDeu; uniform within an interval, with
                         exponential tails beyond the rows seen
conditional Gaussian     linear regressions on real parents in every configuration of the discrete ones, BIC; discrete
                         variables have discrete parents only (Lauritzen 1992; Andrews, Ramsey, Cooper 2018)
copula                   the same after each real column has become normal by a kernel estimate of its distribution, so
                         that marginals are free and dependences are those of a Gaussian copula in every configuration
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from optbn.experiments.verdicts import Finding, less, summary, wilcoxon_of
from optbn.report.tables import table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from optbn.data.dataset import Dataset

Row = Mapping[str, Any]
BINS = 5
TAIL = 0.01
"""The share of a marginal that lies far beyond the rows seen: of an outermost interval, of a kernel estimate."""
LEAST_VARIANCE = 1e-4
"""Of a regression's residuals in BIC, as a share of the column's variance."""
SILVERMAN = 0.9
"""His rule for the bandwidth of a kernel estimate."""


def cell(
    data: str, repeat: int, method: str, max_parents: int, rows: int, columns: int, most_levels: int
) -> dict[str, Any]:
    """One draw of rows, one method."""
    from results.draws import two_draws

    learned, fresh = two_draws(data, repeat, rows, columns, most_levels)
    with np.errstate(divide="ignore"):
        return _METHODS.get(method, _ours)(learned, fresh, method, max_parents)


def _ours(learned: Dataset, fresh: Dataset, method: str, max_parents: int) -> dict[str, Any]:
    """The optimal network of one of our scores."""
    from optbn.learning.averaged import average_trees
    from optbn.learning.local import with_local_models
    from optbn.learning.structure import learn_structure
    from optbn.scores import load_score
    from optbn.smoothing.fitting import fit

    found = learn_structure(learned, method, max_parents, jobs=1, time_limit=120)
    if method == "pcart-avg":
        fitted = average_trees(found.structure, learned)
    else:
        shapes = with_local_models(found.structure, learned, load_score(method).bind(learned))
        fitted = fit(shapes, learned, "m_estimate", leaves="student")
    return {"density": fitted.log_likelihood(fresh) / fresh.n_rows, "optimal": bool(found.solution.gap == 0.0)}


def _bins(learned: Dataset, fresh: Dataset, method: str, max_parents: int) -> dict[str, Any]:
    """Intervals first, then levels alone."""
    from optbn.data.dataset import Categorical, Dataset, Real
    from optbn.learning.structure import learn_structure
    from optbn.smoothing.fitting import fit

    domains, coded, outside = [], ([], []), np.zeros(fresh.n_rows)
    for name, domain in zip(learned.names, learned.domains, strict=True):
        mine, new = learned.column(name), fresh.column(name)
        if isinstance(domain, Real):
            cuts = np.unique(np.quantile(mine, np.arange(1, BINS) / BINS))
            cuts = cuts[(cuts > mine.min()) & (cuts < mine.max())]
            outside += _within(mine, cuts, new)
            mine, new = np.searchsorted(cuts, mine), np.searchsorted(cuts, new)
            domain = Categorical(tuple(str(i) for i in range(len(cuts) + 1)))
        domains.append(domain)
        for codes, column in zip(coded, (mine, new), strict=True):
            codes.append(column.astype(np.uint8))
    train, test = (Dataset(learned.names, tuple(domains), tuple(codes)) for codes in coded)
    found = learn_structure(train, "bdeu", max_parents, jobs=1, time_limit=120)
    fitted = fit(found.structure, train, "m_estimate")
    density = float(np.mean(fitted.log_likelihood_rows(test) + outside))
    return {"density": density, "optimal": bool(found.solution.gap == 0.0)}


def _within(mine: NDArray[Any], cuts: NDArray[Any], new: NDArray[Any]) -> NDArray[Any]:
    """The log density of new values within their intervals."""
    edges = np.concatenate([[mine.min()], cuts, [mine.max()]])
    width = np.maximum(np.diff(edges), 1e-9 * (np.ptp(mine) or 1.0))
    at = np.searchsorted(cuts, new)
    beyond = np.maximum(edges[0] - new, new - edges[-1])
    outer = (at == 0) | (at == len(cuts))
    share = np.where(outer, 1.0 - TAIL * (1 + (len(cuts) == 0)), 1.0)
    inside = np.log(share / width[at])
    return np.where(beyond > 0, np.log(TAIL / width[at]) - beyond / width[at], inside)


class _Regressions(NamedTuple):
    """A real variable given its family: of each configuration of the discrete parents coefficients and variance."""

    coefficients: NDArray[Any]
    variance: NDArray[Any]


def _gaussian(learned: Dataset, fresh: Dataset, method: str, max_parents: int) -> dict[str, Any]:
    """The optimal conditional Gaussian network by BIC; `copula` makes the marginals normal first."""
    from optbn.data.dataset import Categorical
    from optbn_solvers import solve

    train, test, beside = {}, {}, np.zeros(fresh.n_rows)
    levels = {}
    for name, domain in zip(learned.names, learned.domains, strict=True):
        mine, new = learned.column(name), fresh.column(name)
        if isinstance(domain, Categorical):
            levels[name] = len(domain.levels)
        elif method == "copula":
            (mine, _), (new, jacobian) = _normal_scores(mine, mine), _normal_scores(mine, new)
            beside += jacobian
        train[name], test[name] = mine, new
    scores: dict[str, dict[tuple[str, ...], float]] = {}
    for child in train:
        others = [name for name in train if name != child and (child not in levels or name in levels)]
        sets = [s for size in range(max_parents + 1) for s in itertools.combinations(others, size)]
        scores[child] = {parents: _bic(train, levels, child, parents) for parents in sets}
    solution = solve(scores)
    graph = _parents_of(scores, solution)
    density = beside + sum(_log_density(train, test, levels, child, parents) for child, parents in graph.items())
    return {"density": float(np.mean(density)), "optimal": bool(solution.gap == 0.0)}


def _parents_of(scores: Mapping[str, Any], solution: Any) -> dict[str, tuple[str, ...]]:
    from optbn_solvers.base.instance import table_from

    graph = table_from(scores).graph(solution.choice)
    return {child: tuple(graph[child]) for child in scores}


def _normal_scores(mine: NDArray[Any], new: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """New values as normal scores by the kernel estimate of the distribution of `mine`, and the log Jacobian.

    A share of TAIL is a Student-t distribution, for values far beyond the rows seen.
    """
    from scipy.special import log_ndtr, logsumexp, ndtri_exp
    from scipy.stats import t

    quartiles = np.subtract(*np.quantile(mine, [0.75, 0.25])) / 1.349
    spread = min((x for x in (mine.std(), quartiles) if x > 0), default=abs(float(mine[0])) or 1.0)
    width = SILVERMAN * spread * len(mine) ** -0.2
    wide = t(3, mine.mean(), max(mine.std(), width))

    def mixed(kernels: NDArray[Any], tail: NDArray[Any]) -> NDArray[Any]:
        near = logsumexp(kernels, axis=1) - math.log(len(mine))
        return np.logaddexp(near + math.log1p(-TAIL), tail + math.log(TAIL))

    z, slope = np.empty(len(new)), np.empty(len(new))
    for start in range(0, len(new), 500):  # a block of a million kernels at a time
        part = slice(start, start + 500)
        u = (new[part, None] - mine[None, :]) / width
        below, above = mixed(log_ndtr(u), wide.logcdf(new[part])), mixed(log_ndtr(-u), wide.logsf(new[part]))
        z[part] = np.where(below < above, ndtri_exp(np.minimum(below, -0.1)), -ndtri_exp(np.minimum(above, -0.1)))
        slope[part] = mixed(-0.5 * u * u - math.log(width * math.sqrt(2 * math.pi)), wide.logpdf(new[part]))
    return z, slope + 0.5 * z * z + 0.5 * math.log(2 * math.pi)


def _configurations(columns: Mapping[str, Any], levels: Mapping[str, int], parents: Sequence[str]) -> NDArray[Any]:
    discrete = [name for name in parents if name in levels]
    code = np.zeros(len(next(iter(columns.values()))), dtype=np.int64)
    for name in discrete:
        code = code * levels[name] + columns[name]
    return code


def _count(levels: Mapping[str, int], parents: Sequence[str]) -> int:
    return math.prod(levels[name] for name in parents if name in levels)


def _bic(train: Mapping[str, Any], levels: Mapping[str, int], child: str, parents: Sequence[str]) -> float:
    """Of one family."""
    n, q = len(train[child]), _count(levels, parents)
    likelihood = float(_log_density(train, train, levels, child, parents, m=0.0).sum())
    real = sum(name not in levels for name in parents)
    free = q * ((levels[child] - 1) if child in levels else real + 2)
    return likelihood - 0.5 * math.log(n) * free


def _log_density(
    train: Mapping[str, Any],
    test: Mapping[str, Any],
    levels: Mapping[str, int],
    child: str,
    parents: Sequence[str],
    m: float = 1.0,
) -> NDArray[Any]:
    """Of the child in the rows of `test`, with parameters from those of `train`."""
    at, new_at = (_configurations(columns, levels, parents) for columns in (train, test))
    y, new_y = train[child], test[child]
    if child in levels:
        count = np.zeros((_count(levels, parents), levels[child]))
        np.add.at(count, (at, y), 1.0)
        prior = (np.bincount(y, minlength=levels[child]) + 1 / levels[child]) / (len(y) + 1)
        seen = count.sum(axis=1, keepdims=True)
        chances = (count + m * prior) / np.maximum(seen + m, 1e-300)
        return np.log(np.where(seen + m > 0, chances, prior)[new_at, new_y])
    design, new_design = (
        np.column_stack([np.ones(len(columns[child])), *(columns[name] for name in parents if name not in levels)])
        for columns in (train, test)
    )
    fitted = _regressed(design, y, at, _count(levels, parents), m)
    mean = np.einsum("ij,ij->i", new_design, fitted.coefficients[new_at])
    variance = fitted.variance[new_at]
    return -0.5 * (np.log(2 * math.pi * variance) + (new_y - mean) ** 2 / variance)


def _regressed(design: NDArray[Any], y: NDArray[Any], at: NDArray[Any], count: int, m: float) -> _Regressions:
    """Least squares in every configuration; those with too few rows have the regression of all rows.

    The variance is as of `m` more rows with the column's own variance.
    """
    own = max(float(y.var()), 1e-300)

    def one(rows: NDArray[Any]) -> tuple[NDArray[Any], float]:
        coefficients = np.linalg.lstsq(design[rows], y[rows], rcond=1e-10)[0]
        squares = float(((y[rows] - design[rows] @ coefficients) ** 2).sum())
        return coefficients, max(LEAST_VARIANCE * own, (squares + m * own) / (rows.sum() + m))

    everything = one(np.ones(len(y), dtype=bool))
    each = [one(at == c) if (at == c).sum() > 2 * design.shape[1] else everything for c in range(count)]
    return _Regressions(np.array([b for b, _ in each]), np.array([v for _, v in each]))


_METHODS: dict[str, Callable[[Dataset, Dataset, str, int], dict[str, Any]]] = {
    "bins": _bins,
    "conditional Gaussian": _gaussian,
    "copula": _gaussian,
}


def findings(rows: Sequence[Row]) -> list[Finding]:
    """Optimal trees against every other model, over data sets."""
    means = _means(rows)
    found = []
    for first in ("pcartp", "pcart-avg"):
        for second in dict.fromkeys(method for _, method in means):
            both = [data for data, method in means if method == first and (data, second) in means]
            if second in ("pcartp", "pcart-avg") or len(both) < 2:
                continue
            test = wilcoxon_of([-means[data, first] for data in both], [-means[data, second] for data in both])
            claim = f"New rows are more likely under {first} than under {second}"
            figure = f"{-test.difference:+.2f} nats a row over {test.pairs} data sets (p = {test.p:.2g})"
            found.append(Finding("PCART", claim, less([test]), figure))
    return found


def report(rows: Sequence[Row], folder: Path) -> str:
    """The verdicts, and the means by data set."""
    means = _means(rows)
    methods = list(dict.fromkeys(method for _, method in means))
    body = [
        (data, *(f"{means[data, method]:.3f}" if (data, method) in means else "" for method in methods))
        for data in dict.fromkeys(data for data, _ in means)
    ]
    done = [row["result"] for row in rows if row["status"] == "done"]
    proved = sum(result["optimal"] for result in done)
    return (
        f"{summary(findings(rows))}\nMean log density of a new row (nats; larger is better), mean over the draws. In "
        f"{proved} of {len(done)} cells the bound of the network's score equals its score. What the methods are stands "
        f"at the head of study.py. Where many rows share one value a density has no bound: a "
        "method may gain there without end by a narrow peak, and the copula's kernels do.\n\n"
        f"{table(('data', *methods), body)}"
    )


def _means(rows: Sequence[Row]) -> dict[tuple[str, str], float]:
    """(data, method) -> the mean over the draws that all methods have finished."""
    by: dict[tuple[str, int], dict[str, float]] = {}
    for row in rows:
        if row["status"] == "done":
            cell = row["cell"]
            by.setdefault((cell["data"], cell["repeat"]), {})[cell["method"]] = row["result"]["density"]
    methods = {method for each in by.values() for method in each}
    whole = {key: each for key, each in by.items() if each.keys() == methods}
    values: dict[tuple[str, str], list[float]] = {}
    for (data, _), each in whole.items():
        for method, density in each.items():
            values.setdefault((data, method), []).append(density)
    return {key: float(np.mean(densities)) for key, densities in values.items()}
