"""Pruning, smoothing, forests, explanations, files: what a user of trees sees."""

from __future__ import annotations

import json
import logging

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from optbn.base.errors import DataError, OptbnError, UnknownNameError, UnsupportedError
from optbn.classifiers.saved import from_json
from optbn.classifiers.trees import ProbabilityForest, ProbabilityTree
from optbn.classifiers.trees.pruning import expected_errors, pessimistic, reduced
from optbn.evaluate.proper_scores import rmse
from optbn.smoothing import SMOOTHERS
from optbn.smoothing.gradient import Gradient
from tests.classifiers.examples import mixed


def noisy(seed: int, n: int = 300) -> tuple[pd.DataFrame, np.ndarray]:
    """The class is whether a + b > 0, often wrongly; two columns are noise."""
    random = np.random.default_rng(seed)
    X = pd.DataFrame(random.normal(size=(n, 3)), columns=["a", "b", "c"])
    X["d"] = pd.Categorical(random.choice(["u", "v", "w"], n))
    y = np.where((X.a + X.b > 0) == (random.random(n) < 0.85), "yes", "no")
    return X, y


def test_upper_limits_of_error_rates() -> None:
    """Those printed in Quinlan's book: U.25(0, 6) = .206, U.25(0, 9) = .143, U.25(0, 1) = .750."""
    counts = np.array([[6.0, 0.0], [9.0, 0.0], [1.0, 0.0], [15.0, 1.0], [0.0, 0.0], [3.0, 3.0], [5.0, 0.5]])
    found = expected_errors(counts, 0.25)
    assert found[:3] / [6, 9, 1] == pytest.approx([0.206, 0.143, 0.750], abs=5e-4)
    assert found[3] / 16 == pytest.approx(0.157, abs=0.004)  # the exact binomial limit; ours is the normal one
    assert found[4] == 0.0 and 3.0 < found[5] <= 6.0
    assert found[6] == pytest.approx(0.5 * sum(expected_errors(np.array([[5.5, 0.0], [4.5, 1.0]]), 0.25)))


@pytest.mark.parametrize("pruning", ["pessimistic", "reduced"])
def test_pruned_trees_are_smaller_and_better_on_noise(pruning: str) -> None:
    worse = 0
    for seed in range(3):
        (X, y), (Z, z) = noisy(seed), noisy(seed + 100)
        truth = (z == "yes").astype(int)
        whole, cut = (ProbabilityTree("mle", mdl=False, pruning=p).fit(X, y) for p in (None, pruning))
        assert cut.tree_.size < whole.tree_.size and cut.tree_.counts[0].tolist() == whole.tree_.counts[0].tolist()
        worse += rmse(cut.predict_proba(Z), truth) > rmse(whole.predict_proba(Z), truth)
    assert worse == 0


def test_pruning_decides_bottom_up() -> None:
    X, y = noisy(0)
    tree = ProbabilityTree("mle", mdl=False, collapse=False).fit(X, y).tree_
    leaves = pessimistic(tree, 0.25)
    own = expected_errors(tree.counts, 0.25)

    def errors(u: int) -> float:
        children = range(tree.first[u], tree.first[u] + tree.children[u])
        below = sum(errors(k) for k in children)
        stop = not tree.children[u] or own[u] <= below + 0.1
        assert leaves[u] == stop
        return float(own[u] if stop else below)

    errors(0)
    assert reduced(tree, tree.counts * 0.0).all()  # without evidence everything is a leaf
    cut = tree.cut_back(leaves)
    assert not pessimistic(cut, 0.25)[cut.children > 0].any()


@pytest.mark.parametrize("smoother", [*SMOOTHERS, "cv"])
@pytest.mark.parametrize("kind", [ProbabilityTree, ProbabilityForest])
def test_every_smoother(kind, smoother: str) -> None:
    from optbn.smoothing.hdp import HDP

    if kind is ProbabilityForest and smoother == "cv":
        pytest.skip("a forest's leaves are not smoothed by choice")
    X, y = mixed(1)
    chosen = HDP(sweeps=50) if smoother == "hdp" else smoother
    made = ProbabilityTree(chosen) if kind is ProbabilityTree else ProbabilityForest(3, smoother=chosen)
    p = made.fit(X, y).predict_proba(X)
    assert np.isfinite(p).all() and p.sum(axis=1) == pytest.approx(1.0)
    assert kind is ProbabilityForest or smoother in ("mle",) or (p > 0).all()


