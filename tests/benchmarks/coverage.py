"""How often intervals of fitted networks hold the truth they were fitted to: of parameters, and of answers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import optbn
from optbn.network.intervals import parameter_interval
from optbn.network.network import BayesianNetwork
from tests.benchmarks import Figure

NETWORKS = ("asia", "child", "alarm", "insurance")
ROWS = (200, 2000)
SETS = 5
QUESTIONS = 12
SMOOTHERS = (
    ("hierarchical", {}), ("hdp", {"sweeps": 300}), ("bdeu", {}), ("bdeu", {"ess": 10.0}),
    ("laplace", {}),
)  # fmt: skip


def coverage_figures() -> Iterator[Figure]:
    """90 % intervals; probabilities that are 0 or 1 in truth are left out, for no interval of a posterior reaches them.

    Per smoother the mean over networks and numbers of rows, the worst and the best of which the note tells.
    """
    for smoother, settings in SMOOTHERS:
        cells = [_covered(name, rows, smoother, settings) for name in NETWORKS for rows in ROWS]
        title = " ".join([smoother, *(f"{k}={v:g}" for k, v in settings.items() if k == "ess")])
        for what, shares in zip(("parameters", "answers to P(A | B, C)"), zip(*cells, strict=True), strict=True):
            note = f"from {100 * min(shares):.1f} to {100 * max(shares):.1f} over {len(cells)} cells"
            yield Figure(
                f"90 % intervals of {what} that hold the truth, {title}", 100 * np.mean(shares), unit="%", note=note
            )


def _covered(name: str, rows: int, smoother: str, settings: dict) -> tuple[float, float]:
    """The shares of parameters and of answers whose intervals hold the truth."""
    truth, rng = optbn.load_network(name), np.random.default_rng(rows)
    parameters, answers = [], []
    for seed in range(SETS):
        network = optbn.fit(truth, truth.sample(rows, seed), smoother, **settings)
        for variable in truth.names:
            p = truth.cpd(variable).leaves.probabilities
            parameters.append(_inside(p, *parameter_interval(network, variable, 0.9)))
        for _ in range(QUESTIONS):
            target, evidence = _question(truth, rng)
            found = network.query(target, evidence, interval=0.9)
            answers.append(_inside(truth.query(target, evidence).probabilities, found.low, found.high))
    return float(np.concatenate(parameters).mean()), float(np.concatenate(answers).mean())


def _question(truth: BayesianNetwork, rng: np.random.Generator) -> tuple[str, dict[str, str]]:
    """A variable, and the values of two others in a row of the truth."""
    row = truth.sample(1, int(rng.integers(1 << 30)))
    target, *given = (truth.names[i] for i in rng.choice(truth.n_variables, 3, replace=False))
    return target, {v: truth.domain(v).levels[row.column(v)[0]] for v in given}


def _inside(p: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    open_ended = (p > 0) & (p < 1)
    return ((low <= p) & (p <= high))[open_ended]
