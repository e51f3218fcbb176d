"""PCART and FT from their definitions: every tree, every table, and leaf scores by other formulas than the package's.

A predictor's part is a tuple: ("c", levels) or ("o", levels) with the levels still possible, ("r", low, high, halvings
left) for a real range. A box is one part per predictor; a tree is the tuple of its leaves' boxes (all that counts).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from scipy import stats

from optbn.data.dataset import Categorical, Dataset

Part = tuple
Box = tuple[Part, ...]


def whole(data: Dataset, parents: tuple[int, ...], max_splits: int) -> Box:
    """The box of all rows."""
    box = []
    for u in parents:
        domain = data.domains[u]
        if isinstance(domain, Categorical):
            box.append(("o" if domain.ordered else "c", tuple(range(len(domain.levels)))))
        elif max_splits == "all":
            box.append(("o", tuple(range(len(set(data.columns[u].tolist()))))))
        else:
            box.append(("r", 0, 2**max_splits, max_splits))
    return tuple(box)


def cells(data: Dataset, parents: tuple[int, ...], max_splits: int, cuts: str = "range") -> list[tuple[int, ...]]:
    """Where each row lies: codes, and the number of the finest cell of a real value."""
    columns = []
    for u in parents:
        domain, column = data.domains[u], data.columns[u].tolist()
        if isinstance(domain, Categorical):
            columns.append(column)
        elif max_splits == "all":
            columns.append([sorted(set(column)).index(x) for x in column])
        elif cuts == "rank":
            columns.append(halves(column, max_splits))
        else:
            low, width = Fraction(domain.low), Fraction(domain.high) - Fraction(domain.low)
            near = Fraction(1, 2**30)  # of the range: so little below a midpoint counts as there
            places = [((Fraction(x) - low) / width + near) * 2**max_splits if width else 0 for x in column]
            columns.append([min(2**max_splits - 1, math.floor(place)) for place in places])
    return list(zip(*columns, strict=True)) if columns else [()] * data.n_rows


def halves(column: list[float], splits: int, first: int = 0) -> list[int]:
    """The cell of each value when its rows are halved again and again, equal values together."""
    distinct = sorted(set(column))
    if not splits:
        return [first] * len(column)
    if len(distinct) < 2:
        return halves(column, splits - 1, first)
    cut = min(distinct[1:], key=lambda c: (abs(2 * sum(x < c for x in column) - len(column)), c))
    left = iter(halves([x for x in column if x < cut], splits - 1, first))
    right = iter(halves([x for x in column if x >= cut], splits - 1, first + 2 ** (splits - 1)))
    return [next(left) if x < cut else next(right) for x in column]


def holds(box: Box, cell: tuple[int, ...]) -> bool:
    return all(part[1] <= x < part[2] if part[0] == "r" else x in part[1] for part, x in zip(box, cell, strict=True))


def part_splits(part: Part) -> Iterator[tuple[Part, Part]]:
    """Every way to cut a part in two."""
    if part[0] == "r":
        _, low, high, left = part
        if left:
            middle = (low + high) // 2
            yield ("r", low, middle, left - 1), ("r", middle, high, left - 1)
    elif part[0] == "o":
        for i in range(1, len(part[1])):
            yield ("o", part[1][:i]), ("o", part[1][i:])
    else:
        first, rest = part[1][:1], part[1][1:]
        for size in range(len(rest)):
            for beside in itertools.combinations(rest, size):
                yield ("c", first + beside), ("c", tuple(x for x in rest if x not in beside))


def box_splits(box: Box) -> Iterator[tuple[Box, Box]]:
    for j, part in enumerate(box):
        for a, b in part_splits(part):
            yield (*box[:j], a, *box[j + 1 :]), (*box[:j], b, *box[j + 1 :])


def trees(box: Box) -> Iterator[tuple[Box, ...]]:
    """Every tree over a box, as its leaves. Trees with the same leaves but other splits are listed apart."""
    yield (box,)
    for a, b in box_splits(box):
        rights = list(trees(b))
        for left in trees(a):
            for right in rights:
                yield left + right


def unit(column: np.ndarray) -> tuple[float, float]:
    """Mean and standard deviation (of the population) in exact arithmetic; a constant has the deviation 1."""
    values = [Fraction(x) for x in column.tolist()]
    mean = sum(values) / len(values)
    variance = sum((x - mean) ** 2 for x in values) / len(values)
    scale = Fraction(10) ** 40  # a square root of a fraction of any size
    return float(mean), float(Fraction(math.isqrt(int(variance * scale**2)), int(scale))) if variance else 1.0


def leaf(
    data: Dataset,
    child: int,
    rows: list[int],
    alpha=0.5,
    nu=1.0,
    lambda_=1.0,
    mean=0.0,
    a=1.0,
    real_prior="unit-free",
    leaf="dirichlet",
    ess=1.0,
    share=1.0,
) -> float:
    """log m of some rows: by the chain rule (categorical), as a multivariate Student t (real). `share` is that of the
    parents' configurations which the leaf holds."""
    if not rows:
        return 0.0
    domain, values = data.domains[child], data.columns[child][rows]
    if leaf == "runs" and isinstance(domain, Categorical) and domain.ordered:
        return max(runs(values.tolist(), cut, alpha) for cut in cuts_into_runs(len(domain.levels)))
    if leaf == "bdeu":
        alpha = ess * share / len(domain.levels)
    elif leaf in ("bic", "aic"):
        weight = {"aic": 1.0, "bic": math.log(data.n_rows) / 2}[leaf]
        counts = [int(c) for c in np.bincount(values) if c]
        return sum(c * math.log(c / len(rows)) for c in counts) - weight * (len(domain.levels) - 1)
    if isinstance(domain, Categorical):
        r, total, seen = len(domain.levels), 0.0, {}
        for i, x in enumerate(values.tolist()):
            total += math.log((seen.get(x, 0) + alpha) / (i + r * alpha))
            seen[x] = seen.get(x, 0) + 1
        return total
    if real_prior == "unit-free":  # the prior is on the scale of the column
        centre, scale = unit(data.columns[child])
        mean, lambda_ = centre + scale * mean, lambda_ * scale**2
    n = len(values)
    shape = lambda_ * (np.eye(n) + np.ones((n, n)) / a)
    return float(stats.multivariate_t(loc=np.full(n, mean), shape=shape, df=nu).logpdf(values))


