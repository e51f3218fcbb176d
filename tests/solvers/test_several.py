"""Answers of several graphs: all graphs are met once, true answers are proved, and forged ones refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from optbn_solvers.base.constraints import Constraints
from optbn_solvers.base.errors import CheckFailed
from optbn_solvers.front.near import best_graphs
from optbn_solvers.front.near import class_of as class_by_sets
from optbn_solvers.verify.every import graphs_from
from optbn_solvers.verify.layers import Work
from optbn_solvers.verify.several import Several, class_of, verify_several
from tests.naive.constraints import random_constraints
from tests.naive.solvers import all_dags, random_unpruned_table, scores_of_all_dags


def families_of(table):
    return [[(int(table.masks[row, 0]), int(table.units[row])) for row in table.rows(v)] for v in range(table.n)]


@pytest.mark.twin
def test_every_graph_comes_once():
    rng = np.random.default_rng(1)
    for trial in range(30):
        table = random_unpruned_table(rng, 1 + trial % 5)
        scores = scores_of_all_dags(table)
        ranked = sorted(scores.values())
        for least in (ranked[0], ranked[len(ranked) // 2], ranked[-1], ranked[-1] + 1):
            found = list(graphs_from(families_of(table), least, Work(1e12, 1 << 30)))
            assert len(set(found)) == len(found)
            assert set(found) == {graph for graph, units in scores.items() if units >= least}


def test_classes_are_those_of_the_search():
    graphs = [tuple(graph) for graph in all_dags(4).tolist()]
    ours, theirs = {}, {}
    for graph in graphs:
        ours.setdefault(class_of(graph), set()).add(graph)
        theirs.setdefault(class_by_sets(graph), set()).add(graph)
    assert sorted(map(sorted, ours.values())) == sorted(map(sorted, theirs.values())) and len(ours) == 185


def listed(table, most, within=None, per_class=False, constraints=None) -> Several:
    found = best_graphs(table, most, within, per_class, constraints, only_listed=True)
    shares = {(int(u), int(v)): float(found.shares()[u, v]) for u, v in np.argwhere(found.shares() > 0)}
    return Several(found.choices, found.scores, per_class, within, found.complete, shares, constraints)


def answers(seed):
    rng = np.random.default_rng(seed)
    for trial in range(24):
        table = random_unpruned_table(rng, 3 + trial % 3)
        constraints = random_constraints(rng, table.names) if trial % 4 == 3 else None
        try:
            yield table, listed(table, 1 + trial, (None, 3.0)[trial % 2], trial % 3 == 0, constraints)
        except ValueError:  # no graph obeys
            continue


def test_true_answers_are_proved():
    complete = 0
    for table, several in answers(2):
        proved, claimed = verify_several(table, several)
        assert not claimed and len(proved) == 2 + several.complete
        complete += several.complete
        if several.complete:
            _, claimed = verify_several(table, several, work=0.0)
            assert len(claimed) == 1 and "was not repeated" in claimed[0]
    assert complete > 10


def counted(table, several, choices, scores) -> Several:
    """An answer of other graphs, with the shares that these have."""
    shares = {}
    for choice in choices:
        for v, row in enumerate(choice):
            for u in table.parents(row):
                shares[u, v] = shares.get((u, v), 0.0) + 1 / len(choices)
    return replace(several, choices=tuple(choices), scores=tuple(scores), shares=shares)


def test_what_is_false_is_refused():
    missing = 0
    for table, several in answers(3):
        choices, scores = several.choices, several.scores
        with pytest.raises(CheckFailed, match=r"is listed twice|are equivalent"):
            verify_several(table, counted(table, several, [choices[0], *choices], [scores[0], *scores]))
        with pytest.raises(CheckFailed, match="add up to"):
            verify_several(table, replace(several, scores=(scores[0] + 1.0, *scores[1:])))
        with pytest.raises(CheckFailed, match="is in"):
            verify_several(table, replace(several, shares={**several.shares, (0, 1): 0.123}))
        if scores[0] > scores[-1]:
            with pytest.raises(CheckFailed, match="order"):
                verify_several(table, counted(table, several, choices[::-1], scores[::-1]))
            with pytest.raises(CheckFailed, match="below the window"):
                verify_several(table, replace(several, window=0.0))
            if several.complete:
                missing += 1
                with pytest.raises(CheckFailed, match="is missing from the answer"):
                    verify_several(table, counted(table, several, choices[1:], scores[1:]))
    assert missing > 5


def test_a_graph_too_few_in_a_window_is_missed():
    table = random_unpruned_table(np.random.default_rng(5), 4)
    several = listed(table, 10_000, within=4.0)
    assert several.complete and len(several.choices) > 2
    fewer = counted(table, several, several.choices[:-1], several.scores[:-1])
    with pytest.raises(CheckFailed, match="is missing from the answer"):
        verify_several(table, fewer)
    assert verify_several(table, replace(fewer, complete=False)) == (verify_several(table, fewer, work=0.0)[0], ())


def test_a_graph_that_breaks_constraints_is_refused():
    table = random_unpruned_table(np.random.default_rng(6), 4)
    several = listed(table, 3)
    arcs = [arc for arc in several.shares if several.shares[arc] > 0]
    u, v = (table.names[end] for end in arcs[0])
    with pytest.raises(CheckFailed, match="constraints"):
        verify_several(table, replace(several, constraints=Constraints(forbidden=((u, v),))))


def test_the_limit_of_time_ends_the_enumeration():
    table = random_unpruned_table(np.random.default_rng(7), 5)
    several = listed(table, 50)
    assert not verify_several(table, several)[1]
    assert verify_several(table, several, lambda: True)[1]
