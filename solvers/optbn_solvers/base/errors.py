"""The errors a user of `solvers` can catch. Each message is one line that says what to do."""

import re
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeVar

T = TypeVar("T")

LONGEST_MESSAGE = 1500
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def fit_to_show(message: str) -> str:
    """A message as one line, not too long, without control characters: it may quote any file, and go to a terminal."""
    if len(message) > LONGEST_MESSAGE:
        message = f"{message[: LONGEST_MESSAGE // 2]} ... {message[-LONGEST_MESSAGE // 2 :]}"
    return _CONTROL.sub(lambda found: " " if found[0] in "\n\r\t" else repr(found[0])[1:-1], message)


def repeated(items: Iterable[T]) -> T | None:
    """The first of the items that comes more than once, for a message to name; None when all are different."""
    return next((item for item, times in Counter(items).items() if times > 1), None)


class OptbnError(Exception):
    """Root of everything that optbn and its solvers raise on purpose; whatever a file's names hold, a message is fit to
    be shown. `exit_code` is what the command line ends with: 2 wrong usage or input, 3 stopped, 4 a check failed."""

    exit_code = 2

    def __init__(self, *args: object) -> None:
        super().__init__(*(fit_to_show(each) if isinstance(each, str) else each for each in args))


class SolverError(OptbnError):
    """Root of everything this package raises on purpose."""


class TableError(SolverError, ValueError):
    """A score table or score file is not a valid instance."""


class InfeasibleError(TableError):
    """No acyclic graph can be chosen from the table."""


class ConstraintError(SolverError, ValueError):
    """Constraints on the answer that name what does not exist or contradict each other."""


class StartError(SolverError, ValueError):
    """The graph to start from is none of the table's, or has a cycle."""


class TooLargeError(SolverError, MemoryError):
    """The instance needs more memory than this solver may use; says how much and what to do."""

    if not TYPE_CHECKING:  # those who copy an error ask for it by name; MemoryError's makes its own kind only
        __new__ = Exception.__new__


class StoppedError(SolverError, TimeoutError):
    """The budget ended before work that has no partial answer was done."""


class UnknownSolverError(SolverError, ValueError):
    """No solver has this name."""


class SettingError(SolverError, ValueError):
    """A setting has a value that it cannot have."""


class CheckFailed(SolverError):
    """The independent checker rejected an answer."""

    exit_code = 4


class NoProofError(SolverError, ValueError):
    """An answer has no evidence that the wanted form can express."""


class TooMuch(SolverError):
    """A checker's own search would take more work, or memory, than it may; never leaves `verify`, which then claims."""


class OutOfTime(SolverError):
    """A checker has no time left for the rest of the evidence; never leaves `verify`, which then calls it unchecked."""
