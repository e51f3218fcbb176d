"""How the time limit of `learn` is shared out, and what holds where there is none."""

from __future__ import annotations

DEFAULT_PARENTS = 3
MOST_PARENTS = 5  # where nobody says how many, and a time limit is to be used
DEFAULT_SCORING_SECONDS = 60.0  # without a time limit and a stated size, scoring chooses its size to fit this
SCORING_SHARE = 0.5  # of the time, for scoring
LARGER_SHARE = 0.6  # of the time, until dear families and larger sets of likeliest parents are scored
AGAIN_SHARE = 0.2  # of the time, to make the trees of dear families that are chosen once more
SMALLEST_SHARE = 0.7  # of the time, that the smallest size may use
PREPARING_SHARE = 0.8  # of the time for scoring, that may go by before the first score
DEAR_SHARE = 0.04  # of the time, that a parent set may be expected to take to be scored at all
RESCORING = 2.0  # times what scoring took, for scoring without leaving out what a subset beats
RESERVE = 0.2  # of the time, for what comes after the search
CHECK_SHARE = 0.08  # of the time, for the evidence and its check, if the search took all it had
REPORT_SHARE = 0.05  # of the time, for the report
MORE_SECONDS = 60.0  # without a time limit, for other networks than the best
FILLING_SHARE = 1 / 3  # of the time, to fill gaps by the model
UNTHINKABLE = 30 * 86400.0  # seconds; nobody means this
