"""Exact structure search: a table of scored parent sets in, a checked acyclic graph out.

This package is pure combinatorics (integers, bit masks, float64); it never sees data and never imports `optbn`.
The pieces, in the order a reader meets them:

    table      ScoreTable: the instance, validated, snapped to an exact grid, best row first
    files      score tables on disk
    protocol   Solver, Budget, Progress: what every solver takes and reports
    constraints  what the answer must satisfy besides being acyclic
    solution   Solution and its evidence
    verify     the independent checker every answer passes
    registry   SOLVERS: the lazy dictionary of names
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from solvers.checked import solve
    from solvers.constraints import Constraints
    from solvers.protocol import Budget, Progress, Solver
    from solvers.registry import SOLVERS, load_solver
    from solvers.solution import Solution, Status
    from solvers.table import ScoreTable

_EXPORTS = {
    "solve": "solvers.checked",
    "Budget": "solvers.protocol",
    "Constraints": "solvers.constraints",
    "Progress": "solvers.protocol",
    "Solver": "solvers.protocol",
    "SOLVERS": "solvers.registry",
    "load_solver": "solvers.registry",
    "Solution": "solvers.solution",
    "Status": "solvers.solution",
    "ScoreTable": "solvers.table",
}

__all__ = [
    "SOLVERS",
    "Budget",
    "Constraints",
    "Progress",
    "ScoreTable",
    "Solution",
    "Solver",
    "Status",
    "load_solver",
    "solve",
]


def __getattr__(name: str) -> Any:
    """Import what is asked for: the compiled kernels behind a table cost a second, an error class nothing."""
    import importlib

    if name not in _EXPORTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_EXPORTS[name]), name)
