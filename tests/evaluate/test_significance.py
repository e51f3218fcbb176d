"""Statistics against published worked examples and against scipy where it has the same test."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from optbn.base.errors import DataError
from optbn.evaluate import significance

# Demsar (JMLR 2006), table 6: AUC of four C4.5 variants on 14 data sets; chi-square 9.28, critical difference 1.25
# at .05 and ranks 3.143 2.000 2.893 1.964.
AUC = """.763 .768 .771 .798 .599 .591 .590 .569 .954 .971 .968 .967 .628 .661 .654 .657 .882 .888 .886 .898
    .936 .931 .916 .931 .661 .668 .609 .685 .583 .583 .563 .625 .775 .838 .866 .875 1 1 1 1 .940 .962 .965 .962
    .619 .666 .614 .669 .972 .981 .9751 .975 .957 .978 .946 .970"""
AUC = np.array(AUC.split(), dtype=float).reshape(14, 4)


def test_friedman_and_nemenyi_reproduce_the_published_example():
    test = significance.friedman({name: -AUC[:, i] for i, name in enumerate(("c45", "m", "cf", "both"))})
    assert test.ranks == pytest.approx((3.143, 2.000, 2.893, 1.964), abs=5e-4)
    assert test.critical_difference == pytest.approx(1.25, abs=0.01)
    # Demsar's 9.28 leaves the ties out of the statistic, scipy's correction has them in.
    uncorrected = 12 * 14 / 20 * ((np.array(test.ranks) - 2.5) ** 2).sum()
    assert uncorrected == pytest.approx(9.28, abs=0.01)
    expected = stats.friedmanchisquare(*(-AUC).T)
    assert (test.statistic, test.p) == pytest.approx((expected.statistic, expected.pvalue))


def test_cliques_are_the_maximal_groups_that_do_not_differ():
    rng = np.random.default_rng(0)
    losses = {"a": rng.random(40), "b": rng.random(40), "c": 5 + rng.random(40), "d": 5 + rng.random(40)}
    groups = [set(clique) for clique in significance.friedman(losses).cliques]
    assert groups == [{"a", "b"}, {"c", "d"}]


def test_sign_test_counts_and_leaves_draws_out():
    result = significance.sign_test([1, 1, 1, 1, 1, 2], [2, 2, 2, 2, 1, 1])
    assert (result.wins, result.draws, result.losses) == (4, 1, 1)
    assert result.p == pytest.approx(stats.binomtest(4, 5).pvalue)
    assert str(result) == "4-1-1"
    assert significance.sign_test([1.0, 2.0], [1.0, 2.0]).p == 1.0


@pytest.mark.parametrize("wins, losses", [(4, 1), (1, 4), (9, 0), (0, 9)])
def test_one_tail_is_that_of_the_side_with_more_wins(wins, losses):
    first, second = [0] * wins + [1] * losses, [1] * wins + [0] * losses
    one, two = (significance.sign_test(first, second, tails=tails).p for tails in (1, 2))
    assert one == pytest.approx(
        sum(math.comb(wins + losses, k) for k in range(max(wins, losses), 10)) / 2 ** (wins + losses)
    )
    assert two == pytest.approx(2 * one)


def test_wilcoxon_is_scipys_and_survives_all_ties():
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=12), rng.normal(size=12) + 1
    assert significance.wilcoxon(a, b) == pytest.approx(stats.wilcoxon(a, b).pvalue)
    assert significance.wilcoxon([1, 2], [1, 2]) == 1.0


def test_holm_by_hand():
    adjusted = significance.holm({"a": 0.01, "b": 0.04, "c": 0.03})
    assert adjusted == pytest.approx({"a": 0.03, "c": 0.06, "b": 0.06})


def test_the_diagram_is_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    test = significance.friedman({"a": [1, 2, 1.5], "b": [2, 3, 2], "c": [3, 1, 4]})
    significance.difference_diagram(test, str(tmp_path / "cd.svg"))
    drawn = (tmp_path / "cd.svg").read_text()
    assert "<svg" in drawn
    significance.difference_diagram(test, str(tmp_path / "again.svg"))
    assert (tmp_path / "again.svg").read_text() == drawn


def test_bad_input_is_named():
    with pytest.raises(DataError, match="one length"):
        significance.sign_test([1, 2], [1])
    with pytest.raises(DataError, match="two methods"):
        significance.friedman({"a": [1, 2]})
    for test in (significance.sign_test, significance.wilcoxon):
        with pytest.raises(DataError, match="loss 2 of the second list is nan; leave that data set out"):
            test([1.0, 2.0, 3.0], [2.0, np.nan, np.inf])
    with pytest.raises(DataError, match="loss 1 of 'b' is nan"):
        significance.friedman({"a": [1, 2], "b": [np.nan, 2]})
