"""The cluster search from the score file to the checked answer, and its proofs: median of three seeds."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from optbn_solvers import Status
from optbn_solvers.base.files import read_table
from optbn_solvers.proofs import check_proof
from optbn_solvers.search.solver import ClusterSearch
from optbn_solvers.verify import verify
from tests.benchmarks import Figure
from tests.paths import shared_neighbour

LIMITS = {
    "child_1000_bdeu1_p3": (0.3, 0.1),
    "voting_bdeu1_p4": (0.3, 0.1),
    "sachs_1000_bdeu10_p3": (0.3, 0.1),
    "insurance_1000_bdeu1_p3": (0.3, 0.1),
    "flag_bdeu1_p3": (1, 0.4),
    "alarm_1000_bdeu1_p3": (1, 0.4),
    "autos_bic_p5": (1, 0.4),
    "water_1000_bdeu1_p3": (None, None),
    "hailfinder_1000_bdeu10_p3": (None, None),
    "carpo100_bdeu1_p2": (7, 2),
    "sponge_bdeu1_p3": (7, 2),
    "zoo_bdeu10_p4": (9, 2),
    "alarm_1000_bdeu10_p3": (50, 12),
}
PROOF_LIMITS = {"alarm_1000_bdeu1_p3": (1, 0.2, 2, 0.3)}
SEEDS = (0, 1, 2)


def measure() -> Iterator[Figure]:
    solve("asia_1000_bdeu1_p3", 0, None)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "optimal.proof"
        solve("asia_1000_bdeu1_p3", 0, path)
        for name, (limit, aim) in LIMITS.items():
            times = [solve(name, seed, None) for seed in SEEDS]
            note = f"seeds: {', '.join(f'{t:.2f}' for t in times)}"
            yield Figure(f"{name}: solve", statistics.median(times), limit, aim, note=note)
            proved = [proof(name, seed, path) for seed in SEEDS]
            checking, checking_aim, size, size_aim = PROOF_LIMITS.get(name, (None,) * 4)
            yield Figure(f"{name}: check its proof", statistics.median(t for t, _ in proved), checking, checking_aim)
            yield Figure(f"{name}: size of its proof", statistics.median(s for _, s in proved), size, size_aim, "MB")


def solve(name: str, seed: int, path: Path | None) -> float:
    """CPU seconds from the file to the checked answer."""
    begun = time.process_time()
    table = read_table(shared_neighbour("golden", "solver", f"{name}.jkl"))
    solution = ClusterSearch(seed=seed, proof=None if path is None else str(path)).solve(table)
    verify(table, solution, most_subsets=0)  # the proofs are checked below
    assert solution.status is Status.OPTIMAL
    return time.process_time() - begun


def proof(name: str, seed: int, path: Path) -> tuple[float, float]:
    """(CPU seconds to check a proof, its size in MB)."""
    solve(name, seed, path)
    table = read_table(shared_neighbour("golden", "solver", f"{name}.jkl"))
    begun = time.process_time()
    check_proof(table, path)
    return time.process_time() - begun, path.stat().st_size / 1e6
