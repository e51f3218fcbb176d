"""The innermost loop of PCART, written as vector instructions: raise a row to the best sum of two others.

LLVM vectorises the plain loop (`_raise_rows` below) only behind run-time checks that the rows do not overlap, and keeps
the running maximum in memory; with two or three vectors per row that is most of the time. Here the maximum stays in
registers: 2.5 times faster over a whole run. Vectors are eight doubles wide; LLVM splits them where the machine's are
narrower. The same additions and comparisons in the same order per lane, so the same bits.
"""

from __future__ import annotations

from llvmlite import ir
from numba import config, types
from numba.extending import intrinsic

from optbn.scores.kernels.rows import WORD, loop
from optbn_solvers.base.compiled import part

WIDTH = 8
"""Doubles per vector; rows of `value` are padded to a multiple of it."""


def _raise_rows(value, s, lane, vectors, left, right, begin, end):
    """value[s, q] = max(value[s, q], value[left[t], q] + value[right[t], q]) over t in begin..end-1, for
    `vectors` vectors of lanes q from `lane` on."""
    for t in range(begin, end):
        for q in range(lane, lane + vectors * WIDTH):
            both = value[left[t], q] + value[right[t], q]
            if both > value[s, q]:
                value[s, q] = both


def _emit(vectors):
    """The same as an instruction sequence for a fixed number of vectors."""

    def typing(typingctx, value, s, lane, left, right, begin, end):
        signature = types.void(value, types.int64, types.int64, left, right, types.int64, types.int64)

        def generate(context, builder, signature, arguments):
            value, s, lane, _, _, begin, end = arguments
            sides = [context.make_array(signature.args[i])(context, builder, arguments[i]).data for i in (3, 4)]

            def slot(side, t):
                return builder.zext(builder.load(builder.gep(sides[side], [t])), WORD)

            rows = context.make_array(signature.args[0])(context, builder, value)
            _raise(builder, rows, lane, vectors, s, slot, begin, end)
            return context.get_dummy_value()

        return signature, generate

    return intrinsic(typing)


def _raise(builder, rows, lane, vectors, s, slot, begin, end):
    """The loop: slot(side, t) is the row that side 0 or 1 of pair t stands for."""
    vector = ir.VectorType(ir.DoubleType(), WIDTH)
    stride = builder.extract_value(rows.strides, 0)
    origin = builder.bitcast(builder.gep(rows.data, [lane]), ir.IntType(8).as_pointer())

    def row(number):
        start = builder.bitcast(builder.gep(origin, [builder.mul(number, stride)]), vector.as_pointer())
        return [builder.gep(start, [ir.Constant(WORD, i)]) for i in range(vectors)]

    target = row(s)
    first = [builder.load(place, align=8) for place in target]

    def better(t, best):
        found = []
        for most, a, b in zip(best, row(slot(0, t)), row(slot(1, t)), strict=True):
            both = builder.fadd(builder.load(a, align=8), builder.load(b, align=8))
            found.append(builder.select(builder.fcmp_ordered(">", both, most), both, most))
        return found

    for most, place in zip(loop(builder, end, 1, first, better, begin), target, strict=True):
        builder.store(most, place, align=8)


_raise_1, _raise_2, _raise_4 = _emit(1), _emit(2), _emit(4)


@part
def _raise_vectors(value, s, vectors, left, right, begin, end):
    v = 0
    while v + 4 <= vectors:
        _raise_4(value, s, v * WIDTH, left, right, begin, end)
        v += 4
    if v + 2 <= vectors:
        _raise_2(value, s, v * WIDTH, left, right, begin, end)
        v += 2
    if v < vectors:
        _raise_1(value, s, v * WIDTH, left, right, begin, end)


def _raise_plainly(value, s, vectors, left, right, begin, end):
    _raise_rows(value, s, 0, vectors, left, right, begin, end)


raise_to_best_sum = _raise_plainly if config.DISABLE_JIT else _raise_vectors  # type: ignore[attr-defined]
"""(value float64[slots, lanes], s, vectors, left, right uint32[.], begin, end): see `_raise_rows`, from lane 0 on."""


