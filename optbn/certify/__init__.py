"""From data to a theorem: on these rows, no graph of at most D parents per variable scores more than this one plus so
little.

    definition.py    which score, with which settings, as exact fractions
    constants.py     logarithms in whole numbers, rounded down and up, enclosed by python-flint
    contingency.py   BDeu and BIC of every family as an interval: counts, then sums of constants
    trees.py         the same for PCART
    upper.py         every family of at most D parents by the upper end of its interval, without those beaten by subsets
    evidence.py      what rows, trees and recursions prove of these families
    certificate.py   the statement, and the file that another program can check

Nothing here counts, scores or prunes with the code of `optbn.scores`; only the data as read, and the checker of rows
and trees (`optbn_solvers.verify`, `proofs`), are shared with the rest.
"""
