"""A Bayesian network classifier whose parameters maximise P(class | attributes) instead of P(class, attributes).

The structure says which scores there are (`factors`), `parameters` how they are written, `training` finds them. The
fitted classifier is a member like any other: class-first trees of scores, walked by the same compiled code.
"""

from __future__ import annotations

import logging
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import UnsupportedError
from optbn.base.registry import unknown
from optbn.classifiers.discriminative.factors import Layout
from optbn.classifiers.discriminative.hierarchy import DECAYS
from optbn.classifiers.discriminative.parameters import Parameters, parameters
from optbn.classifiers.discriminative.rows import Rows
from optbn.classifiers.discriminative.strength import STRENGTHS, chosen_strength
from optbn.classifiers.discriminative.structures import families, is_moral
from optbn.classifiers.discriminative.training import Curve, Objective, descend, minimise
from optbn.classifiers.estimator import NetworkClassifier
from optbn.classifiers.member import Member
from optbn.classifiers.source import Source
from optbn.smoothing.protocol import Smoother

_log = logging.getLogger("optbn.classifiers.discriminative")

STARTS = ("generative", "zero")
SOLVERS = ("lbfgs", "sgd")


class DiscriminativeBN(NetworkClassifier):
    """structure         "nb", "tan", "kdb1", "kdb2", ..., or a DAG over the columns and the target
    parameterisation  "w" exponents on generative probabilities, "d" free, "e" probabilities, "h" free and shrunk down
                      the tree of contexts (see `parameters`)
    level             of w, which have one exponent: 4 every score, 3 every value of an attribute in every class,
                      2 every value, 1 every attribute
    init              where training starts: the "generative" parameters or "zero"
    l2                strength of the penalty (0: none), or "cv": chosen by cross-validation
    decay             of h: by what scores are expected to become smaller with each parent (above 0, at most 1), or
                      "cv": chosen with the penalty
    l2_towards        what the penalty pulls to: "zero" or the "generative" classifier
    solver            "lbfgs", or "sgd" for very many rows
    max_iterations    of L-BFGS, or passes of SGD;  tolerance  the relative gain at which L-BFGS stops
    corrections       pairs of steps that L-BFGS remembers (5 in the published experiments)
    smoother          for the generative probabilities

    After fitting: `curve_` (loss after every iteration), `l2_` and `l2_losses_` (held-out nats per row by strength),
    `decay_`, `convex_` (the optimum is global), `parameters_`, and what every classifier has.
    """

    def __init__(
        self,
        structure: Any = "tan",
        parameterisation: str = "w",
        level: int = 4,
        init: str = "generative",
        l2: float | str = "cv",
        decay: float | str = "cv",
        l2_towards: str = "zero",
        solver: str = "lbfgs",
        max_iterations: int = 1000,
        tolerance: float = 1e-7,
        corrections: int = 20,
        smoother: Any = "m_estimate",
        discretizer: Any = "mdlp",
        random_state: Any = 0,
    ) -> None:
        self.structure = structure
        self.parameterisation = parameterisation
        self.level = level
        self.init = init
        self.l2 = l2
        self.decay = decay
        self.l2_towards = l2_towards
        self.solver = solver
        self.max_iterations = max_iterations
        self.tolerance = tolerance
        self.corrections = corrections
        self.smoother = smoother
        self.discretizer = discretizer
        self.random_state = random_state

    curve_: Curve
    l2_: float
    l2_losses_: dict[float, float]
    decay_: float
    convex_: bool
    parameters_: NDArray[np.float64]

    def _learn(
        self, source: Source, smoother: Smoother, seed: np.random.SeedSequence
    ) -> tuple[list[Any], NDArray[np.float64]]:
        self._check()
        discretizer = self._discretized(source)
        batches = source.batches(discretizer)
        names, sizes = [column.name for column in discretizer.columns_], discretizer.sizes
        found = families(self.structure, batches, names, sizes, source.n_classes, self.target_)
        self.convex_ = self.parameterisation != "e" or is_moral(self.structure, self.target_)
        if not self.convex_:
            _log.warning("the structure is not moral: with parameterisation e the optimum found may be a local one")
        layout = Layout.of(batches(), found, sizes, source.n_classes)
        rows = Rows.of(batches(), layout.rows)
        smooth, choose, order = seed.spawn(3)
        generative, everywhere = layout.generative(layout.own_counts, layout.class_counts, smoother, smooth)
        self._choose_penalty(rows, layout, smoother, choose)
        chosen = parameters(self.parameterisation, self.level, layout, generative, self.decay_)
        self.parameters_, self.curve_ = self._trained(rows, chosen, order)
        parents, forest = layout.forest(lambda f: chosen.everywhere(self.parameters_, f, everywhere[f]))
        prior = chosen.scores(self.parameters_)[:, layout.cells]
        return [Member(discretizer.columns_, prior, parents, forest)], np.ones(1)

    def _choose_penalty(self, rows: Rows, layout: Layout, smoother: Smoother, seed: np.random.SeedSequence) -> None:
        """`l2_` and `decay_`, by folds where they are not given."""
        decays = DECAYS if self.decay == "cv" else (float(self.decay),)
        if self.parameterisation != "h":
            decays = (1.0,)
        self.decay_, self.l2_losses_ = decays[0], {}
        if self.l2 != "cv":
            self.l2_ = float(self.l2)
            if len(decays) == 1 or self.l2_ in (0.0, np.inf):
                return
        strengths = STRENGTHS if self.l2 == "cv" else (self.l2_,)
        best = np.inf
        for decay in decays:
            make = partial(parameters, self.parameterisation, self.level, decay=decay)
            stream = np.random.SeedSequence(seed.entropy, spawn_key=seed.spawn_key)  # the same folds for each
            l2, losses = chosen_strength(rows, layout, make, self.l2_towards, smoother, stream, strengths)
            if min(losses.values(), default=0.0) < best:
                best = min(losses.values(), default=0.0)
                self.l2_, self.decay_, self.l2_losses_ = l2, decay, losses

    def _trained(
        self, rows: Rows, chosen: Parameters, order: np.random.SeedSequence
    ) -> tuple[NDArray[np.float64], Curve]:
        neutral, zero = chosen.neutral, np.zeros(chosen.size)
        target = neutral if self.l2_towards == "generative" else zero
        if self.l2_ == np.inf:
            loss = Objective(rows, chosen, 0.0, target).loss(target)[0]
            return target, Curve([loss], [1], True)
        objective = Objective(rows, chosen, self.l2_, target)
        start = neutral if self.init == "generative" else zero
        if self.solver == "sgd":
            return descend(objective, start, self.max_iterations, order)
        found, curve = minimise(objective, start, self.max_iterations, self.tolerance, self.corrections)
        if not curve.converged:
            _log.warning("L-BFGS stopped after %d iterations, not converged: raise max_iterations", len(curve.loss) - 1)
        return found, curve

    def _check(self) -> None:
        for setting, value, known in (
            ("init", self.init, STARTS),
            ("l2_towards", self.l2_towards, STARTS),
            ("solver", self.solver, SOLVERS),
        ):
            if value not in known:
                raise unknown(f"choice of {setting}", str(value), known)
        if self.l2 != "cv" and not (isinstance(self.l2, int | float | np.number) and self.l2 >= 0):
            raise UnsupportedError(f"l2={self.l2!r}: expected a number of at least 0, or 'cv'")
        if self.decay != "cv" and not (isinstance(self.decay, int | float | np.number) and 0 < self.decay <= 1):
            raise UnsupportedError(f"decay={self.decay!r}: expected a number above 0, at most 1, or 'cv'")
        for setting, number in (("max_iterations", self.max_iterations), ("corrections", self.corrections)):
            if not (isinstance(number, int | np.integer) and number > 0):
                raise UnsupportedError(f"{setting}={number!r}: expected a whole number above 0")
        if not self.tolerance >= 0:
            raise UnsupportedError(f"tolerance={self.tolerance!r}: expected a number of at least 0")

    @property
    def networks_(self) -> list[Any]:
        """The network, when its scores are probabilities: with parameterisation e and a class without parents."""
        if self.parameterisation != "e" or not np.isclose(np.exp(self.members_[0].prior).sum(), 1.0):
            raise AttributeError(
                "the scores of this classifier are no probabilities; only parameterisation='e' makes a network"
            )
        return super().networks_
