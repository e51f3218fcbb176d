"""The instance: grid, pruning, order of rows, contradictions, digest, several words per mask."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from optbn_solvers.base.errors import InfeasibleError, TableError
from optbn_solvers.base.grid import GRID_BITS, MAX_EXPONENT, grid_exponent
from optbn_solvers.base.kernels.masks import pack_sets, undominated, unplaced
from optbn_solvers.base.table import ScoreTable, mask_members
from tests.naive import masks as naive
from tests.naive.solvers import KINDS, families_of, random_table


def test_sums_are_exact_whatever_their_order():
    rng = np.random.default_rng(1)
    for kind in KINDS:
        for n in (1, 2, 5, 70):
            table = random_table(rng, n, kind)
            first = table.offsets[:-1]
            exact = sum((Fraction(float(table.scores[row])) for row in first), Fraction(0))
            for _ in range(3):
                total = 0.0
                for row in rng.permutation(first):
                    total += float(table.scores[row])
                assert Fraction(total) == exact
            assert Fraction(table.total(first)) == exact
            assert table.n * int(np.abs(table.units).max(initial=0)) <= 2**GRID_BITS


@pytest.mark.parametrize("n", [1, 2, 3, 64, 100])
@pytest.mark.parametrize("largest", [1.0, 0.75, 1e300, 1.7e308, 1e-300, 5e-324, 3.0, 2.0**40])
def test_the_grid_is_as_fine_as_it_may_be(n, largest):
    k = grid_exponent(n, largest)
    assert n * Fraction(largest) * Fraction(2) ** k <= 2**GRID_BITS
    if k < MAX_EXPONENT:
        assert n * Fraction(largest) * Fraction(2) ** (k + 1) > 2**GRID_BITS


def test_scores_whose_sum_no_number_holds_are_refused():
    for n in (1, 2, 100):
        names = [f"v{i}" for i in range(n)]
        for largest, fits in ((1.7e308 / 2 / n, True), (1.8e308 / n, False), (1.7e308, False)):
            scores = np.full(n, -largest)
            if fits:
                table = ScoreTable.build(names, np.arange(n), np.zeros((n, 1 + n // 65), np.uint64), scores)
                assert math.isclose(table.total(range(n)), -n * largest)
                continue
            with pytest.raises(TableError, match=r"more than a number holds|finite"):
                ScoreTable.build(names, np.arange(n), np.zeros((n, 1 + n // 65), np.uint64), scores)


def test_a_snapped_score_is_the_nearest_point_of_the_grid():
    rng = np.random.default_rng(2)
    scores = rng.normal(size=40) * 1000
    table = ScoreTable.build([f"v{i}" for i in range(40)], np.arange(40), np.zeros((40, 1), np.uint64), scores)
    assert np.all(np.abs(table.scores - scores) <= table.quantum / 2)


@pytest.mark.twin
def test_dominated_rows_go_and_the_others_stay():
    rng = np.random.default_rng(3)
    for trial in range(60):
        n = [1, 3, 6, 9, 70][trial % 5]
        children, sets, units = [], [], []
        for v in range(n):
            for _ in range(int(rng.integers(1, 40))):
                size = int(rng.integers(0, min(n, 6)))
                parents = rng.choice([u for u in range(n) if u != v], size=size, replace=False) if size else []
                children.append(v)
                sets.append(sorted(int(u) for u in parents))
                units.append(int(rng.integers(-6, 6)))
        order = sorted(range(len(sets)), key=lambda i: (children[i], -units[i], len(sets[i])))
        offsets = np.searchsorted([children[i] for i in order], np.arange(n + 1))
        got = undominated(offsets, pack_sets([sets[i] for i in order], n), np.array([units[i] for i in order]))
        wanted = []
        for v in range(n):
            wanted += naive.undominated([(frozenset(sets[i]), units[i]) for i in order if children[i] == v])
        assert got.tolist() == wanted


@pytest.mark.twin
def test_unplaced_variables_are_those_that_need_one_another():
    rng = np.random.default_rng(4)
    feasible = 0
    for trial in range(60):
        n = [1, 2, 4, 7, 70][trial % 5]
        table = random_table(rng, n, "bare" if trial % 2 else "single", rows=3)
        wanted = naive.unplaced([[parents for parents, _ in rows] for rows in families_of(table)])
        assert set(np.flatnonzero(unplaced(table.offsets, table.masks)).tolist()) == wanted
        feasible += not wanted
        if wanted:
            with pytest.raises(InfeasibleError, match=table.names[min(wanted)]):
                table.check_feasible()
        else:
            table.check_feasible()
    assert 5 < feasible < 60


def test_rows_come_best_first_then_small_then_by_mask():
    for seed in range(30):
        table = random_table(np.random.default_rng(seed), 6, "ties", rows=20)
        for v in range(table.n):
            keys = [(-int(table.units[r]), len(table.parents(r)), int(table.masks[r, 0])) for r in table.rows(v)]
            assert keys == sorted(keys)


def test_the_order_of_the_input_does_not_matter():
    rng = np.random.default_rng(5)
    children, sets, scores = [], [], []
    for v in range(5):
        for mask in rng.choice(16, size=8, replace=False):
            children.append(v)
            sets.append([u for u in range(5) if u != v and mask >> (u - (u > v)) & 1])
            scores.append(-float(rng.integers(0, 5)))
    args = np.array(children), pack_sets(sets, 5), np.array(scores)
    tables = []
    for _ in range(5):
        p = rng.permutation(len(children))
        tables.append(ScoreTable.build("abcde", *(a[p] for a in args)))
    assert len({t.digest for t in tables}) == 1
    assert tables[0] == tables[1]
    # a line given twice changes nothing
    assert ScoreTable.build("abcde", *(np.concatenate([a, a[:7]]) for a in args)).digest == tables[0].digest


def test_the_digest_tells_instances_apart():
    base = {"a": {(): -1.0, ("b",): -0.5}, "b": {(): -2.0}}
    table = ScoreTable.from_dict(base)
    others = [
        {"a": {(): -1.0, ("b",): -0.25}, "b": {(): -2.0}},
        {"a": {(): -1.0}, "b": {(): -2.0}},
        {"a": {(): -1.0, ("c",): -0.5}, "c": {(): -2.0}},
        {"a": {(): -1.0}, "b": {(): -2.0, ("a",): -0.5}},
    ]
    assert len({ScoreTable.from_dict(d).digest for d in [base, *others]}) == 5
    assert ScoreTable.from_dict(base) == table


def test_masks_of_several_words():
    n = 130
    names = [f"v{i}" for i in range(n)]
    sets = [[], *([0, 63 + i, 129][: 2 + i % 2] for i in range(1, 4))]
    table = ScoreTable.build(
        names,
        np.concatenate([np.arange(n), [7, 7, 7]]),
        np.concatenate([np.zeros((n, 3), np.uint64), pack_sets(sets[1:], n)]),
        np.concatenate([np.full(n, -9.0), [-8.0, -7.0, -6.0]]),
    )
    assert table.words == 3
    found = {table.parents(row) for row in table.rows(7)}
    assert found == {(), (0, 64, 129), (0, 65)} | {(0, 66, 129)}
    assert table.find(7, [0, 65]) is not None and table.find(7, [0]) is None
    assert mask_members(pack_sets([[0, 63, 64, 127, 128]], n)[0]) == (0, 63, 64, 127, 128)


def test_arrays_cannot_be_changed():
    table = ScoreTable.from_dict({"a": {(): -1.0}})
    with pytest.raises(ValueError):
        table.units[0] = 5


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_scores_must_be_finite(value):
    with pytest.raises(TableError, match=r"'a' with parents \{b\}"):
        ScoreTable.from_dict({"a": {(): -1.0, ("b",): value}, "b": {(): 0.0}})


@pytest.mark.parametrize(
    ("families", "message"),
    [
        ({"a": {("a",): -1.0}}, "parent of itself"),
        ({"a": {("z",): -1.0}}, "unknown parent 'z'"),
        ({"a": {}}, "no candidate parent set"),
        ({}, "at least one variable"),
    ],
)
def test_invalid_tables_say_what_is_wrong(families, message):
    with pytest.raises(TableError, match=message):
        ScoreTable.from_dict(families)


def test_two_scores_for_one_set_are_a_contradiction():
    empty = np.zeros((3, 1), np.uint64)
    with pytest.raises(TableError, match="'a' has two different scores"):
        ScoreTable.build(["a", "b"], np.array([0, 1, 0]), empty, np.array([-1.0, -2.0, -1.5]))
    # also when a better subset dominates both
    masks = np.array([[0], [2], [2], [0]], np.uint64)
    with pytest.raises(TableError, match=r"'a' has two different scores for the parents \{b\}"):
        ScoreTable.build(["a", "b"], np.array([0, 0, 0, 1]), masks, np.array([0.0, -1.0, -2.0, 0.0]))


def test_children_out_of_range_are_refused():
    for child in (-1, 2):
        with pytest.raises(TableError, match="child number"):
            ScoreTable.build(["a", "b"], np.array([0, child]), np.zeros((2, 1), np.uint64), np.zeros(2))


def test_a_variable_named_twice_is_refused():
    with pytest.raises(TableError, match="'a' is named twice"):
        ScoreTable.build(["b", "a", "a"], np.arange(3), np.zeros((3, 1), np.uint64), np.zeros(3))
