"""Sums of constants over the occupied cells of every set of variables up to a size, in whole numbers.

Depth first, so that the configurations of a set's rows are known when its last member joins. Configurations are
numbered as they occur: there are never more than rows.
"""

from __future__ import annotations

import numpy as np

from optbn_solvers.base.compiled import kernel


@kernel
def sums_of_sets(columns, levels, largest, products, tables, first, sums, cells):
    """Fill sums[first[k] + i] and cells[first[k] + i] for the i-th set of k members (lexicographic), k = 0..largest.

    columns   int64[n, rows], codes; levels int64[n], how many each variable declares
    products  int64[p], ascending: what declared levels multiply to; tables int64[p, rows + 1], their constants by count
    sums      the sum over occupied cells of the table of the set's product; cells: how many those are
    """
    n, rows = columns.shape
    configuration = np.zeros((largest + 1, rows), np.int64)
    occurring, product = np.ones(largest + 1, np.int64), np.ones(largest + 1, np.int64)
    following, at = np.zeros(largest + 1, np.int64), first.copy()
    counts = np.zeros(rows * levels.max() + 1, np.int64)
    sums[first[0]], cells[first[0]] = tables[np.searchsorted(products, 1), rows], 1
    depth = 0
    while depth >= 0:
        v = following[depth]
        if v == n or depth == largest:
            depth -= 1
            continue
        following[depth] = v + 1
        r, above = levels[v], configuration[depth]
        size = occurring[depth] * r
        counts[:size] = 0
        for row in range(rows):
            counts[above[row] * r + columns[v, row]] += 1
        deeper = depth + 1
        product[deeper] = product[depth] * r
        table = tables[np.searchsorted(products, product[deeper])]
        total, used = 0, 0
        for cell in range(size):
            if counts[cell]:
                total += table[counts[cell]]
                counts[cell] = used  # from here on the number of the configuration
                used += 1
        sums[at[deeper]], cells[at[deeper]] = total, used
        at[deeper] += 1
        if deeper < largest:
            for row in range(rows):
                configuration[deeper, row] = counts[above[row] * r + columns[v, row]]
            occurring[deeper], following[deeper] = used, v + 1
            depth = deeper
