"""The sum over all trees behind a structure prior; see optbn/scores/trees/prior.py for the recurrence.

A box is what is left of every predictor: levels less one, or halvings. Predictors of one kind and size are alike, so a
box is a multiset per group of them, numbered by its rank: sorted ascending, x_0 <= x_1 <= .. has the rank
sum_i binom(x_i + i, i + 1), which falls when a member does. Groups are the digits of a mixed-radix number, so
increasing numbers are a bottom-up order. Cost: boxes x values of all predictors. Twin: tests/naive/pcart.py.
"""

from __future__ import annotations

from optbn.scores.kernels.kinds import CATEGORICAL, REAL
from optbn_solvers.base.compiled import kernel


@kernel
def sum_of_trees(members, choose, ways, leaf, part, other, total):
    """Fill total float64[boxes], the last of which is the sum over all trees of leaf^leaves.

    members  int64[k, 5], those of a group next to each other: kind; how many values its part of a box may have (levels,
             or halvings + 1); the first member of its group and the one after its last; the group's stride
    choose   int64[., .] and ways float64[., .], binomials: for ranks, and for the levels that join the lowest
    part     int64[k], zeros; other int64[values], scratch: the number of the box with a member's part replaced
    """
    k = len(members)
    for box in range(len(total)):
        big, small = leaf, 0.0  # terms are added with what rounding takes away
        for j in range(k):
            kind, first, last, x = members[j, 0], members[j, 2], members[j, 3], part[j]
            if x == 0 or (j > first and part[j - 1] == x):
                continue
            times = 0
            for i in range(first, last):
                times += part[i] == x
            # member j moves down to place p, and those between move up
            p, above = j, -choose[x + j - first, j - first + 1]
            for a in range(x - 1, -1, -1):
                while p > first and part[p - 1] > a:
                    p -= 1
                    y = part[p] + p - first
                    above += choose[y + 1, p - first + 2] - choose[y, p - first + 1]
                other[a] = box + (above + choose[a + p - first, p - first + 1]) * members[j, 4]
            for a in range(x - 1 if kind == REAL else 0, x):
                right = a if kind == REAL else x - 1 - a
                weight = ways[x, a] if kind == CATEGORICAL else 1.0
                term = times * weight * total[other[a]] * total[other[right]]  # in this order none of it is too small
                new = big + term
                small += (big - new) + term if big >= term else (term - new) + big
                big = new
        total[box] = big + small
        for j in range(k):  # the next box
            most = part[j + 1] if j + 1 < members[j, 3] else members[j, 1] - 1
            if part[j] < most:
                part[j] += 1
                break
            part[j] = 0
