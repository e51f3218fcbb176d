"""Structures and their probabilities against brute force and definitions."""

from __future__ import annotations

import numpy as np
import pytest

from optbn.base.errors import UnsupportedError
from optbn.classifiers import A2DE, AODE, ESKDB, KDB, KDF, SKDB, TAN, NaiveBayes, OptimalBN
from optbn.classifiers.eskdb import drawn
from optbn.classifiers.forest import count_trees
from optbn.classifiers.left_out import LeaveOneOut
from optbn.classifiers.pairs import PairCounts
from optbn.classifiers.single import by_information, k_parents
from tests.classifiers.examples import coded, texts
from tests.naive import classifiers as naive

SIZES = (2, 3, 2, 4)


def counted(codes: np.ndarray, y: np.ndarray, C: int = 3, sizes: tuple[int, ...] = SIZES) -> PairCounts:
    counts = PairCounts(sizes, C, [f"x{j}" for j in range(len(sizes))])
    counts.add((codes, y, np.ones(len(y))))
    return counts


@pytest.mark.twin
@pytest.mark.parametrize(
    ("n", "sizes", "C"),
    [(0, (2, 3), 2), (1, (1, 2, 4), 3), (90, (2, 3, 40, 5), 2), (900, (3, 2, 4, 500), 4), (9000, (2, 1, 6), 2)],
)
def test_pairs_by_bits_and_by_rows(n: int, sizes: tuple[int, ...], C: int) -> None:
    random = np.random.default_rng(n)
    codes = np.stack([random.integers(-1, size, n) for size in sizes], axis=1).astype(np.int32)
    y = random.integers(0, C, n)
    for weights in (np.ones(n), random.random(n)):
        counts = PairCounts(sizes, C, [f"x{j}" for j in range(len(sizes))])
        for rows in (slice(0, n // 3), slice(n // 3, n)):
            counts.add((codes[rows], y[rows], weights[rows]))
        assert counts.classes == pytest.approx(np.bincount(y, weights, C), rel=1e-12)
        for i in range(len(sizes)):
            both = naive.pair_counts(codes, y, weights, sizes, C, i, i)
            np.testing.assert_array_equal(counts.single(i), both.sum(axis=1))
            for j in range(i):
                expected = naive.pair_counts(codes, y, weights, sizes, C, i, j)
                np.testing.assert_array_equal(counts.pair(i, j), expected)
                np.testing.assert_array_equal(counts.pair(j, i), expected.swapaxes(0, 1))


@pytest.mark.twin
def test_information() -> None:
    for seed in range(5):
        codes, y = coded(seed)
        counts = counted(codes, y)
        single, pair = counts.information(), counts.conditional_information()
        for i in range(4):
            assert single[i] == pytest.approx(naive.information(codes, y, i), abs=1e-9)
            for j in range(4):
                if i != j:
                    assert pair[i, j] == pytest.approx(naive.conditional_information(codes, y, i, j), abs=1e-9)


@pytest.mark.twin
@pytest.mark.parametrize("make", [NaiveBayes, TAN, lambda: KDB(1), lambda: KDB(3)])
def test_probabilities_are_those_of_the_network_fitted_by_hand(make: type) -> None:
    for seed in range(3):
        codes, y = coded(seed)
        X, fresh = texts(codes, SIZES), coded(seed + 100, 25)[0]
        fitted = make().fit(X, y)
        parents = fitted.members_[0].parents
        found = fitted.predict_proba(texts(fresh, SIZES))
        for r, row in enumerate(fresh):
            expected = naive.posterior(naive.log_joint(codes, y, SIZES, 3, parents, row))
            assert found[r] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("dense", [0, 1 << 22])
def test_trees_of_one_batch_and_of_many_are_the_same(dense: int, monkeypatch: pytest.MonkeyPatch) -> None:
    from optbn.classifiers import forest

    monkeypatch.setattr(forest, "DENSE", dense)
    codes, y = coded(5, 60)
    codes[::9, 1] = -1
    w = np.random.default_rng(0).random(60) + 0.1
    parents: dict[int, tuple[int, ...]] = {0: (), 1: (0,), 3: (1, 0), 2: (3, 1, 0)}
    one = count_trees([(codes, y, w)], parents, SIZES, 3)
    many = count_trees([(codes[r : r + 7], y[r : r + 7], w[r : r + 7]) for r in range(0, 60, 7)], parents, SIZES, 3)
    for a, b in zip(one, many, strict=True):
        assert a.counts == pytest.approx(b.counts)
        for name in ("parent", "depth", "branch", "span"):
            assert np.array_equal(getattr(a, name), getattr(b, name)), name
        assert (a.order, a.sizes) == (b.order, b.sizes)
    unknown = np.full_like(codes, -1)
    assert [len(t.parent) for t in count_trees([(unknown, y, w)], parents, SIZES, 3)] == [1] * 4


def test_kdb_takes_the_best_parents_before_it() -> None:
    for seed in range(5):
        codes, y = coded(seed)
        found = KDB(2).fit(texts(codes, SIZES), y).members_[0].parents
        assert {i: list(p) for i, p in found.items()} == naive.kdb_parents(codes, y, 2)
        assert list(found) == list(naive.kdb_parents(codes, y, 2))


def test_tan_is_the_best_tree() -> None:
    for seed in range(6):
        codes, y = coded(seed, sizes=(2, 3, 2, 4, 2))
        weight = counted(codes, y, sizes=(2, 3, 2, 4, 2)).conditional_information()
        parents = TAN().fit(texts(codes, (2, 3, 2, 4, 2)), y).members_[0].parents
        arcs = [(i, p[0]) for i, p in parents.items() if p]
        assert len(arcs) == 4 and len(parents) == 5
        assert sum(weight[i, j] for i, j in arcs) == pytest.approx(naive.best_tree_weight(weight))


@pytest.mark.twin
def test_streaming_leave_one_out_is_fitting_without_each_row() -> None:
    for seed, n in ((0, 25), (1, 25), (2, 12)):
        codes, y = coded(seed, n, sizes=(2, 3, 2))
        counts = counted(codes, y, sizes=(2, 3, 2))
        parents = k_parents(by_information(counts.information()), counts.conditional_information(), 2)
        batch = (codes, y, np.ones(n))
        trees = count_trees([batch], parents, (2, 3, 2), 3)
        all_at_once = LeaveOneOut(parents, trees, counts.classes, watched=np.arange(n))
        all_at_once.add(batch)
        expected = naive.leave_one_out_losses(codes, y, (2, 3, 2), 3, parents, 2)
        assert all_at_once.losses == pytest.approx(expected, rel=1e-10)
        for k, attributes in ((0, 1), (2, 3)):
            p = all_at_once.predictions((k, attributes))
            assert p.sum(axis=1) == pytest.approx(1.0)
            assert ((1 - p[np.arange(n), y]) ** 2).sum() == pytest.approx(expected[k, attributes])


@pytest.mark.twin
@pytest.mark.parametrize("select", ["zero_one", "log_loss"])
def test_other_losses_of_rows_left_out(select: str) -> None:
    codes, y = coded(1, 25, sizes=(2, 3, 2))
    fitted = SKDB(2, select=select).fit(texts(codes, (2, 3, 2)), y)
    parents = k_parents(*_informed(codes, y, (2, 3, 2)), 2)
    slow = {"zero_one": lambda p, c: float(p.argmax() != c), "log_loss": lambda p, c: -float(np.log(p[c]))}[select]
    expected = naive.leave_one_out_losses(codes, y, (2, 3, 2), 3, parents, 2, slow)
    assert fitted.losses_ == pytest.approx(expected / 25, rel=1e-9)
    k, attributes = fitted.selected_
    assert fitted.losses_[k, attributes] == fitted.losses_.min()
    with pytest.raises(UnsupportedError, match="select='auc': expected one of rmse, zero_one, log_loss"):
        SKDB(select="auc").fit(texts(codes, (2, 3, 2)), y)


def _informed(codes: np.ndarray, y: np.ndarray, sizes: tuple[int, ...]) -> tuple[list[int], np.ndarray]:
    counts = counted(codes, y, sizes=sizes)
    return by_information(counts.information()), counts.conditional_information()


@pytest.mark.twin
def test_a2de_by_definition() -> None:
    for seed in range(3):
        codes, y = coded(seed, 40)
        codes[:, 0] = codes[:, 3] // 2  # so that levels of the last attribute imply those of the first
        fresh = coded(seed + 50, 15)[0]
        fresh[:10, 0] = fresh[:10, 3] // 2
        found = A2DE(subsumption=5).fit(texts(codes, SIZES), y).predict_proba(texts(fresh, SIZES))
        for r, row in enumerate(fresh):
            assert found[r] == pytest.approx(naive.a2de(codes, y, SIZES, 3, row, 5), abs=1e-12)
    plain = A2DE(min_rows=1e9, subsumption=None).fit(texts(codes, SIZES), y).predict_proba(texts(fresh, SIZES))
    assert plain == pytest.approx(AODE(min_rows=1e9).fit(texts(codes, SIZES), y).predict_proba(texts(fresh, SIZES)))


def test_leave_one_out_of_weighted_rows_is_that_of_repeated_ones() -> None:
    codes, y = coded(3, 30)
    w = np.random.default_rng(0).integers(1, 4, 30)
    fitted = [SKDB(2).fit(texts(codes, SIZES), y, w)]
    fitted.append(SKDB(2).fit(texts(np.repeat(codes, w, axis=0), SIZES), np.repeat(y, w)))
    assert fitted[0].losses_ == pytest.approx(fitted[1].losses_, rel=1e-10)


def test_leave_one_out_with_very_many_attributes_does_not_underflow() -> None:
    random = np.random.default_rng(0)
    y = np.array([0, 1] * 15)
    codes = (random.random((30, 3000)) < 0.5 + 0.01 * y[:, None]).astype(np.int32)
    parents: dict[int, tuple[int, ...]] = {i: () for i in range(3000)}
    batch = (codes, y, np.ones(30))
    trees = count_trees([batch], parents, (2,) * 3000, 2)
    one = LeaveOneOut(parents, trees, np.array([15.0, 15.0]), watched=np.array([4]))
    one.add(batch)
    assert np.isfinite(one.losses).all()
    r = 4
    rest = np.arange(30) != r
    logs = np.log([(y[rest] == c).sum() + 0.5 for c in (0, 1)])
    for i in range(3000):
        for c in (0, 1):
            inside = codes[rest & (y == c), i]
            logs[c] += np.log(((inside == codes[r, i]).sum() + 0.5) / (len(inside) + 1))
    assert one.predictions((0, 3000))[0] == pytest.approx(naive.posterior(logs), abs=1e-12)


def test_skdb_keeps_what_leave_one_out_favours() -> None:
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 300)
    useful = (random.random((300, 2)) < 0.2 + 0.6 * y[:, None]).astype(np.int32)
    noise = random.integers(0, 2, (300, 6)).astype(np.int32)
    fitted = SKDB(2).fit(texts(np.hstack([noise, useful]), (2,) * 8), y)
    k, attributes = fitted.selected_
    assert fitted.losses_[k, attributes] == fitted.losses_.min()
    assert {6, 7} <= set(fitted.members_[0].parents) and attributes == len(fitted.members_[0].parents)


@pytest.mark.twin
def test_aode_by_definition() -> None:
    for seed in range(3):
        codes, y = coded(seed, 30)
        fresh = coded(seed + 50, 15)[0]
        found = AODE().fit(texts(codes, SIZES), y).predict_proba(texts(fresh, SIZES))
        for r, row in enumerate(fresh):
            assert found[r] == pytest.approx(naive.aode(codes, y, SIZES, 3, row), abs=1e-12)


def test_aode_without_a_frequent_parent_is_naive_bayes() -> None:
    codes, y = coded(0)
    X = texts(codes, SIZES)
    found = AODE(min_rows=1e9).fit(X, y).predict_proba(X)
    assert found == pytest.approx(NaiveBayes().fit(X, y).predict_proba(X))


@pytest.mark.twin
def test_kdf_grows_from_every_attribute() -> None:
    sizes = (2, 3, 2, 4, 3, 2)
    for seed, k in ((0, 0), (1, 1), (2, 2), (3, 3)):
        codes, y = coded(seed, 60, sizes)
        fitted = KDF(k).fit(texts(codes, sizes), y)
        conditional = [
            [naive.conditional_information(codes, y, i, j) if i != j else 0.0 for j in range(6)] for i in range(6)
        ]
        found = [[(i, list(p)) for i, p in member.parents.items()] for member in fitted.members_]
        roots = sorted(range(6), key=lambda i: -naive.information(codes, y, i))
        assert found == [naive.kdf_member(conditional, root, k) for root in roots]
        logs = [naive.log_joint(codes, y, sizes, 3, dict(one), codes[7]) for one in found]
        expected = np.mean([naive.posterior(each) for each in logs], axis=0)
        assert fitted.predict_proba(texts(codes[7:8], sizes))[0] == pytest.approx(expected, abs=1e-12)
    assert len(KDF(2, n_members=2).fit(texts(codes, sizes), y).members_) == 2


def test_the_same_order_and_the_same_cuts_for_all_members() -> None:
    codes, y = coded(0, 150)
    X = codes + np.random.default_rng(0).normal(0, 0.3, codes.shape)
    alike = ESKDB(3, 2, sample_order=False, discretizer="mdlp", calibrate=False, weights="uniform").fit(X, y)
    assert alike.predict_proba(X) == pytest.approx(SKDB(2).fit(X, y).predict_proba(X), abs=1e-14)
    orders = {tuple(m.parents) for m in ESKDB(6, 0, discretizer="mdlp").fit(X, y).members_}
    assert len(orders) > 1


def test_orders_are_drawn_in_proportion_and_nothing_is_lost() -> None:
    random = np.random.default_rng(0)
    weights = np.array([0.0, 1.0, 3.0, 0.0])
    orders = [drawn(weights, random) for _ in range(4000)]
    assert all(sorted(order) == [0, 1, 2, 3] and set(order[2:]) == {0, 3} for order in orders)
    assert np.mean([order[0] == 2 for order in orders]) == pytest.approx(0.75, abs=0.03)
    assert np.mean([order[2] == 0 for order in orders]) == pytest.approx(0.5, abs=0.04)


def test_members_of_an_ensemble_differ_and_threads_do_not_matter() -> None:
    codes, y = coded(0, 200)
    random = np.random.default_rng(0)
    X = np.hstack([codes + random.normal(0, 0.3, codes.shape), random.normal(size=(200, 2))])
    one = ESKDB(6, 2).fit(X, y)
    two = ESKDB(6, 2, n_jobs=2).fit(X, y)
    assert np.array_equal(one.predict_proba(X), two.predict_proba(X))
    assert len({tuple(map(tuple, (c.cuts for c in m.columns if c.cuts is not None))) for m in one.members_}) == 6
    assert len({tuple(m.parents) for m in one.members_}) > 1
    assert not np.array_equal(one.predict_proba(X), ESKDB(6, 2, random_state=1).fit(X, y).predict_proba(X))


def test_optimal_classifiers_follow_their_network() -> None:
    codes, y = coded(1, 300)
    X = texts(codes, SIZES)
    augmented = OptimalBN("augmented", max_parents=2).fit(X, y)
    network = augmented.network_
    assert set(network.children("class")) == set(X.columns)
    assert augmented.learned_.solution.gap == 0
    blanket = OptimalBN(max_parents=2).fit(X, y)
    assert blanket.learned_.solution.score >= augmented.learned_.solution.score
    found = blanket.predict_proba(X.assign(x0=None))  # summed out where it matters
    assert found.sum(axis=1) == pytest.approx(1.0) and (found > 0).all()


@pytest.mark.parametrize("make", [lambda: NaiveBayes("mle"), TAN, lambda: KDB(2), lambda: SKDB(2)])
@pytest.mark.parametrize("largest", [1 << 16, 0])
def test_the_network_says_what_the_classifier_says(make: type, largest: int, monkeypatch: pytest.MonkeyPatch) -> None:
    from optbn.classifiers import member
    from optbn.classifiers.optimal import dataset
    from optbn.data.dataset import Categorical, Dataset

    monkeypatch.setattr(member, "LARGEST_TABLE", largest)
    codes, y = coded(2, 60)
    X = texts(codes, SIZES)
    fitted = make().fit(X, y)
    network = fitted.network_
    codes = coded(77, 60)[0]
    X = texts(codes, SIZES)
    data = dataset(fitted.members_[0].columns, codes)
    whole = Dataset(
        ("class", *data.names), (Categorical(("0", "1", "2")), *data.domains), (y.astype(np.uint8), *data.columns)
    )
    assert network.predict_proba("class", whole) == pytest.approx(fitted.predict_proba(X), abs=1e-12)
