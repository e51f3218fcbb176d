"""From the ledger's stages to evidence: as few stages as prove the same.

Every stage the ledger kept, replayed in turn with the final incumbent, proves the final bound. Usually the last few
do as well: the final multipliers are good ones, and a stage may be applied again to what it left. So the shortest
suffix of length 1, 2, 4, ... that still proves the bound is taken, and of it only the stages that matter.
"""

from __future__ import annotations

import numpy as np

from solvers.ilp.families import Families
from solvers.ilp.ledger import Ledger, Stage
from solvers.ilp.rows import Entries
from solvers.protocol import Budget
from solvers.solution import RowBound

AGAIN = 3  # times a suffix is replayed on what it left


def row_bound(ledger: Ledger, seconds: float = float("inf")) -> RowBound | None:
    """Evidence for `ledger.bound`; None when `seconds` were not enough to find it."""
    stages = ledger.stages
    everything = Families.of(ledger.table, np.arange(len(ledger.table)))
    clock = Budget(wall=seconds)
    length = 1
    while True:
        used = _replay(ledger, everything, stages[-length:] if length < len(stages) else stages, clock)
        if used is not None:
            break
        if clock.exhausted():
            return None
        if length >= len(stages):
            raise AssertionError("the stages of the ledger do not add up to its bound")
        length *= 2
    bits = max((stage.bits for stage in used), default=0)
    return RowBound(
        tuple(
            tuple(row.evidence(everything, y << (bits - stage.bits)) for row, y in stage.rows if y > 0)
            for stage in used
        ),
        1 << bits,
    )


def _replay(ledger: Ledger, everything: Families, stages: list[Stage], clock: Budget) -> list[Stage] | None:
    """The stages that prove the ledger's bound, in the order to be applied, or None."""
    replayed = Ledger(ledger.table, ledger.rows, everything)
    if replayed.bound <= ledger.bound:
        return []
    kept_entries: dict[int, Entries] = {}
    used: list[Stage] = []
    for _ in range(AGAIN):
        for stage in stages:
            for row, _ in stage.rows:
                if clock.exhausted():
                    return None
                if id(row) not in kept_entries:
                    kept_entries[id(row)] = row.entries(everything)
            kept = len(replayed.stages)
            replayed.settle(stage, [kept_entries[id(row)] for row, _ in stage.rows])
            if len(replayed.stages) > kept:
                used.append(stage)
            if replayed.bound <= ledger.bound:
                return used
    return None
