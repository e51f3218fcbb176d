"""optbn: exact Bayesian-network learning.

    found = optbn.learn("data.csv")              # a path, a Dataset or a data frame
    found.network, found.solution, found.scores, found.report, found.page()

or step by step, each a function between immutable values:

    data = optbn.read("data.csv")                # Dataset: typed columns with declared domains
    scores = optbn.score_table(data, "pcartp", 3)
    solution = optbn.solve(scores)               # checked before it is handed over
    network = optbn.fit(optbn.structure_of(scores, solution), data)
    network.query("x", {"y": "yes"}), network.sample(10), network.predict_proba("x", data)
    optbn.load_network("alarm"), optbn.read_network("model.bif"), optbn.write_network(network, "model.bif")

Whatever is refused is an `optbn.OptbnError` with a message of one line that says what to do. Messages that are not
errors go to the loggers "optbn" and "optbn_solvers". Names are imported when first used, so that `import optbn` stays
cheap.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

from optbn.base.version import __version__ as __version__

if TYPE_CHECKING:  # what editors and type checkers see; a test compares it with _EXPORTS
    from optbn.base.errors import OptbnError as OptbnError
    from optbn.classifiers.discriminative.estimator import DiscriminativeBN as DiscriminativeBN
    from optbn.classifiers.saved import read_classifier as read_classifier
    from optbn.classifiers.trees.estimator import ProbabilityTree as ProbabilityTree
    from optbn.classifiers.trees.forest import ProbabilityForest as ProbabilityForest
    from optbn.data.dataset import Categorical as Categorical
    from optbn.data.dataset import Dataset as Dataset
    from optbn.data.dataset import Real as Real
    from optbn.data.read import read as read
    from optbn.data.schema import Schema as Schema
    from optbn.data.write import write as write
    from optbn.evaluate.distances import compare as compare
    from optbn.learning.bootstrap import bootstrap as bootstrap
    from optbn.learning.constraint_files import read_constraints as read_constraints
    from optbn.learning.constraint_files import write_constraints as write_constraints
    from optbn.learning.cross_validation import cross_validate as cross_validate
    from optbn.learning.differing import learn_differing as learn_differing
    from optbn.learning.edges import edges as edges
    from optbn.learning.gap import gap as gap
    from optbn.learning.learn import learn as learn
    from optbn.learning.related import learn_domains as learn_domains
    from optbn.learning.solving import solve as solve
    from optbn.learning.solving import structure_of as structure_of
    from optbn.network.catalog import load_network as load_network
    from optbn.network.dynamic import DynamicNetwork as DynamicNetwork
    from optbn.network.formats import read_network as read_network
    from optbn.network.formats import write_network as write_network
    from optbn.network.network import BayesianNetwork as BayesianNetwork
    from optbn.network.structure import Structure as Structure
    from optbn.scores.listed import score as score
    from optbn.scores.listed import score_families as score_families
    from optbn.scores.pipeline import score_table as score_table
    from optbn.smoothing.domains import fit_domains as fit_domains
    from optbn.smoothing.fitting import fit as fit
    from optbn.smoothing.running import RunningFit as RunningFit

_EXPORTS: dict[str, str] = {
    "DiscriminativeBN": "optbn.classifiers.discriminative.estimator",
    "ProbabilityForest": "optbn.classifiers.trees.forest",
    "ProbabilityTree": "optbn.classifiers.trees.estimator",
    "BayesianNetwork": "optbn.network.network",
    "DynamicNetwork": "optbn.network.dynamic",
    "Categorical": "optbn.data.dataset",
    "Dataset": "optbn.data.dataset",
    "Real": "optbn.data.dataset",
    "Structure": "optbn.network.structure",
    "OptbnError": "optbn.base.errors",
    "load_network": "optbn.network.catalog",
    "Schema": "optbn.data.schema",
    "read": "optbn.data.read",
    "learn": "optbn.learning.learn",
    "read_classifier": "optbn.classifiers.saved",
    "compare": "optbn.evaluate.distances",
    "cross_validate": "optbn.learning.cross_validation",
    "bootstrap": "optbn.learning.bootstrap",
    "edges": "optbn.learning.edges",
    "read_constraints": "optbn.learning.constraint_files",
    "write_constraints": "optbn.learning.constraint_files",
    "gap": "optbn.learning.gap",
    "score": "optbn.scores.listed",
    "score_families": "optbn.scores.listed",
    "score_table": "optbn.scores.pipeline",
    "solve": "optbn.learning.solving",
    "structure_of": "optbn.learning.solving",
    "write": "optbn.data.write",
    "fit": "optbn.smoothing.fitting",
    "RunningFit": "optbn.smoothing.running",
    "learn_differing": "optbn.learning.differing",
    "fit_domains": "optbn.smoothing.domains",
    "learn_domains": "optbn.learning.related",
    "read_network": "optbn.network.formats",
    "write_network": "optbn.network.formats",
}

__all__ = ["__version__", *sorted(_EXPORTS)]


if not TYPE_CHECKING:  # a checker would take every name for granted

    def __getattr__(name: str) -> Any:
        if name not in _EXPORTS:
            raise AttributeError(f"module 'optbn' has no attribute {name!r}", name=name, obj=sys.modules[__name__])
        value = getattr(importlib.import_module(_EXPORTS[name]), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted(__all__)