def cuts_into_runs(r: int) -> Iterator[list[list[int]]]:
    """All ways to cut levels 0 .. r - 1 into runs of neighbours."""
    for marks in itertools.product((False, True), repeat=r - 1):
        ways = [[0]]
        for x, mark in enumerate(marks, 1):
            ways = [*ways, [x]] if mark else [*ways[:-1], [*ways[-1], x]]
        yield ways


def runs(values: list[int], cut: list[list[int]], alpha: float) -> float:
    """log of the prior of the runs times the likelihood of the values, by the chain rule over the runs they fall in."""
    r = sum(map(len, cut))
    total, seen = -(r - 1) * math.log(2), [0] * len(cut)
    for i, x in enumerate(values):
        (j,) = (j for j, run in enumerate(cut) if x in run)
        total += math.log((seen[j] + alpha * len(cut[j])) / (i + r * alpha) / len(cut[j]))
        seen[j] += 1
    return total


def share_of(box: Box, all_of_it: Box) -> float:
    """Of the configurations of a categorical box, those in a part of it."""
    return math.prod(len(part[1]) for part in box) / math.prod(len(part[1]) for part in all_of_it)


def leaf_cost(box: Box, gamma: float | None = 0.25) -> float:
    """log C/gamma."""
    splits = sum(1 for _ in box_splits(box))
    reals = sum(1 for part in box if part[0] == "r" and part[3] == 0)  # counted even where no halving is allowed
    return math.log((splits + reals) / gamma) if splits + reals and gamma else 0.0


def log_normaliser(box: Box, gamma: float | None = 0.25) -> float:
    """log c(P) by adding up all trees."""
    cost = leaf_cost(box, gamma)
    return -math.log(math.fsum(math.exp(-cost * len(tree)) for tree in trees(box))) if cost else 0.0


