"""Settings that cannot be are refused by name, by whoever is given them, before any work is done."""

from __future__ import annotations

import numpy as np
import pytest

import optbn
from optbn.base.errors import NetworkError, UnsupportedError
from optbn.base.numbers import texts_of, unused
from optbn.base.settings import check_seed
from optbn.classifiers import load_classifier
from optbn.data.dataset import Categorical, Real
from optbn.network.cpds import BinnedTableCPD
from optbn.network.leaves import CategoricalLeaves, NormalLeaves
from optbn.network.network import BayesianNetwork
from optbn.scores import load_score
from optbn.smoothing import load_smoother


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: load_score("pcart", alpha="x"), "alpha is 'x', expected a finite number above 0"),
        (lambda: load_score("bdeu", ess=True), "ess is True"),
        (lambda: load_score("bds", ess=1e20), r"BDs: ess is 1e\+20, expected at most 1,000,000"),
        (lambda: load_score("pcart", alpha=2e6), "PCART: alpha is 2000000.0, expected at most 1,000,000"),
        (lambda: load_score("ftp", nu=1e12), "FTP: nu is .*, expected at most"),
        (lambda: load_score("bge", alpha_w=1e12), "BGe: alpha_w is .*, expected at most"),
        (lambda: load_score("bge", mean="a"), "BGe: mean is 'a', expected a finite number"),
        (lambda: load_score("pcart", max_splits="a"), "PCART: max_splits is 'a', expected a whole number, at least 0"),
        (lambda: load_score("pcartp", max_splits=2.5), "PCARTP: max_splits is 2.5, expected a whole number"),
        (lambda: load_score("ft", max_bins=1), "FT: max_bins is 1, expected a whole number, at least 2"),
        (lambda: load_score("ft", mean=float("nan")), "mean is nan, expected a finite number"),
        (lambda: load_smoother("hdp", chains=1.5), "HDP: chains is 1.5, expected a whole number, at least 1"),
        (lambda: load_smoother("hdp", rate=0), "rate is 0, expected a finite number above 0"),
        (lambda: load_smoother("hierarchical", s="a"), "s is 'a', expected"),
        (lambda: load_smoother("gradient", penalty="a"), "penalty is 'a'"),
        (lambda: load_smoother("m_branch", M=-1), "M is -1"),
    ],
)
def test_scores_and_smoothers(make, message):
    with pytest.raises(UnsupportedError, match=message):
        make()


@pytest.mark.parametrize("members", [0, -1, 2.5, True])
@pytest.mark.parametrize("kind", ["kdf", "eskdb"])
def test_numbers_of_members(kind, members):
    X = np.array([["a", "b"], ["b", "b"], ["a", "a"], ["b", "a"]])
    with pytest.raises(UnsupportedError, match=r"n_members is .*, expected a whole number, at least 1"):
        load_classifier(kind, n_members=members).fit(X, ["x", "y", "x", "y"])


def test_seeds_and_threads():
    asia = optbn.load_network("asia")
    data = asia.sample(50, 1)
    for seed in (-1, 1.5, "a", None, True):
        with pytest.raises(UnsupportedError, match="the seed is"):
            check_seed(seed)
    with pytest.raises(UnsupportedError, match="the seed is -1"):
        asia.sample(3, -1, {"smoke": "yes"})
    with pytest.raises(UnsupportedError, match="the seed is -1"):
        optbn.fit(asia, data, seed=-1)
    with pytest.raises(UnsupportedError, match="at least 1"):
        optbn.fit(asia, data, threads=0)
    with pytest.raises(UnsupportedError, match="the seed is -1"):
        optbn.learn(data, seed=-1)
    with pytest.raises(UnsupportedError, match="store needs max_parents"):
        optbn.learn(data, score="bdeu", store="nowhere")


def test_undirected_graphs_are_no_structures():
    import networkx as nx

    asia = optbn.load_network("asia")
    with pytest.raises(NetworkError, match="an undirected graph is no structure"):
        optbn.fit(nx.Graph(asia.structure.arcs), asia.sample(20, 1))


def test_texts_differ_where_numbers_do():
    assert texts_of([1.5, 2.0], 6) == ["1.5", "2"]
    assert texts_of([1e6 + 0.1, 1e6 + 0.2], 6) == ["1000000.1", "1000000.2"]
    close = [1.0, float(np.nextafter(1.0, 2.0))]
    assert [float(text) for text in texts_of(close, 6)] == close
    assert unused("others", ["others", "others 2"]) == "others 3" and unused("a", []) == "a"


def test_intervals_with_close_ends_keep_their_names():
    """Six digits would call three of the four intervals by one name, and lose their probability."""
    real, two = Real(999999.0, 1000002.0), Categorical(("a", "b"))
    x = BinnedTableCPD(real, (), (), (), NormalLeaves([1000000.2], [0.1]))
    leaves = CategoricalLeaves([[0.1, 0.9], [0.2, 0.8], [0.3, 0.7], [0.4, 0.6]])
    y = BinnedTableCPD(two, ("x",), (real,), ([1000000.1, 1000000.2, 1000000.3],), leaves)
    said = BayesianNetwork(("x", "y"), (real, two), (x, y)).query("x").as_dict()
    assert len(said) == 4 and sum(said.values()) == pytest.approx(1.0)


def test_bins_of_large_numbers_keep_their_names():
    large = 1.7e15 + np.arange(200.0)
    fitted = load_classifier("nb", discretizer="equal_width").fit(large[:, None], np.where(large > large[90], "a", "b"))
    bins = [domain.levels for domain in fitted.network_.domains if len(domain.levels) > 2]
    assert len(bins) == 1 and len(set(bins[0])) == len(bins[0])
