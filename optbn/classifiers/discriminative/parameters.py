"""Four ways to write the scores of a network as functions of free numbers, and their derivatives.

    d   s = b                                   any scores at all
    e   s = z - log sum exp z                   logarithms of probabilities: the softmax is over the levels of an
                                                attribute within class and context, over the classes for the prior
    w   s = v log theta                         exponents on fixed generative probabilities (Zaidi et al. 2017)
    h   s = sum of b over the contexts above    free, and shrunk down the tree of contexts (`hierarchy`)

The exponents of w may be shared. Level 4 has one for every score, 3 for every level of an attribute in every class, 2
for every level of an attribute (equation 20), 1 for every attribute; the prior has one for every class (level 1: one).

d, w and h are log-linear in their parameters, so the negative conditional log-likelihood is convex in them for every
structure. e reaches the same optimum, and has no others, when the structure is moral: all parents of a variable are
adjacent (Roos et al. 2005), as in naive Bayes, TAN and KDB with one parent. Otherwise its constraint cuts something
away, and a local optimum may be no global one.

The penalty is lambda / 2 times the squared distance of the parameters from `target`: zero, or the values that make the
generative classifier. The class's own parameters are left free, as an intercept is.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import UnsupportedError
from optbn.base.registry import unknown
from optbn.classifiers.discriminative.factors import Layout
from optbn.classifiers.discriminative.hierarchy import Hierarchical

KINDS = ("w", "d", "e", "h")


class Parameters(Protocol):
    """`layout`, and two tables float64[C, cells + 2]: `generative` logarithms, and scores from parameters."""

    @property
    def layout(self) -> Layout: ...
    @property
    def size(self) -> int: ...
    @property
    def neutral(self) -> NDArray[np.float64]:
        """Parameters of the generative classifier."""

    @property
    def penalised(self) -> NDArray[np.bool_]: ...
    def scores(self, x: NDArray[np.float64]) -> NDArray[np.float64]: ...
    def pullback(
        self, x: NDArray[np.float64], scores: NDArray[np.float64], gradient: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """The derivative by the parameters from that by the scores; may overwrite it."""

    def everywhere(self, x: NDArray[np.float64], f: int, logs: NDArray[np.float64]) -> NDArray[np.float64]:
        """float64[C, nodes, levels]: scores of factor f at all nodes, given generative `logs` there."""


@dataclass(frozen=True, eq=False)
class _Table:
    """What d, e and level 4 of w share: a parameter for every score."""

    layout: Layout
    generative: NDArray[np.float64]

    @property
    def width(self) -> int:
        return self.layout.cells + self.layout.prior

    @property
    def size(self) -> int:
        return self.layout.n_classes * self.width

    @property
    def penalised(self) -> NDArray[np.bool_]:
        free = np.ones((self.layout.n_classes, self.width), dtype=np.bool_)
        free[:, self.layout.cells :] = False
        return free.ravel()

    def _table(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        table = np.zeros_like(self.generative)
        table[:, : self.width] = x.reshape(-1, self.width)
        return table

    def _flat(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        return table[:, : self.width].ravel()


class Direct(_Table):
    """d."""

    @property
    def neutral(self) -> NDArray[np.float64]:
        return self._flat(self.generative).copy()

    def scores(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return self._table(x)

    def pullback(
        self, x: NDArray[np.float64], scores: NDArray[np.float64], gradient: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        return self._flat(gradient)

    def everywhere(self, x: NDArray[np.float64], f: int, logs: NDArray[np.float64]) -> NDArray[np.float64]:
        scores = self.layout.part(self._table(x), f)
        return self.layout.factors[f].backed_off(scores, 0.0, replace=True)


class Constrained(_Table):
    """e. The levels of an attribute in one context are neighbours, so sums over them are sums over runs of cells."""

    @cached_property
    def _runs(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where the runs begin, and the run of every cell."""
        lengths = np.concatenate([np.full(f.contexts, f.levels) for f in self.layout.factors] or [np.zeros(0, int)])
        return np.cumsum(lengths) - lengths, np.repeat(np.arange(len(lengths)), lengths)

    @cached_property
    def _by_class(self) -> list[slice]:
        """Cells in which the classes sum to one."""
        found = [slice(self.layout.cells, self.layout.cells + 1)] if self.layout.prior else []
        for f, factor in enumerate(self.layout.factors):
            if factor.family.of_class:
                found.append(slice(int(self.layout.starts[f]), int(self.layout.starts[f + 1])))
        return found

    @property
    def neutral(self) -> NDArray[np.float64]:
        return self._flat(self.generative).copy()

    def scores(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        table = self._table(x)
        by_class = [_normalised(table[:, cells], 0) for cells in self._by_class]
        starts, run = self._runs
        z = table[:, : self.layout.cells]
        if len(starts):
            z -= np.maximum.reduceat(z, starts, axis=1)[:, run]
            z -= np.log(np.add.reduceat(np.exp(z), starts, axis=1))[:, run]
        for cells, part in zip(self._by_class, by_class, strict=True):
            table[:, cells] = part
        return table

    def pullback(
        self, x: NDArray[np.float64], scores: NDArray[np.float64], gradient: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        starts, run = self._runs
        answer = gradient[:, : self.width].copy()
        if len(starts):
            total = np.add.reduceat(gradient[:, : self.layout.cells], starts, axis=1)
            answer[:, : self.layout.cells] -= np.exp(scores[:, : self.layout.cells]) * total[:, run]
        for cells in self._by_class:
            slope = gradient[:, cells]
            answer[:, cells] = slope - np.exp(scores[:, cells]) * slope.sum(axis=0)
        return answer.ravel()

    def everywhere(self, x: NDArray[np.float64], f: int, logs: NDArray[np.float64]) -> NDArray[np.float64]:
        factor = self.layout.factors[f]
        change = self.layout.part(self.scores(x), f) - logs[:, factor.leaves]
        return _normalised(logs + factor.backed_off(change, 0.0, replace=False), 0 if factor.family.of_class else 2)


class Exponents(_Table):
    """w, level 4."""

    @property
    def neutral(self) -> NDArray[np.float64]:
        return np.ones(self.size)

    def scores(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(self._table(x) * self.generative)

    def pullback(
        self, x: NDArray[np.float64], scores: NDArray[np.float64], gradient: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        gradient *= self.generative
        return self._flat(gradient)

    def everywhere(self, x: NDArray[np.float64], f: int, logs: NDArray[np.float64]) -> NDArray[np.float64]:
        exponents = self.layout.part(self._table(x), f)
        return np.asarray(self.layout.factors[f].backed_off(exponents, 1.0, replace=True) * logs)


@dataclass(frozen=True, eq=False)
class SharedExponents:
    """w, levels 3, 2 and 1: a factor's exponents are float64[C, 1, levels], [1, 1, levels] or [1, 1, 1]."""

    layout: Layout
    generative: NDArray[np.float64]
    level: int

    def _shapes(self) -> list[tuple[int, int, int]]:
        C = self.layout.n_classes if self.level == 3 else 1
        return [(C, 1, factor.levels if self.level > 1 else 1) for factor in self.layout.factors]

    def _parts(self, x: NDArray[np.float64]) -> tuple[list[NDArray[np.float64]], NDArray[np.float64]]:
        """Views of the factors' exponents and of the prior's."""
        parts, begin = [], 0
        for shape in self._shapes():
            size = shape[0] * shape[2]
            parts.append(x[begin : begin + size].reshape(shape))
            begin += size
        return parts, x[begin:]

    @property
    def size(self) -> int:
        own = (self.layout.n_classes if self.level > 1 else 1) if self.layout.prior else 0
        return sum(C * levels for C, _, levels in self._shapes()) + own

    @property
    def neutral(self) -> NDArray[np.float64]:
        return np.ones(self.size)

    @property
    def penalised(self) -> NDArray[np.bool_]:
        free = np.ones(self.size, dtype=np.bool_)
        free[sum(C * levels for C, _, levels in self._shapes()) :] = False
        return free

    def scores(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        table = self.generative.copy()
        parts, own = self._parts(x)
        for f, part in enumerate(parts):
            self.layout.part(table, f)[:] *= part
        if self.layout.prior:
            table[:, self.layout.cells] *= own
        return table

    def pullback(
        self, x: NDArray[np.float64], scores: NDArray[np.float64], gradient: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        gradient *= self.generative
        answer = np.zeros(self.size)
        parts, own = self._parts(answer)
        for f, part in enumerate(parts):
            axes = (1,) if self.level == 3 else (0, 1) if self.level == 2 else (0, 1, 2)
            part[:] = self.layout.part(gradient, f).sum(axis=axes, keepdims=True)
        if self.layout.prior:
            slopes = gradient[:, self.layout.cells]
            own[:] = slopes if self.level > 1 else slopes.sum()
        return answer

    def everywhere(self, x: NDArray[np.float64], f: int, logs: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(self._parts(x)[0][f] * logs)


def parameters(
    kind: str, level: int, layout: Layout, generative: NDArray[np.float64], decay: float = 1.0
) -> Parameters:
    """The parameterisation by its letter; `decay` is that of h."""
    if kind not in KINDS:
        raise unknown("parameterisation", kind, KINDS)
    if isinstance(level, bool) or level not in (1, 2, 3, 4):
        raise UnsupportedError(f"level={level!r}: expected 1, 2, 3 or 4")
    if kind != "w" and level != 4:
        raise UnsupportedError(f"level={level}: only w shares parameters, {kind} has one for every score (level=4)")
    if kind == "w":
        return Exponents(layout, generative) if level == 4 else SharedExponents(layout, generative, level)
    if kind == "h":
        return Hierarchical(layout, generative, decay)
    return Direct(layout, generative) if kind == "d" else Constrained(layout, generative)


def _normalised(z: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    top = z.max(axis=axis, keepdims=True, initial=-np.inf)
    return np.asarray(z - top - np.log(np.exp(z - top).sum(axis=axis, keepdims=True)))
