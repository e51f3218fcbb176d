"""Score files, checked proofs, adjacency matrices and GraphML: what other programs take and give."""

import optbn
from optbn.network.structure import Structure
from optbn_solvers.base.files import read_table, write_table

data = optbn.load_network("survey").sample(1500, seed=4)
scores = optbn.score_table(data, "bdeu", max_parents=3)
write_table(scores, "survey.jkl")  # GOBNILP and others read it
solution = optbn.solve(read_table("survey.jkl"))
print(solution.status, solution.score, solution.statistics["checked"]["proved"])

structure = optbn.structure_of(scores, solution)
print(structure.to_adjacency().astype(int))
assert set(Structure.from_networkx(structure.to_networkx()).arcs) == set(structure.arcs)
network = optbn.fit(structure, data, "bdeu")
optbn.write_network(network, "survey.graphml")  # yEd, Gephi, igraph, networkx
assert optbn.read_network("survey.graphml") == network
for method, package in (("to_pgmpy", "pgmpy"), ("to_pyagrum", "pyAgrum"), ("to_networkx", "networkx")):
    try:
        print(package, getattr(network, method)())
    except optbn.base.errors.UnsupportedError as error:  # not installed
        print(package, error)
