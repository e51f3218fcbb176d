"""PCART against every tree (tests/naive/pcart.py) and against published numbers."""

from __future__ import annotations

import json

import numpy as np
import pytest

from optbn.data.dataset import Categorical, Dataset, Real
from optbn.scores.pcart import PCART
from tests.naive import pcart as naive
from tests.paths import GOLDEN

KINDS = ("c2", "c3", "c4", "o3", "o4", "r")


def random_data(rng: np.random.Generator, kinds: list[str], n: int) -> Dataset:
    """Columns of the given kinds that often depend on the first one; levels need not all occur."""
    domains, columns = [], []
    for kind in kinds:
        depends = bool(columns) and rng.random() < 0.6
        if kind == "r":
            column = rng.choice([1.0, 5.0]) * np.round(rng.normal(size=n), 2)
            column = column + columns[0] if depends else column
            domains.append(Real(float(column.min()), float(column.max()) + rng.integers(2)))
        else:
            r = int(kind[1])
            column = rng.integers(0, r, n)
            if depends:
                cut = np.digitize(columns[0], np.quantile(columns[0], [0.3, 0.6])) % r
                column = np.where(rng.random(n) < 0.8, cut, column)
            column = column.astype(np.uint8)
            domains.append(Categorical(tuple(map(str, range(r))), ordered=kind[0] == "o"))
        columns.append(column)
    return Dataset(tuple("abcdefgh"[: len(kinds)]), tuple(domains), tuple(columns))


def score(bound, n: int, child: int, parents: tuple[int, ...]) -> float:
    wanted = np.zeros((1, n), dtype=bool)
    wanted[0, child] = True
    return float(bound.block(np.array([parents], np.int32).reshape(1, -1), wanted)[0, child])


@pytest.mark.twin
@pytest.mark.parametrize("seed", range(40))
def test_equals_the_best_of_all_trees(seed):
    rng = np.random.default_rng(seed)
    kinds = [KINDS[i] for i in rng.integers(0, len(KINDS), 3)]
    data = random_data(rng, kinds, int(rng.integers(1, 40)))
    max_splits = int(rng.integers(0, 3))
    bound = PCART(max_splits=max_splits).bind(data)
    for child, parents in [(0, (1, 2)), (1, (0,)), (2, ())]:
        if sum({"c4": 3, "o4": 3, "r": max_splits}.get(kinds[u], 1) for u in parents) > 4:
            parents = parents[:1]  # too many trees to look at
        expected, _ = naive.pcart(data, child, parents, max_splits)
        assert score(bound, 3, child, parents) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def golden(name: str, csv: str) -> tuple[dict, Dataset]:
    facts = json.loads((GOLDEN / "pcart" / f"{name}.json").read_text())
    with open(GOLDEN / "pcart" / f"{csv}.csv") as file:
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


@pytest.mark.parametrize(
    "name", ["asia_400", "asia_1600", "child_400", "alarm_400", "insurance_1600", "mixed12_400_s3", "wine_s3"]
)
def test_published_scores(name):
    facts, data = golden(name, name.removesuffix("_s3"))
    bound = PCART(max_splits=facts["max_splits"] or 3).bind(data)
    for pair in facts["pairs"]:
        expected = pair.get("full_search_paper_leaf_total", pair["pcart_total"])
        assert score(bound, data.n_variables, pair["v"], tuple(sorted(pair["P"]))) == pytest.approx(expected, rel=1e-9)


def test_a_split_with_an_empty_side_is_found():
    facts, data = golden("emptysplit", "emptysplit")
    bound = PCART(max_splits=facts["max_splits"]).bind(data)
    assert score(bound, 2, facts["v"], tuple(facts["P"])) == pytest.approx(facts["paper_optimum"]["total"], rel=1e-9)
