"""Where tests find optional data: $OPTBN_DATA is a folder `data/` with `golden/` and the like as its neighbours."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parent / "golden"
RESULTS = Path(__file__).parent.parent / "results"


def study(name: str) -> str:
    """The task file of a study, as an Experiment names it."""
    return str(RESULTS / name / "study.py")


def shared_data(*parts: str) -> Path:
    """A path below $OPTBN_DATA; skips the test with the reason when it is not there."""
    return _optional(Path(*parts))


def shared_neighbour(*parts: str) -> Path:
    """A path beside $OPTBN_DATA (golden/solver/x.jkl, say); skips the test when it is not there."""
    return _optional(Path("..", *parts))


def _optional(path: Path) -> Path:
    root = os.environ.get("OPTBN_DATA")
    if not root:
        pytest.skip("$OPTBN_DATA is not set")
    full = (Path(root) / path).resolve()
    if not full.exists():
        pytest.skip(f"{path} is not below $OPTBN_DATA")
    return full
