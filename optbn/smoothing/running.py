"""Parameters of rows that keep coming: counts are kept, and a network can be made of them at any time.

Counts of whole rows add up without rounding and every smoother is a function of the counts and the seed, so blocks in
any order, and all rows at once, give the same network to the last bit. (Sums of real variables, and of weights that are
fractions, are rounded: there it is the same but for the last digits.)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import ArrayLike

from optbn.base.errors import DataError
from optbn.base.settings import check_seed
from optbn.base.threads import check_jobs
from optbn.data.anything import DataLike
from optbn.data.schema import Schema, SchemaLike
from optbn.network.network import BayesianNetwork
from optbn.smoothing import load_smoother
from optbn.smoothing.default import all_whole, smoother_for
from optbn.smoothing.family import FamilyFit
from optbn.smoothing.fitting import finished
from optbn.smoothing.normal import LeafKind, check_kind
from optbn.smoothing.protocol import Smoother
from optbn.smoothing.rows import StructureLike, as_structure, families_and_rows


class RunningFit:
    """`fit` in parts: `partial_fit` as often as rows come, `network()` whenever it is wanted."""

    def __init__(
        self,
        structure: StructureLike,
        smoother: str | Smoother | None = None,
        *,
        seed: int = 0,
        leaves: LeafKind = "normal",
        schema: SchemaLike = None,
        **settings: Any,
    ) -> None:
        """structure, smoother, seed, leaves, settings   as in `fit`

        schema   what is known about the columns; of a bare DAG the first block decides the rest, which levels there are
                 and in which order, so it should have them all
        """
        check_kind(leaves)
        check_seed(seed)
        self._structure = as_structure(structure)
        self._smoother = None if smoother is None else load_smoother(smoother, caller=RunningFit, **settings)
        self._settings, self._whole = settings, True
        self._seed, self._leaves = seed, leaves
        self._columns: dict[str, Any] = dict(Schema.of(schema).columns)
        self._fits: list[FamilyFit] = []
        self.rows = 0

    def partial_fit(
        self, data: DataLike, *, weights: str | ArrayLike | None = None, reading: Mapping[str, Any] | None = None
    ) -> RunningFit:
        """Count more rows: a Dataset, a data frame, arrays or a file.

        weights, reading   as in `fit`
        """
        families, _, blocks = families_and_rows(self._structure, data, weights, Schema(self._columns), reading)
        if not self._fits:
            self._fits = [FamilyFit(family) for family in families]
            self._columns |= {family.name: family.domain for family in families}
        for columns, n, row_weights in blocks:
            self._whole = self._whole and all_whole(row_weights)
            for fit in self._fits:
                fit.add(columns, n, row_weights)
            self.rows += n
        return self

    def network(self, *, threads: int = 1) -> BayesianNetwork:
        """The network of all rows so far, fitted by `threads` threads."""
        check_jobs(threads)
        if not self._fits:
            raise DataError("there are no rows yet; call partial_fit first")
        smoother = self._smoother
        if smoother is None:
            default = smoother_for((fit.family for fit in self._fits), self._whole)
            smoother = load_smoother(default, caller=RunningFit, **self._settings)
        return finished(self._structure, self._fits, smoother, self._seed, self._leaves, threads)
