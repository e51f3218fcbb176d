"""Soft networks: k-dependence structures whose numbers lie between two cells, with discriminative scores.

    P(y | x)  is proportional to  exp( s_y + sum_i s[y, x_i] + sum over pairs of s[y, x_i, x_p] )

A value is shared linearly between the two knots next to it, so that scores are continuous in numbers. Members differ by
their knots and their pairs; how strongly all of them are shrunk is chosen once, by their predictions together for rows
that they leave out.

    places     numbers as ranks, texts as cells, once for all members
    structure  knots and pairs of one member
    training   the convex problem of one member, and strengths for all
    whole      the same problem for all rows of a file, by passes, where a sample is in memory
    member     what is left to predict with
    estimator  SoftKDB, SoftESKDB;  blend  the latter with smoothed trees (`woods`) and counted networks (`generative`)
    explain    main effects, pair surfaces, contributions
"""

from __future__ import annotations

import importlib
from typing import Any

_HOMES = {"SoftKDB": "estimator", "SoftESKDB": "estimator", "Blend": "blend"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'optbn.classifiers.soft' has no attribute {name!r}")

    return getattr(importlib.import_module(f"optbn.classifiers.soft.{_HOMES[name]}"), name)
