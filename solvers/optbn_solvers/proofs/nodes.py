"""Evidence read as nodes, for proofs in other formats: a tree, or stages as nodes one below the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from optbn_solvers.base.errors import NoProofError
from optbn_solvers.base.solution import BoundRow, ClusterRow, RowBound, SubsetRow, Tree
from optbn_solvers.proofs.format import BRANCH, CLUSTER, FILTER, LEAF, SUBSET, numbers, unpacked

Row = BoundRow
Bools = NDArray[np.bool_]


@dataclass
class Node:
    """One record of a tree.

    parent, side    the node above and, below a branch, whether its family is disjoint from the set; -1, None
    multipliers     of rows, by number
    branch          (variable, set): where it splits
    before, placed, after   which families are alive when it is reached, after the support, after the bound
    skipped         it is below a node that is closed
    closed          nothing better is left: by the bound over `before` or `placed`, or `empty` has no family

    What is to be proved:
    support         variable -> (set of which it must be the first, its families that are dropped for that)
    dropped         families that are dropped by the bound
    """

    parent: int
    side: bool | None
    multipliers: dict[int, int]
    branch: tuple[int, tuple[int, ...]] | None = None
    before: Bools = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))
    placed: Bools = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))
    after: Bools = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))
    skipped: bool = False
    closed: bool = False
    empty: int | None = None
    support: dict[int, tuple[tuple[int, ...], list[int]]] = field(default_factory=dict)
    dropped: list[int] = field(default_factory=list)

    @property
    def summed(self) -> bool:
        """The rows prove something here."""
        return bool(self.dropped) or (self.closed and not self.skipped and self.empty is None)


def nodes_of_rows(evidence: RowBound) -> tuple[list[Row], list[Node], int]:
    """(rows, nodes, denominator): stages are nodes one below the other."""
    rows: list[Row] = []
    known: dict[object, int] = {}
    nodes = []
    for i, stage in enumerate(evidence.stages or ((),)):
        multipliers: dict[int, int] = {}
        for row in stage:
            statement = replace(row, multiplier=0)
            if statement not in known:
                known[statement] = len(rows)
                rows.append(row)
            number = known[statement]
            multipliers[number] = multipliers.get(number, 0) + row.multiplier
        nodes.append(Node(i - 1, None, multipliers))
    return rows, nodes, evidence.denominator


def nodes_of_tree(tree: Tree, members: Sequence[int]) -> tuple[list[Row], list[Node], int]:
    """The same of a tree, whose variables are places among the members; it was checked before."""
    stream = numbers(unpacked(tree.body, "a tree in the evidence"))
    rows: list[ClusterRow | SubsetRow] = []
    nodes: list[Node] = []
    waiting: list[tuple[int, bool | None, dict[int, int]]] = [(-1, None, {})]
    while waiting:
        kind = next(stream)
        if kind in (CLUSTER, SUBSET):
            rows.append(_defined(kind, stream, members))
            continue
        parent, side, multipliers = waiting.pop()
        multipliers = dict(multipliers)
        for _ in range(next(stream)):
            number, change = next(stream), next(stream)
            multipliers[number] = multipliers.get(number, 0) + change
        at = len(nodes)
        nodes.append(Node(parent, side, multipliers))
        if kind == FILTER:
            waiting.append((at, None, multipliers))
        elif kind == BRANCH:
            v, number, first = next(stream), next(stream), next(stream)
            nodes[at].branch = (members[v], rows[number].members)
            waiting += [(at, not first, multipliers), (at, bool(first), multipliers)]
        elif kind != LEAF:
            raise NoProofError(f"the tree has a record of the unknown kind {kind}")
    return list(rows), nodes, tree.denominator


def _defined(kind: int, stream: Iterator[int], members: Sequence[int]) -> ClusterRow | SubsetRow:
    inside = tuple(members[next(stream)] for _ in range(next(stream)))
    if kind == CLUSTER:
        return ClusterRow(inside, 0)
    rhs = next(stream)
    coefficients = []
    for _ in range(next(stream)):
        child, pattern, coefficient = next(stream), next(stream), next(stream)
        parents = tuple(u for i, u in enumerate(inside) if pattern >> i & 1)
        coefficients.append((inside[child], parents, coefficient))
    return SubsetRow(inside, tuple(coefficients), rhs, 0)
