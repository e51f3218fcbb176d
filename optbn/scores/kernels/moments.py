"""Sums over rows of many real columns at once, written as vector instructions.

LLVM makes vectors of such loops only behind run-time checks that the rows do not overlap. Rows have whole vectors
(trees/responses.py), eight doubles wide; LLVM splits them where the machine's are narrower.
"""

from __future__ import annotations

from llvmlite import ir
from numba import config, types
from numba.extending import intrinsic

from optbn.scores.kernels.rows import loop
from optbn.scores.kernels.simd import WIDTH


def row_of(context, builder, kind, array, number):
    """Where a row of a matrix of doubles begins."""
    array = context.make_array(kind)(context, builder, array)
    start = builder.bitcast(array.data, ir.IntType(8).as_pointer())
    start = builder.gep(start, [builder.mul(number, builder.extract_value(array.strides, 0))])
    return builder.bitcast(start, ir.DoubleType().as_pointer())


def _each(builder, rows, columns, weight, term):
    """target[q] += weight * term(..) for q below columns; rows are where the target and what the term is of begin."""
    kind = ir.VectorType(ir.DoubleType(), WIDTH)
    many = builder.insert_element(ir.Constant(kind, ir.Undefined), weight, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [0] * WIDTH)
    many = builder.shuffle_vector(many, ir.Constant(kind, ir.Undefined), zeros)

    def step(at, _):
        places = [builder.bitcast(builder.gep(row, [at]), kind.as_pointer()) for row in rows]
        found = [builder.load(place, align=8) for place in places]
        more = builder.fmul(many, term(builder, *found[1:]))
        builder.store(builder.fadd(found[0], more), places[0], align=8)
        return ()

    loop(builder, columns, WIDTH, [], step)


@intrinsic
def _vector_add(typingctx, target, s, source, i, columns, weight):
    signature = types.void(target, types.int64, source, types.int64, types.int64, types.float64)

    def generate(context, builder, signature, arguments):
        target, s, source, i, columns, weight = arguments
        rows = [
            row_of(context, builder, signature.args[0], target, s),
            row_of(context, builder, signature.args[2], source, i),
        ]
        _each(builder, rows, columns, weight, lambda builder, value: value)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def _vector_add_squares(typingctx, target, s, source, i, middle, columns, weight):
    signature = types.void(target, types.int64, source, types.int64, middle, types.int64, types.float64)

    def square(builder, value, middle):
        away = builder.fsub(value, middle)
        return builder.fmul(away, away)

    def generate(context, builder, signature, arguments):
        target, s, source, i, middle, columns, weight = arguments
        rows = [
            row_of(context, builder, signature.args[0], target, s),
            row_of(context, builder, signature.args[2], source, i),
            row_of(context, builder, signature.args[4], middle, s),
        ]
        _each(builder, rows, columns, weight, square)
        return context.get_dummy_value()

    return signature, generate


def _plain_add(target, s, source, i, columns, weight):
    """target[s] += weight * source[i], in the first `columns` columns."""
    for q in range(columns):
        target[s, q] += weight * source[i, q]


def _plain_add_squares(target, s, source, i, middle, columns, weight):
    """target[s] += weight * (source[i] - middle[s])^2, in the first `columns` columns."""
    for q in range(columns):
        away = source[i, q] - middle[s, q]
        target[s, q] += weight * (away * away)


add_row = _plain_add if config.DISABLE_JIT else _vector_add  # type: ignore[attr-defined]
add_squares = _plain_add_squares if config.DISABLE_JIT else _vector_add_squares  # type: ignore[attr-defined]
