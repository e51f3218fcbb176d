"""The two innermost loops of `sieve` as vector instructions: leaves of sixteen categorical responses, their best sums.

A leaf needs lgamma(n + a) - lgamma(a) of every count n, which sixteen lanes compute faster than they look it up:

    lgamma(x + 1/2)  ~  x/2 log(x^2 - 1/12) - x + log(2 pi)/2,      x = n + a - 1/2

(Stirling's series, its next term put into the logarithm), with the logarithm's exponent from the bits of its argument
and a polynomial in its mantissa. What is in proportion to n is the same in the levels and in the total of a leaf and
cancels, so a multiple of n is taken off (`tilt`) that leaves small numbers, of which rounding takes little. How far off
it all is, `trees/sieve.py` measures for all counts there are: nothing is proved from the formula. Vectors are sixteen
floats wide; LLVM splits them where the machine's are narrower.
"""

from __future__ import annotations

import math

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

LANES = 16
LOG_HALVED = (-1.12146185, 2.45586759, -2.5625249, 1.96364966, -1.0071106, 0.32782687, -0.06125128, 0.00500464)
"""Coefficients of log(m) / 2 on [1, 2): interpolation at Chebyshev's points, off by at most 1.3e-7."""
TWELFTH, LOG_2_HALVED = 1 / 12, math.log(2) / 2

FLOATS, WORDS = ir.VectorType(ir.FloatType(), LANES), ir.VectorType(ir.IntType(32), LANES)
WORD = ir.IntType(64)


def _plain_term(n, shift, constant, tilt):
    """The same as numbers: about lgamma(n + shift + 1/2) + tilt (n + shift) + constant - log(2 pi)/2."""
    x = np.float32(n) + np.float32(shift)
    z = x * x - np.float32(TWELFTH)
    return x * np.float32(0.5 * math.log(z) - 1.0 + tilt) + np.float32(constant)


def _splat(value):
    return ir.Constant(FLOATS, [float(np.float32(value))] * LANES)


def _words(value):
    return ir.Constant(WORDS, [value] * LANES)


