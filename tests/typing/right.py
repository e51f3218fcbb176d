"""Calls as users write them; checked with mypy --strict, never run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

import optbn
import optbn_solvers

data: optbn.Dataset = optbn.read("data.csv", missing="as_level")
frame = pd.DataFrame({"x": [1.0, 2.0], "g": ["a", "b"]})

learned = optbn.learn(data)
learned = optbn.learn(frame, max_parents=2)
learned = optbn.learn(Path("data.csv"), score="bdeu", ess=10, time_limit=60.0, constraints={"max_arcs": 10})
learned = optbn.learn("data.csv", constraints=optbn_solvers.Constraints(forbidden=(("a", "b"),)), posteriors=True)
network: optbn.BayesianNetwork = learned.network
page: str = learned.page()
bound: float = learned.solution.bound

table: optbn_solvers.ScoreTable = optbn.score_table(data, "pcartp", {"*": 3, "x": 1}, required=[("a", "b")], jobs=2)
solution: optbn_solvers.Solution = optbn.solve(table, "ilp", time_limit=10, gap=0.0)
structure: optbn.Structure = optbn.structure_of(table, solution)
fitted: optbn.BayesianNetwork = optbn.fit(structure, data, "hdp", seed=1, leaves="student")
fitted = optbn.fit({"a": [], "b": ["a"]}, "data.csv", weights=np.ones(3))
value: float = optbn.score(data, "a", ["b"], "bic")

sampled: optbn.Dataset = optbn.load_network("alarm").sample(10, 3)
optbn.write(sampled, "sample.csv")
optbn.write_network(optbn.read_network("model.bif"), "model.json")
try:
    optbn.read("nothing.csv")
except optbn.OptbnError as error:
    print(error)
