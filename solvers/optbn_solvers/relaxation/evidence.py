"""From the ledger's stages to evidence: as few stages as prove the same.

Every stage the ledger kept, applied in turn with the final incumbent, proves the final bound. Usually the last few do
as well: the final multipliers are good ones, and a stage may be applied again to what it left. So the shortest suffix
of length 1, 2, 4, ... that still proves the bound is taken, and of it only the stages that matter. On large tables
that fails, as the last multipliers speak of few families, and each try costs as much as what it hopes to save: the
tries together may do a few times the work of applying all stages, and take no longer than there is time. The last one
alone is tried before anything else: where the time ran out and nothing was dropped it is enough, and all of them would
be ten thousands of rows.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from optbn_solvers.base.solution import BoundRow, RowBound
from optbn_solvers.relaxation.families import Families
from optbn_solvers.relaxation.ledger import Ledger, Stage
from optbn_solvers.relaxation.rows import Row

AGAIN = 3  # times a suffix is applied to what it left
WORTH = 3  # times the work of applying all stages, for finding fewer


def row_bound(ledger: Ledger, late: Callable[[], bool] = lambda: False) -> RowBound:
    """Evidence for `ledger.bound`; made shorter only until it is late."""
    stages = ledger.stages
    everything = Families.of(ledger.table, np.arange(len(ledger.table)))
    last, _ = _enough(ledger, everything, stages[-1:], AGAIN, math.inf, late)
    if last is not None:
        return _row_bound(ledger, last)
    used, work = _enough(ledger, everything, stages, 1, math.inf, late)
    if used is None:
        if not late():
            raise AssertionError("the stages of the ledger do not add up to its bound")
        return _row_bound(ledger, stages)
    left, length = WORTH * work, 2
    while length < len(used):
        fewer, work = _enough(ledger, everything, stages[-length:], AGAIN, left, late)
        if fewer is not None:
            return _row_bound(ledger, min(fewer, used, key=len))
        left -= work
        length *= 2
    return _row_bound(ledger, used)


def _enough(
    ledger: Ledger, everything: Families, stages: Sequence[Stage], times: int, work: float, late: Callable[[], bool]
) -> tuple[list[Stage] | None, float]:
    """Those of the stages that prove the ledger's bound, in the order to be applied, and the work that was done.

    None when they do not prove it, or not with so much work (rows times families) and before it is late.
    """
    replayed = Ledger(ledger.table, ledger.rows, everything)
    used: list[Stage] = []
    done = 0.0
    for stage in itertools.chain.from_iterable(itertools.repeat(stages, times)):
        if replayed.bound <= ledger.bound:
            break
        done += len(stage.rows) * len(replayed.families)
        if done > work or late():
            return None, done
        entries = []
        for row, _ in stage.rows:
            if late():  # of millions of families, one row after another takes seconds
                return None, done
            entries.append(row.entries(replayed.families))
        kept = len(replayed.stages)
        replayed.settle(stage, entries)
        replayed.restrict()
        if len(replayed.stages) > kept:
            used.append(stage)
    return used if replayed.bound <= ledger.bound else None, done


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
