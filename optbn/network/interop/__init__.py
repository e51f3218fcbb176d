"""Networks and graphs handed to other programs as their own objects, and taken back.

A module per program, each with a pair of functions; the methods `to_...` and `from_...` of BayesianNetwork, Structure
and Cpdag call them. The programs are not dependencies: a module imports its program when it is used. Probabilities
travel as the float64 they are. Names and levels become text. What a program has no word for is refused by name (real
variables in pgmpy and pyAgrum), except that levels are ordered, which neither can say and which is lost.
"""

from __future__ import annotations

import importlib
from types import ModuleType

from optbn.base.errors import UnsupportedError


def required(module: str, package: str) -> ModuleType:
    """The other program; says how to get it where it is not installed."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise UnsupportedError(f"this needs the package {package} (pip install {package}): {error}") from None
