"""Does a table have all parent sets, or only those that none of their subsets beats?

One optimum needs no others. Averages over graphs, the best graphs after the best, their classes, and graphs that must
have certain arcs or paths do: from a table without them they come out wrong, and nothing shows it. So a table says what
it has where that is known (from whoever made it, or its file), and otherwise its rows are looked at:
    some row is beaten by a subset of its own       nobody dropped such rows
    all sets up to some size are there              nothing was dropped
    neither                                         rows have been dropped, as far as anybody can tell
"""

from __future__ import annotations

import math

import numpy as np

from optbn_solvers.base.errors import TableError
from optbn_solvers.base.kernels.masks import undominated
from optbn_solvers.base.table import ScoreTable

# What a file says of itself, under the key "sets".
ALL, UNDOMINATED = "all", "undominated"
WORDS = {True: ALL, False: UNDOMINATED}
MEANING = {ALL: True, UNDOMINATED: False}


def need_whole(table: ScoreTable, what: str, only_listed: bool = False) -> None:
    """TableError if `what` (a plural) cannot be had from the table's rows, unless these are all that is meant."""
    if only_listed or is_whole(table):
        return
    why = "were dropped when they were made" if table.whole is False else "seem to have been dropped: it has none"
    raise TableError(
        f"{what} need all parent sets; of these scores, those of sets that one of their subsets beats {why}. Score the "
        "data again with optbn score --keep-dominated, give them to optbn solve (--data FILE), or say with "
        "--only-listed (only_listed=True) that the sets that are listed are all that is meant"
    )


def is_whole(table: ScoreTable) -> bool:
    """Whether it has the rows that are beaten by subsets (see the module's header)."""
    if table.whole is not None:
        return table.whole
    return not undominated(table.offsets, table.masks, table.units).all() or _complete(table)


def _complete(table: ScoreTable) -> bool:
    """All sets up to some size are there, for each variable."""
    sizes = np.bitwise_count(table.masks).sum(axis=1)
    for v in range(table.n):
        own = sizes[table.offsets[v] : table.offsets[v + 1]]
        if len(own) < sum(math.comb(table.n - 1, size) for size in range(int(own.max()) + 1)):
            return False
        if table.n > 1 and own.max() == 0:
            return False  # just the empty set: what it beats was dropped, or never scored
    return True
