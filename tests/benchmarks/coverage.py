"""How often 90 % intervals hold the truth: of parameters, of answers to questions, and of predictions.

Twice: of truths drawn from the smoother's own prior, where nine in ten must be held, for the arithmetic is all that is
on trial; and of published networks, where the prior is on trial, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

import optbn
from optbn.classifiers import NaiveBayes
from optbn.network.intervals import beta_interval
from optbn.network.network import BayesianNetwork
from optbn.smoothing import load_smoother
from optbn.smoothing.protocol import Smoother
from optbn.smoothing.tree import CountTree
from tests.benchmarks import Figure
from tests.classifiers.test_intervals import Truth, frame
from tests.naive.intervals import parameter_interval

NETWORKS = ("asia", "sachs", "child", "alarm", "insurance", "water", "hailfinder", "hepar2", "win95pts")
ROWS = (200, 2000)
SETS = 6
QUESTIONS = 20
TRIALS = 240
SMOOTHERS = (
    ("hierarchical", {}), ("hdp", {"sweeps": 300}), ("bdeu", {}), ("bdeu", {"ess": 10.0}),
    ("laplace", {}),
)  # fmt: skip


TABLES, TABLE_ROWS, SHAPE = 400, 60, (3, 4, 3)
"""Tables drawn from a prior, their rows, and their sizes: two parents and a child."""


def calibration_figures() -> Iterator[Figure]:
    """Tables drawn from the smoother's own prior; intervals of all their probabilities, also of configurations that
    were never seen."""
    for smoother, settings in SMOOTHERS:
        chosen = load_smoother(smoother, **settings)
        inside = []
        for seed in range(TABLES if smoother != "hdp" else TABLES // 2):
            rng = np.random.default_rng(seed)
            truth = _from_prior(smoother, settings, rng)
            inside.append(_inside(truth, *_table_interval(chosen, truth, rng)))
        yield Figure(
            f"90 % intervals of parameters drawn from its prior that hold them, {_title(smoother, settings)}",
            100 * float(np.concatenate(inside).mean()), unit="%", note=f"{len(inside)} tables of {TABLE_ROWS} rows",
        )  # fmt: skip


def _from_prior(smoother: str, settings: dict, rng: np.random.Generator) -> np.ndarray:
    """float64[cells, K]: the rows of a table."""
    cells, K = SHAPE[0] * SHAPE[1], SHAPE[2]
    if smoother == "bdeu":
        return _dirichlet(np.full((cells, K), settings.get("ess", 1.0) / (cells * K)), rng)
    if smoother == "laplace":
        return _dirichlet(np.ones((cells, K)), rng)
    if smoother == "hierarchical":
        s, alpha0 = K * np.exp(1.5 * rng.normal()), np.exp(1.5 * rng.normal())
        return _dirichlet(np.tile(s * _dirichlet(np.full((1, K), alpha0), rng), (cells, 1)), rng)
    alpha = rng.gamma(2.0, 1.0, 2)  # hdp: one for each level of the tree
    rows = _dirichlet(np.full((1, K), 2.0 / K), rng)
    for level, size in enumerate(SHAPE[:2]):
        rows = _dirichlet(np.repeat(alpha[level] * rows, size, axis=0), rng)
    return rows


def _dirichlet(shape: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A draw for each row, by logarithms: of a tiny shape a Gamma variate is below the smallest number there is."""
    logs = np.log(rng.gamma(shape + 1.0)) + np.log(rng.random(shape.shape)) / np.maximum(shape, 1e-300)
    rows = np.exp(np.maximum(logs - logs.max(axis=1, keepdims=True), -700.0))
    return rows / rows.sum(axis=1, keepdims=True)


