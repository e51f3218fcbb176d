"""From the ledger's stages to evidence: as few stages as prove the same.

Every stage the ledger kept, replayed in turn with the final incumbent, proves the final bound. Usually the last few
do as well: the final multipliers are good ones, and a stage may be applied again to what it left. So the shortest
suffix of length 1, 2, 4, ... that still proves the bound is taken, and of it only the stages that matter.
"""

from __future__ import annotations

import numpy as np

from solvers.ilp.families import Families
from solvers.ilp.ledger import Ledger, Stage
from solvers.solution import RowBound

AGAIN = 3  # times a suffix is replayed on what it left


def row_bound(ledger: Ledger) -> RowBound:
    """Evidence for `ledger.bound`."""
    stages = ledger.stages
    everything = Families.of(ledger.table, np.arange(len(ledger.table)))
    length = 1
    while True:
        used = _replay(ledger, everything, stages[-length:] if length < len(stages) else stages)
        if used is not None:
            break
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


def _replay(ledger: Ledger, everything: Families, stages: list[Stage]) -> list[Stage] | None:
    """The stages that prove the ledger's bound, in the order to be applied, or None."""
    replayed = Ledger(ledger.table, ledger.rows, everything)
    if replayed.bound <= ledger.bound:
        return []
    entries = [[row.entries(everything) for row, _ in stage.rows] for stage in stages]
    used: list[Stage] = []
    for _ in range(AGAIN):
        for stage, stage_entries in zip(stages, entries, strict=True):
            kept = len(replayed.stages)
            replayed.settle(stage, stage_entries)
            if len(replayed.stages) > kept:
                used.append(stage)
            if replayed.bound <= ledger.bound:
                return used
    return None
