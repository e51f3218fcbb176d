"""How kernels are compiled: once per machine (the code is kept on disk), without the lock of the interpreter.

A wrapper that lets C call a kernel is left out: nobody does, and each takes a hundredth of a second of the first run.
"""

from __future__ import annotations

from numba import njit

kernel = njit(cache=True, nogil=True, no_cfunc_wrapper=True)