def pcart(
    data: Dataset,
    child: int,
    parents: tuple[int, ...],
    max_splits: int = 3,
    cuts: str = "range",
    gamma: float | None = 0.25,
    **prior: float,
) -> tuple[float, int]:
    """The score of the best tree, and the fewest leaves a best tree has, by looking at every tree."""
    box = whole(data, parents, max_splits)
    where = cells(data, parents, max_splits, cuts)
    cost, known = leaf_cost(box, gamma), {}

    def value(part: Box) -> float:
        if part not in known:
            own = {"share": share_of(part, box)} if prior.get("leaf") == "bdeu" else {}
            rows = [i for i, cell in enumerate(where) if holds(part, cell)]
            known[part] = leaf(data, child, rows, **prior, **own) - cost
        return known[part]

    best, leaves = -math.inf, 0
    for tree in trees(box):
        score = math.fsum(value(part) for part in tree)
        if score > best + 1e-9 or (abs(score - best) <= 1e-9 and len(tree) < leaves):
            best, leaves = score, len(tree)
    return best + log_normaliser(box, gamma), leaves


def average(
    data: Dataset,
    child: int,
    parents: tuple[int, ...],
    max_splits: int = 3,
    cuts: str = "range",
    gamma: float | None = None,
    **prior: float,
) -> float:
    """The log of the likelihood averaged over all trees, by adding them up."""
    box, where = whole(data, parents, max_splits), cells(data, parents, max_splits, cuts)
    cost, known = leaf_cost(box, gamma), {}

    def value(part: Box) -> float:
        if part not in known:
            known[part] = leaf(data, child, [i for i, cell in enumerate(where) if holds(part, cell)], **prior) - cost
        return known[part]

    logs = [math.fsum(value(part) for part in tree) for tree in trees(box)]
    total = max(logs) + math.log(math.fsum(math.exp(x - max(logs)) for x in logs))
    weights = math.fsum(math.exp(-cost * len(tree)) for tree in trees(box))
    return total - math.log(weights)


def average_prediction(
    data: Dataset,
    child: int,
    parents: tuple[int, ...],
    cell: tuple[int, ...],
    max_splits: int,
    cuts: str,
    gamma=None,
    alpha=0.5,
) -> list[float]:
    """A categorical child's distribution in a cell: every tree's own, weighted by its posterior probability."""
    box, where = whole(data, parents, max_splits), cells(data, parents, max_splits, cuts)
    cost, r = leaf_cost(box, gamma), data.cardinalities[child]
    total, found = 0.0, [0.0] * r
    for tree in trees(box):
        rows = [[i for i, place in enumerate(where) if holds(part, place)] for part in tree]
        weight = math.exp(sum(leaf(data, child, members, alpha) - cost for members in rows))
        (own,) = (members for part, members in zip(tree, rows, strict=True) if holds(part, cell))
        values = data.columns[child][own].tolist()
        total += weight
        found = [old + weight * (values.count(x) + alpha) / (len(own) + r * alpha) for x, old in enumerate(found)]
    return [x / total for x in found]


def quantile_cuts(values: np.ndarray, bins: int) -> list[Fraction]:
    """Hazen cut points by the definition: the i/b quantile lies at position N i / b - 1/2, linearly between rows."""
    ordered, cuts = sorted(Fraction(x) for x in values.tolist()), []
    for i in range(1, bins):
        position = min(max(Fraction(len(ordered) * i, bins) - Fraction(1, 2), Fraction(0)), Fraction(len(ordered) - 1))
        low = math.floor(position)
        cuts.append(ordered[low] + (position - low) * (ordered[min(low + 1, len(ordered) - 1)] - ordered[low]))
    return cuts


def full_table(data: Dataset, child: int, parents: tuple[int, ...], max_bins: int = 7, leaf=leaf) -> float:
    """The best log-likelihood of all tables; `leaf` gives that of the rows in a cell."""
    ways = []
    for u in parents:
        column = data.columns[u]
        if isinstance(data.domains[u], Categorical):
            ways.append([column.tolist()])
        else:
            cuts = [quantile_cuts(column, bins) for bins in range(2, max_bins + 1)]
            ways.append([[sum(Fraction(x) >= c for c in points) for x in column.tolist()] for points in cuts])
    best = -math.inf
    for table in itertools.product(*ways):
        rows: dict[tuple, list[int]] = {}
        for i in range(data.n_rows):
            rows.setdefault(tuple(codes[i] for codes in table), []).append(i)
        best = max(best, math.fsum(leaf(data, child, members) for members in rows.values()))
    return best
