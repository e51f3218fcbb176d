"""Proofs of the shared instances with a known optimum: written, read back and checked, one by one.

Branch and cut with --certify; on dense tables of few variables the cluster search alone. CPU seconds of everything.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from optbn_solvers import Budget, Status, solve
from optbn_solvers.base.files import read_table
from optbn_solvers.base.solution import Proof
from tests.benchmarks import Figure
from tests.paths import shared_neighbour

LIMIT = 60.0
DENSE = 250  # families per variable


def measure() -> Iterator[Figure]:
    """A line per instance and the count."""
    folder = shared_neighbour("golden", "solver")
    optima = json.loads((folder / "optima.json").read_text())
    names = sorted(name for name, entry in optima.items() if entry["optimum"] is not None)
    sizes = {name: (folder / f"{name}.jkl").stat().st_size for name in names}
    checked = 0
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "optimal.proof"
        for name in sorted(names, key=lambda name: sizes[name]):
            table = read_table(folder / f"{name}.jkl")
            begun = time.process_time()
            dense = len(table) / table.n >= DENSE
            options = {"proof": str(path)} if dense else {"proof": str(path), "certify": True}
            answer = solve(table, "cp" if dense else "ilp", Budget(cpu=LIMIT), **options)
            seconds = time.process_time() - begun
            proved = answer.status is Status.OPTIMAL and isinstance(answer.evidence, Proof)
            checked += proved
            size = f"{path.stat().st_size / 1e6:.3g} MB" if proved else "none"
            checking = answer.statistics["checked"]["seconds"]
            yield Figure(name, seconds, note=f"proof {size}, of the time {checking:.2f} s to check it")
    yield Figure(
        f"proofs not written or not checked, of {len(names)}", len(names) - checked, len(names) - 14, 0, unit=""
    )