def _table_interval(smoother: Smoother, truth: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    cells = rng.multinomial(TABLE_ROWS, rng.dirichlet(np.ones(len(truth))))
    counts = np.array([rng.multinomial(n, p) for n, p in zip(cells, truth, strict=True)], dtype=float)
    contexts = np.stack(np.unravel_index(np.arange(len(truth)), SHAPE[:2]), axis=1)
    tree = CountTree.from_configurations(contexts, counts, SHAPE[:2])
    estimate, nodes = smoother.fit(tree, rng), tree.cells()
    p, worth = estimate.at(tree, nodes), estimate.precision_at(nodes, tree.is_leaf[nodes])
    return beta_interval(p, p * (1.0 - p) / (worth[:, None] + 1.0), 0.9)


def _title(smoother: str, settings: dict) -> str:
    return " ".join([smoother, *(f"{k}={v:g}" for k, v in settings.items() if k == "ess")])


def prediction_figures() -> Iterator[Figure]:
    """Naive Bayes networks of four attributes and 300 rows: intervals of `predict_proba`."""
    for smoother in ("hdp", "hierarchical", "laplace", "bdeu", "m_estimate"):
        inside = []
        for seed in range(TRIALS):
            rng = np.random.default_rng(seed)
            truth = Truth(2 + seed % 3, rng)
            x, y = truth.sample(300)
            new = truth.sample(100)[0]
            low, high = NaiveBayes(smoother=smoother).fit(frame(x), y).predict_interval(frame(new), 0.9)
            inside.append(float(_inside(truth.posterior(new), low, high).mean()))
        yield Figure(
            f"90 % intervals of predict_proba that hold the truth, naive Bayes, {smoother}",
            100 * float(np.mean(inside)), unit="%", note=f"± {_error(inside):.1f}, {TRIALS} sets of 300 rows",
        )  # fmt: skip


def _error(shares: Sequence[float]) -> float:
    """The standard error of their mean, in percent: answers of one set of rows err together, sets do not."""
    return 100 * float(np.std(shares) / np.sqrt(len(shares)))


def coverage_figures() -> Iterator[Figure]:
    """Published networks, with their probabilities of 0 and 1.

    Per smoother the mean over networks and numbers of rows, the worst and the best of which the note tells.
    """
    for smoother, settings in SMOOTHERS:
        cells = [_covered(name, rows, smoother, settings) for name in NETWORKS for rows in ROWS]
        title = _title(smoother, settings)
        for what, of in zip(("parameters", "answers to P(A | B, C)"), zip(*cells, strict=True), strict=True):
            shares = 100 * np.mean(of, axis=1)
            note = f"± {_error([one for sets in of for one in sets]):.1f}; "
            note += f"from {min(shares):.1f} to {max(shares):.1f} over {len(cells)} cells"
            yield Figure(
                f"90 % intervals of {what} that hold the truth, {title}", float(shares.mean()), unit="%", note=note
            )


def _covered(name: str, rows: int, smoother: str, settings: dict) -> tuple[list[float], list[float]]:
    """The shares of parameters and of answers whose intervals hold the truth, for each set of rows."""
    truth, rng = optbn.load_network(name), np.random.default_rng(rows)
    parameters, answers = [], []
    for seed in range(SETS):
        network = optbn.fit(truth, truth.sample(rows, seed), smoother, **settings)
        inside = [
            _inside(truth.cpd(variable).leaves.probabilities, *parameter_interval(network, variable, 0.9))
            for variable in truth.names
        ]
        parameters.append(float(np.concatenate(inside).mean()))
        inside = []
        for _ in range(QUESTIONS):
            target, evidence = _question(truth, rng)
            found = network.query(target, evidence, interval=0.9)
            inside.append(_inside(truth.query(target, evidence).probabilities, found.low, found.high))
        answers.append(float(np.concatenate(inside).mean()))
    return parameters, answers


def _question(truth: BayesianNetwork, rng: np.random.Generator) -> tuple[str, dict[str, str]]:
    """A variable, and the values of two others in a row of the truth."""
    row = truth.sample(1, int(rng.integers(1 << 30)))
    target, *given = (truth.names[i] for i in rng.choice(truth.n_variables, 3, replace=False))
    return target, {v: truth.domain(v).levels[row.column(v)[0]] for v in given}


def _inside(p: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    return ((low <= p) & (p <= high)).ravel()


def measure() -> Iterator[Figure]:
    """All figures of the room."""
    yield from calibration_figures()
    yield from coverage_figures()
    yield from prediction_figures()
