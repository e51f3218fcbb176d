"""The command line. Each verb is a module here with one typer function of its name; GROUPS lists them in help's order.

stdout is the answer (`--json` for machines, `-` for stdin and stdout), stderr is progress and logging. Exit codes:
0 done, 2 wrong usage or input, 3 stopped without proof, 4 a check failed, 130 interrupted with nothing to give.
A mistake of the user's is one line; `--debug` shows the traceback. Verb modules import heavy libraries inside their
functions, so that `optbn --help` is quick.
"""

from __future__ import annotations

import codecs
import gc
import importlib
import io
import logging
import mmap
import os
import resource
import signal
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any, NoReturn

import typer
import typer.core
import typer.main

from optbn.base.errors import OptbnError
from optbn.base.version import __version__
from optbn.cli.terminal import Terminal
from optbn_solvers.base.clock import compiling

GROUPS: dict[str, tuple[str, ...]] = {
    "From data to a network": ("describe", "learn", "related"),
    "The steps of learn": ("score", "solve", "fit"),
    "How sure": ("verify", "certify", "export-proof", "edges", "bootstrap", "gap"),
    "Networks": ("networks", "show", "draw", "sample", "query", "convert", "compare"),
    "Classifiers": ("classify", "predict"),
    "Studies": ("curve", "intersect", "bench", "benchpress"),
}
"""The headings of `optbn --help`, and the verbs below them."""

VERBS: dict[str, str] = {verb: group for group, verbs in GROUPS.items() for verb in verbs}

ROOM = 256 << 20  # bytes of address space: numpy and scipy take 180 MB, an OpenBLAS each among it

_UsageError: Any = typer.BadParameter.__base__  # of every mistake on the command line; typer does not export it

_ROOT_HELP = "Exact Bayesian-network learning: optimal structures with evidence, well-estimated parameters."


