"""What the order graph is about, by its definition: the least cost of what is still to be placed."""

from __future__ import annotations

from optbn_solvers.base.table import ScoreTable


def cost_to_go(table: ScoreTable) -> list[int | None]:
    """For each set U of placed variables: what placing the others costs at least, None when it is not possible.

    Costs are (best units of the variable) - (units of the family).
    """
    n = table.n
    best = table.units[table.offsets[:-1]].tolist()
    families = [
        [(sum(1 << u for u in table.parents(row)), best[v] - int(table.units[row])) for row in table.rows(v)]
        for v in range(n)
    ]
    left: list[int | None] = [None] * (1 << n)
    left[-1] = 0
    for placed in range((1 << n) - 2, -1, -1):
        for v in range(n):
            after = left[placed | 1 << v]
            if placed >> v & 1 or after is None:
                continue
            for mask, cost in families[v]:
                if mask & ~placed == 0 and (left[placed] is None or cost + after < left[placed]):
                    left[placed] = cost + after
    return left
