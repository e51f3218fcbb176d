"""What a limit of time does to scoring: dear sets are left out alone, the smallest size ends where it must."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace

import numpy as np
import pytest

import optbn
from optbn.base.errors import LimitError
from optbn.data.dataset import Categorical, Dataset, Real
from optbn.learning.affordable import Scored, affordable_table
from optbn.learning.estimate import estimate
from optbn.learning.left_over import with_time_left
from optbn.learning.likeliest import left_out, with_likeliest
from optbn.learning.restrictions import restrictions, why_left_out
from optbn.learning.waiting import Waiting
from optbn.scores import load_score
from optbn.scores.left_out import families_left_out
from optbn.scores.pipeline import table_of_sets
from optbn.scores.scoring import Scoring
from optbn_solvers.base.clock import working


@pytest.fixture(scope="module")
def wide():
    """Columns of 2, 3, 8 and 9 levels, each mostly a copy of the one before."""
    rng = np.random.default_rng(1)
    columns, before = [], np.zeros(800, np.int64)
    sizes = [2, 8, 3, 9, 2, 8]
    for size in sizes:
        before = np.where(rng.random(800) < 0.6, before, rng.integers(size, size=800)) % size
        columns.append(before.astype(np.uint8))
    domains = tuple(Categorical(tuple(f"l{i}" for i in range(size))) for size in sizes)
    return Dataset(tuple(f"v{i}" for i in range(len(sizes))), domains, tuple(columns))


def test_sets_that_take_too_long_are_left_out_alone(wide):
    whole = Scoring.of(wide, load_score("pcartp"), 2)
    expected = {pair: float(whole.bound.seconds(np.array([pair], np.int32))[0]) for pair in _pairs(wide)}
    most = sorted(expected.values())[-4]  # the pairs of wide columns take longer
    hurried = whole.hurried(most)
    dear = {pair for pair, seconds in expected.items() if seconds > most}
    assert dear == {(1, 3), (1, 5), (3, 5)}
    assert families_left_out(hurried.bound, hurried.sets) == 12
    assert "but for 12 families left out" in restrictions(hurried)
    assert "most often with 'v1', 'v3', 'v5' among the parents; more time" in why_left_out(hurried)
    left, kept = table_of_sets(hurried), table_of_sets(whole)

    def rows(table):
        return {
            (table.names[v], tuple(table.parents(row))): table.scores[row]
            for v in range(table.n)
            for row in table.rows(v)
        }

    few, all_rows = rows(left), rows(kept)
    assert few == {family: score for family, score in all_rows.items() if family[1] not in dear}


def test_sets_of_one_parent_are_never_too_slow(wide):
    hurried = Scoring.of(wide, load_score("pcartp"), 1).hurried(0.0)
    assert families_left_out(hurried.bound, hurried.sets) == 0


def test_the_smallest_size_ends_when_its_time_does(wide, monkeypatch):
    """Families that there was no time for are counted among those left out."""
    monkeypatch.setattr("optbn.scores.levels.FIRST_BLOCK", 2)
    scoring = Scoring.of(wide, load_score("pcartp"), 3)
    costs = estimate(scoring)
    scored = affordable_table(scoring, costs, 0.0, jobs=1, at_least=0.0)
    assert scored.size == 1 and scored.unscored == 30 and "no time to score them" in scored.note
    assert "but for 30 families left out" in restrictions(scoring.at_most(1), scored.unscored)
    assert scored.table == optbn.score_table(wide, "pcartp", 0)
    whole = affordable_table(scoring, costs, 0.0, jobs=1)
    assert whole.unscored == 0 and whole.table == optbn.score_table(wide, "pcartp", 1)


def test_enough_keeps_what_is_scored(wide, monkeypatch):
    monkeypatch.setattr("optbn.scores.levels.BLOCK_SECONDS", 1e-9)
    scoring = Scoring.of(wide, load_score("pcartp"), 1)
    reports, asked = [], itertools.count()
    table = table_of_sets(scoring, jobs=1, progress=reports.append, enough=lambda: next(asked) >= 1)
    whole = optbn.score_table(wide, "pcartp", 1)
    assert 6 < len(table.scores) < len(whole.scores) and set(table.scores) <= set(whole.scores)
    assert reports[-1].done < reports[-1].total == 36


def test_little_memory_changes_no_score(wide):
    scoring = Scoring.of(wide, load_score("pcartp"), 2)
    tight = Scoring.of(wide, load_score("pcartp"), 2, memory="64M")
    assert families_left_out(tight.bound, tight.sets) == 0
    assert tight.bound.bound.costs.lanes_at_a_time(1 << 18) < scoring.bound.bound.costs.lanes_at_a_time(1 << 18)
    assert table_of_sets(tight) == table_of_sets(scoring)


def test_sets_that_memory_does_not_hold_are_left_out(wide):
    tight = Scoring.of(wide, load_score("pcartp"), 2)
    tight.bound.bound.costs.room = 1 << 20
    dear = [pair for pair in _pairs(wide) if tight.bound.too_dear(np.array([pair], np.int32))[0]]
    assert set(dear) <= set(itertools.combinations((1, 3, 5), 2)) and dear
    assert families_left_out(tight.bound, tight.sets) == len(dear) * (wide.n_variables - 2)


def _pairs(data):
    return list(itertools.combinations(range(data.n_variables), 2))


def test_sizes_of_which_nothing_is_scored_are_not_reached(wide):
    """A network "with at most 3 parents" of which all sets of 3 are left out has at most 2."""
    scoring = Scoring.of(wide, load_score("pcartp"), 3)
    pairs = np.array(_pairs(wide), np.int32)
    triples = np.array(list(itertools.combinations(range(wide.n_variables), 3)), np.int32)
    most = float(scoring.bound.seconds(triples).min()) * 0.99
    scoring = scoring.hurried(most)
    costs = estimate(scoring)
    assert costs[3].left_out - costs[2].left_out == len(triples) * 3
    scored = affordable_table(scoring, costs, 600.0)
    assert scored.size == 2 and "every set of 3 would take too long" in scored.note
    dear = int((scoring.bound.seconds(pairs) > most).sum())
    assert costs[2].left_out == dear * 4 == families_left_out(scoring.bound, scoring.sets.at_most(2))


@pytest.mark.parametrize("name", ["bic", "pcartp", "bge"])
def test_an_estimate_counts_all_families(name):
    data = optbn.load_network("asia").sample(200, 1)
    if name == "bge":
        columns = tuple(column + np.random.default_rng(1).normal(size=200) for column in data.columns)
        data = Dataset(data.names, tuple(Real(float(c.min()), float(c.max())) for c in columns), columns)
    costs = estimate(Scoring.of(data, load_score(name), 7))
    assert [cost.families for cost in costs] == [8, 64, 232, 512, 792, 960, 1016, 1024]
    assert all(one.seconds <= two.seconds for one, two in itertools.pairwise(costs))


def test_rows_that_memory_does_not_hold_are_refused():
    data = optbn.load_network("asia").sample(400_000, 1)
    with pytest.raises(LimitError, match=r"400,000 rows of 8 columns take .* as trees see them.*raise the memory"):
        Scoring.of(data, load_score("pcartp"), 2, memory="40M")
    assert Scoring.of(data, load_score("bic"), 2, memory="40M").memory == 40 << 20


def test_time_left_goes_to_larger_sets_of_the_likeliest_parents(wide):
    """Every set of two among the likeliest parents is there, unless a subset beats it; scores are those of all sets."""
    scoring = Scoring.of(wide, load_score("pcartp"), 3)
    one = Scored(table_of_sets(scoring.at_most(1)), 36, 1)
    found = with_likeliest(one, scoring, 3, working() + 600, 1, lambda done, total: None)
    size, k = found.likeliest
    whole = table_of_sets(scoring.at_most(2))

    def rows(table):
        return {(v, table.parents(row)): table.scores[row] for v in range(table.n) for row in table.rows(v)}

    have, every, single = rows(found.table), rows(whole), rows(one.table)
    assert size == 2 and have.items() <= every.items()
    for v in range(wide.n_variables):
        gains = sorted((-score, p) for (child, p), score in single.items() if child == v and len(p) == 1)
        likely = {p[0] for _, p in gains[:k]}
        pairs = {family for family in every if family[0] == v and len(family[1]) == 2}
        assert {family for family in have if len(family[1]) == 2 and family[0] == v} == {
            family for family in pairs if set(family[1]) <= likely
        }
    assert "with at most 1 parent per variable, or 2 of its 6 likeliest" in restrictions(
        scoring.at_most(1), likeliest=(2, 6)
    )


def test_time_left_is_used_beyond_the_usual_size(monkeypatch):
    """All sets of three are scored and those of four would take too long: the likeliest parents have sets of four."""
    usual = lambda scoring, *_: Scored(table_of_sets(scoring.at_most(3)), 512, 3)  # noqa: E731
    monkeypatch.setattr("optbn.learning.steps.scoring.affordable_table", usual)
    learned = optbn.learn(optbn.load_network("asia").sample(200, 1), score="pcartp", time_limit=600)
    found = re.search(r"with at most 3 parents per variable, or 4 of its (\d+) likeliest", repr(learned))
    assert found and int(found[1]) >= 4


def test_sets_without_enough_likely_parents_are_not_spoken_of():
    """Nobody has four parents that explain something alone, so nothing is said of sets of four."""
    columns = tuple(np.random.default_rng(1).integers(2, size=(8, 50)).astype(np.uint8))
    data = Dataset(tuple("abcdefgh"), (Categorical(("0", "1")),) * 8, columns)
    scoring = Scoring.of(data, load_score("bic"), 5)
    three = Scored(table_of_sets(scoring.at_most(3)), 512, 3)
    assert with_likeliest(three, scoring, 5, working() + 600, 1, lambda done, total: None) is three


def test_families_left_out_do_not_count_as_scored():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(3, 200))
    levels = [rng.integers(40, size=200).astype(np.uint8) for _ in range(3)]
    domains = [Real(float(column.min()), float(column.max())) for column in x]
    domains += [Categorical(tuple(f"{i:02d}" for i in range(40)))] * 3
    data = Dataset(tuple("abcdef"), tuple(domains), (*x, *levels))
    learned = optbn.learn(data, most_levels=16, jobs=1)
    left_out = int(re.search(r"but for ([\d,]+) famil", repr(learned))[1].replace(",", ""))
    assert learned.report.families_scored == 6 * (1 + 5 + 10 + 10) - left_out > 0


def test_a_round_that_does_not_end_leaves_nothing(wide):
    scoring = Scoring.of(wide, load_score("pcartp"), 3)
    one = Scored(table_of_sets(scoring.at_most(1)), 36, 1)
    assert with_likeliest(one, scoring, 3, working() - 1, 1, lambda done, total: None) is one
    assert with_likeliest(one, scoring, 1, working() + 600, 1, lambda done, total: None) is one


def _hurried(wide, size=2):
    """Without the three dearest pairs."""
    whole = Scoring.of(wide, load_score("pcartp"), size)
    expected = sorted(float(whole.bound.seconds(np.array([pair], np.int32))[0]) for pair in _pairs(wide))
    return whole, whole.hurried(expected[-4])


def test_dear_families_are_scored_after_all_where_time_is_left(wide):
    whole, hurried = _hurried(wide)
    few = Scored(table_of_sets(hurried), 78, 2)
    found = with_time_left(few, hurried, 2, working() + 600, 600.0, 2, lambda done, total: None)
    assert found.after_all == 12 and found.table == table_of_sets(whole) != few.table
    assert not any("left out" in words for words in restrictions(hurried, dear=found.dear - found.after_all))
    assert with_time_left(few, hurried, 2, working() - 1, 600.0, 2, lambda done, total: None) == few


def test_dear_families_are_tried_the_cheapest_first_as_far_as_time_goes(wide, monkeypatch):
    """What is left out is counted; trees that could not be made once more in time are not begun."""
    _, hurried = _hurried(wide)
    waiting = Waiting.of_sizes(hurried)
    pairs = np.array([(1, 3), (1, 5), (3, 5)], np.int32)
    expected = sorted(zip(hurried.bound.seconds(pairs).tolist(), map(tuple, pairs.tolist()), strict=True))
    assert [(waits.seconds, waits.members) for waits in waiting.sets] == expected
    table, until = table_of_sets(hurried), working() + 600
    assert not list(waiting.score(table, until, 0.0, 1, lambda done, total: None)) and len(waiting.sets) == 3
    asked = itertools.count()
    monkeypatch.setattr("optbn.learning.waiting.working", lambda: 0.0 if next(asked) < 2 else 1e9)
    parts = list(waiting.score(table, 1e6, 600.0, 1, lambda done, total: None))
    assert [len(children) for children, _, _ in parts] == [4, 4] and waiting.families == 8
    assert [waits.members for waits in waiting.sets] == [expected[-1][1]]


def test_families_that_the_score_refuses_stay_left_out(wide, monkeypatch):
    """Sets that cannot be gone through whatever the time, and such as memory does not hold."""
    _, hurried = _hurried(wide)
    block = type(hurried.bound.bound.bound).block

    def refusing(self, sets, wanted, floor=None):
        if [3, 5] in sets.tolist():
            raise LimitError("more boxes than can be gone through")
        return block(self, sets, wanted, floor)

    monkeypatch.setattr(type(hurried.bound.bound.bound), "block", refusing)
    few = Scored(table_of_sets(hurried), 78, 2)
    found = with_time_left(few, hurried, 2, working() + 600, 600.0, 1, lambda done, total: None)
    assert found.after_all == 8
    assert "but for 4 families left out" in restrictions(hurried, dear=found.dear - found.after_all)
    tight = Scoring.of(wide, load_score("pcartp"), 2)
    tight.bound.bound.costs.room = 1 << 10
    dear = [pair for pair in _pairs(wide) if tight.bound.too_dear(np.array([pair], np.int32))[0]]
    assert {waits.members for waits in Waiting.of_sizes(tight).sets if len(waits.members) == 2} == set(dear) and dear
    small = replace(tight, memory=1 << 12)
    assert not Waiting.of_sizes(small).sets


def test_dear_sets_of_the_likeliest_parents_come_last(wide):
    whole, hurried = _hurried(wide)
    one = Scored(table_of_sets(hurried.at_most(1)), 36, 1)
    likely = with_likeliest(one, hurried, 2, working() + 600, 1, lambda done, total: None)
    children, sets = left_out(likely, hurried)
    assert len(children) == likely.dear > 0 and {tuple(some) for some in sets.tolist()} <= {(1, 3), (1, 5), (3, 5)}
    found = with_time_left(one, hurried, 2, working() + 600, 600.0, 1, lambda done, total: None)
    every = with_likeliest(one, whole, 2, working() + 600, 1, lambda done, total: None)
    assert found.likeliest == every.likeliest and found.after_all == found.dear == likely.dear
    assert found.table == every.table


def test_rows_that_cannot_be_laid_out_in_time_get_a_network_without_arcs(wide, monkeypatch):
    monkeypatch.setattr("optbn.scores.trees.costs.SECONDS_PER_CELL", 1.0)
    found = optbn.learn(wide, time_limit=30)
    assert not found.network.structure.arcs and found.solution.score == pytest.approx(
        optbn.solve(optbn.score_table(wide, "pcartp", 0)).score
    )
    assert found.report.outcome.restrictions[0].startswith("without parents, ")
    assert any("to lay out 800 rows for trees takes about" in note for note in found.report.notes)


def test_other_verbs_have_one_limit_for_everything(wide):
    """Resamples are fewer, tests left out, parent sets smaller; and with time enough nothing changes."""
    some = optbn.bootstrap(wide, "bic", 2, 2_000, time_limit=1.0)
    assert 1 <= len(some) < 2_000
    graph = optbn.Structure.from_parents({name: () for name in wide.names})
    hurried = optbn.gap(wide, graph, "bic", 2, time_limit=1e-6)
    assert hurried.check.skipped and not hurried.check.tests and hurried.max_parents <= 2
    assert optbn.gap(wide, graph, "bic", 2, time_limit=600).max_parents == 2
    assert optbn.edges(wide, "bic", 2, time_limit=600).score == optbn.edges(wide, "bic", 2).score
