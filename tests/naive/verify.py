"""The bound that stages of rows prove, in plain loops over families (twin of the arrays in
solvers/optbn_solvers/verify/checker.py)."""

from __future__ import annotations

from collections.abc import Sequence

from optbn_solvers.base.solution import BoundRow, ClauseRow, ClusterRow, LimitRow, RowBound

Families = list[tuple[frozenset[int], int]]


def bound_of_rows(listed: Sequence[Families], evidence: RowBound, target: int | None) -> int:
    """The bound in units over choices of one family of each variable; `target` is the score of the graph in hand."""
    fine = evidence.denominator
    alive = [list(families) for families in listed]
    best = sum(max(units for _, units in families) for families in alive)
    for stage in evidence.stages:
        adjusted = [[units * fine + sum(worth(row, v, parents) for row in stage) for parents, units in families]
                    for v, families in enumerate(alive)]  # fmt: skip
        tops = [max(values) for values in adjusted]
        bound = sum(tops) + sum(constant(row) for row in stage)
        if target is None:
            best = min(best, bound // fine)
            continue
        best = min(best, max(bound // fine, target))
        for v, top in enumerate(tops):
            # the best graph with this family reaches at most bound - (top - value); it must beat the target
            alive[v] = [
                family
                for family, value in zip(alive[v], adjusted[v], strict=True)
                if bound - (top - value) >= (target + 1) * fine
            ]
        if not all(alive):
            return target
    return best


def worth(row: BoundRow, v: int, parents: frozenset[int]) -> int:
    """What a row adds to a family."""
    if isinstance(row, ClusterRow):
        return row.multiplier if v in row.members and not parents & set(row.members) else 0
    if isinstance(row, LimitRow):
        return -row.multiplier * len(parents & set(row.parents))
    if isinstance(row, ClauseRow):
        false = [
            not parents & set(literal.others) if literal.meets else parents >= set(literal.others)
            for literal in row.literals
            if literal.child == v
        ]
        return -row.multiplier * sum(false)
    pattern = tuple(sorted(parents & set(row.members)))
    return -row.multiplier * sum(a for child, listed, a in row.coefficients if (child, listed) == (v, pattern))


def constant(row: BoundRow) -> int:
    """What a row adds to the bound."""
    if isinstance(row, ClusterRow):
        return -row.multiplier
    if isinstance(row, ClauseRow):
        return (len(row.literals) - 1) * row.multiplier
    return row.rhs * row.multiplier
