"""Parent sets of every size for a score that no bound ends: refused where that would take longer than a day.

The estimate is what the score expects of a sample of each size (`seconds`, which trees have), and that is rather too
much. Sets that it leaves out as too dear cost nothing. Why trees have no such bound: tests/benchmarks/ceilings.py.
"""

from __future__ import annotations

import numpy as np

from optbn.base.errors import LimitError
from optbn.scores.left_out import too_dear
from optbn.scores.scoring import Scoring

MOST_SECONDS = 86_400
SAMPLE = 64


def refuse_without_end(scoring: Scoring) -> None:
    """Raise LimitError where sets of all sizes are wanted and are hopelessly many."""
    sets, bound = scoring.sets, scoring.bound
    if scoring.unlimited or sets.largest < sets.n - 1 or not hasattr(bound, "seconds"):
        return
    rng, total = np.random.default_rng(0), 0.0
    for size in range(1, sets.largest + 1):
        some = np.array([np.sort(rng.choice(sets.n, size, replace=False)) for _ in range(SAMPLE)], np.int32)
        some = some[~too_dear(bound, some)]
        if len(some):
            total += sets.count(size) / (sets.n - size) * float(bound.seconds(some).mean()) * len(some) / SAMPLE
        if total > MOST_SECONDS:
            families = sum(sets.count(k) for k in range(sets.largest + 1))
            raise LimitError(
                f"without a limit on parents there are {families:,} families here, and {type(scoring.method).__name__} "
                f"has no bound that shows the larger ones needless: those of up to {size} parents alone take more than "
                "a day. Set max_parents to a smaller number (3, say), or take a score with such bounds (bic, aic, "
                "bdeu, bds, k2)"
            )
