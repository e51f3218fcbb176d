"""How much memory is free, and the refusal of what would not fit, before it is tried."""

from __future__ import annotations

import os
from pathlib import Path

from optbn.base.errors import LimitError

SMALL = 1 << 28
"""Never refused: below this asking is not worth it."""


def free_memory() -> int:
    """Bytes this process may still take: of the machine, or of its control group where that is tighter."""
    free = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                free = int(line.split()[1]) * 1024
        group = Path("/sys/fs/cgroup")
        limit = (group / "memory.max").read_text().strip()
        if limit != "max":
            free = min(free, int(limit) - int((group / "memory.current").read_text()))
    except (OSError, ValueError, IndexError):
        pass  # not this kind of system: what is known has to do
    return max(free, 0)


def check_room(where: str, rows: int, row_bytes: int) -> None:
    """Refuse data of this size if they would take more than three quarters of the free memory."""
    need = rows * row_bytes
    if need <= SMALL:
        return
    free = free_memory()
    if need > free * 3 // 4:
        raise LimitError(
            f"{where}: about {rows:,} rows would take {need / 1e9:.1f} GB and {free / 1e9:.1f} GB are free; "
            "read fewer columns, or go through the file in blocks with Dataset.batches"
        )
