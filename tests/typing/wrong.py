"""Mistakes that a type checker finds: it refuses every line that ends with the comment wrong; never run."""

from __future__ import annotations

import optbn
import optbn_solvers

data = optbn.read("data.csv")
optbn.learn(1)  # wrong
optbn.learn("data.csv", max_parents="3")  # wrong
optbn.learn("data.csv", time_limit="a minute")  # wrong
optbn.learn("data.csv", posteriors="yes")  # wrong
optbn.learn("data.csv").bar  # wrong
optbn.learn("data.csv").network.parentz("x")  # wrong
optbn.larn("data.csv")  # wrong
optbn.score_table(data, "bdeu", "3")  # wrong
optbn.score_table(data, 3)  # wrong
optbn.solve(3)  # wrong
optbn.solve(optbn.score_table(data), gap="none")  # wrong
optbn.solve("scores.jkl").scroe  # wrong
optbn.fit(3, data)  # wrong
optbn.fit({"a": []}, data, leaves="bell")  # wrong
optbn.fit({"a": []}, data).sample("ten")  # wrong
optbn.structure_of("scores.jkl", optbn.solve("scores.jkl"))  # wrong
optbn.write_network(data, "model.bif")  # wrong
optbn.read_network(1)  # wrong
text: str = optbn.score(data, "a")  # wrong
optbn_solvers.Constraints(forbiden=[])  # wrong
optbn_solvers.Constraints(max_arcs="3")  # wrong
