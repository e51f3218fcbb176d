"""Random and golden data for this room's tests."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np

from optbn.data.dataset import Categorical, Dataset, Real
from tests.paths import GOLDEN


def random_data(rng: np.random.Generator, kinds: list[str], n: int) -> Dataset:
    """Columns of the given kinds ("c3", "o4", "r") that often depend on the first; levels need not all occur."""
    domains, columns = [], []
    for kind in kinds:
        depends = bool(columns) and rng.random() < 0.6
        if kind == "r":
            column = rng.choice([1.0, 5.0]) * np.round(rng.normal(size=n), 2)
            column = column + columns[0] if depends else column
            domains.append(Real(float(column.min()), float(column.max()) + rng.integers(2)))
        else:
            r = int(kind[1:])
            column = rng.integers(0, r, n)
            if depends:
                cut = np.digitize(columns[0], np.quantile(columns[0], [0.3, 0.6])) % r
                column = np.where(rng.random(n) < 0.8, cut, column)
            column = column.astype(np.uint8)
            domains.append(Categorical(tuple(map(str, range(r))), ordered=kind[0] == "o"))
        columns.append(column)
    return Dataset(tuple(f"v{i}" for i in range(len(kinds))), tuple(domains), tuple(columns))


def golden(name: str) -> tuple[dict, Dataset]:
    """The facts of tests/golden/pcart/<name>.json and the data they are about."""
    facts = json.loads((GOLDEN / "pcart" / f"{name}.json").read_text())
    with open(GOLDEN / "pcart" / facts.get("csv", f"{name}.csv")) as file:
        names = file.readline().strip().split(",")
        table = np.loadtxt(file, delimiter=",", ndmin=2)
    domains, columns = [], []
    for i, kind in enumerate(facts["types"]):
        if kind == "C":
            domains.append(Categorical(tuple(map(str, range(facts["cardinalities"][i])))))
            columns.append(table[:, i].astype(np.uint8))
        else:
            domains.append(Real(*facts["ranges"][i]))
            columns.append(table[:, i].copy())
    return facts, Dataset(tuple(names), tuple(domains), tuple(columns))


def all_sets(n: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Every predictor set of one size, and the responses outside it."""
    sets = np.array(list(itertools.combinations(range(n), k)), np.int32).reshape(math.comb(n, k), k)
    wanted = np.ones((len(sets), n), dtype=bool)
    wanted[np.arange(len(sets))[:, None], sets] = False
    return sets, wanted


def score(bound, n: int, child: int, parents: tuple[int, ...]) -> float:
    """One family's score."""
    wanted = np.zeros((1, n), dtype=bool)
    wanted[0, child] = True
    return float(bound.block(np.array([parents], np.int32).reshape(1, -1), wanted)[0, child])


def check_blocks(bound, n: int, k: int) -> None:
    """A family's score has the same bits alone and in the block of all; those not wanted have none."""
    sets, wanted = all_sets(n, k)
    scores = bound.block(sets, wanted)
    for i, v in np.argwhere(wanted):
        assert score(bound, n, int(v), tuple(sets[i].tolist())) == scores[i, v]
    assert np.isneginf(scores[~wanted]).all()
