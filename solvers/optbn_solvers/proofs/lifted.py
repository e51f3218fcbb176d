"""A subset row in which a family is worth as much as any of its subsets; the right-hand side is the same."""

from __future__ import annotations

import itertools

from optbn_solvers.base.solution import SubsetRow


class Lifted:
    """The row's members, and `most`: of all of them what acyclic graphs reach; `within`: of each set of them."""

    def __init__(self, row: SubsetRow) -> None:
        self.members = row.members
        self.listed: dict[int, list[tuple[int, int]]] = {v: [] for v in row.members}
        for child, parents, coefficient in row.coefficients:
            self.listed[child].append((sum(1 << u for u in parents), coefficient))
        most = {0: 0}
        for size in range(1, len(self.members) + 1):
            for among in itertools.combinations(self.members, size):
                inside = sum(1 << u for u in among)
                most[inside] = max(most[inside ^ 1 << v] + self.best(v, inside ^ 1 << v) for v in among)
        self.within = most
        self.most = most[sum(1 << u for u in self.members)]

    def best(self, v: int, parents: int) -> int:
        """What v is worth with these parents."""
        return max((a for mask, a in self.listed[v] if mask & ~parents == 0), default=0)
