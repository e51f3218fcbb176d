"""What leaves check of their columns: an entry per cell, finite, never changed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import NetworkError
from optbn.data.dataset import Domain, Real


def frozen(values: Any, dimensions: int, what: str) -> NDArray[np.float64]:
    """The values as a read-only contiguous float64 array; another shape is refused."""
    array = np.ascontiguousarray(values, dtype=np.float64)
    if array.ndim != dimensions:
        raise NetworkError(f"{what} have {array.ndim} dimensions, expected {dimensions}")
    if array.flags.writeable:
        array = array.copy()  # the caller may go on writing into it
    array.setflags(write=False)
    return array


def check_columns(leaves: Any, columns: tuple[str, ...], positive: tuple[str, ...]) -> None:
    """Freeze these arrays of real-valued leaves; they have one length, are finite, and scales are above zero."""
    lengths = set()
    for field in columns:
        array = frozen(getattr(leaves, field), 1, f"{field} values")
        object.__setattr__(leaves, field, array)
        lengths.add(len(array))
        bad = ~np.isfinite(array) | ((array <= 0.0) if field in positive else False)
        if bad.any():
            row = int(np.argmax(bad))
            wanted = "a finite number above 0" if field in positive else "a finite number"
            raise NetworkError(f"leaf {row}: {field} is {array[row]}, expected {wanted}")
    if len(lengths) != 1:
        raise NetworkError(f"{', '.join(columns)} have different lengths")


def check_real(domain: Domain, leaves: str) -> None:
    """Refuse a child that is not always a number."""
    if not isinstance(domain, Real):
        raise NetworkError(f"{leaves} leaves are for numbers, but the variable is categorical")
    if domain.absent:
        raise NetworkError("the variable may have no number, so its leaves must allow for that (MixedLeaves)")


def same(a: Any, b: Any, columns: tuple[str, ...]) -> bool:
    """Whether these arrays of both are equal."""
    return all(np.array_equal(getattr(a, field), getattr(b, field)) for field in columns)
