"""What an experiment is: a task, and the grid of parameters it is run for.

    task = "study.py"            # a task file beside the spec; or a name in TASKS; or "package.module" of your own
    title = "How soon ..."       # heads the generated README
    time_limit = 600             # wall seconds a cell may take; longer is a row that says so
    [fixed]                      # the same for every cell
    max_parents = 4
    [[grid]]                     # one or more blocks; a block is the product of its lists, last list fastest
    network = ["alarm", "water"]
    rows = [50, 100]
    repeat = { from = 0, to = 9 }

A study that only reads the rows of others has, instead of a grid,

    of = ["../recovery/spec.toml", "../intersection/spec.toml"]

Cells are named by their parameters, so adding values to a list adds cells and leaves finished ones alone. A cell that
several blocks list is run once. Rows say what was fixed; those that were done with something else are refused.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import itertools
import json
import math
import re
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from optbn.base.errors import DataError, LimitError
from optbn.base.registry import unknown
from optbn.experiments import TASKS

Parameters = Mapping[str, Any]

MOST_CELLS = 1_000_000


@dataclass(frozen=True)
class Experiment:
    """A declared experiment; `read` makes one from a file. `of` are the specs of the studies whose rows it reads."""

    task: str
    grid: tuple[Mapping[str, tuple[Any, ...]], ...] = ()
    fixed: Parameters = field(default_factory=dict)
    title: str = ""
    time_limit: float = float("inf")
    of: tuple[Path, ...] = ()

    def cells(self) -> list[dict[str, Any]]:
        """Every cell's varying parameters, in order, each once."""
        count = sum(math.prod(map(len, block.values())) for block in self.grid)
        if count > MOST_CELLS:
            raise LimitError(f"the grid has {count:,} cells, more than {MOST_CELLS:,}; divide the experiment")
        found: dict[str, dict[str, Any]] = {}
        for block in self.grid:
            for values in itertools.product(*block.values()):
                cell = dict(zip(block, values, strict=True))
                found.setdefault(cell_name(cell), cell)
        return list(found.values())

    @property
    def name(self) -> str:
        """What to call it: the task, or the folder that its task file is in."""
        return Path(self.task).parent.name if self.task.endswith(".py") else self.task

    def module(self) -> ModuleType:
        """The module that carries out the task."""
        name = TASKS.get(self.task, self.task)
        if "." not in name:
            raise unknown("task", self.task, TASKS)
        try:
            return _loaded(Path(name)) if name.endswith(".py") else importlib.import_module(name)
        except (ImportError, TypeError, ValueError) as error:
            raise DataError(f"task {self.task!r}: {error}") from None


def read(path: str | Path) -> Experiment:
    """An experiment from a .toml or .json file."""
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".json":
            raw = json.loads(text)
        else:
            raw = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: {error}") from None
    known = {"task", "title", "time_limit", "fixed", "grid", "of"}
    if not isinstance(raw, dict) or "task" not in raw or not raw.keys() & {"grid", "of"}:
        raise DataError(f"{path}: an experiment needs `task` and at least one [[grid]] (or `of`)")
    if extra := sorted(set(raw) - known):
        raise DataError(f"{path}: unknown key {extra[0]!r}; there are: {', '.join(sorted(known))}")
    grid = raw.get("grid", [])
    blocks = grid if isinstance(grid, list) else [grid]
    if not all(isinstance(block, dict) for block in [*blocks, raw.get("fixed", {})]):
        raise DataError(f"{path}: every [[grid]], and [fixed], is a table of parameters")
    time_limit = raw.get("time_limit", math.inf)
    if isinstance(time_limit, bool) or not isinstance(time_limit, int | float) or not time_limit > 0:
        raise DataError(f"{path}: time_limit is {time_limit!r}, expected seconds")
    if isinstance(time_limit, int) and time_limit.bit_length() > 1000:
        raise DataError(f"{path}: time_limit has too many digits, expected seconds")
    return Experiment(
        task=str(path.parent.resolve() / str(raw["task"])) if str(raw["task"]).endswith(".py") else str(raw["task"]),
        grid=tuple({key: _values(path, key, value) for key, value in block.items()} for block in blocks),
        fixed=dict(raw.get("fixed", {})),
        title=str(raw.get("title", "")),
        time_limit=float(time_limit),
        of=_others(path, raw.get("of", [])),
    )


def _loaded(path: Path) -> ModuleType:
    """The module in a task file. It is known by its path: every study may call its file study.py."""
    name = f"task_{hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:12]}"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, path)
        if spec is None or spec.loader is None or not path.is_file():
            raise DataError(f"{path}: there is no such task file")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
    return sys.modules[name]


def cell_name(cell: Parameters) -> str:
    """A file name for a cell: readable, safe, and different for different parameters."""
    canonical = json.dumps(cell, sort_keys=True)
    readable = "-".join(re.sub(r"[^A-Za-z0-9.]+", "_", str(cell[key])) for key in cell)[:80].lstrip(".")
    return f"{readable}-{hashlib.sha256(canonical.encode()).hexdigest()[:8]}"


def _others(path: Path, listed: Any) -> tuple[Path, ...]:
    if not isinstance(listed, list) or not all(isinstance(other, str) for other in listed):
        raise DataError(f"{path}: of: expected a list of the spec files of other studies")
    others = tuple(path.parent / other for other in listed)
    if path.resolve() in (other.resolve() for other in others):
        raise DataError(f"{path}: of: a study cannot be made of its own rows")
    return others


def _values(path: Path, key: str, value: Any) -> tuple[Any, ...]:
    if isinstance(value, dict) and set(value) == {"from", "to"}:
        first, last = value["from"], value["to"]
        if type(first) is not int or type(last) is not int or not 0 <= last - first < MOST_CELLS:
            raise DataError(
                f"{path}: {key}: expected whole numbers {{from = a, to = b}}, a at most b, not too far apart"
            )
        return tuple(range(first, last + 1))
    if isinstance(value, list):
        return tuple(value)
    if isinstance(value, dict):
        raise DataError(f"{path}: {key}: expected a list or {{from = a, to = b}}")
    return (value,)
