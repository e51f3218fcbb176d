"""Branch and cut for optimal structures: local cuts around an LP, exact integer bounds, SCIP for what is left."""

from optbn_solvers.methods.ilp.solver import Ilp

__all__ = ["Ilp"]