def _broadcast(builder, scalar):
    one = builder.insert_element(ir.Constant(FLOATS, ir.Undefined), scalar, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(one, ir.Constant(FLOATS, ir.Undefined), _words(0))


def _fused(builder, a, b, c):
    """a b + c, rounded once where the machine can."""
    signature = ir.FunctionType(FLOATS, [FLOATS] * 3)
    function = cgutils.get_or_insert_function(builder.module, signature, f"llvm.fmuladd.v{LANES}f32")
    return builder.call(function, [a, b, c])


def _term(builder, x, base):
    """log(x^2 - 1/12) / 2 - 1 + tilt, to be multiplied by x; base is tilt - 1 and the polynomial's constant."""
    z = builder.bitcast(_fused(builder, x, x, _splat(-TWELFTH)), WORDS)
    exponent = builder.sub(builder.lshr(z, _words(23)), _words(127))
    mantissa = builder.or_(builder.and_(z, _words(0x7FFFFF)), _words(0x3F800000))
    mantissa = builder.bitcast(mantissa, FLOATS)
    power = _splat(LOG_HALVED[-1])
    for coefficient in LOG_HALVED[-2:0:-1]:
        power = _fused(builder, power, mantissa, _splat(coefficient))
    return _fused(
        builder, power, mantissa, _fused(builder, builder.sitofp(exponent, FLOATS), _splat(LOG_2_HALVED), base)
    )


def _base(builder, tilt):
    return builder.fadd(_broadcast(builder, tilt), _splat(LOG_HALVED[0] - 1.0))


def _place(builder, pointer, number, stride):
    """The vector that begins `number` times `stride` bytes after a pointer."""
    start = builder.gep(builder.bitcast(pointer, ir.IntType(8).as_pointer()), [builder.mul(number, stride)])
    return builder.bitcast(start, FLOATS.as_pointer())


@intrinsic
def _vector_terms(typingctx, counts, at, shift, constant, tilt, out):
    single = types.float32
    signature = types.void(counts, types.int64, single, single, single, out)

    def generate(context, builder, signature, arguments):
        counts, at, shift, constant, tilt, out = arguments
        source = context.make_array(signature.args[0])(context, builder, counts).data
        target = context.make_array(signature.args[5])(context, builder, out).data
        four = ir.Constant(WORD, 4)
        x = builder.fadd(builder.load(_place(builder, source, at, four), align=4), _broadcast(builder, shift))
        value = _fused(builder, x, _term(builder, x, _base(builder, tilt)), _broadcast(builder, constant))
        builder.store(value, _place(builder, target, at, four), align=4)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def _vector_raise(
    typingctx, value, counts, s, a, b, rows, levels, shift, constant, tilt, totals, left, right, begin, end
):
    number, single = types.int64, types.float32
    signature = types.void(
        value, counts, number, number, number, single, number, single, single, single, totals, left, right, number,
        number,
    )  # fmt: skip

    def generate(context, builder, signature, arguments):
        _, _, s, a, b, rows, levels, shift, constant, tilt, _, _, _, begin, end = arguments
        array = {i: context.make_array(signature.args[i])(context, builder, arguments[i]) for i in (0, 1, 10, 11, 12)}
        size = ir.Constant(WORD, 4 * LANES)
        stride = builder.mul(size, levels)
        zero, one = ir.Constant(WORD, 0), ir.Constant(WORD, 1)

        base = _base(builder, tilt)
        x = builder.fadd(_broadcast(builder, rows), builder.load(_place(builder, array[10].data, zero, size), align=4))
        total = builder.load(_place(builder, array[10].data, one, size), align=4)
        total = _fused(builder, builder.fneg(x), _term(builder, x, base), total)

        shifts, constants = _broadcast(builder, shift), _broadcast(builder, constant)
        sources = [_place(builder, array[1].data, slot, stride) for slot in (a, b, s)]
        entry = builder.block
        head, body, splits, split, done = (
            builder.append_basic_block(name) for name in ("levels", "level", "splits", "split", "done")
        )
        builder.branch(head)

        builder.position_at_end(head)
        level, leaf = builder.phi(WORD), builder.phi(FLOATS)
        level.add_incoming(zero, entry)
        leaf.add_incoming(total, entry)
        builder.cbranch(builder.icmp_signed("<", level, levels), body, splits)

        builder.position_at_end(body)
        one_count, other_count = (builder.load(builder.gep(source, [level]), align=4) for source in sources[:2])
        count = builder.fadd(one_count, other_count)
        builder.store(count, builder.gep(sources[2], [level]), align=4)
        x = builder.fadd(count, shifts)
        term = _fused(builder, x, _term(builder, x, base), constants)
        there = builder.fcmp_ordered(">", count, _splat(0.0))
        leaf.add_incoming(builder.fadd(leaf, builder.select(there, term, _splat(0.0))), body)
        level.add_incoming(builder.add(level, one), body)
        builder.branch(head)

        builder.position_at_end(splits)
        t, best = builder.phi(WORD), builder.phi(FLOATS)
        t.add_incoming(begin, head)
        best.add_incoming(leaf, head)
        builder.cbranch(builder.icmp_signed("<", t, end), split, done)

        builder.position_at_end(split)
        sides = []
        for side in (11, 12):
            slot = builder.zext(builder.load(builder.gep(array[side].data, [t])), WORD)
            sides.append(builder.load(_place(builder, array[0].data, slot, size), align=4))
        both = builder.fadd(*sides)
        best.add_incoming(builder.select(builder.fcmp_ordered(">", both, best), both, best), split)
        t.add_incoming(builder.add(t, one), split)
        builder.branch(splits)

        builder.position_at_end(done)
        builder.store(best, _place(builder, array[0].data, s, size), align=4)
        return context.get_dummy_value()

    return signature, generate


def _plain_terms(counts, at, shift, constant, tilt, out):
    """out[i] = the approximate term of counts[i], for the LANES places from `at` on; counts are at least 1."""
    for i in range(at, at + LANES):
        out[i] = _plain_term(counts[i], shift, constant, tilt)


def _plain_raise(value, counts, s, a, b, rows, levels, shift, constant, tilt, totals, left, right, begin, end):
    """counts[s] = counts[a] + counts[b], and value[s] = the larger of the leaf and the best of the splits begin..end-1.

    value   float32[slots, LANES]; counts float32[.], slot by slot and level by level LANES each
    totals  float32[2, LANES]: shift and constant of the leaf's total, the latter with all that a leaf costs
    """
    counts = counts[: counts.size // (levels * LANES) * levels * LANES].reshape(-1, levels * LANES)
    for q in range(LANES):
        best = -_plain_term(rows, totals[0, q], -totals[1, q], tilt)
        for level in range(levels):
            w = level * LANES + q
            counts[s, w] = counts[a, w] + counts[b, w]
            if counts[s, w] > 0:
                best += _plain_term(counts[s, w], shift, constant, tilt)
        for t in range(begin, end):
            best = max(best, value[left[t], q] + value[right[t], q])
        value[s, q] = best


approximate_terms = _plain_terms if config.DISABLE_JIT else _vector_terms  # type: ignore[attr-defined]
raise_lanes = _plain_raise if config.DISABLE_JIT else _vector_raise  # type: ignore[attr-defined]