@pytest.mark.parametrize("tying", ["level", "single", "same_parent", "none"])
def test_concentrations_are_tied_in_trees(tying: str) -> None:
    """A concentration for each depth, one, one for each split, or one for each node."""
    from optbn.smoothing.blocks import groups_of
    from optbn.smoothing.hdp import HDP

    X, y = mixed(1)
    fitted = ProbabilityTree(HDP(tying=tying, sweeps=50)).fit(X, y)
    tree = fitted.tree_
    expected = {
        "level": tree.depth[-1], "single": 1, "same_parent": (tree.children > 0).sum(), "none": tree.size - 1
    }  # fmt: skip
    group, many = groups_of(tree.count_tree, tying)
    assert many == len(np.unique(group[1:])) == expected[tying]
    p = fitted.predict_proba(X)
    assert (p > 0).all() and np.abs(p.sum(axis=1) - 1).max() < 1e-12


def test_curtailed_nodes_answer_for_the_nearest_one_with_enough_rows() -> None:
    X, y = noisy(1, 300)
    whole = ProbabilityTree("m_estimate").fit(X, y)
    fitted = ProbabilityTree("m_estimate", curtail=20).fit(X, y)
    tree, member, own = fitted.tree_, fitted.members_[0], whole.members_[0]
    rows = tree.counts.sum(axis=1)
    assert (rows < 20).any() and (rows[1:] >= 20).any()
    for u in range(tree.size):
        v = u
        while v > 0 and rows[v] < 20:
            v = tree.parent[v]
        expected = own.probabilities[u] if v == u else own.inside[v]
        assert np.array_equal(member.probabilities[u], expected)
    assert rmse(fitted.predict_proba(X), (y == "yes").astype(int)) > rmse(
        whole.predict_proba(X), (y == "yes").astype(int)
    )
    with pytest.raises(UnsupportedError, match="curtail=-1: expected a number of rows, at least 0"):
        ProbabilityTree(curtail=-1).fit(X, y)


def test_the_strength_is_chosen_by_rows_that_did_not_grow_the_tree() -> None:
    X, y = noisy(1, 600)
    noise = ProbabilityTree().fit(X, y)
    assert noise.smoother_.alpha >= 1 and set(noise.smoother_losses_) >= {"gradient", "gradient, strength 1"}
    assert (
        min(noise.smoother_losses_.values()) == noise.smoother_losses_[f"gradient, strength {noise.smoother_.alpha:g}"]
    )
    sure = ProbabilityTree().fit(pd.DataFrame({"a": list("uvwx") * 20}), [0, 0, 1, 1] * 20)
    assert sure.smoother_.alpha == 0.03
    with pytest.raises(UnsupportedError, match="gradient needs whole counts"):
        ProbabilityTree("gradient", missing="fractional").fit(X.mask(np.random.default_rng(0).random(X.shape) < 0.1), y)


@pytest.mark.parametrize(
    "made",
    [
        ProbabilityTree(),
        ProbabilityTree(pruning="reduced"),
        ProbabilityTree("mle", validation=0.4),
        ProbabilityForest(3),
    ],
)
def test_a_weight_of_two_is_two_rows(made) -> None:
    X, y = mixed(0, 120)
    weights = np.random.default_rng(0).integers(0, 4, 120)
    order = np.random.default_rng(1).permutation(np.repeat(np.arange(120), weights))
    fitted = clone(made).fit(X, y, weights)
    again = clone(made).fit(X.iloc[order], y.iloc[order])
    assert fitted.predict_proba(X) == pytest.approx(again.predict_proba(X), abs=1e-12)


def test_held_out_counts_are_of_other_rows() -> None:
    X, y = noisy(2)
    fitted = ProbabilityTree("mle", validation=0.4, collapse=False).fit(X, y)
    tree = fitted.tree_
    assert 80 < tree.counts[0].sum() < 160 and tree.totals[0] + tree.counts[0].sum() == len(y)
    leaves = tree.children == 0
    assert (tree.counts[leaves].sum(axis=1) > 0).all()
    assert (tree.counts[leaves].min(axis=1) > 0).mean() > 0.3  # they are not as pure as those that grew it


