"""How well what `learn` finds explains rows that it has not seen, fold by fold.

The rows are shuffled by the seed and cut into folds of nearly one size; each is scored by the network learned from the
others. Domains are those of all rows, so that a level which is rare is not unknown in a fold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from optbn.base.options import DEFAULT_SCORE
from optbn.base.settings import check_seed
from optbn.data.anything import DataLike, as_dataset
from optbn.learning.held_out import fold_rows
from optbn.learning.learn import learn

if TYPE_CHECKING:
    from optbn.network.network import BayesianNetwork
    from optbn.scores.protocol import LocalScore


@dataclass(frozen=True, eq=False)
class CrossValidated:
    """per_row   of each fold the mean log P of its rows, natural, under the network of the other folds
    networks  the network of each fold
    """

    per_row: tuple[float, ...]
    networks: tuple[BayesianNetwork, ...]

    @property
    def mean(self) -> float:
        """Over the folds."""
        return float(np.mean(self.per_row))

    @property
    def standard_error(self) -> float:
        """Of the mean."""
        return float(np.std(self.per_row, ddof=1) / np.sqrt(len(self.per_row)))

    def __repr__(self) -> str:
        return f"CrossValidated({len(self.per_row)} folds, {self.mean:.4f} ± {self.standard_error:.4f} nat per row)"


def cross_validate(
    data: DataLike, score: str | LocalScore = DEFAULT_SCORE, folds: int = 5, *, seed: int = 0, **options: Any
) -> CrossValidated:
    """The held-out log-likelihood of `learn(rows, score=score, **options)`, over this many folds of the data, which the
    seed decides."""
    check_seed(seed)
    rows = as_dataset(data, missing="value")
    per_row, networks = [], []
    for kept, held_out in fold_rows(rows.n_rows, folds, seed):
        network = learn(rows.take(kept), score=score, seed=seed, **options).network
        unseen = rows.take(held_out)
        per_row.append(network.log_likelihood(unseen) / unseen.total_weight)
        networks.append(network)
    return CrossValidated(tuple(per_row), tuple(networks))
