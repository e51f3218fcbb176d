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
from sklearn.utils.parallel import Parallel, delayed

from optbn.classifiers.combine import best_power
from optbn.classifiers.discriminative.rows import distinct
from optbn.classifiers.discriminative.strength import folds
from optbn.classifiers.soft.member import Mixture, Part
from optbn.classifiers.soft.places import Places
from optbn.classifiers.soft.structure import Resolution, Structure, even_structure, random_structure
from optbn.classifiers.soft.training import FINE, Data, Run, Strengths, Trainee, choose, together
from optbn.classifiers.soft.whole import Whole
from optbn.classifiers.source import Sample

FOLDS = 5
MANY = 5_000
"""Rows from which on finer resolutions are tried."""

STUDIED = 10_000
"""Rows by which pairs, resolution and strengths are chosen, where there are more; all rows then give the scores."""

FINER: tuple[Resolution, ...] = (Resolution(entries=1400), Resolution(24, True, 600))
"""What is tried for many rows: more pairs where there are many classes, or more knots."""


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


def prepared(places: Places, sample: Sample, n_classes: int) -> Data:
    """The rows as places, equal ones together."""
    table, classes, weights = sample
    found = places(table)
    found[np.isnan(found)] = np.nan  # one kind of it: equal rows have equal bits
    bits, classes, weights = distinct(np.ascontiguousarray(found.T).view(np.int64), classes, weights)
    found = np.ascontiguousarray(np.ascontiguousarray(bits).view(np.float64).T)
    return Data(found, classes, weights, n_classes)


def in_threads(n_jobs: int | None) -> Run:
    """A function that applies another one to every item, in threads."""

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
    seed: np.random.SeedSequence, n_jobs: int | None, whole: Whole | None = None,
) -> Fitted:  # fmt: skip
    """Members with random structures; of several resolutions the one that rows left out favour.

    Pairs, knots and strengths come from STUDIED rows: half of adult is as well predicted in two thirds of the time.
    """
    deal, draw, few = seed.spawn(3)
    rounds = -(-n_members // FOLDS)
    inside = dealt(data, rounds, deal)[:n_members]
    some, within = data, inside
    if len(data.classes) > STUDIED:
        some = data.take(np.sort(np.random.default_rng(few).choice(len(data.classes), STUDIED, replace=False)))
        within = dealt(some, rounds, deal)[:n_members]
    streams = draw.spawn(n_members)
    run = in_threads(n_jobs)

    def attempt(resolution: Resolution) -> tuple[Strengths, list[Trainee]]:
        def begun(m: int) -> Trainee:
            structure = random_structure(
                places.scales, some.places, some.classes, within[m], some.n_classes, k, resolution,
                np.random.default_rng(streams[m]),
            )  # fmt: skip
            return Trainee(some, structure, within[m])

        trainees = run(begun, range(n_members))
        return choose(some, trainees, run), [trainee.forget() for trainee in trainees]

    found = [attempt(resolution) for resolution in resolutions]
    best = int(np.argmin([min(strengths.losses.values()) for strengths, _ in found]))
    strengths, members = found[best]
    trainees, resolution = run(lambda m: members[m].begin(data, inside[m]), range(n_members)), resolutions[best]
    return _finished(places, data, trainees, strengths, resolution, run, whole)


def fit_single(
    places: Places, data: Data, k: int, n_knots: int, seed: np.random.SeedSequence, n_jobs: int | None,
    whole: Whole | None = None,
) -> Fitted:  # fmt: skip
    """One member, whose strengths are chosen by five copies that leave a fold out each."""
    structure: Structure = even_structure(
        places.scales, data.places, data.classes, data.weights, data.n_classes, k, n_knots
    )
    run = in_threads(n_jobs)
    copies = [Trainee(data, structure, inside) for inside in dealt(data, 1, seed)]
    strengths = choose(data, copies, run)
    return _finished(places, data, copies, strengths, None, run, whole, keep=1)


def _finished(
    places: Places, data: Data, trainees: list[Trainee], strengths: Strengths, resolution: Resolution | None, run: Run,
    whole: Whole | None, keep: int | None = None,
) -> Fitted:  # fmt: skip
    """Train all members to the end: first without the rows they leave out, which gives the power, then with all rows.

    whole  all rows where `data` are a sample of them;  keep  how many members the model consists of; None: all
    """
    if whole is not None:
        for one in trainees:
            one.learn(np.zeros(len(data.weights)))  # no rows in memory any more
        whole.train(trainees, strengths, run, without=True)
    else:
        run(lambda one: one.train(strengths.strength, strengths.ratio, FINE), trainees)
    left_out, rows = together(data, trainees, run)
    power = best_power(left_out, data.classes[rows], data.weights[rows]) if len(rows) else 1.0

    def again(one: Trainee) -> Trainee:
        one.learn(data.weights)
        return one.train(strengths.strength, strengths.ratio, FINE)

    kept = trainees[:keep]
    if whole is not None:
        whole.train(kept, strengths, run, without=False)
    else:
        run(again, kept)
    networks = [one.network() for one in kept]
    mixture = Mixture(places, tuple(networks), np.full(len(networks), 1.0 / len(networks)))
    return Fitted(mixture, power, strengths, resolution, left_out, rows)
