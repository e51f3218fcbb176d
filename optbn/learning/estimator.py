"""`learn` as a scikit-learn estimator, so that structures are searched for in pipelines, grids and cross-validation.

Settings and what `fit` leaves are called as in `pgmpy.causal_discovery` where it has them, so that one can stand in for
the other; the graph is a plain networkx graph, in which an edge without a direction is an arc each way.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from optbn.base.options import DEFAULT_SCORE
from optbn.base.registry import unknown
from optbn.data.dataset import Categorical, Dataset, Real
from optbn.data.schema import SchemaLike
from optbn.learning.learn import Learned, learn

if TYPE_CHECKING:
    from optbn.network.network import BayesianNetwork

GRAPHS = ("pdag", "dag")


class StructureLearner(BaseEstimator):  # type: ignore[misc]
    """The globally optimal network of a table, as an estimator.

    scoring_method  the score of networks, a name or an object (`score` of `optbn.learn`)
    max_indegree    the largest number of parents (`max_parents`)
    constraints     on the network, as for `optbn.learn`
    smoother, solver, time_limit   as for `optbn.learn`
    return_type     "pdag": what the data tell of directions; "dag": the best graph itself
    options         further keywords of `optbn.learn`: {"ess": 10, "candidates": 12}
    random_state    of everything random
    n_jobs          threads; -1 for all cores

    After fitting: `network_`, with parameters; `causal_graph_`, a networkx DiGraph; `adjacency_matrix_`, int64[n, n], 1
    at [u, v] for u -> v; `learned_`, with the proof and the report; `feature_names_in_`.

    X is a data frame, a Dataset or an array (columns x0, x1, ...); a level that is not in all folds must be a category
    of its column. Missing values are values, as in `learn`.
    """

    network_: BayesianNetwork
    learned_: Learned

    def __init__(
        self,
        scoring_method: Any = DEFAULT_SCORE,
        max_indegree: int | None = None,
        constraints: Any = None,
        smoother: Any = None,
        solver: str = "auto",
        time_limit: float | None = None,
        return_type: str = "pdag",
        options: dict[str, Any] | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.scoring_method = scoring_method
        self.max_indegree = max_indegree
        self.constraints = constraints
        self.smoother = smoother
        self.solver = solver
        self.time_limit = time_limit
        self.return_type = return_type
        self.options = options
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> StructureLearner:
        """Find the best network for the rows of X; y is not used."""
        import networkx

        if self.return_type not in GRAPHS:
            raise unknown("return_type", self.return_type, GRAPHS)
        data = self._dataset(X, reset=True)
        self.learned_ = learn(
            data,
            score=self.scoring_method,
            max_parents=self.max_indegree,
            constraints=self.constraints,
            smoother=self.smoother,
            solver=self.solver,
            time_limit=self.time_limit,
            seed=int(check_random_state(self.random_state).randint(2**31)),
            jobs=(os.cpu_count() or 1) if self.n_jobs == -1 else self.n_jobs or 1,
            **(self.options or {}),
        )
        self.network_ = self.learned_.network
        graph = self.network_.to_cpdag() if self.return_type == "pdag" else self.network_.structure
        self.causal_graph_ = graph.to_networkx()
        self.adjacency_matrix_ = networkx.to_numpy_array(self.causal_graph_, dtype=np.int64, weight=None)
        return self

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """float64[n]: log P of every row under the network, natural."""
        check_is_fitted(self)
        kinds = {
            name: domain if isinstance(domain, Categorical) else Real(-1e300, 1e300, absent=domain.absent)
            for name, domain in zip(self.network_.names, self.network_.domains, strict=True)
        }
        return self.network_.log_likelihood_rows(self._dataset(X, reset=False, schema=kinds))

    def score(self, X: Any, y: Any = None) -> float:
        """The mean log P of the rows: larger is better, also among scores of other kinds; y is not used."""
        return float(self.score_samples(X).mean())

    def _dataset(self, X: Any, reset: bool, schema: SchemaLike = None) -> Dataset:
        """X as a Dataset, after scikit-learn's checks of shape and names."""
        if isinstance(X, Dataset):
            if reset:
                self.n_features_in_, self.feature_names_in_ = X.n_variables, np.array(X.names, dtype=object)
            return X
        if hasattr(X, "columns"):
            validate_data(self, X, skip_check_array=True, reset=reset)
            if not len(X):
                raise ValueError(f"Found array with 0 sample(s) (shape={X.shape}) while a minimum of 1 is required.")
            return Dataset.from_frame(X, schema, "value")
        values = validate_data(self, X, reset=reset, dtype=None, ensure_all_finite="allow-nan")
        return Dataset.from_arrays(values, [f"x{i}" for i in range(values.shape[1])], schema, "value")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags
