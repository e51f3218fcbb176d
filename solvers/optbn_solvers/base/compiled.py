"""How kernels are compiled: once per machine (the code is kept on disk), without the lock of the interpreter.

A wrapper that lets C call a kernel is left out: nobody does, and each takes a hundredth of a second of the first run.

A `part` belongs to one larger kernel and is copied into it before types are inferred. To compile how a dozen arrays
are passed takes longer than many a function; where there are two calls, or few arrays, a kernel of its own is quicker.

A `leaf` makes no array and keeps none, so the references to those it is given need not be counted: numba's counters are
atomic, and ten nanoseconds a call are more than a random variate takes. A large kernel that is given what it writes
into is one as well, for every array that it unpacks would be counted, and what counts them compiled.

A kernel within a kernel within a kernel is compiled three times, once by itself and once inside each caller: what only
one kernel calls is better a `part`.

Compiled code is kept beside the source or in the user's cache, as long as all sources that it is made of stay the same
(base.sources). Where neither can be written to, it is kept in a folder for temporary files that is the user's own, or
not at all, and a warning says so once.
"""

from __future__ import annotations

import functools
import gc
import logging
import os
import stat
import tempfile
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numba
from llvmlite.binding import ffi
from numba import njit
from numba.core import event

from optbn_solvers.base.clock import compiling
from optbn_solvers.base.sources import stamp

LOG = logging.getLogger("optbn_solvers")


class _Compiling(event.Listener):
    """Tells the clock when a kernel is compiled. Meanwhile the collector rests, for nothing that compiling makes is
    garbage before it ends, and numba does not announce each of its thousands of calls of LLVM: a tenth of the time."""

    def __init__(self) -> None:
        self._depth = 0
        self._collecting = False
        self._announced: list[Any] = []

    def on_start(self, event: Any) -> None:
        self._depth += 1
        if self._depth == 1:
            self._collecting = gc.isenabled()
            gc.disable()
            self._announced = _announcements()[:]
            _announcements().clear()
        compiling.begin()

    def on_end(self, event: Any) -> None:
        compiling.end()
        self._depth -= 1
        if not self._depth:
            _announcements().extend(self._announced)
            if self._collecting:
                gc.enable()


def _announcements() -> list[Any]:
    """What llvmlite calls around each of its calls; no promised part of it, so it may be elsewhere one day."""
    found: list[Any] = getattr(getattr(ffi.lib, "_lock", None), "_cblist", [])
    return found


class _Passes(event.Listener):
    """Ends what the main thread compiles before the next pass, once `compiling.interrupted` says that Ctrl-C came."""

    def on_start(self, event: Any) -> None:
        if compiling.interrupted and threading.current_thread() is threading.main_thread():
            compiling.interrupted = False
            raise KeyboardInterrupt

    def on_end(self, event: Any) -> None:
        pass


event.register("numba:compile", _Compiling())
event.register("numba:run_pass", _Passes())


def compiled(function: Callable[..., Any], **options: Any) -> Any:
    """`njit` with these options; its code is kept where that is possible."""
    try:
        return _kept(function, options)
    except RuntimeError as error:  # numba's word for "nowhere to write to"
        if "no locator available" not in str(error):
            raise
    folder = _fallback()
    if folder is None:
        return njit(**options)(function)
    config: Any = numba.config
    before, config.CACHE_DIR = config.CACHE_DIR, folder  # read when the function is made, and only then
    try:
        return _kept(function, options)
    except RuntimeError:
        return njit(**options)(function)
    finally:
        config.CACHE_DIR = before


def _kept(function: Callable[..., Any], options: Mapping[str, Any]) -> Any:
    """With code on disk, which holds for these sources alone."""
    found = njit(**options, cache=True)(function)
    file = getattr(getattr(found, "_cache", None), "_cache_file", None)
    path = function.__code__.co_filename
    # a part of numba that nobody promises; a kernel that is typed into a notebook has no file
    if file is not None and hasattr(file, "_source_stamp") and os.path.isfile(path):
        file._source_stamp = (file._source_stamp, stamp(path, function.__module__.partition(".")[0]))
    return found


def at_hand(kernel: Any) -> bool:
    """Whether a kernel need not be compiled: it is in this process, or on disk as far as numba's cache tells."""
    if not hasattr(kernel, "signatures") or kernel.signatures:  # or it is plain Python
        return True
    index = getattr(getattr(getattr(kernel, "_cache", None), "_cache_file", None), "_load_index", None)
    return bool(index and index())


@functools.cache
def _fallback() -> str | None:
    """A folder for temporary files that nobody else can write to, for what is loaded from it is run."""
    folder = Path(tempfile.gettempdir()) / f"optbn-compiled-{os.getuid()}"
    where = None
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
        if stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077:
            where = str(folder)
    except OSError:
        pass
    kept = f"compiled code is kept in {where}" if where else "everything is compiled again by each process"
    LOG.warning("neither the package nor the user's cache can be written to: %s; or set NUMBA_CACHE_DIR", kept)
    return where


_options: dict[str, Any] = {"nogil": True, "no_cfunc_wrapper": True}
kernel: Any = functools.partial(compiled, **_options)
part: Any = functools.partial(compiled, **_options, inline="always")
leaf: Any = functools.partial(compiled, **_options, _nrt=False)
