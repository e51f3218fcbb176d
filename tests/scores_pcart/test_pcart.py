"""PCART against every tree (tests/naive/pcart.py), against published numbers, and against itself without short cuts."""

from __future__ import annotations

import inspect
import math
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
from numba import config

import optbn.scores.pcart as pcart_module
import optbn.scores.trees.costs as costs
from optbn.base.errors import DataError, LimitError, UnsupportedError
from optbn.data.dataset import Categorical, Dataset, Real
from optbn.scores.kernels.kinds import CATEGORICAL
from optbn.scores.pcart import PCART, PCARTP
from optbn.scores.structures import in_words
from optbn.scores.trees.prior import log_normaliser
from tests.naive import pcart as naive
from tests.scores_pcart.columns import all_sets, golden, random_data, score

KINDS = ("c2", "c3", "c4", "o3", "o4", "r")
CATEGORICAL_FILES = ("asia_400", "asia_1600", "child_400", "alarm_400", "insurance_1600")


@pytest.mark.twin
@pytest.mark.parametrize("seed", range(40))
def test_equals_the_best_of_all_trees(seed):
    rng = np.random.default_rng(seed)
    kinds = [KINDS[i] for i in rng.integers(0, len(KINDS), 3)]
    data = random_data(rng, kinds, int(rng.integers(1, 40)))
    max_splits = int(rng.integers(0, 3))
    prior = {"alpha": 0.5, "nu": 1.0, "lambda_": 1.0, "mean": 0.0, "a": 1.0}
    if seed % 2:
        prior = dict(zip(prior, (*rng.uniform(0.2, 3.0, 3), rng.normal(), rng.uniform(0.2, 3.0)), strict=True))
    prior |= {"real_prior": ("unit-free", "paper")[seed % 3 == 0]}
    prior |= {"cuts": ("range", "rank")[seed % 5 < 2], "gamma": (0.25, 0.25, 0.05, None)[seed % 4]}
    if seed % 3 == 1 and "r" not in kinds:
        prior |= {"leaf": ("bic", "aic")[seed % 2]}
    bound = PCART(max_splits=max_splits, **prior).bind(data)
    for child, parents in [(0, (1, 2)), (1, (0,)), (2, ())]:
        if sum({"c4": 3, "o4": 3, "r": max_splits}.get(kinds[u], 1) for u in parents) > 4:
            parents = parents[:1]  # too many trees to look at
        expected, leaves = naive.pcart(data, child, parents, max_splits, **prior)
        assert score(bound, 3, child, parents) == pytest.approx(expected, rel=1e-9, abs=1e-9)
        fitted = bound.fitted(child, parents)
        assert fitted.score == score(bound, 3, child, parents)
        assert fitted.n_leaves == leaves


@pytest.mark.parametrize("kinds", [("c4",), ("c2", "c3"), ("c3", "c3"), ("o4",), ("c3", "o3"), ("r",), ("r", "c2")])
@pytest.mark.parametrize("max_splits", [0, 2])
def test_the_trees_of_every_prior_sum_to_one(kinds, max_splits):
    data = random_data(np.random.default_rng(0), list(kinds), 5)
    parents = tuple(range(len(kinds)))
    box = naive.whole(data, parents, max_splits)
    bound = PCART(max_splits=max_splits).bind(data)
    shape = tuple(bound.columns.shapes[u] for u in parents)
    mass = math.fsum(math.exp(-naive.leaf_cost(box) * len(tree)) for tree in naive.trees(box))
    if naive.leaf_cost(box) > 0:
        assert mass * math.exp(log_normaliser(shape)) == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("name", [*CATEGORICAL_FILES, "mixed12_400_s3", "wine_s3"])
def test_published_scores(name):
    facts, data = golden(name)
    bound = PCART(max_splits=facts["max_splits"] or 3, real_prior="paper").bind(data)
    for pair in facts["pairs"]:
        expected = pair.get("full_search_paper_leaf_total", pair["pcart_total"])
        leaves = pair.get("full_search_paper_leaf_leaves", pair["leaves"])
        parents = tuple(sorted(pair["P"]))
        assert score(bound, data.n_variables, pair["v"], parents) == pytest.approx(expected, rel=1e-9)
        assert bound.fitted(pair["v"], parents).n_leaves == leaves


def test_a_split_with_an_empty_side_is_found():
    facts, data = golden("emptysplit")
    bound = PCART(max_splits=facts["max_splits"], real_prior="paper").bind(data)
    best = facts["paper_optimum"]
    assert score(bound, 2, facts["v"], tuple(facts["P"])) == pytest.approx(best["total"], rel=1e-9)
    assert bound.fitted(facts["v"], tuple(facts["P"])).n_leaves == best["leaves"]


