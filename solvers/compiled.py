"""How kernels are compiled: once per machine (the code is kept on disk), without the lock of the interpreter.

A wrapper that lets C call a kernel is left out: nobody does, and each takes a hundredth of a second of the first run.

A `part` belongs to one larger kernel and is copied into it before types are inferred. To compile how a dozen arrays
are passed takes longer than many a function; where there are two calls, or few arrays, a kernel of its own is quicker.
"""

from __future__ import annotations

from typing import Any

from numba import njit

_options: dict[str, Any] = {"cache": True, "nogil": True, "no_cfunc_wrapper": True}
kernel: Any = njit(**_options)
part: Any = njit(**_options, inline="always")
