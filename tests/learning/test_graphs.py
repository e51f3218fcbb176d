"""Answers of several graphs as files: what is changed in one is refused, or what it says is true all the same."""

from __future__ import annotations

import json

import msgspec
import numpy as np
import pytest

from optbn.learning.graphs import described, several_of
from optbn_solvers.base.errors import CheckFailed
from optbn_solvers.front.near import best_graphs, class_of
from optbn_solvers.verify.several import verify_several
from tests.fuzz.forge import changed
from tests.naive.solvers import random_unpruned_table, scores_of_all_dags

PARTS = ("graphs", "graphs", "graphs", "within", "arcs")


def with_shares(fields):
    """The file with the arcs that its graphs have."""
    arcs = {}
    for graph in fields["graphs"]:
        for child, parents in graph["parents"].items():
            for parent in parents:
                arcs[parent, child] = arcs.get((parent, child), 0) + 1
    many = len(fields["graphs"])
    listed = [{"parent": u, "child": v, "share": count / many} for (u, v), count in arcs.items()]
    return fields | {"arcs": listed}


def true(table, several):
    """Whether the graphs are those that the answer says, by all graphs there are."""
    units = {graph: units for graph, units in scores_of_all_dags(table).items()}
    graphs = [tuple(int(table.masks[row, 0]) for row in choice) for choice in several.choices]
    least = min(units[graph] for graph in graphs)
    if several.window is not None:
        best = max(units.values())
        wanted = {g for g, u in units.items() if table.score_of(best - u) <= several.window}
    else:
        wanted = {graph for graph, own in units.items() if own > least} | set(graphs)
    if not several.per_class:
        return wanted == set(graphs) and len(set(graphs)) == len(graphs)
    best_of = {}
    for graph, own in units.items():
        best_of[class_of(graph)] = max(own, best_of.get(class_of(graph), own))
    names = [class_of(graph) for graph in graphs]
    good = all(units[graph] == best_of[name] for graph, name in zip(graphs, names, strict=True))
    return good and {class_of(graph) for graph in wanted} == set(names) and len(set(names)) == len(names)


@pytest.mark.parametrize("per_class", [False, True])
@pytest.mark.parametrize("within", [None, 8.0])
def test_changed_files_prove_nothing_false(per_class, within):
    rng, proved, refused = np.random.default_rng(3), 0, 0
    for _ in range(3):
        table = random_unpruned_table(rng, 4)
        window = None if within is None else float(np.log(within))
        found = best_graphs(table, 6 if within is None else 10_000, window, per_class, only_listed=True)
        fields = json.loads(msgspec.json.encode(described(found, per_class, within, {}, only_listed=True)))
        assert true(table, several_of(table, json.dumps(fields).encode()))
        for _ in range(60):
            mutant = fields
            for _ in range(int(rng.integers(1, 3))):
                mutant = changed(rng, mutant, PARTS)
            if rng.random() < 0.8 and mutant["graphs"]:
                mutant = with_shares(mutant)
            if rng.random() < 0.2:
                mutant = mutant | {"per_class": not per_class}
            try:
                several = several_of(table, json.dumps(mutant).encode())
                _, claimed = verify_several(table, several)
            except CheckFailed:
                refused += 1
                continue
            assert not claimed and true(table, several)
            proved += 1
    assert refused > 40 and proved > 3
