"""The innermost loops of `sieve` as vector instructions: costs of leaves of 32 categorical responses, their least sums.

Costs are whole numbers of 16 bits (of 32 where rows are many): a vector holds twice as many of them as of floats, and
their sums are exact, up to the largest number, where they stay. A leaf's is computed in floats (lgammas.py) and rounded
down.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

from optbn.scores.kernels.lgammas import (
    FLOATS,
    HALF,
    WORD,
    WORDS,
    base_of,
    broadcast,
    floats,
    fused,
    plain_term,
    splat,
    term_of,
    vector_at,
    word_of,
)
from optbn.scores.kernels.rows import loop

LANES = 32
LARGEST = {16: 65535, 32: 2147483520}
"""The largest cost, by its bits: a number that floats hold exactly, and that fits into 32 bits with a sign."""


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
        base, rows = base_of(builder, tilt, bits), broadcast(builder, rows)
        shifts, constants = broadcast(builder, shift), broadcast(builder, constant)

        def of_lanes(row, half):
            return builder.load(vector_at(builder, table, word_of(row * LANES + half * HALF), FLOATS), align=4)

        narrow = builder.mul(builder.sub(most, wide), word_of(HALF))
        all_wide = builder.mul(wide, word_of(LANES))
        length = builder.add(all_wide, narrow)
        starts = [builder.gep(cells, [builder.mul(entry, length)]) for entry in (a, b, n)]

        def level(at, leaf):
            one, other, both = (vector_at(builder, start, at, kind) for start in starts)
            count = builder.add(builder.load(one, align=2), builder.load(other, align=2))
            builder.store(count, both, align=2)
            x = builder.fadd(floats(builder, count), shifts)
            term = fused(builder, x, term_of(builder, x, base, bits), constants)
            there = builder.icmp_unsigned("!=", count, ir.Constant(kind, [0] * HALF))
            return builder.fadd(leaf, builder.select(there, term, splat(0.0)))

        leaves = []
        for half in range(2):
            x = builder.fadd(rows, of_lanes(0, half))
            leaves.append(fused(builder, builder.fneg(x), term_of(builder, x, base, bits), of_lanes(1, half)))

        def of_both(t, running):
            at = builder.mul(t, word_of(LANES))
            return [level(at, running[0]), level(builder.add(at, word_of(HALF)), running[1])]

        def of_first(t, running):
            return [level(builder.add(all_wide, builder.mul(t, word_of(HALF))), running[0])]

        leaves = loop(builder, wide, 1, leaves, of_both)
        leaves[:1] = loop(builder, builder.sub(most, wide), 1, leaves[:1], of_first)
        costs = []
        for half, leaf in enumerate(leaves):
            cost = builder.fmul(leaf, of_lanes(2, half))
            cost = builder.select(builder.fcmp_ordered(">", cost, splat(0.0)), cost, splat(0.0))
            largest = splat(LARGEST[bits])
            cost = builder.select(builder.fcmp_ordered("<", cost, largest), cost, largest)
            cost = builder.fptosi(cost, WORDS)
            costs.append(builder.trunc(cost, kind) if bits < 32 else cost)
        order = ir.Constant(ir.VectorType(ir.IntType(32), LANES), list(range(LANES)))
        whole = builder.shuffle_vector(*costs, order)
        builder.store(whole, vector_at(builder, values, builder.mul(n, word_of(LANES)), whole.type), align=2)
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
            return vector_at(builder, values, builder.mul(entry, word_of(LANES)), kind)

        def step(t, running):
            sides = []
            for side in (left, right):
                box = builder.zext(builder.load(builder.gep(side, [t])), WORD)
                entry = builder.load(builder.gep(at, [box]))
                sides.append(builder.load(row(builder.zext(entry, WORD)), align=2))
            both = builder.call(add, sides)
            return [builder.select(builder.icmp_unsigned("<", both, running[0]), both, running[0])]

        least = loop(builder, end, 1, [builder.load(row(n), align=2)], step, begin)
        builder.store(least[0], row(n), align=2)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def _vector_runs(typingctx, value, n, a, b, rows):
    number = types.int64
    signature = types.void(value, *[number] * 4)

    def generate(context, builder, signature, arguments):
        values = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        bits = signature.args[0].dtype.bitwidth
        kind = ir.VectorType(ir.IntType(bits), LANES)
        name = f"llvm.uadd.sat.v{LANES}i{bits}"
        add = cgutils.get_or_insert_function(builder.module, ir.FunctionType(kind, [kind] * 2), name)
        runs = [vector_at(builder, values, builder.mul(run, word_of(LANES)), kind) for run in arguments[1:4]]

        def step(t, running):
            target, one, other = (builder.gep(run, [t]) for run in runs)
            both = builder.call(add, [builder.load(one, align=2), builder.load(other, align=2)])
            least = builder.load(target, align=2)
            least = builder.select(builder.icmp_unsigned("<", both, least), both, least)
            builder.store(least, target, align=2)
            return ()

        loop(builder, arguments[4], 1, [], step)
        return context.get_dummy_value()

    return signature, generate


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
        leaf = lanes[1, q] - x * plain_term(x, tilt)
        for level in range(most if q < HALF else wide):
            w = level * LANES + q if level < wide else wide * LANES + (level - wide) * HALF + q
            count = counts[a * length + w] + counts[b * length + w]
            counts[n * length + w] = count
            if count > 0:
                x = np.float32(count) + shift
                leaf += x * plain_term(x, tilt) + constant
        value[n, q] = min(max(leaf * lanes[2, q], 0.0), LARGEST[8 * value.itemsize])


def _plain_sums(value, n, at, left, right, plus, begin, end):
    """value[n] = the least of itself and of the sums of two others, over the pairs begin..end-1 of left and right
    (uint32[.]), which stand for the entries at[left + plus] and at[right + plus] (int32[.])."""
    largest = 2 ** (8 * value.itemsize) - 1
    for t in range(begin, end):
        one, other = at[int(left[t]) + plus], at[int(right[t]) + plus]
        for q in range(LANES):
            value[n, q] = min(int(value[n, q]), int(value[one, q]) + int(value[other, q]), largest)


def _plain_runs(value, n, a, b, rows):
    """value[n + i] = the least of itself and of value[a + i] + value[b + i], for i below rows."""
    largest = 2 ** (8 * value.itemsize) - 1
    for i in range(rows):
        for q in range(LANES):
            value[n + i, q] = min(int(value[n + i, q]), int(value[a + i, q]) + int(value[b + i, q]), largest)


leaf_costs = _plain_leaves if config.DISABLE_JIT else _vector_leaves  # type: ignore[attr-defined]
least_sums = _plain_sums if config.DISABLE_JIT else _vector_sums  # type: ignore[attr-defined]
least_runs = _plain_runs if config.DISABLE_JIT else _vector_runs  # type: ignore[attr-defined]
