"""The rows of a study on disk: one file of all (`rows.jsonl`), and one file per cell while it runs (`runs/`).

A row is {"cell", "fixed", "status": done | failed | timeout, "result" or "error", "code", "versions"}; `code` says
which code made it (code.py), and rows without it are older than that. A cell's file is written to a temporary name and
renamed, so it is whole or absent; `gather` moves them into the one file, in the order of the grid, the newer row of a
cell winning. Stopped anywhere, the two together still hold every row, and gathering again gives the same file.
"""

from __future__ import annotations

import contextlib
import json
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from optbn.base.errors import DataError
from optbn.experiments.spec import Experiment, cell_name
from optbn_solvers.base.atomic import replacing

log = logging.getLogger(__name__)

Cell = Mapping[str, Any]
Row = dict[str, Any]
FILE = "rows.jsonl"
DIGITS = 8  # of a cell's name: what its parameters come to, in whatever order a grid lists them


class Rows:
    """What is on disk of an experiment in a folder; reads it once, keeps what is put."""

    def __init__(self, experiment: Experiment, folder: str | Path) -> None:
        self.experiment = experiment
        self.folder = Path(folder)
        self.runs = self.folder / "runs"
        self._known = {_key(row["cell"]): row for row in self._gathered()}
        for path in sorted(self.runs.glob("*.json")):
            try:
                row = json.loads(path.read_bytes())
            except (ValueError, RecursionError):
                row = None
            if _is_row(row) and path.stem[-DIGITS:] == cell_name(row["cell"])[-DIGITS:]:
                self._known[_key(row["cell"])] = row
            else:
                log.warning("%s: damaged, the cell counts as not done", path)

    def of(self, cell: Cell) -> Row | None:
        """The row of a cell, or None when there is none. One with other fixed parameters is no result of this
        experiment and may not be lost either: it is refused."""
        row = self._known.get(_key(cell))
        if row is None:
            return None
        fixed = json.loads(json.dumps(self.experiment.fixed))
        if row.get("fixed", fixed) != fixed:
            raise DataError(
                f"{self.folder}: the row of {cell_name(cell)} was done with {listed(row['fixed'])}, and the "
                f"experiment has {listed(fixed)}; run it in another folder"
            )
        return row

    def put(self, cell: Cell, row: Row) -> None:
        """Keep the row of a cell that has just ended."""
        self.runs.mkdir(parents=True, exist_ok=True)
        with replacing(self.runs / f"{cell_name(cell)}.json") as file:
            file.write(json.dumps(row, indent=1, sort_keys=True).encode() + b"\n")
        self._known[_key(cell)] = json.loads(json.dumps(row))

    def gather(self) -> None:
        """One file of all rows; those of cells that the grid no longer lists come last."""
        if not self._known:
            return
        place = {_key(cell): i for i, cell in enumerate(self.experiment.cells())}
        keys = sorted(self._known, key=lambda key: (place.get(key, len(place)), key))
        names = {cell_name(row["cell"])[-DIGITS:] for row in self._known.values()}
        written = [path for path in self.runs.glob("*.json") if path.stem[-DIGITS:] in names]
        with replacing(self.folder / FILE) as file:
            for key in keys:
                file.write(json.dumps(self._known[key], sort_keys=True).encode() + b"\n")
        for path in written:
            path.unlink()
        with contextlib.suppress(OSError):
            self.runs.rmdir()

    def _gathered(self) -> list[Row]:
        path = self.folder / FILE
        if not path.exists():
            return []
        found = []
        for number, line in enumerate(path.read_bytes().splitlines(), 1):
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                row = None
            if _is_row(row):
                found.append(row)
            else:
                log.warning("%s, line %d: damaged, the cell counts as not done", path, number)
        return found


def listed(fixed: Any) -> str:
    """Fixed parameters in words."""
    return ", ".join(f"{key} {value}" for key, value in fixed.items()) if isinstance(fixed, dict) and fixed else "none"


def _key(cell: Cell) -> str:
    return json.dumps(cell, sort_keys=True)


def _is_row(row: Any) -> bool:
    if not isinstance(row, dict) or not isinstance(row.get("cell"), dict):
        return False
    if row.get("status") == "done":
        return "result" in row
    return row.get("status") in ("failed", "timeout") and isinstance(row.get("error"), str)
