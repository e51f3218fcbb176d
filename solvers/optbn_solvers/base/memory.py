"""The memory that arrays over all subsets of variables need, and the refusal of what would not fit."""

from __future__ import annotations

from optbn_solvers.base.errors import TooLargeError
from optbn_solvers.base.protocol import Budget


def check_memory(n: int, bytes_per_subset: int, budget: Budget) -> None:
    """Raise TooLargeError when 2^n entries do not fit into the budget's memory."""
    memory = budget.bytes
    if n > 62 or bytes_per_subset << n > memory:
        most = max(0, (memory // bytes_per_subset).bit_length() - 1)
        raise TooLargeError(
            f"{n} variables need {bytes_per_subset} x 2^{n} bytes; at most {most} variables fit into "
            f"{memory / 2**30:.1f} GB: use another solver, or split the table"
        )
