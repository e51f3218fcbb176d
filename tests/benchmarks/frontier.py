"""Real tables that were out of reach: how soon they are closed, and how far they are when not.

    python -m tests.benchmarks frontier             every table
    python -m tests.benchmarks frontier kdd plants  those whose names begin so

The tables come from the density suite ($OPTBN_DATA/density, 0/1 columns, BIC) and from samples of bundled networks;
they are made once and kept in a folder of the temporary directory. CPU seconds of one run of `ilp` with seed 0, from
the table to the answer; the evidence is checked outside that time. A table that is not closed stands with its limit.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import optbn
from optbn_solvers import Budget, ScoreTable, load_solver
from optbn_solvers.base.files import read_table, write_table
from optbn_solvers.front.checked import bound_of_proof
from optbn_solvers.verify import verify
from tests.benchmarks import Figure, peak_memory
from tests.paths import shared_data

SAMPLE_SEED = 0  # of the networks' rows


@dataclass(frozen=True)
class Instance:
    """A table, how long may be worked on it, and what was wanted: proved within `most` seconds (`aim`), or, where a
    gap is wanted, at most so many percent of the score within the limit."""

    name: str
    source: str  # a file of the density suite, or a network
    rows: int | None
    score: str
    parents: int
    limit: float
    most: float | None = None
    aim: float | None = None
    gap: float | None = None

    def table(self) -> ScoreTable:
        """Made now, or read where it was kept."""
        kept = Path(tempfile.gettempdir()) / "optbn-frontier" / f"{self.name}.parquet"
        if not kept.exists():
            data = (
                optbn.read(shared_data("density", f"{self.source}.parquet"))
                if self.rows is None
                else optbn.load_network(self.source).sample(self.rows, SAMPLE_SEED)
            )
            kept.parent.mkdir(exist_ok=True)
            write_table(optbn.score_table(data, self.score, self.parents, jobs=1), kept)
        return read_table(kept)


INSTANCES = (
    Instance("kdd.valid-k3", "kdd.valid", None, "bic", 3, 60, 18, 10),
    Instance("insurance-25600-pcart-3", "insurance", 25600, "pcart", 3, 60, 9, 5),
    Instance("alarm-25600-pcart-3", "alarm", 25600, "pcart", 3, 130, 65, 35),
    Instance("win95pts-1000-bdeu-2", "win95pts", 1000, "bdeu", 2, 120, 60, 25),
    Instance("plants.test-k2", "plants.test", None, "bic", 2, 150, 90, 45),
    Instance("dna.test-k2", "dna.test", None, "bic", 2, 120, 60, 30),
    Instance("andes-1000-bic-2", "andes", 1000, "bic", 2, 150, gap=0.001),
    Instance("andes-1000-bdeu-2", "andes", 1000, "bdeu", 2, 200, gap=0.005),
    Instance("munin1-1000-bdeu-2", "munin1", 1000, "bdeu", 2, 300, gap=0.05),
    Instance("jester.valid-k2", "jester.valid", None, "bic", 2, 150, gap=0.01),
    Instance("baudio.valid-k2", "baudio.valid", None, "bic", 2, 150, gap=0.01),
)


def measure(*names: str) -> Iterator[Figure]:
    """A line per table."""
    solver = load_solver("ilp")
    solver.solve(optbn.score_table(optbn.load_network("sachs").sample(100, 0), "bdeu", 4, ess=50.0), Budget(cpu=5))
    for each in INSTANCES:
        if names and not each.name.startswith(names):
            continue
        table = each.table()
        begun = time.process_time()
        found = solver.solve(table, Budget(cpu=each.limit))
        seconds = time.process_time() - begun
        begun = time.process_time()
        verdict = verify(table, found, bound_of_proof)
        checking = time.process_time() - begun
        percent = 100 * found.gap / abs(found.score)
        if found.gap <= 0:
            how = "proved" if verdict.optimal else "claimed"
        else:
            how = f"gap {found.gap:.4g} ({percent:.3g} %)"
        counts = {k: found.statistics[k] for k in ("rounds", "survivors", "root gap", "nodes") if k in found.statistics}
        facts = ", ".join(f"{k} {v:.4g}" for k, v in counts.items())
        checked = f"checked bound {verdict.bound:.4f} in {checking:.1f} s"
        note = f"{how}, score {found.score:.4f}, {checked}; {facts}; peak {peak_memory():.0f} MB"
        size = f"{each.name} ({table.n}; {len(table):,})"
        if each.gap is None:
            value = seconds if found.gap <= 0 else float("inf")
            yield Figure(size, value, each.most, each.aim, note=f"{seconds:.1f} s, {note}")
        else:
            yield Figure(size, percent, each.gap, unit="%", note=f"after {seconds:.1f} s, {note}")
