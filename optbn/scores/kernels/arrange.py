"""Responses side by side as `climb` wants them: which counts are theirs, and which rows of the tables of leaves."""

from __future__ import annotations

from optbn_solvers.base.compiled import leaf, part

ROWS = 11
"""Rows of the table that `arrange` fills: column, level_lanes, level_start, run_end, run_row, run_levels, real,
real_row, number, number_row, real_end."""


@part
def begins_run(lane, q, levels, table_row):
    """Whether lane q has another row of tables, or number of levels, than the one before."""
    return q == 0 or table_row[lane[q]] != table_row[lane[q - 1]] or levels[lane[q]] != levels[lane[q - 1]]


@leaf
def arrange(lane, n_lanes, cats, responses, table):
    """(width, levels, runs) of the responses lane[:n_lanes], of which the first `cats` are categorical.

    Fills int64[ROWS, room for as many as there are columns of codes, responses and levels, at least 3]:
    column[:width], the column of codes behind each count of a slot, level by level; level_lanes[:levels], how many
    lanes have that level, and level_start, where their counts begin; run_end, run_row and run_levels[:runs], lanes
    with one row of tables and one number of levels; then of every real lane `real`, the column of its moments, and
    real_row, its row of tables; number, where its counts of rows with and without a number begin, or -1 where all rows
    have one, and number_row, their row of tables; and real_end, after which lane its run of lanes ends that have one
    row of tables and whose rows all have a number.
    """
    _, _, start, levels, table_row, _, real, there, there_row = responses
    column, level_lanes, level_start, run_end, run_row = table[0], table[1], table[2], table[3], table[4]
    run_levels, real_column, real_row, number, number_row = table[5], table[6], table[7], table[8], table[9]
    runs, most = 0, 0
    for q in range(cats):
        most = max(most, levels[lane[q]])
        if begins_run(lane, q, levels, table_row):
            run_row[runs] = table_row[lane[q]]
            run_levels[runs] = levels[lane[q]]
            runs += 1
        run_end[runs - 1] = q + 1
    level_start[0] = level_start[1] = level_start[2] = 0
    width = 0
    for level in range(most):
        level_start[level] = width
        q = 0
        while q < cats and levels[lane[q]] > level:
            column[width] = start[lane[q]] + level
            width += 1
            q += 1
        level_lanes[level] = q
    for q in range(cats, n_lanes):
        v = lane[q]
        real_column[q - cats] = real[v]
        real_row[q - cats] = table_row[v]
        number[q - cats] = -1
        number_row[q - cats] = there_row[v]
        if there[v] >= 0:
            column[width] = there[v]
            column[width + 1] = there[v] + 1
            number[q - cats] = width
            width += 2
    real_end = table[10]
    for q in range(n_lanes - cats - 1, -1, -1):
        together = q + 1 < n_lanes - cats and number[q] == number[q + 1] == -1 and real_row[q] == real_row[q + 1]
        real_end[q] = real_end[q + 1] if together else q + 1
    return width, most, runs
