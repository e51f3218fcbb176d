"""From the ledger's stages to evidence: as few stages as prove the same.

Every stage the ledger kept, applied in turn with the final incumbent, proves the final bound; usually few of them do
(relaxation.replay). The last one alone is tried before anything else: where the time ran out and nothing was dropped it
is enough, and all of them would be ten thousands of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from optbn_solvers.base.errors import StoppedError
from optbn_solvers.base.solution import BoundRow, RowBound
from optbn_solvers.relaxation.families import Families
from optbn_solvers.relaxation.ledger import Ledger, Stage
from optbn_solvers.relaxation.replay import Replay, fewest
from optbn_solvers.relaxation.rows import Row


def row_bound(ledger: Ledger, late: Callable[[], bool] = lambda: False) -> RowBound:
    """Evidence for `ledger.bound`; made shorter only until it is late."""
    replay = Replay(ledger.table, ledger.rows, late)
    try:
        used = fewest(replay, ledger.stages, lambda: replay.bound <= ledger.bound)
    except StoppedError:
        used = list(ledger.stages)
    if used is None:
        raise AssertionError("the stages of the ledger do not add up to its bound")
    return _row_bound(ledger, used)


def _row_bound(ledger: Ledger, stages: Sequence[Stage]) -> RowBound:
    """The stages as the checker reads them."""
    everything = Families.of(ledger.table, np.arange(len(ledger.table)))
    bits = max((stage.bits for stage in stages), default=0)
    kept: dict[int, BoundRow] = {}  # a row comes in many stages; what it says of patterns is the same

    def tell(row: Row, multiplier: int) -> BoundRow:
        if id(row) not in kept:
            kept[id(row)] = row.evidence(everything, 0)
        return replace(kept[id(row)], multiplier=multiplier)

    return RowBound(
        tuple(tuple(tell(row, y << (bits - stage.bits)) for row, y in stage.rows if y > 0) for stage in stages),
        1 << bits,
    )
