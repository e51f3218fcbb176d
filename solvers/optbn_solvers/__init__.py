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

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from optbn_solvers.base.constraints import Constraints
    from optbn_solvers.base.protocol import Budget, Progress, Solver
    from optbn_solvers.base.solution import Solution, Status
    from optbn_solvers.base.table import ScoreTable
    from optbn_solvers.front.checked import solve
    from optbn_solvers.front.registry import SOLVERS, load_solver

_EXPORTS = {
    "solve": "optbn_solvers.front.checked",
    "Budget": "optbn_solvers.base.protocol",
    "Constraints": "optbn_solvers.base.constraints",
    "Progress": "optbn_solvers.base.protocol",
    "Solver": "optbn_solvers.base.protocol",
    "SOLVERS": "optbn_solvers.front.registry",
    "load_solver": "optbn_solvers.front.registry",
    "Solution": "optbn_solvers.base.solution",
    "Status": "optbn_solvers.base.solution",
    "ScoreTable": "optbn_solvers.base.table",
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
    """Import a name at its first use: the compiled kernels behind a table cost a second, an error class nothing."""
    if name not in _EXPORTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_EXPORTS[name]), name)


def __dir__() -> list[str]:
    return __all__
