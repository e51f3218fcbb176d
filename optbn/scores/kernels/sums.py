"""The innermost loops of `sieve` as vector instructions: costs of leaves of 32 categorical responses, their least sums.

Costs are whole numbers of 16 bits (of 32 where rows are many): a vector holds twice as many of them as of floats, and
their sums are exact, up to the largest number, where they stay. A leaf's is computed in floats and rounded down. It
needs lgamma(n + a) - lgamma(a) of every count n, which sixteen lanes compute faster than they look it up:

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

HALF, LANES = 16, 32
LARGEST = {16: 65535, 32: 2147483520}
"""The largest cost, by its bits: a number that floats hold exactly, and that fits into 32 bits with a sign."""
LOG_HALVED = (-1.12146185, 2.45586759, -2.5625249, 1.96364966, -1.0071106, 0.32782687, -0.06125128, 0.00500464)
"""Coefficients of log(m) / 2 on [1, 2), interpolated at Chebyshev's points, off by at most 1.3e-7. With two fewer they
are off by 6e-6 for each row: of 25,600 rows a third of what is discarded would stay."""
LESS, LOG_2_HALVED = 0.07636, 0.5 * math.log(2)

FLOATS, WORDS = ir.VectorType(ir.FloatType(), HALF), ir.VectorType(ir.IntType(32), HALF)
WORD = ir.IntType(64)


def _plain_term(x, tilt):
    """About (lgamma(x + 1/2) + tilt x - log(2 pi)/2) / x."""
    return np.float32(0.5 * math.log(x * x - np.float32(LESS)) - 1.0 + tilt)


def _splat(value):
    return ir.Constant(FLOATS, [float(np.float32(value))] * HALF)


def _words(value):
    return ir.Constant(WORDS, [value] * HALF)


def _broadcast(builder, scalar):
    one = builder.insert_element(ir.Constant(FLOATS, ir.Undefined), scalar, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(one, ir.Constant(FLOATS, ir.Undefined), _words(0))


def _fused(builder, a, b, c):
    """a b + c, rounded once where the machine can."""
    signature = ir.FunctionType(FLOATS, [FLOATS] * 3)
    function = cgutils.get_or_insert_function(builder.module, signature, f"llvm.fmuladd.v{HALF}f32")
    return builder.call(function, [a, b, c])


def _term(builder, x, base):
    """log(x^2 - c) / 2 - 1 + tilt, to be multiplied by x; base has all that is constant in it."""
    bits = builder.bitcast(_fused(builder, x, x, _splat(-LESS)), WORDS)
    mantissa = builder.or_(builder.and_(bits, _words(0x7FFFFF)), _words(0x3F800000))
    mantissa = builder.bitcast(mantissa, FLOATS)
    power = _splat(LOG_HALVED[-1])
    for coefficient in LOG_HALVED[-2:0:-1]:
        power = _fused(builder, power, mantissa, _splat(coefficient))
    exponent = builder.sitofp(builder.sub(builder.lshr(bits, _words(23)), _words(127)), FLOATS)
    return _fused(builder, power, mantissa, _fused(builder, exponent, _splat(LOG_2_HALVED), base))


def _base(builder, tilt):
    return builder.fadd(_broadcast(builder, tilt), _splat(LOG_HALVED[0] - 1.0))


def _floats(builder, counts):
    return builder.uitofp(builder.zext(counts, WORDS) if counts.type != WORDS else counts, FLOATS)


def _at(builder, pointer, number, kind):
    """The vector that begins `number` elements after a pointer."""
    return builder.bitcast(builder.gep(pointer, [number]), kind.as_pointer())


def _number(value):
    return ir.Constant(WORD, value)


@intrinsic
def _vector_terms(typingctx, counts, at, shift, constant, tilt, out):
    single = types.float32
    signature = types.void(counts, types.int64, single, single, single, out)

    def generate(context, builder, signature, arguments):
        counts, at, shift, constant, tilt, out = arguments
        source = context.make_array(signature.args[0])(context, builder, counts).data
        target = context.make_array(signature.args[5])(context, builder, out).data
        x = _floats(builder, builder.load(_at(builder, source, at, WORDS), align=4))
        x = builder.fadd(x, _broadcast(builder, shift))
        value = _fused(builder, x, _term(builder, x, _base(builder, tilt)), _broadcast(builder, constant))
        builder.store(value, _at(builder, target, at, FLOATS), align=4)
        return context.get_dummy_value()

    return signature, generate


def _loop(builder, begin, end, states, step):
    """The states after `step(t, states)` for t from begin to end - 1."""
    entry = builder.block
    head, body, done = (builder.append_basic_block(name) for name in ("head", "body", "done"))
    builder.branch(head)
    builder.position_at_end(head)
    t = builder.phi(WORD)
    t.add_incoming(begin, entry)
    running = [builder.phi(state.type) for state in states]
    for phi, state in zip(running, states, strict=True):
        phi.add_incoming(state, entry)
    builder.cbranch(builder.icmp_signed("<", t, end), body, done)
    builder.position_at_end(body)
    for phi, state in zip(running, step(t, running), strict=True):
        phi.add_incoming(state, builder.block)
    t.add_incoming(builder.add(t, _number(1)), builder.block)
    builder.branch(head)
    builder.position_at_end(done)
    return running


@intrinsic
def _vector_leaves(typingctx, value, counts, n, a, b, rows, wide, most, shift, constant, tilt, lanes):
    number, single = types.int64, types.float32
    signature = types.void(value, counts, *[number] * 3, single, number, number, *[single] * 3, lanes)

    def generate(context, builder, signature, arguments):
        _, _, n, a, b, rows, wide, most, shift, constant, tilt, _ = arguments
        values, cells, table = (
            context.make_array(signature.args[i])(context, builder, arguments[i]).data for i in (0, 1, 11)
        )
        bits = signature.args[1].dtype.bitwidth
        kind = ir.VectorType(ir.IntType(bits), HALF)
        base, rows = _base(builder, tilt), _broadcast(builder, rows)
        shifts, constants = _broadcast(builder, shift), _broadcast(builder, constant)

        def of_lanes(row, half):
            return builder.load(_at(builder, table, _number(row * LANES + half * HALF), FLOATS), align=4)

        narrow = builder.mul(builder.sub(most, wide), _number(HALF))
        all_wide = builder.mul(wide, _number(LANES))
        length = builder.add(all_wide, narrow)
        starts = [builder.gep(cells, [builder.mul(entry, length)]) for entry in (a, b, n)]

        def level(at, leaf):
            one, other, both = (_at(builder, start, at, kind) for start in starts)
            count = builder.add(builder.load(one, align=2), builder.load(other, align=2))
            builder.store(count, both, align=2)
            x = builder.fadd(_floats(builder, count), shifts)
            term = _fused(builder, x, _term(builder, x, base), constants)
            there = builder.icmp_unsigned("!=", count, ir.Constant(kind, [0] * HALF))
            return builder.fadd(leaf, builder.select(there, term, _splat(0.0)))

        leaves = []
        for half in range(2):
            x = builder.fadd(rows, of_lanes(0, half))
            leaves.append(_fused(builder, builder.fneg(x), _term(builder, x, base), of_lanes(1, half)))

        def of_both(t, running):
            at = builder.mul(t, _number(LANES))
            return [level(at, running[0]), level(builder.add(at, _number(HALF)), running[1])]

        def of_first(t, running):
            return [level(builder.add(all_wide, builder.mul(t, _number(HALF))), running[0])]

        leaves = _loop(builder, _number(0), wide, leaves, of_both)
        leaves[:1] = _loop(builder, _number(0), builder.sub(most, wide), leaves[:1], of_first)
        costs = []
        for half, leaf in enumerate(leaves):
            cost = builder.fmul(leaf, of_lanes(2, half))
            cost = builder.select(builder.fcmp_ordered(">", cost, _splat(0.0)), cost, _splat(0.0))
            largest = _splat(LARGEST[bits])
            cost = builder.select(builder.fcmp_ordered("<", cost, largest), cost, largest)
            cost = builder.fptosi(cost, WORDS)
            costs.append(builder.trunc(cost, kind) if bits < 32 else cost)
        order = ir.Constant(ir.VectorType(ir.IntType(32), LANES), list(range(LANES)))
        whole = builder.shuffle_vector(*costs, order)
        builder.store(whole, _at(builder, values, builder.mul(n, _number(LANES)), whole.type), align=2)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def _vector_sums(typingctx, value, n, at, left, right, plus, begin, end):
    number = types.int64
    signature = types.void(value, number, at, left, right, *[number] * 3)

    def generate(context, builder, signature, arguments):
        _, n, _, _, _, plus, begin, end = arguments
        values, at, left, right = (
            context.make_array(signature.args[i])(context, builder, arguments[i]).data for i in (0, 2, 3, 4)
        )
        at = builder.gep(at, [plus])
        bits = signature.args[0].dtype.bitwidth
        kind = ir.VectorType(ir.IntType(bits), LANES)
        name = f"llvm.uadd.sat.v{LANES}i{bits}"
        add = cgutils.get_or_insert_function(builder.module, ir.FunctionType(kind, [kind] * 2), name)

        def row(entry):
            return _at(builder, values, builder.mul(entry, _number(LANES)), kind)

        def step(t, running):
            sides = []
            for side in (left, right):
                box = builder.zext(builder.load(builder.gep(side, [t])), WORD)
                entry = builder.load(builder.gep(at, [box]))
                sides.append(builder.load(row(builder.zext(entry, WORD)), align=2))
            both = builder.call(add, sides)
            return [builder.select(builder.icmp_unsigned("<", both, running[0]), both, running[0])]

        least = _loop(builder, begin, end, [builder.load(row(n), align=2)], step)
        builder.store(least[0], row(n), align=2)
        return context.get_dummy_value()

    return signature, generate


def _plain_terms(counts, at, shift, constant, tilt, out):
    """out[i] = the approximate term of counts[i], for the HALF places from `at` on; counts are at least 1."""
    for i in range(at, at + HALF):
        x = np.float32(counts[i]) + shift
        out[i] = x * _plain_term(x, tilt) + constant


def _plain_leaves(value, counts, n, a, b, rows, wide, most, shift, constant, tilt, lanes):
    """counts of entry n = those of a and b together, and value[n] = the costs of its leaves.

    value   uint16 or uint32[entries, LANES]; counts the same kind of number, entry by entry and level by level: LANES
            each of the first `wide` levels, HALF each of the others, up to `most`
    lanes   float32[3, LANES]: shift and constant of a leaf's total, the latter less all that a leaf costs; what a nat
            costs, negative
    """
    length = wide * LANES + (most - wide) * HALF
    for q in range(LANES):
        x = rows + lanes[0, q]
        leaf = lanes[1, q] - x * _plain_term(x, tilt)
        for level in range(most if q < HALF else wide):
            w = level * LANES + q if level < wide else wide * LANES + (level - wide) * HALF + q
            count = counts[a * length + w] + counts[b * length + w]
            counts[n * length + w] = count
            if count > 0:
                x = np.float32(count) + shift
                leaf += x * _plain_term(x, tilt) + constant
        value[n, q] = min(max(leaf * lanes[2, q], 0.0), LARGEST[8 * value.itemsize])


def _plain_sums(value, n, at, left, right, plus, begin, end):
    """value[n] = the least of itself and of the sums of two others, over the pairs begin..end-1 of left and right
    (uint32[.]), which stand for the entries at[left + plus] and at[right + plus] (int32[.])."""
    largest = 2 ** (8 * value.itemsize) - 1
    for t in range(begin, end):
        one, other = at[int(left[t]) + plus], at[int(right[t]) + plus]
        for q in range(LANES):
            value[n, q] = min(int(value[n, q]), int(value[one, q]) + int(value[other, q]), largest)


approximate_terms = _plain_terms if config.DISABLE_JIT else _vector_terms  # type: ignore[attr-defined]
leaf_costs = _plain_leaves if config.DISABLE_JIT else _vector_leaves  # type: ignore[attr-defined]
least_sums = _plain_sums if config.DISABLE_JIT else _vector_sums  # type: ignore[attr-defined]
