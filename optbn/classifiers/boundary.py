"""What is looked at where rows come in: targets that lack a value, and values that training has not seen."""

from __future__ import annotations

import logging
import weakref
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import UnsupportedError
from optbn.base.numbers import counted

_log = logging.getLogger("optbn.classifiers")

Unseen = dict[str, tuple[int, int, str]]
"""Per column how many values were not there at fitting, the row of the first one, and its text."""

warned_of: weakref.WeakKeyDictionary[Any, set[str]] = weakref.WeakKeyDictionary()
"""For each classifier the columns whose new levels it has reported since it was fitted."""


def tell(classifier: Any, unseen: Unseen) -> None:
    """Warn of values that training has not seen, once for each column and fit."""
    warned = warned_of.setdefault(classifier, set())
    unseen = {name: what for name, what in unseen.items() if name not in warned}
    warned.update(unseen)
    if unseen:
        shown = "; ".join(
            f"column {name!r} {n:,} (first {text!r}, row {row})" for name, (n, row, text) in list(unseen.items())[:5]
        )
        more = f"; and {len(unseen) - 5} more columns" if len(unseen) > 5 else ""
        _log.warning("values that were not seen in training are treated as missing: %s%s", shown, more)


def refuse_missing(y: NDArray[Any], name: str) -> None:
    """Name the first row whose target is missing."""
    if y.dtype == object:
        absent = np.array([value is None or value != value for value in y])
    elif y.dtype.kind == "f":
        absent = np.isnan(y)
    else:
        return
    if absent.any():
        raise UnsupportedError(
            f"the target {name!r} has {counted(int(absent.sum()), 'missing value')} "
            f"(first in row {int(np.argmax(absent)) + 1})"
        )


def free_name(name: str, taken: list[str]) -> str:
    """The name, or one like it that no attribute has."""
    while name in taken:
        name += "_"
    return name
