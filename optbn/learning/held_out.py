"""How well a learned network explains rows that it has not seen, beside simple models of the same rows.

The rows are cut into folds (as those of `cross_validate`); each is judged by what was learned from the others,
structure included. Networks are judged by the mean log P of a row: with as many parents as the answer may have, with
one at most (the best forest) and with none (every variable for itself). With a target its prediction is judged too: of
levels by log loss and the share of right answers, of numbers by the root mean squared error, beside naive Bayes, a
linear model and boosted trees in scikit-learn's usual settings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from optbn.base.errors import UnsupportedError
from optbn.data.dataset import Categorical, Dataset
from optbn.network.cpds import CPD, BinnedTableCPD, TableCPD
from optbn.network.leaves import Leaves, MixedLeaves, NormalLeaves
from optbn.network.network import BayesianNetwork
from optbn.report.report import HeldOut
from optbn.smoothing.fitting import fit

SMALLEST = 1e-12  # a probability, where its logarithm counts
Learner = Callable[[Dataset, int], BayesianNetwork]
Judged = dict[str, tuple[float, float]]
"""Of each model the log loss and the share of right answers, or the root mean squared error and nan."""


def held_out(
    data: Dataset, folds: int, seed: int, learner: Learner, size: int, target: str | None = None
) -> tuple[HeldOut, ...]:
    """A line per model, networks first; `learner` gives the network of some rows with a limit on parents."""
    simpler = {"one parent at most": 1, "no arcs": 0}
    sizes = {"networks like this one": size} | {name: k for name, k in simpler.items() if k < size}
    rows: dict[str, list[float]] = {name: [] for name in sizes}
    judged: list[Judged] = []
    if target is not None:
        import sklearn.ensemble  # a limit on threads holds for libraries that are loaded already  # noqa: F401
    for kept, left in fold_rows(data.n_rows, folds, seed):
        train, test = data.take(kept), data.take(left)
        networks = {name: learner(train, k) for name, k in sizes.items()}
        for name, network in networks.items():
            rows[name].append(network.log_likelihood(test) / len(left))
        if target is not None:
            with threadpool_limits(1):  # so few rows are not worth more threads, which wait for each other
                judged.append(_judged(networks, train, test, target))
    lines = {name: _mean_and_error(values) for name, values in rows.items()}
    for name in judged[0] if judged else ():
        lines.setdefault(name, (None, None))
    found = []
    for name, (per_row, error) in lines.items():
        loss, right = np.mean([fold[name] for fold in judged], axis=0).tolist() if judged else (None, None)
        if target is not None and not isinstance(data.domain(target), Categorical):
            found.append(HeldOut(name, per_row, error, rmse=loss))
        else:
            found.append(HeldOut(name, per_row, error, log_loss=loss, right=right))
    return tuple(found)


def _mean_and_error(values: list[float]) -> tuple[float | None, float | None]:
    return float(np.mean(values)), float(np.std(values, ddof=1) / np.sqrt(len(values)))


def _judged(networks: dict[str, BayesianNetwork], train: Dataset, test: Dataset, target: str) -> Judged:
    """What the networks and simple models predict of the target in the test rows, against what it is."""
    if isinstance(train.domain(target), Categorical):
        return _levels(networks, train, test, target)
    from sklearn.ensemble import HistGradientBoostingRegressor
    from sklearn.linear_model import LinearRegression

    y, truth = train.column(target), test.column(target)
    found = {name: _squared(network.predict(target, test), truth) for name, network in networks.items()}
    known = ~np.isnan(y)
    for name, model, hot in (
        ("linear regression", LinearRegression(), True),
        ("boosted trees", HistGradientBoostingRegressor(random_state=0), False),
    ):
        model.fit(_numbers(train, target, hot)[known], y[known])
        found[name] = _squared(model.predict(_numbers(test, target, hot)), truth)
    return found


def _levels(networks: dict[str, BayesianNetwork], train: Dataset, test: Dataset, target: str) -> Judged:
    """The same for a target of levels."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    domain, y, truth = train.domain(target), train.column(target), test.column(target)
    assert isinstance(domain, Categorical)
    others = [name for name in train.names if name != target]
    naive = fit(_naive(train, target), train, "m_estimate")
    found = {
        name: _logged(network.predict_proba(target, test), truth)
        for name, network in {**networks, "naive Bayes": naive}.items()
    }
    if len(np.unique(y)) < 2 or not others:
        return found
    for name, model, hot in (
        ("logistic regression", make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)), True),
        ("boosted trees", HistGradientBoostingClassifier(random_state=0), False),
    ):
        model.fit(_numbers(train, target, hot), y)
        chances = np.zeros((test.n_rows, len(domain.levels)))
        chances[:, model.classes_] = model.predict_proba(_numbers(test, target, hot))
        found[name] = _logged(chances, truth)
    return found


def _naive(data: Dataset, target: str) -> BayesianNetwork:
    """The shape of naive Bayes: every other variable depends on the target alone, numbers by a normal law each."""
    classes = data.domain(target)
    assert isinstance(classes, Categorical)
    k = len(classes.levels)
    cpds: list[CPD] = []
    for name, domain in zip(data.names, data.domains, strict=True):
        if name == target:
            cpds.append(TableCPD(classes, (), (), np.full(k, 1 / k)))
        elif isinstance(domain, Categorical):
            r = len(domain.levels)
            cpds.append(TableCPD(domain, (target,), (classes,), np.full((k, r), 1 / r)))
        else:
            law = NormalLeaves(np.zeros(k), np.ones(k))
            leaves: Leaves = MixedLeaves(np.full(k, 0.5), law) if domain.absent else law
            cpds.append(BinnedTableCPD(domain, (target,), (classes,), (np.array([]),), leaves))
    return BayesianNetwork(data.names, data.domains, tuple(cpds))


def _numbers(data: Dataset, target: str, hot: bool) -> NDArray[np.float64]:
    """The other columns as scikit-learn takes them: with `hot` a column per level but the first, and 0 and a mark where
    there is no number; else codes, and NaN."""
    columns: list[NDArray[Any]] = []
    for name, domain in zip(data.names, data.domains, strict=True):
        column = data.column(name)
        if name == target:
            continue
        if isinstance(domain, Categorical) and hot:
            columns += [column == code for code in range(1, len(domain.levels))]
        elif hot:
            columns += [np.nan_to_num(column), np.isnan(column)]
        else:
            columns.append(column)
    return np.column_stack(columns).astype(np.float64) if columns else np.zeros((data.n_rows, 1))


def _logged(chances: NDArray[np.float64], truth: NDArray[Any]) -> tuple[float, float]:
    """The mean of -log P(what it is), and how often the likeliest is it."""
    of_truth = np.maximum(chances[np.arange(len(truth)), truth], SMALLEST)
    return float(-np.log(of_truth).mean()), float((chances.argmax(axis=1) == truth).mean())


def _squared(guess: NDArray[np.float64], truth: NDArray[np.float64]) -> tuple[float, float]:
    """The root mean squared error, where there is a number."""
    return float(np.sqrt(np.nanmean((guess - truth) ** 2))), np.nan


def fold_rows(n: int, folds: int, seed: int) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """(the rows to learn from, the rows held out) of each fold, ascending."""
    if not 2 <= folds <= n:
        raise UnsupportedError(f"{folds} folds of {n} rows; choose 2 to {n}")
    order = np.random.default_rng(seed).permutation(n)
    for fold in range(folds):
        held_out = np.sort(order[fold::folds])
        yield np.setdiff1d(order, held_out), held_out
