"""How many bits of a word are set, which machines have an instruction for, and in loops a vector of it."""

from __future__ import annotations

from numba import config, types
from numba.extending import intrinsic

from optbn_solvers.base.compiled import kernel


def _plain(word):
    return int(word).bit_count()


@intrinsic
def _instruction(typingctx, word):
    def generate(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


@kernel
def _compiled(word):
    return _instruction(word)


ones = _plain if config.DISABLE_JIT else _compiled  # type: ignore[attr-defined]
"""int64: the bits of a uint64 that are set."""