def survivors(bound, n: int, most: int, use_floor: bool) -> tuple[dict, int]:
    """{(child, parents): score} of the families above all their subsets, and how many were never computed."""
    best: dict[tuple[int, ...], np.ndarray] = {}
    kept, skipped = {}, 0
    for k in range(most + 1):
        sets, wanted = all_sets(n, k)
        below = np.full(wanted.shape, -np.inf)
        for i, members in enumerate(sets.tolist()):
            for j in range(k):
                below[i] = np.maximum(below[i], best[(*members[:j], *members[j + 1 :])])
        scores = bound.block(sets, wanted, below if use_floor and k else None)
        skipped += int((wanted & np.isneginf(scores)).sum())
        for i, members in enumerate(sets.tolist()):
            for v in np.flatnonzero(wanted[i] & (scores[i] > below[i])):
                kept[int(v), tuple(members)] = scores[i, v]
            best[tuple(members)] = np.maximum(scores[i], below[i])
    return kept, skipped


def test_bounds_never_discard_a_survivor():
    discarded = 0
    for seed in range(300):
        rng = np.random.default_rng(1000 + seed)
        kinds = [(*KINDS, "c5", "o6")[i] for i in rng.integers(0, 8, 5)]
        data = random_data(rng, kinds, int(rng.integers(1, 300)))
        if seed % 3 == 0:  # nearly deterministic and nearly constant columns are where bounds bite
            columns = list(data.columns)
            for v, domain in enumerate(data.domains):
                if isinstance(domain, Categorical) and rng.random() < 0.5:
                    columns[v] = np.where(rng.random(data.n_rows) < 0.95, 0, columns[v]).astype(np.uint8)
            data = Dataset(data.names, data.domains, tuple(columns))
        leaf = ("dirichlet", "dirichlet", "bic", "aic")[seed % 4] if "r" not in kinds else "dirichlet"
        gamma = (0.25, None, 0.01)[seed % 3]
        bound = PCART(max_splits=2, alpha=float(rng.choice([0.5, 0.5, 0.1, 2.0])), leaf=leaf, gamma=gamma).bind(data)
        with_bounds, skipped = survivors(bound, 5, 3, use_floor=True)
        without, _ = survivors(bound, 5, 3, use_floor=False)
        assert with_bounds == without  # the same families, the same bits
        discarded += skipped
    assert discarded > 1000  # or nothing was tested


def test_boxes_too_small_to_split_are_left_whole(monkeypatch):
    from optbn.scores.trees.bounds import Regret

    rng = np.random.default_rng(5)
    cases = [random_data(rng, ["c3", "c3", "c2", "c4"], int(rng.integers(5, 300))) for _ in range(30)]
    sets, wanted = all_sets(4, 3)
    quick = [PCART().bind(data).block(sets, wanted) for data in cases]
    monkeypatch.setattr(Regret, "never_split", lambda self, cost: 1)
    for data, scores in zip(cases, quick, strict=True):
        np.testing.assert_array_equal(PCART().bind(data).block(sets, wanted), scores)


@pytest.mark.twin
def test_sparse_lattices_equal_dense_ones(monkeypatch):
    rng = np.random.default_rng(7)
    cases, kinds_used, most_rows = (2, 6, 20) if config.DISABLE_JIT else (9, 8, 200)
    for _ in range(cases):
        kinds = [(*KINDS, "c6", "o6")[i] for i in rng.integers(0, kinds_used, 4)]
        data = random_data(rng, kinds, int(rng.integers(1, most_rows)))
        bound = PCART(max_splits=int(rng.integers(0, 4))).bind(data)
        for k in (1, 2, 3):
            sets, wanted = all_sets(4, k)
            families = [(int(v), tuple(sets[i].tolist())) for i, v in np.argwhere(wanted)]
            monkeypatch.setattr(costs, "MOST_DENSE_BOXES", 1 << 20)
            dense, trees = bound.block(sets, wanted), [bound.fitted(*family) for family in families]
            monkeypatch.setattr(costs, "MOST_DENSE_BOXES", 0)
            np.testing.assert_allclose(bound.block(sets, wanted)[wanted], dense[wanted], rtol=1e-12, atol=1e-12)
            assert [bound.fitted(*family).nodes for family in families] == [tree.nodes for tree in trees]


