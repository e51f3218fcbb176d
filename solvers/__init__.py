"""Exact structure search: a table of scored parent sets in, a checked acyclic graph out.

This package is pure combinatorics (integers, bit masks, float64); it never sees data and never imports `optbn`.
The pieces, in the order a reader meets them:

    table      ScoreTable: the instance, validated, snapped to an exact grid, best row first
    files      score tables on disk
    protocol   Solver, Budget, Progress: what every solver takes and reports
    solution   Solution and its evidence
    verify     the independent checker every answer passes
    registry   SOLVERS: the lazy dictionary of names
"""

from solvers.checked import solve
from solvers.protocol import Budget, Progress, Solver
from solvers.registry import SOLVERS, load_solver
from solvers.solution import Solution, Status
from solvers.table import ScoreTable

__all__ = [
    "SOLVERS",
    "Budget",
    "Progress",
    "ScoreTable",
    "Solution",
    "Solver",
    "Status",
    "load_solver",
    "solve",
]