@intrinsic
def _raise_entries(typingctx, value, n, at, left, right, plus, begin, end):
    number = types.int64
    signature = types.void(value, number, at, left, right, *[number] * 3)

    def generate(context, builder, signature, arguments):
        value, n, _, _, _, plus, begin, end = arguments
        at, *sides = (context.make_array(signature.args[i])(context, builder, arguments[i]).data for i in (2, 3, 4))
        at = builder.gep(at, [plus])

        def slot(side, t):
            box = builder.zext(builder.load(builder.gep(sides[side], [t])), WORD)
            return builder.zext(builder.load(builder.gep(at, [box])), WORD)

        rows = context.make_array(signature.args[0])(context, builder, value)
        _raise(builder, rows, ir.Constant(WORD, 0), 1, n, slot, begin, end)
        return context.get_dummy_value()

    return signature, generate


def _plainly_raise_entries(value, n, at, left, right, plus, begin, end):
    """Raise value[n] to the best sum of two others, over the pairs begin..end-1 of left and right, which stand for the
    entries at[left + plus] and at[right + plus]; WIDTH lanes."""
    for t in range(begin, end):
        for q in range(WIDTH):
            value[n, q] = max(value[n, q], value[at[int(left[t]) + plus], q] + value[at[int(right[t]) + plus], q])


raise_entry = _plainly_raise_entries if config.DISABLE_JIT else _raise_entries  # type: ignore[attr-defined]


@intrinsic
def _raise_runs(typingctx, value, n, a, b, rows):
    signature = types.void(value, *[types.int64] * 4)

    def generate(context, builder, signature, arguments):
        rows = context.make_array(signature.args[0])(context, builder, arguments[0])
        vector, stride = ir.VectorType(ir.DoubleType(), WIDTH), builder.extract_value(rows.strides, 0)
        origin = builder.bitcast(rows.data, ir.IntType(8).as_pointer())

        def row(number):
            start = builder.gep(origin, [builder.mul(number, stride)])
            return builder.bitcast(start, vector.as_pointer())

        def step(t, _):
            target, one, other = (row(builder.add(number, t)) for number in arguments[1:4])
            both = builder.fadd(builder.load(one, align=8), builder.load(other, align=8))
            best = builder.load(target, align=8)
            builder.store(builder.select(builder.fcmp_ordered(">", both, best), both, best), target, align=8)
            return ()

        loop(builder, arguments[4], 1, [], step)
        return context.get_dummy_value()

    return signature, generate


def _plainly_raise_runs(value, n, a, b, rows):
    """Raise value[n + i] to value[a + i] + value[b + i], for i below rows; WIDTH lanes."""
    for i in range(rows):
        for q in range(WIDTH):
            value[n + i, q] = max(value[n + i, q], value[a + i, q] + value[b + i, q])


raise_runs = _plainly_raise_runs if config.DISABLE_JIT else _raise_runs  # type: ignore[attr-defined]


@intrinsic
def _trailing_zeros(typingctx, word):
    def generate(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), generate


def _plain_trailing_zeros(word):
    return (int(word) & -int(word)).bit_length() - 1 if word else 64


lowest_bit = _plain_trailing_zeros if config.DISABLE_JIT else _trailing_zeros  # type: ignore[attr-defined]
"""The number of the lowest bit of a uint64; 64 where there is none."""


@intrinsic
def _vector_add_bits(typingctx, target, s, bits, i):
    def generate(context, builder, signature, arguments):
        target, s, bits, i = arguments
        rows = context.make_array(signature.args[0])(context, builder, target)
        words = context.make_array(signature.args[2])(context, builder, bits)
        byte, many = ir.IntType(8), ir.VectorType(ir.IntType(8), 64)
        start = builder.bitcast(rows.data, byte.as_pointer())
        start = builder.gep(start, [builder.mul(s, builder.extract_value(rows.strides, 0))])
        count = builder.extract_value(words.shape, 1)
        source = builder.gep(words.data, [builder.mul(i, count)])

        def step(w, _):
            flags = builder.bitcast(builder.load(builder.gep(source, [w])), ir.VectorType(ir.IntType(1), 64))
            place = builder.gep(start, [builder.mul(w, ir.Constant(WORD, 64))])
            place = builder.bitcast(place, many.as_pointer())
            builder.store(builder.add(builder.load(place, align=1), builder.zext(flags, many)), place, align=1)
            return ()

        loop(builder, count, 1, [], step)
        return context.get_dummy_value()

    return types.void(target, types.int64, bits, types.int64), generate


def _plain_add_bits(target, s, bits, i):
    """target[s, w] += bit w of bits[i]; target uint8[., 64 words], bits uint64[., words] without gaps."""
    for w in range(64 * bits.shape[1]):
        target[s, w] += (int(bits[i, w // 64]) >> (w % 64)) & 1


add_bits = _plain_add_bits if config.DISABLE_JIT else _vector_add_bits  # type: ignore[attr-defined]
