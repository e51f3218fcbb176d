"""Real tables that were out of reach: how soon they are closed, and how far they are when not.

    python -m tests.benchmarks frontier             every table
    python -m tests.benchmarks frontier kdd plants  those whose names begin so

The tables come from the density suite ($OPTBN_DATA/density, 0/1 columns, BIC) and from samples of bundled networks;
they are made once and kept in a folder of the temporary directory. CPU seconds of one run of `ilp` with seed 0, from
the table to the answer; the evidence is checked outside that time. A table that is not closed stands with its limit.
How the gap of each went is kept in results/frontier/gaps.csv, and drawn beside it.
"""

from __future__ import annotations

import csv
import math
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import optbn
from optbn.base.pictures import save
from optbn_solvers import Budget, ScoreTable, load_solver
from optbn_solvers.base.files import read_table, write_table
from optbn_solvers.base.protocol import Progress
from optbn_solvers.front.checked import bound_of_proof
from optbn_solvers.verify import verify
from tests.benchmarks import Figure, peak_memory
from tests.paths import shared_data

SAMPLE_SEED = 0  # of the networks' rows
GAPS = Path("results") / "frontier" / "gaps.csv"
LEAST = 1e-3  # of a gap in the picture: what is less counts as closed


@dataclass(frozen=True)
class Instance:
    """A table, how long may be worked on it, and what was wanted: proved within `most` seconds (`aim`), or, where a
    gap is wanted, at most `most` percent of the score within the limit."""

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
        trace: list[tuple[float, float]] = []
        begun = time.process_time()

        def listen(event: Progress, begun: float = begun, trace: list[tuple[float, float]] = trace) -> None:
            trace.append((time.process_time() - begun, event.gap))

        found = solver.solve(table, Budget(cpu=each.limit), progress=listen)
        seconds = time.process_time() - begun
        keep_gaps(each.name, [*trace, (seconds, found.gap)])
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


def keep_gaps(name: str, trace: Sequence[tuple[float, float]]) -> None:
    """Put the gaps of a run (CPU seconds, nats; where they shrank by a tenth) in place of the table's old ones, and
    draw all of them."""
    kept: dict[str, list[tuple[float, float]]] = {}
    if GAPS.exists():
        with GAPS.open() as file:
            for row in csv.DictReader(file):
                kept.setdefault(row["table"], []).append((float(row["seconds"]), float(row["gap"])))
    steps: list[tuple[float, float]] = []
    for seconds, gap in trace:
        if math.isfinite(gap) and (not steps or gap < 0.9 * steps[-1][1] or (seconds, gap) == trace[-1]):
            steps.append((seconds, gap))
    kept[name] = steps
    with GAPS.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["table", "seconds", "gap"])
        for table in sorted(kept):
            writer.writerows([table, f"{seconds:.2f}", f"{gap:.6g}"] for seconds, gap in kept[table])
    _draw(kept)


def _draw(kept: dict[str, list[tuple[float, float]]]) -> None:
    from matplotlib.figure import Figure as Picture

    picture = Picture(figsize=(8, 5))
    axes = picture.subplots()
    for table in sorted(kept):
        seconds, gaps = zip(*kept[table], strict=True)
        axes.step(seconds, [max(gap, LEAST) for gap in gaps], where="post", marker=".", markersize=3, label=table)
    axes.set(xlabel="CPU seconds", ylabel=f"gap in nats (closed: {LEAST:g})", xscale="log", yscale="log")
    axes.legend(fontsize=6)
    save(picture, GAPS.with_suffix(".svg"))
