"""What soft networks say of each attribute and each pair: they are additive, so curves and surfaces are all there is.

Effects are scores in nats: what a value adds to the logarithm of a class's odds against the (geometric) mean of the
classes. Those of an ensemble are the means of its networks'; trees and counted networks of a `Blend` are left out.

    main_effect(fitted, "age")              values, and float64[values, classes]
    pair_effect(fitted, "age", "hours")     values, values, and float64[values, values, classes], main effects left out
    draw(fitted, "effects.svg")             all main effects, a panel each; needs matplotlib
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from optbn.base.errors import UnsupportedError
from optbn.base.registry import unknown
from optbn.classifiers.soft.member import Mixture, SoftNetwork

MOST = 65
"""Values of a number at which effects are given."""


def main_effect(fitted: Any, column: str) -> tuple[list[Any], NDArray[np.float64]]:
    """The values of a column (None: missing), and what each adds to the classes."""
    mixture, networks, shares = _networks(fitted)
    i = _index(mixture, column)
    values, own = _values(mixture, i)
    places = np.zeros((len(mixture.columns), len(values)))
    places[i] = own
    found = sum(share * main_scores(one, places, i) for one, share in zip(networks, shares, strict=True))
    return values, np.asarray(found)


def pair_effect(fitted: Any, first: str, second: str) -> tuple[list[Any], list[Any], NDArray[np.float64]]:
    """The values of two columns, and what each pair of them adds beyond their main effects."""
    mixture, networks, shares = _networks(fitted)
    i, p = _index(mixture, first), _index(mixture, second)
    if i == p:
        raise UnsupportedError(f"a pair of {first!r} with itself: name two columns")
    (values, own), (others, other) = _values(mixture, i), _values(mixture, p)
    places = np.zeros((len(mixture.columns), len(values) * len(others)))
    places[i], places[p] = np.repeat(own, len(others)), np.tile(other, len(values))
    found = sum(share * pair_scores(one, places, {i, p}) for one, share in zip(networks, shares, strict=True))
    return values, others, np.asarray(found).reshape(len(values), len(others), -1)


def contributions(mixture: Mixture, places: NDArray[np.float64]) -> NDArray[np.float64]:
    """float64[n, a, C]: what each attribute adds in each row; what a pair adds is divided between its two."""
    networks, shares = _of(mixture)
    a, n = places.shape
    total = np.zeros((n, a, networks[0].n_classes))
    for one, share in zip(networks, shares, strict=True):
        for i in range(a):
            total[:, i] += share * main_scores(one, places, i)
        for i, parents in one.structure.parents.items():
            for p in parents:
                half = 0.5 * share * pair_scores(one, places, {i, p})
                total[:, i] += half
                total[:, p] += half
    return total


def draw(fitted: Any, path: str | Path, columns: Sequence[str] | None = None) -> None:
    """The main effects of some columns (all), a panel each."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib.figure import Figure

    mixture, _, _ = _networks(fitted)
    names = list(columns) if columns is not None else [column.name for column in mixture.columns]
    wide = min(4, len(names))
    figure = Figure(figsize=(3.2 * wide, 2.4 * -(-len(names) // wide)), layout="constrained")
    for at, name in enumerate(names):
        values, effects = main_effect(fitted, name)
        axes = figure.add_subplot(-(-len(names) // wide), wide, at + 1)
        known = [k for k, value in enumerate(values) if value is not None]
        texts = any(isinstance(values[k], str) for k in known)
        x = np.arange(len(known)) if texts else np.array([values[k] for k in known], dtype=float)
        for c, label in enumerate(fitted.classes_):
            axes.plot(x, effects[known, c], "o" if texts else "-", label=str(label))
        if texts:
            axes.set_xticks(x, [str(values[k]) for k in known], rotation=30)
        axes.set_title(name, fontsize=9)
        axes.axhline(0.0, color="0.8", linewidth=0.8, zorder=0)
    figure.axes[0].legend(fontsize=7)
    figure.supylabel("nats")
    figure.savefig(str(path))


def main_scores(network: SoftNetwork, places: NDArray[np.float64], i: int) -> NDArray[np.float64]:
    """float64[n, C]: what attribute i adds by itself, centred over the classes."""
    rows, design = network.structure.rows(places), network.structure.design
    share, cell = rows.share[:, i].astype(np.float64), design.main_at[i] + rows.low[:, i]
    planes = _planes(network)
    return _centred(planes[:, cell] * (1.0 - share) + planes[:, cell + 1] * share)


def pair_scores(network: SoftNetwork, places: NDArray[np.float64], pair: set[int]) -> NDArray[np.float64]:
    """float64[n, C]: what a pair of attributes adds; zero where the network does not have it."""
    rows, design = network.structure.rows(places), network.structure.design
    planes = _planes(network)
    total = np.zeros((len(planes), places.shape[1]))
    for q in range(len(design.child)):
        i, p, width = int(design.child[q]), int(design.parent[q]), int(design.width[q])
        if {i, p} == pair:
            cell = design.pair_at[q] + rows.coarse[:, i].astype(np.int64) * width + rows.coarse[:, p]
            b, v = rows.share[:, i].astype(np.float64), rows.share[:, p].astype(np.float64)
            total += (1 - b) * ((1 - v) * planes[:, cell] + v * planes[:, cell + 1])
            total += b * ((1 - v) * planes[:, cell + width] + v * planes[:, cell + width + 1])
    return _centred(total)


def _planes(network: SoftNetwork) -> NDArray[np.float64]:
    """float64[classes, cells]; of two classes the first has zeros."""
    planes = np.moveaxis(network.scores, 2, 1).reshape(-1, network.scores.shape[1])
    if network.n_classes == 2:
        return np.stack([np.zeros_like(planes[0]), planes[0]])
    return np.asarray(planes[: network.n_classes])


def _centred(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray((scores - scores.mean(axis=0)).T)


def _networks(fitted: Any) -> tuple[Mixture, list[SoftNetwork], NDArray[np.float64]]:
    check_is_fitted(fitted)
    mixture = fitted.members_[0]
    if not isinstance(mixture, Mixture):
        raise UnsupportedError(f"{type(fitted).__name__} has no soft networks; effects are those of SoftKDB and others")
    return (mixture, *_of(mixture))


def _of(mixture: Mixture) -> tuple[list[SoftNetwork], NDArray[np.float64]]:
    """The soft networks, and their shares among themselves."""
    found = [(part, share) for part, share in zip(mixture.parts, mixture.shares, strict=True)
             if isinstance(part, SoftNetwork)]  # fmt: skip
    shares = np.array([share for _, share in found])
    equal = np.full(len(found), 1.0 / len(found))
    return [part for part, _ in found], shares / shares.sum() if shares.sum() > 0 else equal


def _index(mixture: Mixture, name: str) -> int:
    names = [column.name for column in mixture.columns]
    if name not in names:
        raise unknown("column", name, names)
    return names.index(name)


def _values(mixture: Mixture, i: int) -> tuple[list[Any], NDArray[np.float64]]:
    """Values of a column, the missing one last, and their places."""
    column, scale = mixture.columns[i], mixture.places.scales[i]
    if column.levels is None:
        points = scale.points
        if len(points) > MOST:
            points = points[np.unique(np.linspace(0, len(points) - 1, MOST).astype(np.int64))]
        numbers = np.append(points, np.nan)
        return [*points.tolist(), None], scale.places(numbers)
    codes = np.append(np.arange(len(column.levels), dtype=np.float64), np.nan)
    return [*column.levels, None], scale.places(codes)
