"""What evidence proves of families: rows and trees by the checker of solutions, a bare claim by its recursion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from optbn.certify.upper import Families
from optbn_solvers.base.errors import CheckFailed
from optbn_solvers.base.solution import Evidence, Exhausted, Parts, Proof, RowBound, Tree
from optbn_solvers.base.table import ScoreTable
from optbn_solvers.proofs import check_carried
from optbn_solvers.verify.layers import most_units
from optbn_solvers.verify.stages import Stages

MOST_SUBSETS = 24  # variables: some seconds


@dataclass(frozen=True)
class Evidenced:
    """Families, and those of a graph among them (its masks of parents)."""

    families: Families
    graph: Sequence[int]

    @property
    def score(self) -> int:
        """The units of the graph."""
        return self.of(range(len(self.graph)))

    def of(self, members: Sequence[int]) -> int:
        """The units of the graph's families of some variables."""
        return sum(dict(self.families[v])[self.graph[v]] for v in members)

    def bound(self, evidence: Evidence | None) -> int:
        """No acyclic choice has more units. CheckFailed where the evidence does not hold of these families."""
        n = len(self.graph)
        if not isinstance(evidence, Parts):
            return self.part(tuple(range(n)), evidence)
        rest, total = set(range(n)), 0
        for part in evidence.parts:
            if not part.members or not rest.issuperset(part.members) or len(set(part.members)) < len(part.members):
                raise CheckFailed("the parts of the evidence are not disjoint sets of variables")
            rest.difference_update(part.members)
            total += self.part(tuple(part.members), part.evidence)
        return total + sum(max(units for _, units in self.families[v]) for v in rest)

    def part(self, members: tuple[int, ...], evidence: RowBound | Proof | Tree | Exhausted | None) -> int:
        """The bound over some variables, whose parents elsewhere do not count."""
        listed = [within(self.families[v], sum(1 << u for u in members)) for v in members]
        target = self.of(members)
        if isinstance(evidence, Tree):
            check_carried(_table(members, listed), target, evidence)
            return target
        if isinstance(evidence, Proof):
            raise CheckFailed(f"the proof file {evidence.path} was not opened")
        rows = evidence if isinstance(evidence, RowBound) else evidence.rows if evidence is not None else None
        found = Stages(len(self.graph), None, lambda: False).bound(members, listed, rows or RowBound(()), target)
        if found > target and not isinstance(evidence, RowBound) and len(members) <= MOST_SUBSETS:
            best = most_units([_renamed(families, members) for families in listed], target)
            return found if best is None else min(found, best)
        return found


def within(families: list[tuple[int, int]], part: int) -> list[tuple[int, int]]:
    """The best score of each set of parents inside a part, where parents outside do not count."""
    best: dict[int, int] = {}
    for mask, units in families:
        best[mask & part] = max(units, best.get(mask & part, units))
    return list(best.items())


def _renamed(families: list[tuple[int, int]], members: Sequence[int]) -> list[tuple[int, int]]:
    """Families with variables counted by their place among the members."""
    return [(sum(1 << i for i, u in enumerate(members) if mask >> u & 1), units) for mask, units in families]


def _table(members: Sequence[int], listed: Families) -> ScoreTable:
    """The families as a table, on a grid of whole numbers."""
    rows = [sorted(_renamed(families, members), key=lambda family: -family[1]) for families in listed]
    masks = [mask for families in rows for mask, _ in families]
    width = 8 * max(1, -(-len(members) // 64))
    packed = b"".join(mask.to_bytes(width, "little") for mask in masks)
    return ScoreTable(
        tuple(map(str, members)),
        np.cumsum([0, *map(len, rows)], dtype=np.int64),
        np.frombuffer(packed, dtype="<u8").astype(np.uint64).reshape(len(masks), width // 8),
        np.array([units for families in rows for _, units in families], dtype=np.int64),
        0,
    )
