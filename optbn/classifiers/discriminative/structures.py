"""Which families a structure gives the class a say in."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from optbn.base.errors import UnsupportedError
from optbn.classifiers.discriminative.factors import Family
from optbn.classifiers.pairs import Batch, PairCounts
from optbn.classifiers.single import by_information, k_parents
from optbn.classifiers.tan import best_tree
from optbn.evaluate.graphs import structure_of

Pass = Callable[[], Iterator[Batch]]


def families(
    structure: Any, batches: Pass, names: Sequence[str], sizes: Sequence[int], n_classes: int, target: str
) -> tuple[Family, ...]:
    """ "nb", "tan", "kdb1", "kdb2", ... , or a DAG (anything with arcs over the columns' names and the target's)."""
    if isinstance(structure, str):
        if structure == "nb":
            return tuple(Family(i, ()) for i in range(len(names)))
        kdb = re.fullmatch(r"kdb(\d+)", structure)
        if structure != "tan" and not kdb:
            raise UnsupportedError(f"structure={structure!r}: expected nb, tan, kdb1, kdb2, ... or a DAG")
        counts = PairCounts.of(batches(), sizes, n_classes, names)
        if kdb:
            order, conditional = by_information(counts.information()), counts.conditional_information()
            parents = k_parents(order, conditional, int(kdb[1]))
        else:
            parents = best_tree(counts)
        return tuple(Family(i, tuple(parents[i])) for i in sorted(parents))
    return _of_dag(structure, names, target)


def _of_dag(structure: Any, names: Sequence[str], target: str) -> tuple[Family, ...]:
    dag = structure_of(structure)
    place = {name: i for i, name in enumerate(names)}
    if target not in dag.names:
        raise UnsupportedError(f"the structure has no variable {target!r}, which is the target")
    strange = [name for name in dag.names if name != target and name not in place]
    if strange:
        raise UnsupportedError(f"the structure has the variable {strange[0]!r}, but the data have no such column")
    y = dag.index(target)
    found = []
    for v, parents in enumerate(dag.parent_sets):
        others = [place[dag.names[p]] for p in parents if p != y]
        if v == y and others:
            found.append(Family(others[0], tuple(others[1:]), of_class=True))
        elif y in parents:
            found.append(Family(place[dag.names[v]], tuple(others)))
    return tuple(found)


def is_moral(structure: Any, target: str) -> bool:
    """Whether all parents of every variable that has the class in its family are adjacent; true of nb, tan, kdb1."""
    if isinstance(structure, str):
        return structure in ("nb", "tan", "kdb0", "kdb1")

    dag = structure_of(structure)
    y = dag.index(target)
    adjacent = {frozenset((v, p)) for v, parents in enumerate(dag.parent_sets) for p in parents}
    return all(
        frozenset(pair) in adjacent
        for v, parents in enumerate(dag.parent_sets)
        if v == y or y in parents
        for pair in itertools.combinations(parents, 2)
    )
