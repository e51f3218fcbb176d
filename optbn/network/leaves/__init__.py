"""What stands in the cells of a local distribution, a file each: categorical, normal, Student-t, a number or none.

A CPD is a partition of the parents' space into cells (see `cpds`) and one of these. Given the cell of every row, each
knows the log density of the child's values and how to draw them.
"""

from __future__ import annotations

from dataclasses import replace

from optbn.data.support import Support
from optbn.network.leaves.categorical import SUM_TOLERANCE, CategoricalLeaves
from optbn.network.leaves.mixed import MixedLeaves
from optbn.network.leaves.normal import NormalLeaves
from optbn.network.leaves.student import StudentLeaves

__all__ = ["SUM_TOLERANCE", "CategoricalLeaves", "Leaves", "MixedLeaves", "NormalLeaves", "StudentLeaves", "within"]

Leaves = CategoricalLeaves | NormalLeaves | StudentLeaves | MixedLeaves


def within(leaves: Leaves, support: Support) -> Leaves:
    """Leaves of numbers with estimated means and deviations, cut to the support; Student-t leaves are not."""
    if isinstance(leaves, MixedLeaves):
        numbers = within(leaves.numbers, support)
        assert isinstance(numbers, NormalLeaves | StudentLeaves)
        return replace(leaves, numbers=numbers)
    return NormalLeaves.fitting(leaves.mean, leaves.sd, support) if isinstance(leaves, NormalLeaves) else leaves
