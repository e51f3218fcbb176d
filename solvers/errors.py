"""The errors a user of `solvers` can catch. Each message is one line that says what to do."""


class SolverError(Exception):
    """Root of everything this package raises on purpose."""


class TableError(SolverError, ValueError):
    """A score table or score file is not a valid instance."""


class InfeasibleError(TableError):
    """No acyclic graph can be chosen from the table."""


class TooLargeError(SolverError, MemoryError):
    """The instance needs more memory than this solver may use; says how much and what to do."""


class StoppedError(SolverError, TimeoutError):
    """The budget ended before work that has no partial answer was done."""


class UnknownSolverError(SolverError, ValueError):
    """A solver was asked for by a name that does not exist."""


class CheckFailed(SolverError):
    """The independent checker rejected an answer."""