def test_forests_are_better_than_trees_and_follow_their_seed() -> None:
    (X, y), (Z, z) = noisy(3, 400), noisy(103, 400)
    truth = (z == "yes").astype(int)
    one = rmse(ProbabilityTree("mle").fit(X, y).predict_proba(Z), truth)
    forest = ProbabilityForest(20, smoother="mle").fit(X, y)
    assert rmse(forest.predict_proba(Z), truth) < one - 0.03
    assert len(forest.members_) == 20 and forest.weights_.sum() == pytest.approx(1.0)
    p = forest.predict_proba(Z)
    assert np.array_equal(ProbabilityForest(20, smoother="mle", n_jobs=2).fit(X, y).predict_proba(Z), p)
    assert not np.array_equal(ProbabilityForest(20, smoother="mle", random_state=1).fit(X, y).predict_proba(Z), p)
    everything = ProbabilityForest(2, candidates=4, smoother="mle").fit(X, y)
    assert everything.predict_proba(Z).shape == (400, 2)


def test_unknown_values_go_down_every_branch() -> None:
    X = pd.DataFrame({"a": [0.0] * 6 + [1.0] * 4})
    y = ["no"] * 6 + ["yes"] * 4
    p = ProbabilityTree("mle").fit(X, y).predict_proba(pd.DataFrame({"a": [np.nan, 0.0, 1.0]}))
    assert p == pytest.approx(np.array([[0.6, 0.4], [1.0, 0.0], [0.0, 1.0]]))
    told = X.copy()
    told.loc[:3, "a"] = np.nan  # four of the six
    level = ProbabilityTree("mle").fit(told, y)
    assert level.predict_proba(pd.DataFrame({"a": [np.nan]}))[0, 0] == 1.0
    fraction = ProbabilityTree("mle", missing="fractional").fit(told, y)
    assert fraction.predict_proba(pd.DataFrame({"a": [np.nan]}))[0] == pytest.approx([0.6, 0.4])
    assert fraction.tree_.counts[1:].tolist() == pytest.approx(np.array([[2 + 4 / 3, 0], [8 / 3, 4]]))


def test_levels_without_a_branch_get_the_smoothers_answer() -> None:
    X = pd.DataFrame({"a": pd.Categorical(["u"] * 5 + ["v"] * 5, ["u", "v", "w"]), "b": range(10)})
    y = [0] * 5 + [1] * 4 + [0]
    new = pd.DataFrame({"a": pd.Categorical(["w"], ["u", "v", "w"]), "b": [0]})
    for smoother, expected in (("mle", 0.6), ("laplace", 0.5), (Gradient(alpha=1.0), 0.6)):
        p = ProbabilityTree(smoother, collapse=False).fit(X[["a"]], y).predict_proba(new[["a"]])
        assert p[0, 0] == pytest.approx(expected)


def test_a_tree_explains_itself() -> None:
    X, y = mixed(0)
    fitted = ProbabilityTree(Gradient(alpha=1.0)).fit(X, y)
    text, drawn = fitted.to_text(), fitted.to_dot()
    tree = fitted.tree_
    assert len(text.splitlines()) == tree.size and text.startswith("all rows: no 0.")
    assert text.count("job = ") + text.count("age") + text.count("hours") + text.count("size = ") >= tree.size - 1
    assert "age is missing" in text and "job = missing" in text
    assert drawn.startswith("digraph tree {") and drawn.count(" -> ") == tree.size - 1
    assert len(fitted.to_text(0).splitlines()) == 1 and fitted.to_dot(1).count(" -> ") == tree.children[0]
    p = fitted.predict_proba(X)
    explained = fitted.explain(X)
    for r, one in enumerate(explained):
        assert one.probabilities == pytest.approx(p[r], abs=1e-12)
        path = [step for step in one.steps if step.share == 1.0]
        assert path[0].condition == "all rows" and path[0].counts.sum() == len(y)
        moved = np.full(2, 0.5) + sum(step.change for step in path)
        assert moved == pytest.approx(path[-1].estimate)
    words = str(explained[0])
    assert words.splitlines()[-1].startswith("predicted: ") and "rows)" in words
    unknown = ProbabilityTree("mle").fit(X[["hours"]], y).explain(pd.DataFrame({"hours": [np.nan]}))[0]
    ends = [step for step in unknown.steps if step.ends]
    assert len(ends) > 1 and sum(step.share for step in ends) == pytest.approx(1.0)
    assert "of the row)" in str(unknown)


