"""URLearning's parent set scores (.pss), read only.

META key=value           anywhere, about the file or the variable; ignored
VAR name                 starts a variable
score p1 .. pk           one of its parent sets
# comment
"""

from __future__ import annotations

import numpy as np

from optbn_solvers.base.errors import TableError
from optbn_solvers.base.files.jkl import Lines
from optbn_solvers.base.files.rows import Rows


def read(data: bytes, source: str) -> Rows:
    """The rows of a .pss file given its bytes; `source` names it in messages."""
    lines = Lines(data, source)
    names: list[str] = []
    headers: list[int] = []
    words = []  # lines that are not parent sets
    scores = np.isin(lines.buffer[lines.starts], np.frombuffer(b"+-.0123456789", dtype=np.uint8))
    for line in np.flatnonzero(~scores).tolist():
        head, _, rest = lines.text(line).partition(" ")
        if head == "VAR" and rest.strip():
            names.append(rest.strip())
            headers.append(line)
        elif head != "META" and not head.startswith("#"):
            raise lines.error(line, f"expected 'VAR name', 'META key=value' or a score, found {lines.text(line)!r}")
        words.append(line)
    if not names:
        raise TableError(f"{source}: no variable ('VAR name') in the file")
    rows = np.setdiff1d(np.arange(len(lines)), words)
    children = np.searchsorted(headers, rows) - 1
    if len(children) and children[0] < 0:
        raise lines.error(rows[0], "a score before the first 'VAR name'")
    return lines.parse(names, children, rows, counted=False)
