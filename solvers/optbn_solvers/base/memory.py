"""How much memory a solver may plan to use, and the refusal of what would not fit.

The machine's memory is not all: containers and batch systems set limits on control groups, shells on address space.
"""

from __future__ import annotations

import contextlib
import os
import resource
from pathlib import Path
from typing import TYPE_CHECKING

from optbn_solvers.base.errors import TooLargeError

if TYPE_CHECKING:
    from optbn_solvers.base.protocol import Budget

GROUPS = Path("/sys/fs/cgroup")
MEMBERSHIP = Path("/proc/self/cgroup")


def half_of_memory() -> int:
    """Half of the memory this process may have, in bytes: what is planned with when nobody sets a limit."""
    return available_memory() // 2


def available_memory() -> int:
    """The bytes of the machine, or of the tightest limit that is set for this process."""
    size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    if soft != resource.RLIM_INFINITY:
        size = min(size, soft)
    return min([size, *group_limits()])


def group_limits(groups: Path = GROUPS, membership: Path = MEMBERSHIP) -> list[int]:
    """The limits of this process's control group and of the groups around it, of either version of control groups."""
    limits = []
    for folder, file in _groups(groups, membership):
        with contextlib.suppress(OSError, ValueError):  # no such file here, or no limit ("max")
            limits.append(int((folder / file).read_text()))
    return limits


def _groups(groups: Path, membership: Path) -> list[tuple[Path, str]]:
    """(folder, file) where limits may stand: in a container the top of the tree is its own group."""
    places = [(groups, "memory.max"), (groups / "memory", "memory.limit_in_bytes")]
    try:
        lines = membership.read_text().splitlines()
    except OSError:
        return places
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        top, file = places[1] if controllers else places[0]
        own = Path(path.lstrip("/"))
        places += [(top / group, file) for group in (own, *own.parents)]
    return places


def check_memory(n: int, bytes_per_subset: int, budget: Budget) -> None:
    """Raise TooLargeError when 2^n entries do not fit into the budget's memory."""
    memory = budget.bytes
    if n > 62 or bytes_per_subset << n > memory:
        most = max(0, (memory // bytes_per_subset).bit_length() - 1)
        raise TooLargeError(
            f"{n} variables need {bytes_per_subset} x 2^{n} bytes; at most {most} variables fit into "
            f"{memory / 2**30:.1f} GB: use another solver, or split the table"
        )
