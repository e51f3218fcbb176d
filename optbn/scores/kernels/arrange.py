"""Responses side by side as `climb` wants them: which counts are theirs, and which rows of the tables of leaves."""

from __future__ import annotations

from optbn_solvers.base.compiled import leaf

ROWS = 11
COLUMN, LEVEL_LANES, LEVEL_START, RUN_END, RUN_ROW, RUN_LEVELS, REAL_COLUMN, REAL_ROW, NUMBER, NUMBER_ROW, REAL_END = (
    range(ROWS)
)
"""Rows of the table that `arrange` fills."""


@leaf
def arrange(lane, n_lanes, cats, responses, table):
    """(width, levels, runs) of the responses lane[:n_lanes], of which the first `cats` are categorical.

    Fills int64[ROWS, room for as many as there are columns of codes, responses and levels, at least 3]:
    COLUMN (up to width), the column of codes behind each count of a slot, level by level; LEVEL_LANES (up to levels),
    how many lanes have that level, and LEVEL_START, where their counts begin; RUN_END, RUN_ROW and RUN_LEVELS (up to
    runs), lanes with one row of tables and one number of levels; then of every real lane REAL_COLUMN, the column of its
    moments, and REAL_ROW, its row of tables; NUMBER, where its counts of rows with and without a number begin, or -1
    where all rows have one, and NUMBER_ROW, their row of tables; and REAL_END, after which lane its run of lanes ends
    that have one row of tables and whose rows all have a number.
    """
    _, _, start, levels, table_row, _, real, there, there_row = responses
    runs, most = 0, 0
    for q in range(cats):
        v = lane[q]
        most = max(most, levels[v])
        if q == 0 or table_row[v] != table_row[lane[q - 1]] or levels[v] != levels[lane[q - 1]]:
            table[RUN_ROW, runs] = table_row[v]
            table[RUN_LEVELS, runs] = levels[v]
            runs += 1
        table[RUN_END, runs - 1] = q + 1
    for level in range(3):
        table[LEVEL_START, level] = 0
    width = 0
    for level in range(most):
        table[LEVEL_START, level] = width
        q = 0
        while q < cats and levels[lane[q]] > level:
            table[COLUMN, width] = start[lane[q]] + level
            width += 1
            q += 1
        table[LEVEL_LANES, level] = q
    for q in range(n_lanes - cats):
        v = lane[cats + q]
        table[REAL_COLUMN, q] = real[v]
        table[REAL_ROW, q] = table_row[v]
        table[NUMBER, q] = -1
        table[NUMBER_ROW, q] = there_row[v]
        if there[v] >= 0:
            table[COLUMN, width] = there[v]
            table[COLUMN, width + 1] = there[v] + 1
            table[NUMBER, q] = width
            width += 2
    end = n_lanes - cats
    for q in range(n_lanes - cats - 1, -1, -1):
        if q + 1 < n_lanes - cats:
            plain = table[NUMBER, q] < 0 and table[NUMBER, q + 1] < 0
            if not plain or table[REAL_ROW, q] != table[REAL_ROW, q + 1]:
                end = q + 1
        table[REAL_END, q] = end
    return width, most, runs
