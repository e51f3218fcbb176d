"""The solvers by name. Adding one: a module with a frozen dataclass that has `solve`, and a line here.

Entries are "module:Class" and are imported when asked for, so that listing names costs nothing. Who needs a solver for
a part finds it by what the solvers declare (`solver_that`).
"""

from __future__ import annotations

import dataclasses
import difflib
import importlib
from collections.abc import Callable
from os import PathLike
from types import NoneType, UnionType
from typing import Any, get_args, get_type_hints

from optbn_solvers.base.errors import SettingError, UnknownSolverError
from optbn_solvers.base.protocol import Solver, has_settings

SOLVERS: dict[str, str] = {
    "astar": "optbn_solvers.methods.astar:OrderSearch",
    "auto": "optbn_solvers.front.auto:Auto",
    "cp": "optbn_solvers.search.solver:ClusterSearch",
    "dp": "optbn_solvers.methods.dp:SubsetDP",
    "greedy": "optbn_solvers.methods.greedy:Greedy",
    "ilp": "optbn_solvers.methods.ilp:Ilp",
    "maxsat": "optbn_solvers.methods.maxsat:MaxSat",
}

FROM_ONE = ("jobs", "threads", "candidates")
LARGEST_SEED = 2**31 - 1  # what SCIP takes
LARGEST = 2**62


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
    hints = get_type_hints(found)
    for option, value in options.items():
        _check(name, option, hints[option], value)
    return found(**options)


def solver_that(does: Callable[[type[Solver]], bool]) -> str:
    """The name of the first solver, in the order of the alphabet, that declares as much."""
    return next(name for name in sorted(SOLVERS) if does(solver_class(name)))


def solver_with(*settings: str) -> str:
    """The name of the first solver that has these settings."""
    return solver_that(lambda kind: has_settings(kind, *settings))


def _check(solver: str, option: str, kind: Any, value: Any) -> None:
    """Refuse numbers, switches and texts that the setting cannot have."""
    kinds = get_args(kind) if isinstance(kind, UnionType) else (kind,)
    if value is None and NoneType in kinds:
        return
    least, most = (1 if option in FROM_ONE else 0), (LARGEST_SEED if option == "seed" else LARGEST)
    if bool in kinds:
        good, wanted = isinstance(value, bool), "true or false"
    elif int in kinds:
        good = isinstance(value, int) and not isinstance(value, bool) and least <= value <= most
        wanted = f"a whole number from {least}" + (f" to {most:,}" if option == "seed" else "")
    elif float in kinds:
        good = isinstance(value, int | float) and not isinstance(value, bool) and value >= 0
        wanted = "a number from 0"
    elif str in kinds:
        good, wanted = isinstance(value, str | PathLike), "a text"
    else:
        return
    if not good:
        raise SettingError(f"the setting {option!r} of the solver {solver!r} is {value!r}, expected {wanted}")