def test_large_domains_take_the_sparse_lattice():
    """Three times ten levels: 10^9 boxes, most without rows; and 71 ordered levels, more than a word has bits."""
    rng = np.random.default_rng(11)
    x = rng.integers(0, 10, (16, 4)).astype(np.uint8)
    y = (x[:, 0] // 5 + (x[:, 1] > 6)).astype(np.uint8)
    ladder = (x[:, 2] * 7 + rng.integers(0, 3, 16)).astype(np.uint8)
    levels = tuple(map(str, range(71)))
    data = Dataset(
        ("a", "b", "c", "d", "y", "ladder"),
        (*(Categorical(levels[:10]) for _ in range(4)), Categorical(levels[:3]), Categorical(levels, ordered=True)),
        (*(x[:, j].copy() for j in range(4)), y, ladder),
    )
    bound = PCART().bind(data)
    fitted = bound.fitted(4, (0, 1, 2))
    assert fitted.score == score(bound, 6, 4, (0, 1, 2))
    assert math.isfinite(score(bound, 6, 2, (4, 5)))


def test_a_batch_gives_the_bits_of_single_families():
    rng = np.random.default_rng(3)
    data = random_data(rng, ["c3", "r", "o4", "r", "c2", "c5"], 120)
    for bound in (PCART().bind(data), PCARTP().bind(data)):
        for k in (0, 1, 3):
            sets, wanted = all_sets(6, k)
            scores = bound.block(sets, wanted)
            for i, v in np.argwhere(wanted):
                assert score(bound, 6, int(v), tuple(sets[i].tolist())) == scores[i, v]
            assert np.isneginf(scores[~wanted]).all()


def test_the_size_prior():
    data = random_data(np.random.default_rng(0), ["c2", "c3", "c2", "c2"], 30)
    plain, prior = PCART().bind(data), PCARTP().bind(data)
    assert score(prior, 4, 0, (1, 2)) == pytest.approx(score(plain, 4, 0, (1, 2)) - math.log(3), rel=1e-12)
    assert score(prior, 4, 0, (1, 2, 3)) == score(plain, 4, 0, (1, 2, 3))


def test_fitted_trees_partition_the_rows_as_they_say():
    rng = np.random.default_rng(9)
    for _ in range(20):
        data = random_data(rng, ["c3", "r", "o4", "c5", "r"], int(rng.integers(1, 150)))
        bound = PCART().bind(data)
        for child in (0, 1):
            fitted = bound.fitted(child, (2, 3, 4))
            tree = fitted.tree(data.domains)
            leaf = tree.cells([data.columns[u] for u in fitted.parents], data.n_rows)
            content = bound.leaves.content(child, leaf, fitted.n_leaves)
            np.testing.assert_array_equal(content.rows, fitted.content.rows)
            if child == 0:
                np.testing.assert_array_equal(content.counts, fitted.content.counts)


def test_fitted_trees_where_scores_are_nearly_zero():
    """Few rows of real values can score about 0, with terms that cancel: the trace must not mistake their last bits."""
    for seed in range(5100, 5130):
        rng = np.random.default_rng(seed)
        kinds = [("c2", "c3", "c4", "o3", "o4", "r", "c1", "o2")[i] for i in rng.integers(0, 8, 4)]
        data = random_data(rng, kinds, int(rng.integers(1, 60)))
        bound = PCART(max_splits=int(rng.integers(0, 3))).bind(data)
        for child, parents in [(0, (1, 2)), (1, (0, 3)), (2, (0, 1, 3)), (3, (1,))]:
            assert bound.fitted(child, parents).score == score(bound, 4, child, parents)


def test_moments_do_not_cancel_far_from_zero():
    """A constant far away has no spread: sums of squares would lose all digits there."""
    x = np.repeat([0.0, 1.0], 50)
    far = np.where(x > 0, 1e9, 1e9 + 1e-6)
    data = Dataset(("x", "far"), (Real(0.0, 1.0), Real(1e9, 1e9 + 1e-6)), (x, far))
    bound = PCART(mean=1e9, real_prior="paper").bind(data)
    expected, _ = naive.pcart(data, 1, (0,), 3, mean=1e9, real_prior="paper")  # midpoints, three times
    assert score(bound, 2, 1, (0,)) == pytest.approx(expected, rel=1e-9)


def test_forty_levels_are_refused_by_name():
    rng = np.random.default_rng(0)
    wide = rng.permutation(np.arange(400) % 40).astype(np.uint8)
    levels = tuple(f"l{i}" for i in range(40))
    data = Dataset(("zip", "y"), (Categorical(levels), Categorical(("0", "1"))), (wide, (wide % 2).astype(np.uint8)))
    bound = PCART(most_levels=None).bind(data)
    with pytest.raises(LimitError, match=r"'zip' has 40 levels.*--leaves zip"):
        score(bound, 2, 1, (0,))
    assert math.isfinite(score(bound, 2, 0, (1,)))  # as a response it is fine
    few = data.take(np.flatnonzero(wide < 6))  # what counts is the levels that occur
    assert math.isfinite(score(PCART(most_levels=None).bind(few), 2, 1, (0,)))
    ordered = Dataset(data.names, (Categorical(levels, ordered=True), data.domains[1]), data.columns)
    assert math.isfinite(score(PCART(most_levels=None).bind(ordered), 2, 1, (0,)))
    many = tuple(map(str, range(5000)))
    declared = Dataset(
        data.names, (Categorical(many, ordered=True), data.domains[1]), (wide.astype(np.uint16), data.columns[1])
    )
    with pytest.raises(LimitError, match=r"'zip' declares 5000 levels"):
        score(PCART(most_levels=None).bind(declared), 2, 1, (0,))
    names = tuple(map(str, range(400)))
    every = Dataset(
        data.names, (Categorical(names), data.domains[1]), (np.arange(400).astype(np.uint16), data.columns[1])
    )
    with pytest.raises(LimitError, match=r"'zip' has 400 levels"):
        score(PCART(most_levels=None).bind(every), 2, 1, (0,))


def test_too_many_boxes_are_refused(monkeypatch):
    data = random_data(np.random.default_rng(0), ["c5", "c5", "c2"], 200)
    monkeypatch.setattr(costs, "MOST_DENSE_BOXES", 0)
    monkeypatch.setattr(pcart_module, "MOST_BOXES", 100)
    with pytest.raises(LimitError, match=r"column 'v0' has 5 levels .* with 'v1' .* kB and up to .* s "):
        score(PCART().bind(data), 3, 2, (0, 1))


def test_little_data():
    data = Dataset(("x", "y"), (Real(2.0, 2.0), Categorical(("a", "b"))), (np.full(9, 2.0), np.zeros(9, np.uint8)))
    bound = PCART().bind(data)
    assert score(bound, 2, 1, (0,)) < score(bound, 2, 1, ())  # a constant predicts nothing
    assert bound.fitted(1, (0,)).n_leaves == 1
    assert math.isfinite(score(bound, 2, 0, (1,)))
    one = PCART().bind(data.take(slice(0, 1)))
    assert score(one, 2, 1, ()) == pytest.approx(math.log(0.5))
    with pytest.raises(DataError, match="no rows"):
        PCART().bind(data.take(slice(0, 0)))


@pytest.mark.parametrize(
    "wrong",
    [
        {"alpha": 0.0},
        {"nu": -1.0},
        {"mean": math.nan},
        {"max_splits": 13},
        {"cuts": "best"},
        {"gamma": 0.5},
        {"leaf": "bde"},
    ],
)
def test_wrong_settings_are_refused(wrong):
    with pytest.raises(UnsupportedError, match=next(iter(wrong)).replace("_", "-")):
        PCART(**wrong)


def test_parents_may_declare_hundreds_of_levels():
    """Unseen ones too count in the prior: a sum over as many boxes as there are multisets of what is left of each."""
    assert log_normaliser(((CATEGORICAL, 900),)) == pytest.approx(624.3024661331965, rel=1e-12)
    rng = np.random.default_rng(0)
    domain = Categorical(tuple(map(str, range(60))))
    data = Dataset(tuple("abcd"), (domain,) * 4, tuple(rng.integers(0, 5, (4, 50)).astype(np.uint8)))
    score(PCART().bind(data), 4, 3, (0,))  # compiles
    start = time.process_time()
    assert log_normaliser(((CATEGORICAL, 60),) * 3) == pytest.approx(43.07504428187838, rel=1e-12)
    assert np.isfinite(score(PCART().bind(data), 4, 3, (0, 1, 2)))
    assert time.process_time() - start < 5
    wide = Categorical(tuple(map(str, range(300))), ordered=True)
    three = Dataset(
        tuple("abcd"), (wide,) * 3 + (domain,), (*rng.integers(0, 5, (3, 50)).astype(np.uint16), data.columns[3])
    )
    with pytest.raises(LimitError, match=r"'a' declares 300 levels; the prior over all trees on 'a', 'b', 'c'"):
        score(PCART().bind(three), 4, 3, (0, 1, 2))


def test_trees_may_be_deeper_than_calls():
    """An ordered parent whose every level tells the child apart: one level after the other is split off."""
    levels = 70
    column = np.repeat(np.arange(levels, dtype=np.uint8), 30)
    domain = Categorical(tuple(map(str, range(levels))))
    data = Dataset(("p", "v"), (replace(domain, ordered=True), domain), (column, column[::-1].copy()))
    bound = PCART().bind(data)
    in_words(bound.fitted(1, (0,)), data)  # compiles and imports, which takes many calls
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack()) + 60)
    try:
        found = bound.fitted(1, (0,))
        words = in_words(found, data)
    finally:
        sys.setrecursionlimit(limit)
    assert found.n_leaves == levels
    depth = 0
    while "right" in words:
        words, depth = words["right"], depth + 1
    assert depth >= 60