def test_json_is_checked_before_it_is_walked() -> None:
    X, y = mixed(0)
    fitted = ProbabilityTree().fit(X, y)
    record = json.loads(fitted.to_json())
    assert np.array_equal(from_json(fitted.to_json()).predict_proba(X), fitted.predict_proba(X))
    assert from_json(fitted.to_json()).to_text() == fitted.to_text()
    inner = next(u for u, n in enumerate(record["members"][0]["fanout"]) if n)
    for key, place, value in (
        ("fanout", inner, 0), ("fanout", inner, 10**6), ("attribute", inner, 99), ("attribute", inner, -1),
        ("branch", 1, 50), ("totals", 1, -1.0), ("probabilities", 0, [1.0]), ("counts", 0, [-1.0, 1.0]),
    ):  # fmt: skip
        broken = json.loads(json.dumps(record))
        broken["members"][0][key][place] = value
        with pytest.raises(DataError, match="damaged"):
            from_json(json.dumps(broken).encode())


def test_samples_of_files_are_told(tmp_path, caplog: pytest.LogCaptureFixture) -> None:
    X, y = noisy(0)
    X.assign(y=y).to_csv(tmp_path / "rows.csv", index=False)
    with caplog.at_level(logging.WARNING, "optbn.classifiers.trees"):
        ProbabilityTree().fit_file(tmp_path / "rows.csv", "y", sample_size=100)
    assert "grown from a sample of 100 of the 300 rows; raise sample_size" in caplog.text


@pytest.mark.parametrize(
    ("made", "error", "said"),
    [
        (ProbabilityTree(missing="drop"), UnknownNameError, "no treatment of missing values 'drop'"),
        (ProbabilityTree(pruning="pessimist"), UnknownNameError, "did you mean 'pessimistic'"),
        (ProbabilityTree(confidence=0.7), UnsupportedError, "confidence=0.7"),
        (ProbabilityTree(validation=1.0), UnsupportedError, "validation=1.0: expected a share"),
        (ProbabilityTree(min_leaf=0), UnsupportedError, "min_leaf=0: expected a number above 0"),
        (ProbabilityTree("hpd"), UnknownNameError, "no smoother 'hpd'"),
        (ProbabilityForest(0), UnsupportedError, "n_trees=0: expected a whole number, 1 or more"),
        (ProbabilityForest(candidates="all"), UnsupportedError, "candidates='all': expected a whole number above 0"),
        (ProbabilityForest(candidates=0), UnsupportedError, "candidates=0"),
    ],
)
def test_bad_settings_are_named(made, error, said: str) -> None:
    X, y = mixed(0, 40)
    with pytest.raises(error) as caught:
        made.fit(X, y)
    assert said in str(caught.value) and issubclass(error, OptbnError)


def test_a_tree_is_no_network() -> None:
    X, y = mixed(0, 40)
    with pytest.raises(AttributeError, match="ProbabilityTree is no network"):
        _ = ProbabilityTree().fit(X, y).networks_


def test_forests_vote_and_are_small(tmp_path) -> None:
    X, y = mixed(0, 200)
    votes = ProbabilityForest(20, vote=True).fit(X, y)
    p = votes.predict_proba(X)
    assert p * 20 == pytest.approx(np.rint(p * 20)) and p.sum(axis=1) == pytest.approx(1.0)
    each = [np.asarray(m.posterior(votes_table(votes, X))).argmax(axis=1) for m in votes.members_]
    assert p[:, 1] == pytest.approx(np.mean(each, axis=0))
    fitted = ProbabilityForest(20).fit(X, y)
    content = fitted.to_json()
    nodes = sum(m.tree.size for m in fitted.members_)
    assert len(content) < 60 * nodes + 20 * 1000
    assert np.array_equal(from_json(content).predict_proba(X), fitted.predict_proba(X))


def votes_table(fitted, X):
    from optbn.data.discretise.transformer import checked_table

    return checked_table(fitted, X, reset=False)


def test_criteria_are_checked() -> None:
    X, y = mixed(0, 60)
    assert ProbabilityTree(criterion="gain").fit(X, y).score(X, y) > 0.6
    with pytest.raises(UnknownNameError, match="no criterion 'gini'"):
        ProbabilityTree(criterion="gini").fit(X, y)
