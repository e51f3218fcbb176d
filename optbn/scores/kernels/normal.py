"""Moments and leaves of eight real responses at a time, written as vector instructions.

A leaf needs one logarithm of a number that is positive and normal. Lanes compute it faster than a library is called:

    log x = k log 2 + log m,  m in [sqrt(1/2), sqrt 2);    log m = 2 artanh s,  s = (m - 1)/(m + 1)

with artanh's series up to s^21, whose rest is below 2^-58 of it; within 2 units in the last place (tests).
LLVM would make vectors of a plain loop only behind run-time checks that the rows do not overlap, and not at all of one
that takes a number's bits apart. Vectors are eight doubles wide; LLVM splits them where the machine's are narrower.
"""

from __future__ import annotations

import math

from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

from optbn.scores.kernels.moments import row_of
from optbn.scores.kernels.rows import loop
from optbn.scores.kernels.simd import WIDTH

FLOATS, WORDS = ir.VectorType(ir.DoubleType(), WIDTH), ir.VectorType(ir.IntType(64), WIDTH)
ROOT_HALF = 0x3FE6A09E667F3BCD
"""The bits of sqrt(1/2)."""
LOG_2_HIGH, LOG_2_LOW = math.ldexp(round(math.ldexp(math.log(2), 41)), -41), -1.7239444525614835e-13
"""Together log 2; times an exponent the first is exact."""
TERMS = 11
WHOLE = 0x4338000000000000
"""The bits of 3 * 2^51, to which whole numbers are added as bits to become floating-point numbers."""


def _splat(value):
    return ir.Constant(FLOATS, [value] * WIDTH)


def _words(value):
    return ir.Constant(WORDS, [value] * WIDTH)


def _broadcast(builder, scalar):
    one = builder.insert_element(ir.Constant(FLOATS, ir.Undefined), scalar, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [0] * WIDTH)
    return builder.shuffle_vector(one, ir.Constant(FLOATS, ir.Undefined), zeros)


def _fused(builder, a, b, c):
    """a b + c, rounded once where the machine can."""
    signature = ir.FunctionType(FLOATS, [FLOATS] * 3)
    function = cgutils.get_or_insert_function(builder.module, signature, f"llvm.fmuladd.v{WIDTH}f64")
    return builder.call(function, [a, b, c])


def _log(builder, x):
    bits = builder.bitcast(x, WORDS)
    exponent = builder.ashr(builder.sub(bits, _words(ROOT_HALF)), _words(52))
    mantissa = builder.bitcast(builder.sub(bits, builder.shl(exponent, _words(52))), FLOATS)
    k = builder.fsub(builder.bitcast(builder.add(exponent, _words(WHOLE)), FLOATS), _splat(3.0 * 2.0**51))
    s = builder.fdiv(builder.fsub(mantissa, _splat(1.0)), builder.fadd(mantissa, _splat(1.0)))
    z = builder.fmul(s, s)
    series = _splat(1 / (2 * TERMS - 1))
    for i in range(TERMS - 1, 1, -1):
        series = _fused(builder, series, z, _splat(1 / (2 * i - 1)))
    twice = builder.fadd(s, s)
    small = _fused(builder, builder.fmul(twice, z), series, builder.fmul(k, _splat(LOG_2_LOW)))
    return builder.fadd(builder.fmul(k, _splat(LOG_2_HIGH)), builder.fadd(twice, small))


def _vector(builder, row, at):
    return builder.bitcast(builder.gep(row, [at]), FLOATS.as_pointer())


@intrinsic
def _vector_leaves(typingctx, mean, spread, value, slots, weights, lanes, terms):
    numbers, (two, four) = types.UniTuple(types.int64, 3), (types.UniTuple(types.float64, n) for n in (2, 4))
    signature = types.void(mean, spread, value, numbers, two, numbers, four)

    def generate(context, builder, signature, arguments):
        mean, spread, value = arguments[:3]
        s, a, b = cgutils.unpack_tuple(builder, arguments[3])
        share, product = (_broadcast(builder, each) for each in cgutils.unpack_tuple(builder, arguments[4]))
        begin, end, cats = cgutils.unpack_tuple(builder, arguments[5])
        scale, shrink, power, constant = (
            _broadcast(builder, each) for each in cgutils.unpack_tuple(builder, arguments[6])
        )
        means = [row_of(context, builder, signature.args[0], mean, slot) for slot in (a, b, s)]
        spreads = [row_of(context, builder, signature.args[1], spread, slot) for slot in (a, b, s)]
        out = builder.gep(row_of(context, builder, signature.args[2], value, s), [cats])

        def step(q, _):
            one, other = (builder.load(_vector(builder, row, q), align=8) for row in means[:2])
            one_spread, other_spread = (builder.load(_vector(builder, row, q), align=8) for row in spreads[:2])
            gap = builder.fsub(other, one)
            middle = _fused(builder, gap, share, one)
            around = builder.fadd(one_spread, other_spread)
            around = _fused(builder, builder.fmul(gap, gap), product, around)
            builder.store(middle, _vector(builder, means[2], q), align=8)
            builder.store(around, _vector(builder, spreads[2], q), align=8)
            posterior = _fused(builder, builder.fmul(shrink, middle), middle, builder.fadd(scale, around))
            leaf = _fused(builder, builder.fneg(power), _log(builder, posterior), constant)
            builder.store(leaf, _vector(builder, out, q), align=8)
            return ()

        loop(builder, end, WIDTH, [], step, begin)
        return context.get_dummy_value()

    return signature, generate


def _plain_leaves(mean, spread, value, slots, weights, lanes, terms):
    """Moments of a slot from those of two, and its leaves, for some real lanes and up to WIDTH - 1 after them, whose
    moments are right and whose leaves are not.

    slots      (s, a, b): s is the sum of a and b
    weights    (share, product): the share of the rows of s that are in b, and that times the rows of a
    lanes      (begin, end, cats): the real lanes begin .. end - 1, and where real lanes begin in a row of value
    terms      (scale, shrink, power, constant) of these responses' leaves with the rows of s (trees/leaves.py), the
               last with the cost of a leaf
    """
    s, a, b = slots
    share, product = weights
    begin, end, cats = lanes
    scale, shrink, power, constant = terms
    for q in range(begin, end):
        gap = mean[b, q] - mean[a, q]
        mean[s, q] = mean[a, q] + gap * share
        spread[s, q] = spread[a, q] + spread[b, q] + gap * gap * product
        value[s, cats + q] = constant - power * math.log(scale + spread[s, q] + shrink * mean[s, q] * mean[s, q])


normal_leaves = _plain_leaves if config.DISABLE_JIT else _vector_leaves  # type: ignore[attr-defined]
