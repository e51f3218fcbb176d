"""Digests of results that no version of Python or of a library and no number of threads may change: `digests.py JOBS`.

Runs alone, with what is installed; imports nothing of the tests.
"""

from __future__ import annotations

import hashlib
import json
import sys

import numpy as np

import optbn
from optbn.classifiers import CLASSIFIERS, load_classifier
from optbn.scores import SCORES
from optbn.smoothing import SMOOTHERS
from optbn_solvers.front.registry import SOLVERS

JOBS = int(sys.argv[1])
ROWS = 500


def digest(*parts: object) -> str:
    """Of the bytes of arrays, and of what prints itself exactly."""
    made = hashlib.sha256()
    for part in parts:
        made.update(part.tobytes() if isinstance(part, np.ndarray) else repr(part).encode())
    return made.hexdigest()[:16]


data = optbn.load_network("child").sample(ROWS, 1)
found = {"sample": data.digest[:16]}

# reals from whole numbers, so that they are the same everywhere
steps = np.random.default_rng(1).integers(-1000, 1000, (ROWS, 5)).cumsum(axis=1) / 64
reals = optbn.Dataset.from_arrays({f"x{i}": column for i, column in enumerate(steps.T)})
for score in SCORES:
    found[f"score {score}"] = optbn.score_table(reals if score == "bge" else data, score, 2, jobs=JOBS).digest
for score in ("pcart", "ft"):
    found[f"score {score}, real columns"] = optbn.score_table(reals, score, 3, jobs=JOBS).digest

table = optbn.score_table(data, "bdeu", 2)
for solver in SOLVERS:
    answer = optbn.solve(table, solver)
    found[f"solver {solver}"] = digest(answer.score, answer.bound)

structure = optbn.structure_of(table, optbn.solve(table))
for smoother in SMOOTHERS:
    fitted = optbn.fit(structure, data, smoother, threads=JOBS)
    found[f"smoother {smoother}"] = digest(*(fitted.cpd(name).probabilities for name in data.names))

frame = data.to_arrow()
attributes, target = frame.drop_columns(["Disease"]), frame["Disease"]
for name in CLASSIFIERS:
    classifier = load_classifier(name)
    if "random_state" in classifier.get_params():
        classifier.set_params(random_state=1)
    found[f"classifier {name}"] = digest(classifier.fit(attributes, target).predict_proba(attributes))

json.dump(found, sys.stdout, indent=1)
