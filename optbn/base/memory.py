"""How much memory Phase I may plan to use."""

from __future__ import annotations

import re

from optbn.base.errors import UnsupportedError
from optbn_solvers.base.memory import half_of_memory

UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def parse_memory(text: str | int | None) -> int:
    """Bytes from "4G", "500M" or a number; None: half of what this process may have."""
    if text is None:
        return half_of_memory()
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
