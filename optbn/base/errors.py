"""The errors a user of `optbn` can catch, all of them as OptbnError, those of the solvers (`base.errors`) too.

Each message is one line: what is wrong, where, and what to do.

The command line prints the message alone and exits with `exit_code` (0 done, 2 wrong usage or input, 3 stopped
without proof, 4 a check failed); `--debug` shows the traceback.
"""

from typing import TYPE_CHECKING

from optbn_solvers.base.errors import OptbnError as OptbnError


class DataError(OptbnError, ValueError):
    """Data that cannot be read or does not fit its schema; names file, column and row where known."""


class NetworkError(OptbnError, ValueError):
    """A network or network file that is not valid."""


class UnknownNameError(OptbnError, ValueError):
    """A name that does not exist; the message lists those that do."""


class UnsupportedError(OptbnError, ValueError):
    """A valid request this method cannot serve (a score for a kind of column, say); names the column and the remedy."""


class LimitError(OptbnError, MemoryError):
    """A request that would not fit into memory or time; says what it would need and what to do."""

    if not TYPE_CHECKING:  # those who copy an error ask for it by name; MemoryError's makes its own kind only
        __new__ = Exception.__new__


class StoppedEarly(OptbnError):
    """Work stopped on request or at its limit before the proof was complete."""

    exit_code = 3


class CheckError(OptbnError):
    """A check did not pass."""

    exit_code = 4
