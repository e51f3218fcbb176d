"""The solvers by name. Adding one: a module with a frozen dataclass that has `solve`, and a line here.

Entries are "module:Class" and are imported when asked for, so that listing names costs nothing.
"""

from __future__ import annotations

import dataclasses
import difflib
import importlib
from typing import Any

from solvers.errors import UnknownSolverError
from solvers.protocol import Solver

SOLVERS: dict[str, str] = {
    "astar": "solvers.astar:OrderSearch",
    "auto": "solvers.auto:Auto",
    "cp": "solvers.cp.solver:ClusterSearch",
    "dp": "solvers.dp:SubsetDP",
    "greedy": "solvers.greedy:Greedy",
    "ilp": "solvers.ilp:Ilp",
    "maxsat": "solvers.maxsat:MaxSat",
}


def solver_class(name: str) -> type[Solver]:
    """The class registered under `name`; an unknown name lists what exists."""
    if name not in SOLVERS:
        near = difflib.get_close_matches(name, SOLVERS, n=1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise UnknownSolverError(f"no solver {name!r}{hint}; there are: {', '.join(sorted(SOLVERS))}")
    module, _, cls = SOLVERS[name].partition(":")
    found: type[Solver] = getattr(importlib.import_module(module), cls)
    return found


def load_solver(name: str, **options: Any) -> Solver:
    """The solver called `name` with its options; a wrong option lists what there is."""
    found = solver_class(name)
    known = [field.name for field in dataclasses.fields(found)]  # type: ignore[arg-type]
    for option in options:
        if option not in known:
            there = f"it has: {', '.join(known)}" if known else "it has none"
            raise UnknownSolverError(f"the solver {name!r} has no setting {option!r}; {there}")
    return found(**options)
