"""The data sets of the classification studies, and what their reports say of the folds."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np


def labelled(dataset: str, data: str) -> tuple[Any, Any]:
    """Attributes and classes of the complete file `dataset`.parquet in the folder `data`."""
    import pyarrow.parquet as pq

    frame = pq.read_table(Path(os.path.expandvars(data)) / f"{dataset}.parquet").to_pandas()
    target = _target(frame.columns)
    frame = frame.dropna(subset=[target])
    return frame.drop(columns=target), np.asarray(frame[target].astype(str))


MANY_VALUES = 100


def halved(X: Any, y: Any) -> tuple[Any, Any]:
    """The classes as they are, or, where nearly every row has a number of its own, above the median or not."""
    if len(np.unique(y)) < MANY_VALUES:
        return X, y
    numbers = y.astype(np.float64)
    return X, np.where(numbers > np.median(numbers), "above", "below")


def _target(names: Sequence[str]) -> str:
    known = ("class", "income", "contact-lenses")
    found = [name for name in names if name.lower() in known]
    return found[-1] if found else names[-1]


def by_method(rows: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, dict[str, Any]]]:
    """method -> data set -> result, of the cells that are done."""
    results: dict[str, dict[str, dict[str, Any]]] = {}
    for row in rows:
        if row["status"] == "done":
            results.setdefault(row["cell"]["method"], {})[row["cell"]["dataset"]] = dict(row["result"])
    return results


def not_done(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """A paragraph on the methods that failed, and why; none where all are done."""
    failed = {f"{row['cell']['method']}: {row['error']}" for row in rows if row["status"] != "done"}
    return ["Not done: " + "; ".join(sorted(failed)) + "\n"] if failed else []


def rounds_said(rows: Sequence[Mapping[str, Any]]) -> str:
    """How often two-fold cross-validation was repeated: five times, where a cell's `rounds` does not say otherwise."""
    other: dict[int, list[str]] = {}
    for row in rows:
        name, rounds = row["cell"]["dataset"], row["cell"].get("rounds", 5)
        if rounds != 5 and name not in other.setdefault(rounds, []):
            other[rounds].append(name)
    text = "Two folds, five rounds"
    for rounds, names in sorted(other.items()):
        text += f"; {rounds} round{'s' if rounds > 1 else ''} on {', '.join(names)}"
    return text + ".\n"
