"""What every site holds, by going through the rows site after site; the same bits as `tabulate` (kernels/sites.py).

Then sums stay in registers, where a pass over the rows as they come has to wait for what it has just written: where the
cache holds all rows it takes two thirds of the time, where it does not, longer. Where a site begins is chosen, not
jumped to, for sites of one and two rows cannot be foretold. Vectors are eight doubles or 32 codes wide; LLVM splits
them where the machine's are narrower. Rows have whole vectors (trees/responses.py).
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.extending import intrinsic

from optbn.scores.kernels.rows import COUNTS, SMALL, WORD, Matrix, loop
from optbn.scores.kernels.simd import WIDTH
from optbn_solvers.base.compiled import leaf

MOST_NUMBERS = 1 << 15
"""Rows times real columns: of more than these it takes longer."""
FLOATS = ir.VectorType(ir.DoubleType(), WIDTH)


def _zero(kind):
    return ir.Constant(kind, [0 if isinstance(kind.element, ir.IntType) else 0.0] * kind.count)


def _broadcast(builder, value, width=WIDTH):
    kind = ir.VectorType(value.type, width)
    one = builder.insert_element(ir.Constant(kind, ir.Undefined), value, ir.Constant(SMALL, 0))
    return builder.shuffle_vector(one, ir.Constant(kind, ir.Undefined), _zero(ir.VectorType(SMALL, width)))


def _number(builder, array, row):
    """The whole number in a row of one column."""
    return builder.zext(builder.load(array.place(row, ir.Constant(WORD, 0))), WORD)


def _weight(builder, codes, row):
    """The last code of a row, as eight doubles."""
    last = builder.load(codes.place(row, builder.sub(codes.length, ir.Constant(WORD, 1))))
    return _broadcast(builder, builder.uitofp(last, ir.DoubleType()))


def _add_up(builder, out, site, order, columns, kind, term):
    """out[s] = sum of term(row, site, column) over the rows of site s, for vectors of columns."""
    add = builder.fadd if kind == FLOATS else builder.add
    words = ir.VectorType(SMALL, kind.count)

    def of_columns(at, _):
        def of_row(t, running):
            before, total = running
            row = _number(builder, order, t)
            s = _number(builder, site, row)
            here = _broadcast(builder, builder.trunc(s, SMALL), kind.count)  # of one number LLVM would make a jump
            kept = builder.select(builder.icmp_signed("==", here, before), total, _zero(kind))
            total = add(kept, term(row, s, at))
            builder.store(total, out.place(s, at, kind), align=4)
            return here, total

        loop(builder, order.length, 1, [ir.Constant(words, [-1] * kind.count), _zero(kind)], of_row)
        return ()

    loop(builder, columns, kind.count, [], of_columns)


@intrinsic
def _vector_counts(typingctx, counts, site, order, onehot):
    def generate(context, builder, signature, arguments):
        pairs = zip(signature.args, arguments, strict=True)
        counts, site, order, onehot = (Matrix(context, builder, *pair) for pair in pairs)

        def codes(row, s, at):
            return onehot.counts(row, at)

        _add_up(builder, counts, site, order, onehot.length, COUNTS, codes)
        return context.get_dummy_value()

    return types.void(counts, site, order, onehot), generate


@intrinsic
def _vector_sums(typingctx, sums, site, order, onehot, values):
    def generate(context, builder, signature, arguments):
        pairs = zip(signature.args, arguments, strict=True)
        sums, site, order, onehot, values = (Matrix(context, builder, *pair) for pair in pairs)

        def weighted(row, s, at):
            return builder.fmul(_weight(builder, onehot, row), values.load(row, at, FLOATS))

        _add_up(builder, sums, site, order, values.length, FLOATS, weighted)
        return context.get_dummy_value()

    return types.void(sums, site, order, onehot, values), generate


@intrinsic
def _vector_squares(typingctx, spread, site, order, onehot, values, mean):
    def generate(context, builder, signature, arguments):
        pairs = zip(signature.args, arguments, strict=True)
        spread, site, order, onehot, values, mean = (Matrix(context, builder, *pair) for pair in pairs)

        def square(row, s, at):
            middle = mean.load(s, at, FLOATS)
            away = builder.fsub(values.load(row, at, FLOATS), middle)
            return builder.fmul(_weight(builder, onehot, row), builder.fmul(away, away))

        _add_up(builder, spread, site, order, values.length, FLOATS, square)
        return context.get_dummy_value()

    return types.void(spread, site, order, onehot, values, mean), generate


def _plain_counts(counts, site, order, onehot):
    """counts[s] = the sum of onehot[i] over the rows i of site s; order: the rows, site after site."""
    for s in set(site.tolist()):
        counts[s, : onehot.shape[1]] = onehot[order[site[order] == s]].sum(axis=0)


def _plain_sums(sums, site, order, onehot, values):
    """sums[s] = the sum of weight * values[i] over them, weights being the last of a row of codes."""
    for s in set(site.tolist()):
        sums[s] = 0.0
    for i in order:
        for r in range(values.shape[1]):
            sums[site[i], r] += float(onehot[i, -1]) * values[i, r]


def _plain_squares(spread, site, order, onehot, values, mean):
    """spread[s] = the sum of weight * (values[i] - mean[s])^2 over them."""
    for s in set(site.tolist()):
        spread[s] = 0.0
    for i in order:
        for r in range(values.shape[1]):
            away = values[i, r] - mean[site[i], r]
            spread[site[i], r] += float(onehot[i, -1]) * (away * away)


site_counts = _plain_counts if config.DISABLE_JIT else _vector_counts  # type: ignore[attr-defined]
site_sums = _plain_sums if config.DISABLE_JIT else _vector_sums  # type: ignore[attr-defined]
site_squares = _plain_squares if config.DISABLE_JIT else _vector_squares  # type: ignore[attr-defined]


@leaf
def regroup(cells, size, site, old_n, fresh, lookup):
    """As `refine` (kernels/sites.py), without coordinates; whether a site is new is chosen as well."""
    for key in range(old_n * size):
        lookup[key] = -1
    n = 0
    for i in range(len(cells)):
        key = np.uint64(site[i] * size + cells[i])
        s = lookup[key]
        new = s < 0
        s = n if new else s
        lookup[key] = s
        fresh[i] = s
        n += new
    return n


@leaf
def tabulate_by_site(site, n, onehot, values, there, order, rows, counts, mean, spread):
    """As `tabulate` (kernels/sites.py); order int32[N] is scratch: the rows, site after site."""
    reals = values.shape[1]
    for s in range(n):
        rows[s] = 0
    for s in site:
        rows[np.uint64(s)] += 1
    begin = 0
    for s in range(n):
        begin, rows[s] = begin + rows[s], begin
    for i in range(len(site)):
        s = np.uint64(site[i])
        order[np.uint64(rows[s])] = i
        rows[s] += 1
    width = onehot.shape[1]
    site_counts(counts, site, order, onehot)
    for s in range(n):
        rows[s] = counts[s, width - 1]
    if reals == 0:
        return
    site_sums(mean, site, order, onehot, values)
    for r in range(reals):
        if there[r] >= 0:
            for s in range(n):
                spread[s, r] = mean[s, r] / max(counts[s, there[r]], 1)
    for s in range(n):
        units = float(rows[s])
        for r in range(reals):
            mean[s, r] /= units
    for r in range(reals):
        if there[r] >= 0:
            for s in range(n):
                mean[s, r] = spread[s, r]
    site_squares(spread, site, order, onehot, values, mean)
    for r in range(reals):
        if there[r] >= 0:
            for s in range(n):
                spread[s, r] = 0.0
            for i in range(len(site)):
                if onehot[i, there[r]]:
                    away = values[i, r] - mean[site[i], r]
                    spread[site[i], r] += onehot[i, width - 1] * (away * away)
