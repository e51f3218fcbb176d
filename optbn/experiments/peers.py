"""Other programs' structure learners, with their defaults where those do not matter: a function of the data each.

They see levels as text or as codes, whatever they take; columns are categorical. A program that is not installed says
how to get it, as a failed cell. The score is BIC where one can be chosen, so that their graphs can be held against the
optimum of ours; greedy searches may have at most as many parents as the exact ones.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from optbn.base.errors import UnsupportedError
from optbn.data.dataset import Categorical
from optbn.data.write import write
from optbn.evaluate.files import read_graph
from optbn.evaluate.graphs import Graph, from_edges
from optbn.network.interop import required

if TYPE_CHECKING:
    from optbn.data.dataset import Dataset
    from optbn.experiments.methods import Limits

LEVEL = 0.01
"""Of the independence tests."""


def pgmpy_hill_climbing(data: Dataset, limits: Limits) -> Any:
    search = _pgmpy("HillClimbSearch")
    return search(
        scoring_method="bic-d", return_type="dag", show_progress=False, max_indegree=limits.max_parents
    ).fit(_frame(data)).causal_graph_  # fmt: skip


def pgmpy_ges(data: Dataset) -> Any:
    return _pgmpy("GES")(scoring_method="bic-d", return_type="pdag").fit(_frame(data)).causal_graph_


def pgmpy_pc(data: Dataset) -> Any:
    search = _pgmpy("PC")(
        ci_test="chi_square", significance_level=LEVEL, return_type="pdag", n_jobs=1, show_progress=False
    )
    return search.fit(_frame(data)).causal_graph_


def pyagrum_hill_climbing(data: Dataset, limits: Limits) -> Graph:
    return _pyagrum(data, "useGreedyHillClimbing", limits)


def pyagrum_tabu(data: Dataset, limits: Limits) -> Graph:
    return _pyagrum(data, "useLocalSearchWithTabuList", limits)


def pyagrum_miic(data: Dataset) -> Graph:
    return _pyagrum(data, "useMIIC", None)


def causallearn_pc(data: Dataset) -> Any:
    search = required("causallearn.search.ConstraintBased.PC", "causal-learn").pc
    return search(_codes(data), LEVEL, "chisq", show_progress=False, node_names=list(data.names))


def causallearn_ges(data: Dataset, limits: Limits) -> Any:
    """Its BDeu has a prior over structures of its own, so it maximises none of our scores."""
    search = required("causallearn.search.ScoreBased.GES", "causal-learn").ges
    return search(
        _codes(data), score_func="local_score_BDeu", maxP=limits.max_parents, node_names=list(data.names)
    )  # fmt: skip


def causallearn_exact(data: Dataset) -> Graph:
    """Exact for the BIC of linear Gaussian variables, which it takes codes for."""
    search = required("causallearn.search.ScoreBased.ExactSearch", "causal-learn").bic_exact_search
    matrix, _ = search(_codes(data).astype(float), search_method="astar")
    return Graph(data.names, np.asarray(matrix) != 0)


def bnlearn_hill_climbing(data: Dataset, limits: Limits) -> Graph:
    return _bnlearn(data, f'hc(d, score = "bic", maxp = {limits.max_parents})')


def bnlearn_tabu(data: Dataset, limits: Limits) -> Graph:
    return _bnlearn(data, f'tabu(d, score = "bic", maxp = {limits.max_parents})')


def bnlearn_mmhc(data: Dataset) -> Graph:
    return _bnlearn(data, 'mmhc(d, maximize.args = list(score = "bic"))')


def bnlearn_pc(data: Dataset) -> Graph:
    return _bnlearn(data, f'pc.stable(d, test = "x2", alpha = {LEVEL})')


def _pgmpy(name: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return getattr(required("pgmpy.causal_discovery", "pgmpy"), name)


def _pyagrum(data: Dataset, search: str, limits: Limits | None) -> Graph:
    learner = required("pyagrum", "pyagrum").BNLearner(_frame(data).astype(str))
    learner.useScoreBIC()
    getattr(learner, search)()
    if limits is not None:
        learner.setMaxIndegree(limits.max_parents)
    name = {i: learner.nameFromId(i) for i in range(data.n_variables)}
    if search == "useMIIC":
        mixed = learner.learnPDAG()
        lines = [(name[u], name[v]) for u, v in mixed.edges()]
        return from_edges(data.names, [(name[u], name[v]) for u, v in mixed.arcs()], lines)
    return from_edges(data.names, [(name[u], name[v]) for u, v in learner.learnDAG().arcs()])


def _bnlearn(data: Dataset, call: str) -> Graph:
    """Through R: a csv file in, a list of edges out."""
    if not shutil.which("Rscript"):
        raise UnsupportedError("this needs R with the package bnlearn (Rscript is not on the path)")
    with tempfile.TemporaryDirectory() as folder:
        rows, graph = Path(folder) / "data.csv", Path(folder) / "graph.csv"
        write(data, rows)
        script = (
            f'suppressMessages(library(bnlearn)); d <- read.csv("{rows}", check.names = FALSE, '
            'colClasses = "factor", na.strings = NULL); '
            f'm <- amat({call}); write.csv(m, "{graph}", row.names = FALSE, quote = FALSE)'
        )
        done = subprocess.run(["Rscript", "-e", script], capture_output=True, text=True)
        if done.returncode:
            raise UnsupportedError(f"R ended with {done.returncode}: {done.stderr.strip().splitlines()[-1:]}")
        return read_graph(graph)


def _frame(data: Dataset) -> Any:
    _refuse_real(data)
    return data.to_frame()


def _codes(data: Dataset) -> Any:
    _refuse_real(data)
    return np.column_stack([np.asarray(column, dtype=np.int64) for column in data.columns])


def _refuse_real(data: Dataset) -> None:
    for name, domain in zip(data.names, data.domains, strict=True):
        if not isinstance(domain, Categorical):
            raise UnsupportedError(f"{name!r} is real; this method is run on categorical columns only")
