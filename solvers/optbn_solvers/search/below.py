"""Where the cluster search begins below a root: with the families that the ledger left, and its bound.

The last stage of a ledger alone says little: its multipliers were chosen for the families that earlier stages had left,
and others may look better than any under them. So the beginning of the proof is as many stages as drop what the ledger
has dropped (relaxation.replay). On alarm_10000_bdeu1 a search from a few stages began 6,300 above the score and was
given up after 1,000 nodes; from all it begins at the ledger's 4.2 and takes 150.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from optbn_solvers.base.errors import StoppedError
from optbn_solvers.base.solution import ClusterRow, SubsetRow
from optbn_solvers.proofs.writer import Records
from optbn_solvers.relaxation.families import Families
from optbn_solvers.relaxation.ledger import Ledger, Stage
from optbn_solvers.relaxation.replay import Replay, fewest
from optbn_solvers.relaxation.rows import Cluster, Opening, Pattern, Row
from optbn_solvers.search.kernels.subsets import CLASSES
from optbn_solvers.search.start import Start


def below(ledger: Ledger, late: Callable[[], bool]) -> Start | None:
    """What a search below a ledger has to look at, under the multipliers of its best stage, which it goes on to move.

    None where it is late, or the stages take more than 64 bits. In whole units, and without rows of large
    coefficients, which the search cannot move, the stages may leave a little more than the ledger has.
    """
    table = ledger.table
    replay = Replay(table, ledger.rows, late)
    dropped = np.ones(len(table), dtype=np.bool_)
    dropped[ledger.families.rows[ledger.alive]] = False
    whole = [_whole(stage) for stage in ledger.stages]
    try:
        stages = fewest(replay, whole, lambda: replay.bound <= ledger.bound and not (replay.alive & dropped).any())
        stages = whole if stages is None else [*stages]
        replay.begin()
        for stage in stages:
            replay.apply(stage)
        if stages:
            best = min(stages[::-1], key=replay.reaches)  # often not the last, which may only have dropped families
            replay.apply(best)
            stages = [*stages, best]
        adjusted = replay.adjusted(stages[-1]) if stages else table.units
    except StoppedError:
        return None
    if adjusted is None or replay.bound <= replay.score:
        return None
    return _start(ledger, stages, adjusted, np.flatnonzero(replay.alive))


def _start(ledger: Ledger, stages: Sequence[Stage], adjusted: NDArray[np.int64], alive: NDArray[np.int64]) -> Start:
    """The families `alive`, under what the last of the stages makes of their units."""
    table = ledger.table
    everything = Families.of(table, np.arange(len(table)))
    records = Records()
    told: dict[int, tuple[ClusterRow | SubsetRow, int]] = {}  # by identity: a row as the proof has it, and its number
    for stage in stages:
        for row, _ in stage.rows:
            if id(row) not in told:
                evidence = row.evidence(everything, 1)
                assert isinstance(evidence, ClusterRow | SubsetRow)
                told[id(row)] = evidence, records.number(evidence)
        records.filter_by([(told[id(row)][1], y) for row, y in stage.rows])
    moving = stages[-1].rows if stages else []
    coefficients = np.zeros((max(1, len(moving)), len(table)), dtype=np.int16)
    for number, (row, _) in enumerate(moving):
        if isinstance(row, Pattern):
            index, value = row.entries(everything)
            coefficients[number, index] = value
    tops = np.maximum.reduceat(adjusted[alive], np.searchsorted(table.children[alive], np.arange(table.n)))
    return Start(
        rows=alive,
        units=adjusted[alive],
        bound=int(tops.sum()) + sum(y * row.rhs for row, y in moving),
        moving=tuple(replace(told[id(row)][0], multiplier=y) for row, y in moving),
        names=tuple(told[id(row)][1] for row, _ in moving),
        coefficients=coefficients[:, alive],
        records=records.numbers(),
        defined=records.defined,
        filters=records.nodes,
    )


def _whole(stage: Stage) -> Stage:
    """The stage with multipliers in whole units, of the rows that the search can move."""
    rows = [(row, y >> stage.bits) for row, y in stage.rows if y >> stage.bits and _small(row)]
    return Stage(rows)


def _small(row: Row) -> bool:
    return isinstance(row, Cluster | Opening) or (isinstance(row, Pattern) and int(row.table.max()) < CLASSES)
