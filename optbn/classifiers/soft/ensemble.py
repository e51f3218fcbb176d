"""From rows to fitted members: structures drawn, strengths chosen, everything trained, in threads.

What is drawn depends on the content of rows and not on their order, and a row of weight 2 is two rows: equal rows are
one, in the order of a hash of what is in them, and folds are dealt by weight.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn.classifiers.combine import best_power
from optbn.classifiers.discriminative.rows import distinct
from optbn.classifiers.discriminative.strength import folds
from optbn.classifiers.soft.member import Mixture, Part, SoftNetwork
from optbn.classifiers.soft.places import Places
from optbn.classifiers.soft.structure import Resolution, Structure, even_structure, random_structure
from optbn.classifiers.soft.training import FINE, Data, Run, Strengths, Trainee, choose, together
from optbn.classifiers.source import Sample

FOLDS = 5
MANY = 5_000
"""Rows from which on finer resolutions are tried."""

FINER: tuple[Resolution, ...] = (Resolution(), Resolution(24, True, 600))
"""What is tried for many rows."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """power     that suits the rows left out
    left_out  float64[rows, C], the members' predictions for `rows` that they were not trained on
    """

    mixture: Mixture
    power: float
    strengths: Strengths
    resolution: Resolution | None
    left_out: NDArray[np.float64]
    rows: NDArray[np.int64]


def prepared(sample: Sample, n_classes: int) -> tuple[Places, Data]:
    """The rows as places, equal ones together."""
    table, classes, weights = sample
    places = Places.of(table, weights)
    found = places(table)
    found[np.isnan(found)] = np.nan  # one kind of it: equal rows have equal bits
    bits, classes, weights = distinct(np.ascontiguousarray(found.T).view(np.int64), classes, weights)
    found = np.ascontiguousarray(np.ascontiguousarray(bits).view(np.float64).T)
    return places, Data(found, classes, weights, n_classes)


def in_threads(n_jobs: int | None) -> Run:
    """A function that applies another one to every item, in threads."""
    from sklearn.utils.parallel import Parallel, delayed

    def run(work: Any, items: Sequence[Any]) -> list[Any]:
        return list(Parallel(n_jobs=n_jobs, prefer="threads")(delayed(work)(item) for item in items))

    return run


def dealt(data: Data, rounds: int, seed: np.random.SeedSequence) -> list[NDArray[np.float64]]:
    """Per member the weights to learn from, without one of five folds, each in its turn; of one row, all."""
    found: list[NDArray[np.float64]] = []
    for stream in seed.spawn(rounds):
        for out in folds(data.classes, data.weights, FOLDS, stream).T:
            inside = data.weights - out
            inside[inside < 1e-9] = 0.0
            found.append(inside if inside.any() else data.weights)
    return found


def left_out(parts: Sequence[Part], data: Data, inside: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """The parts' mean prediction for rows that they leave out, float64[rows, C], NaN where none leaves a row out.

    inside  the weights that parts learn from: part t has those of number t modulo 5
    """
    total, times = np.zeros((len(data.classes), data.n_classes)), np.zeros(len(data.classes))
    for fold, weights in enumerate(inside):
        out = np.flatnonzero(data.weights - weights > 1e-9)
        some = np.ascontiguousarray(data.places[:, out])
        for part in parts[fold :: len(inside)]:
            total[out] += part.at(some)
            times[out] += 1.0
    return np.where(times > 0, 1.0, np.nan)[:, None] * total / np.maximum(times, 1.0)[:, None]


def fit_ensemble(
    places: Places, data: Data, n_members: int, k: int, resolutions: Sequence[Resolution],
    seed: np.random.SeedSequence, n_jobs: int | None,
) -> Fitted:  # fmt: skip
    """Members with random structures; of several resolutions the one that rows left out favour."""
    deal, draw = seed.spawn(2)
    inside = dealt(data, -(-n_members // FOLDS), deal)[:n_members]
    streams = draw.spawn(n_members)
    run = in_threads(n_jobs)

    best: tuple[float, Resolution, list[Trainee], Strengths] | None = None
    for resolution in resolutions:

        def begun(m: int, resolution: Resolution = resolution) -> Trainee:
            structure = random_structure(
                places.scales, data.places, data.classes, inside[m], data.n_classes, k, resolution,
                np.random.default_rng(streams[m]),
            )  # fmt: skip
            return Trainee(data, structure, inside[m])

        trainees = run(begun, range(n_members))
        found = choose(data, trainees, run)
        loss = min(found.losses.values())
        if best is None or loss < best[0]:
            best = (loss, resolution, trainees, found)
    assert best is not None
    _, resolution, trainees, strengths = best
    return _finished(places, data, trainees, strengths, resolution, run)


def fit_single(
    places: Places, data: Data, k: int, n_knots: int, seed: np.random.SeedSequence, n_jobs: int | None
) -> Fitted:
    """One member, whose strengths are chosen by five copies that leave a fold out each."""
    structure: Structure = even_structure(
        places.scales, data.places, data.classes, data.weights, data.n_classes, k, n_knots
    )
    run = in_threads(n_jobs)
    copies = [Trainee(data, structure, inside) for inside in dealt(data, 1, seed)]
    strengths = choose(data, copies, run)
    fitted = _finished(places, data, copies, strengths, None, run, keep=1)
    return fitted


def _finished(
    places: Places, data: Data, trainees: list[Trainee], strengths: Strengths, resolution: Resolution | None, run: Run,
    keep: int | None = None,
) -> Fitted:  # fmt: skip
    """Train all members to the end: first without the rows they leave out, which gives the power, then with all rows.

    keep  how many of the members the model consists of; None: all
    """
    run(lambda one: one.train(strengths.strength, strengths.ratio, FINE), trainees)
    left_out, rows = together(data, trainees, run)
    power = best_power(left_out, data.classes[rows], data.weights[rows]) if len(rows) else 1.0

    def again(one: Trainee) -> SoftNetwork:
        one.everything(data)
        return one.train(strengths.strength, strengths.ratio, FINE).network()

    networks = run(again, trainees[:keep])
    mixture = Mixture(places, tuple(networks), np.full(len(networks), 1.0 / len(networks)))
    return Fitted(mixture, power, strengths, resolution, left_out, rows)