def build_app() -> typer.Typer:
    """The typer application with every verb registered."""
    app = typer.Typer(
        name="optbn",
        cls=_Verbs,
        help=_ROOT_HELP,
        no_args_is_help=True,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    @app.callback()
    def root(
        debug: bool = typer.Option(False, "--debug", help="Show the traceback of an error and debug logging."),
        version: bool = typer.Option(
            False, "--version", help="Print the version and exit.", is_eager=True, callback=_print_version
        ),
    ) -> None:
        if debug:
            logging.basicConfig(level=logging.DEBUG, stream=sys.stderr)

    return app


class _Verbs(typer.core.TyperGroup):
    """The verbs; the module of one is imported when it is used, or listed in the help."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands: Any = dict.fromkeys(VERBS)  # names, to suggest for a wrong one

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in VERBS:
            return None
        app = typer.Typer(add_completion=False, rich_markup_mode="rich", pretty_exceptions_enable=False)
        module = cmd_name.replace("-", "_")
        app.command(cmd_name, rich_help_panel=VERBS[cmd_name])(
            getattr(importlib.import_module(f"optbn.cli.{module}"), module)
        )
        return typer.main.get_command(app)

    def invoke(self, ctx: Any) -> Any:
        """Ctrl-C leaves typer as an error of ours: its own way out says nothing."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            raise _Interrupted("; ".join(("interrupted", *map(str, error.args)))) from None


class _Interrupted(Exception):
    """Ctrl-C, with what to say of it."""


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit()


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its code."""
    _open_streams()
    # Of a first run, most is compiling. Each shortens it by a twentieth, and neither slows what is compiled by 2 %.
    os.environ.setdefault("NUMBA_OPT", "1")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # our products of matrices are small, its threads take memory
    gc.set_threshold(50_000, 20, 100)
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in arguments
    if debug:  # may stand anywhere on the line
        arguments = ["--debug", *(a for a in arguments if a != "--debug")]
    if isinstance(sys.stdout, io.TextIOWrapper):
        _make_writable(sys.stdout)
    if sys.stdout is not None and sys.stdout.isatty():
        sys.stdout = Terminal(sys.stdout)
    if threading.current_thread() is threading.main_thread():
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not in the background
            signal.signal(signal.SIGINT, _interrupt)
        signal.signal(signal.SIGTERM, _as_interrupt)
        if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:  # not under nohup
            signal.signal(signal.SIGHUP, partial(_without_terminal, [out for out in (1, 2) if os.isatty(out)]))
    try:
        _load_blas()
        code = build_app()(args=arguments, prog_name="optbn", standalone_mode=False)
        raise SystemExit(code if isinstance(code, int) else 0)
    except (KeyboardInterrupt, typer.Abort):
        _fail("interrupted", 130)
    except _Interrupted as error:
        _fail(str(error), 130)
    except SystemExit as end:
        if end.code != 1:
            _leave(end.code)
        # The reader of our stdout has gone, `| head` say, which is no error; click makes it an exit with 1.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(0) from None
    except Exception as error:
        if debug:
            raise
        message, code = _explain(error)
        if _lacks_memory(error) and _memory_is_limited():
            # libraries that were loaded halfway may crash as the interpreter ends, which would be the exit code
            print(f"optbn: {message}", file=sys.stderr, flush=True)
            os._exit(code)
        _fail(message, code)


def _open_streams() -> None:
    """Standard streams that the caller has closed lead nowhere: else the next file that is opened would take their
    places, and what libraries write as messages would go into it."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free, this one
            if name != "stdin" and getattr(sys, name) is None:
                setattr(sys, name, os.fdopen(number, "w", encoding="utf-8", closefd=False))


def _make_writable(stream: io.TextIOWrapper) -> None:
    """Names from files must not end the work where the locale knows ASCII alone, say: what we write to files and pipes
    is UTF-8, unless PYTHONIOENCODING says otherwise; what a terminal cannot show it shows as escapes."""
    if codecs.lookup(stream.encoding).name == "utf-8":
        return
    if stream.isatty() or os.environ.get("PYTHONIOENCODING"):
        stream.reconfigure(errors="backslashreplace")
    else:
        stream.reconfigure(encoding="utf-8")


def _load_blas() -> None:
    """Where memory is limited, load OpenBLAS at once or refuse: without room for it, it tries for ever to get some."""
    if not _memory_is_limited() or "scipy.linalg" in sys.modules:
        return
    try:
        mmap.mmap(-1, ROOM).close()
    except OSError as error:
        raise MemoryError(f"(less than {ROOM >> 20} MB are left to load libraries)") from error
    importlib.import_module("scipy.linalg")


def _memory_is_limited() -> bool:
    return resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY


def _interrupt(number: int, frame: Any) -> None:
    """Ctrl-C; while the main thread compiles it is raised between two passes of the compiler (see `compiling`)."""
    if compiling.by_main_thread:
        compiling.interrupted = True
    else:
        raise KeyboardInterrupt


def _as_interrupt(number: int, frame: Any) -> None:
    """A request to end (kill, a shutdown, a batch system's limit) is heard like Ctrl-C: what was reached is kept."""
    handler = signal.getsignal(signal.SIGINT)
    if callable(handler):
        handler(signal.SIGINT, frame)
    else:  # started in the background, where Ctrl-C is ignored
        raise KeyboardInterrupt


def _without_terminal(shown: Sequence[int], number: int, frame: Any) -> None:
    """The terminal is closed: what would be `shown` there goes nowhere, where it would be an error, and work ends."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    for out in shown:
        os.dup2(nothing, out)
    _as_interrupt(number, frame)


# What loaders of libraries and the interpreter write, also about libraries that do not say that they lack memory.
SIGNS_OF_LITTLE_MEMORY = (
    "failed to map segment",
    "Could not find/load shared object file",
    "can't start new thread",
    "error return without exception set",
    "returned NULL without setting an exception",
)


def _lacks_memory(error: Exception) -> bool:
    return isinstance(error, MemoryError) or any(sign in str(error) for sign in SIGNS_OF_LITTLE_MEMORY)


def _explain(error: Exception) -> tuple[str, int]:
    """One line and an exit code for any exception."""
    if isinstance(error, _UsageError):
        command = getattr(error.ctx, "command_path", "optbn")
        return f"{' '.join(error.format_message().split())} (see {command} --help)", 2
    line = " ".join(str(error).split())
    if isinstance(error, OptbnError):
        return line, error.exit_code
    if isinstance(error, FileNotFoundError):
        return f"{error.filename}: no such file", 2
    if isinstance(error, IsADirectoryError):
        return f"{error.filename}: is a folder, expected a file", 2
    if isinstance(error, PermissionError):
        return f"{error.filename}: permission denied", 2
    if _lacks_memory(error):
        return f"out of memory {line}".strip(), 2
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror or line}", 2
    return (
        f"unexpected {type(error).__name__}: {line} (this is a bug; run again with --debug to see where)",
        1,
    )


def _fail(message: str, code: int) -> NoReturn:
    print(f"optbn: {message}", file=sys.stderr)
    if code == 130:  # a library that was interrupted leaves objects half made, whose finalizers would complain
        sys.unraisablehook = lambda unraisable: None
    _leave(code)


def _leave(code: Any) -> NoReturn:
    """Exit; after Ctrl-C at once, where the interpreter would wait for a thread that compiles."""
    if code == 130 and compiling.under_way:
        with suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)
    raise SystemExit(code)
