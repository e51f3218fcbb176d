"""Rows of codes and counts that are cleared, copied, added and subtracted, written as vector instructions.

LLVM would make vectors of such loops as well, behind run-time checks that the rows do not overlap and with a loop for
the last few columns, and take half of a kernel's first use for it. Rows have whole vectors of 32 (trees/space.py); LLVM
splits them where the machine's are narrower.
"""

from __future__ import annotations

from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

CODES = 32
WORD, SMALL = ir.IntType(64), ir.IntType(32)
COUNTS = ir.VectorType(SMALL, CODES)


class Matrix:
    """An array of two dimensions, or of one, in an intrinsic."""

    def __init__(self, context, builder, kind, value):
        array = context.make_array(kind)(context, builder, value)
        self._builder, self.element = builder, context.get_data_type(kind.dtype)
        self._start = builder.bitcast(array.data, ir.IntType(8).as_pointer())
        self._stride = builder.extract_value(array.strides, 0)
        self.length = builder.extract_value(array.shape, kind.ndim - 1)

    def place(self, row, column, kind=None):
        """A pointer to the element in a row and column, or to the vector of that kind that begins there."""
        builder = self._builder
        start = builder.gep(self._start, [builder.mul(row, self._stride)])
        start = builder.gep(builder.bitcast(start, self.element.as_pointer()), [column])
        return start if kind is None else builder.bitcast(start, kind.as_pointer())

    def load(self, row, at, kind):
        """The vector that begins in a row and column."""
        return self._builder.load(self.place(row, at, kind), align=1)

    def counts(self, row, at):
        """The codes that begin in a row and column, as counts."""
        found = self.load(row, at, ir.VectorType(self.element, CODES))
        return found if found.type == COUNTS else self._builder.zext(found, COUNTS)


def loop(builder, end, step, state, body, begin=None):
    """What state = body(t, state) is after every step-th t from begin (0) to below end, state being a list."""
    entry = builder.block
    head, inside, done = (builder.append_basic_block(name) for name in ("head", "inside", "done"))
    builder.branch(head)
    builder.position_at_end(head)
    t, *running = (builder.phi(kind) for kind in (WORD, *(value.type for value in state)))
    for phi, value in zip((t, *running), (begin or ir.Constant(WORD, 0), *state), strict=True):
        phi.add_incoming(value, entry)
    builder.cbranch(builder.icmp_signed("<", t, end), inside, done)
    builder.position_at_end(inside)
    after = body(t, running)
    for phi, value in zip((t, *running), (builder.add(t, ir.Constant(WORD, step)), *after), strict=True):
        phi.add_incoming(value, builder.block)
    builder.branch(head)
    builder.position_at_end(done)
    return running


def _emit(operation):
    """target[s] = operation(builder, target[s], source[i]), as counts."""

    def typing(typingctx, target, s, source, i):
        def generate(context, builder, signature, arguments):
            target, s, source, i = arguments
            out = Matrix(context, builder, signature.args[0], target)
            more = Matrix(context, builder, signature.args[2], source)

            def step(at, _):
                found = operation(builder, out.counts(s, at), more.counts(i, at))
                builder.store(found, out.place(s, at, COUNTS), align=1)
                return ()

            loop(builder, out.length, CODES, [], step)
            return context.get_dummy_value()

        return types.void(target, types.int64, source, types.int64), generate

    return intrinsic(typing)


@intrinsic
def _vector_clear(typingctx, target, s):
    def generate(context, builder, signature, arguments):
        row = Matrix(context, builder, signature.args[0], arguments[0])
        size = ir.Constant(WORD, context.get_abi_sizeof(row.element))
        start = row.place(arguments[1], ir.Constant(WORD, 0))
        cgutils.memset(builder, start, builder.mul(row.length, size), 0)
        return context.get_dummy_value()

    return types.void(target, types.int64), generate


def _plain_add(target, s, source, i):
    """target[s] += source[i], in as many columns as the target has."""
    target[s] += source[i, : target.shape[1]]


def _plain_subtract(target, s, source, i):
    """target[s] -= source[i]."""
    target[s] -= source[i, : target.shape[1]]


def _plain_copy(target, s, source, i):
    """target[s] = source[i]."""
    target[s] = source[i, : target.shape[1]]


def _plain_clear(target, s):
    """target[s] = 0."""
    target[s] = 0


_plain = bool(config.DISABLE_JIT)  # type: ignore[attr-defined]
add_counts = _plain_add if _plain else _emit(lambda builder, found, more: builder.add(found, more))
subtract_counts = _plain_subtract if _plain else _emit(lambda builder, found, more: builder.sub(found, more))
copy_counts = _plain_copy if _plain else _emit(lambda builder, found, more: more)
clear_row = _plain_clear if _plain else _vector_clear
