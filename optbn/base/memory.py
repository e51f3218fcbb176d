"""How much memory Phase I may plan to use."""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path

from optbn.base.errors import UnsupportedError

UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def half_of_machine() -> int:
    """Half of the machine's memory in bytes, or of the control group's where that is smaller (in a container)."""
    size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    with contextlib.suppress(OSError, ValueError):  # no control groups here, or no limit ("max")
        size = min(size, int(Path("/sys/fs/cgroup/memory.max").read_text()))
    return size // 2


def parse_memory(text: str | int | None) -> int:
    """Bytes from "4G", "500M" or a number; None: half of the machine."""
    if text is None:
        return half_of_machine()
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", str(text).strip(), re.IGNORECASE)
    if not match or float(match[1]) == 0:
        raise UnsupportedError(f"memory {text!r} is not a size, expected something like 4G or 500M")
    return int(float(match[1]) * UNITS[match[2].upper()])


def readable(size: float) -> str:
    """ "3.2 GB" and the like."""
    for unit in ("bytes", "KB", "MB", "GB"):
        if size < 1024:
            return f"{size:.3g} {unit}"
        size /= 1024
    return f"{size:.3g} TB"
