"""How kernels are compiled: once per machine (the code is kept on disk), without the lock of the interpreter.

A wrapper that lets C call a kernel is left out: nobody does, and each takes a hundredth of a second of the first run.

A `part` belongs to one larger kernel and is copied into it before types are inferred. To compile how a dozen arrays
are passed takes longer than many a function; where there are two calls, or few arrays, a kernel of its own is quicker.

A `leaf` is a few lines that are called everywhere, such as a random variate. It makes no array and keeps none, so the
references to those it is given need not be counted: numba's counters are atomic, and ten nanoseconds a call are more
than such lines take.
"""

from __future__ import annotations

from typing import Any

from numba import njit

_options: dict[str, Any] = {"cache": True, "nogil": True, "no_cfunc_wrapper": True}
kernel: Any = njit(**_options)
part: Any = njit(**_options, inline="always")
leaf: Any = njit(**_options | {"_nrt": False})
