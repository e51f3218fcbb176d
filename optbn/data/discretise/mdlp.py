"""Fayyad and Irani's discretisation: cut where the class entropy falls most, as long as the description gets shorter.

The best cut of N values into two is accepted if

    N gain > log(candidates) + log(3^k - 2) - (k E - k_1 E_1 - k_2 E_2)

with the entropies E and the numbers k of classes of the whole and of its two parts (IJCAI 1993), and the parts are cut
in turn. The first term is the price of saying which cut it was. As printed it may be any of N - 1 places between rows
(`encoding="rows"`); but only places between different values are possible, and paying for no others accepts more cuts
when values repeat (`encoding="values"`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import UnsupportedError
from optbn.data.discretise.kernels.entropy import partition
from optbn.data.discretise.transformer import Discretizer, midpoints

ENCODINGS = ("rows", "values")


class MDLP(Discretizer):
    """encoding: "values", or "rows" as printed."""

    def __init__(self, encoding: str = "values") -> None:
        self.encoding = encoding

    def cut_points(self, values: Any, classes: Any, n_classes: int, weights: Any, random: Any) -> Any:
        return chosen_cuts(values, classes, n_classes, weights, self.encoding, None)


def chosen_cuts(
    values: NDArray[np.float64],
    classes: NDArray[np.int64],
    n_classes: int,
    weights: NDArray[np.float64],
    encoding: str,
    random: np.random.Generator | None,
) -> NDArray[np.float64]:
    """The cuts of the recursion; with a generator they are drawn instead of the best (see `random_mdlp`)."""
    if encoding not in ENCODINGS:
        raise UnsupportedError(f"encoding={encoding!r}: expected one of {', '.join(ENCODINGS)}")

    order = np.argsort(values, kind="stable")
    ordered = values[order]
    fresh = np.concatenate([[True], ordered[1:] != ordered[:-1]])
    group = np.cumsum(fresh) - 1
    points = ordered[fresh]
    counts = np.bincount(group * n_classes + classes[order], weights[order], len(points) * n_classes)
    seed = 0 if random is None else random.integers(0, 1 << 64, dtype=np.uint64)
    state = np.array([seed], dtype=np.uint64)
    chosen = partition(counts.reshape(len(points), n_classes), encoding == "rows", random is not None, state)
    at = np.flatnonzero(chosen)
    return midpoints(points[at], points[at + 1])
