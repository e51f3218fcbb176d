"""Vectors of lgamma(n + a) - lgamma(a), approximate, for sixteen counts n at a time: quicker computed than looked up.

    lgamma(x + 1/2)  ~  x/2 log(x^2 - c) - x + log(2 pi)/2,      x = n + a - 1/2

(Stirling's series, its next term put into the logarithm: c would be 1/12, but is such that one row of alpha 1/2 comes
out right, so that nothing is too low). The logarithm is that of the power of 2 plus a polynomial in the mantissa. What
is in proportion to n is the same in the levels and in the total of a leaf and cancels, so a multiple of n is taken off
(`tilt`) that leaves small numbers, of which rounding takes little. How far off it all is, `trees/sieve.py` measures for
all counts there are: nothing is proved from the formula. LLVM splits vectors where the machine's are narrower.
"""

from __future__ import annotations

import math

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

HALF = 16
LOG_HALVED = (-1.12146185, 2.45586759, -2.5625249, 1.96364966, -1.0071106, 0.32782687, -0.06125128, 0.00500464)
"""Coefficients of log(m) / 2 on [1, 2), interpolated at Chebyshev's points, off by at most 1.3e-7."""
LOG_OF_FEW = (-1.04982392, 2.10261742, -1.8235602, 1.11347173, -0.4260398, 0.09185042, -0.00851481)
"""The same, off by 9e-7 for each row: .01 nats where rows are few. With one fewer a third more would be scored."""
LESS, LOG_2_HALVED = 0.07636, 0.5 * math.log(2)

FLOATS, WORDS = ir.VectorType(ir.FloatType(), HALF), ir.VectorType(ir.IntType(32), HALF)
WORD = ir.IntType(64)


def plain_term(x, tilt):
    """About (lgamma(x + 1/2) + tilt x - log(2 pi)/2) / x."""
    return np.float32(0.5 * math.log(x * x - np.float32(LESS)) - 1.0 + tilt)


def splat(value):
    return ir.Constant(FLOATS, [float(np.float32(value))] * HALF)


def words(value):
    return ir.Constant(WORDS, [value] * HALF)


def broadcast(builder, scalar):
    one = builder.insert_element(ir.Constant(FLOATS, ir.Undefined), scalar, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(one, ir.Constant(FLOATS, ir.Undefined), words(0))


def fused(builder, a, b, c):
    """a b + c, rounded once where the machine can."""
    signature = ir.FunctionType(FLOATS, [FLOATS] * 3)
    function = cgutils.get_or_insert_function(builder.module, signature, f"llvm.fmuladd.v{HALF}f32")
    return builder.call(function, [a, b, c])


def term_of(builder, x, base, bits):
    """log(x^2 - c) / 2 - 1 + tilt, to be multiplied by x; base has all that is constant in it. Where costs have 16
    bits the exponent is not taken apart: as a number, bits are 2^23 (exponent + 126 + mantissa), but for rounding."""
    word = builder.bitcast(fused(builder, x, x, splat(-LESS)), WORDS)
    mantissa = builder.or_(builder.and_(word, words(0x7FFFFF)), words(0x3F800000))
    mantissa = builder.bitcast(mantissa, FLOATS)
    if bits == 16:
        exponent, unit = builder.sitofp(word, FLOATS), LOG_2_HALVED * 2.0**-23
        coefficients = (LOG_OF_FEW[1] - LOG_2_HALVED, *LOG_OF_FEW[2:])
    else:
        exponent = builder.sitofp(builder.sub(builder.lshr(word, words(23)), words(127)), FLOATS)
        unit, coefficients = LOG_2_HALVED, LOG_HALVED[1:]
    power = splat(coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        power = fused(builder, power, mantissa, splat(coefficient))
    return fused(builder, power, mantissa, fused(builder, exponent, splat(unit), base))


def base_of(builder, tilt, bits):
    constant = LOG_OF_FEW[0] - 126 * LOG_2_HALVED if bits == 16 else LOG_HALVED[0]
    return builder.fadd(broadcast(builder, tilt), splat(constant - 1.0))


def floats(builder, counts):
    return builder.uitofp(builder.zext(counts, WORDS) if counts.type != WORDS else counts, FLOATS)


def vector_at(builder, pointer, number, kind):
    """The vector that begins `number` elements after a pointer."""
    return builder.bitcast(builder.gep(pointer, [number]), kind.as_pointer())


def word_of(value):
    return ir.Constant(WORD, value)


@intrinsic
def _vector_terms(typingctx, counts, at, shift, constant, tilt, out):
    single = types.float32
    signature = types.void(counts, types.int64, single, single, single, out)

    def generate(context, builder, signature, arguments):
        counts, at, shift, constant, tilt, out = arguments
        source = context.make_array(signature.args[0])(context, builder, counts).data
        target = context.make_array(signature.args[5])(context, builder, out).data
        bits = signature.args[0].dtype.bitwidth
        kind = ir.VectorType(ir.IntType(bits), HALF)
        x = floats(builder, builder.load(vector_at(builder, source, at, kind), align=2))
        x = builder.fadd(x, broadcast(builder, shift))
        term = term_of(builder, x, base_of(builder, tilt, bits), bits)
        value = fused(builder, x, term, broadcast(builder, constant))
        builder.store(value, vector_at(builder, target, at, FLOATS), align=4)
        return context.get_dummy_value()

    return signature, generate


def _plain_terms(counts, at, shift, constant, tilt, out):
    """out[i] = the approximate term of counts[i], for the HALF places from `at` on; counts are at least 1."""
    for i in range(at, at + HALF):
        x = np.float32(counts[i]) + shift
        out[i] = x * plain_term(x, tilt) + constant


approximate_terms = _plain_terms if config.DISABLE_JIT else _vector_terms  # type: ignore[attr-defined]
