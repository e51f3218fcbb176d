"""The conditional log-likelihood of coded rows, its gradient, and steps of stochastic ascent.

Scores are laid out by class, float64[C, cells]: a row adds up one number per factor and class, and with the class
outermost these are gathers from one small plane, two times faster than to loop over a few classes inside.
"""

from __future__ import annotations

import math

import numpy as np

from optbn_solvers.base.compiled import kernel

BLOCK = 128
"""Rows whose scores are held at a time, so that they stay in the first cache."""


@kernel
def _add_up(cells, begin, rows, scores, prior, out):
    """out[c, r] = the score of row begin + r under class c."""
    for c in range(len(scores)):
        plane = scores[c]
        for r in range(rows):
            total = plane[prior]
            for f in range(cells.shape[1]):
                total += plane[cells[begin + r, f]]
            out[c, r] = total


@kernel
def loss_and_gradient(cells, classes, weights, scores, prior, gradient):
    """The negative conditional log-likelihood in nats of rows int32[n, F]; its gradient by the scores is added.

    P(y | row) is proportional to exp(scores[y, prior] + sum over f of scores[y, cells[row, f]]).
    Twin: tests.naive.discriminative.loss.
    """
    n, F = cells.shape
    C = len(scores)
    s = np.empty((C, BLOCK))
    loss = 0.0
    for begin in range(0, n, BLOCK):
        rows = min(BLOCK, n - begin)
        _add_up(cells, begin, rows, scores, prior, s)
        for r in range(rows):
            top = s[0, r]
            for c in range(1, C):
                top = max(top, s[c, r])
            y, w = classes[begin + r], weights[begin + r]
            own = s[y, r]
            total = 0.0
            for c in range(C):
                s[c, r] = math.exp(s[c, r] - top)
                total += s[c, r]
            loss += w * (math.log(total) + top - own)
            for c in range(C):
                s[c, r] *= w / total
            s[y, r] -= w
        for c in range(C):
            plane = gradient[c]
            whole = 0.0
            for r in range(rows):
                slope = s[c, r]
                whole += slope
                for f in range(F):
                    plane[cells[begin + r, f]] += slope
            plane[prior] += whole
    return loss


@kernel
def adaptive_pass(cells, classes, weights, order, scale, target, pull, parameters, squares, prior, frozen, rate):
    """One pass of AdaGrad, a row at a time in the given order; the loss met on the way is returned.

    scores = scale * parameters, all float64[C, cells];  squares  of the slopes so far
    pull    float64[cells], the penalty's strength over the number of rows of the cell, so that a pass pulls once
    frozen  the cells from here on are not moved
    Twin: tests.naive.discriminative.adaptive_pass.
    """
    C = len(parameters)
    s = np.empty(C)
    loss = 0.0
    for i in range(len(order)):
        r = order[i]
        for c in range(C):
            total = scale[c, prior] * parameters[c, prior]
            for f in range(cells.shape[1]):
                total += scale[c, cells[r, f]] * parameters[c, cells[r, f]]
            s[c] = total
        top = s.max()
        y, w = classes[r], weights[r]
        own = s[y]
        total = 0.0
        for c in range(C):
            s[c] = math.exp(s[c] - top)
            total += s[c]
        loss += w * (math.log(total) + top - own)
        for c in range(C):
            slope = w * (s[c] / total - (1.0 if c == y else 0.0))
            for f in range(cells.shape[1] + 1):
                k = cells[r, f] if f < cells.shape[1] else prior
                if k >= frozen:
                    continue
                g = slope * scale[c, k] + w * pull[k] * (parameters[c, k] - target[c, k])
                squares[c, k] += g * g
                if g != 0.0:
                    parameters[c, k] -= rate * g / math.sqrt(squares[c, k])
    return loss
