"""The guard against decline: `python -m tests.benchmarks` measures a few figures and compares them with their records.

Machines differ, so a figure is a ratio: the least CPU time of the work over the least CPU time of a yardstick, a fixed
compiled loop, in the same run. One that is 25 % above its record after a second look fails the run. `--write` records
the ratios as they are, adds a line to results/performance/history.csv and draws it. Peers from PyPI, where they are
installed, are measured beside: the same work with their means.
"""

from __future__ import annotations

import csv
import json
import platform
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit

import optbn
from optbn.learning.solving import structure_of
from optbn.scores.families import Families

FOLDER = Path("results") / "performance"
WORSE = 1.25
REPEATS = 3


@njit
def yardstick(steps: int) -> int:
    """Integer arithmetic in a chain, and a table that fits no register: neither changes with this project."""
    table = np.zeros(4096, dtype=np.int64)
    x = 1
    for _ in range(steps):
        x = (x * 1103515245 + 12345) & 0x7FFFFFFF
        table[x & 4095] += x >> 16
    return table.sum()


def least(work: Callable[[], object], repeats: int = REPEATS) -> float:
    """The least CPU time of one run."""
    times = []
    for _ in range(repeats):
        begun = time.process_time()
        work()
        times.append(time.process_time() - begun)
    return min(times)


def figures() -> dict[str, Callable[[], object]]:
    """Name -> work of some tenths of a second."""
    alarm = optbn.load_network("alarm")
    large, small = alarm.sample(5000, seed=1), alarm.sample(400, seed=1)
    table = optbn.score_table(large, "bdeu", 2, jobs=1)
    network = structure_of(table, optbn.solve(table, "ilp"))
    return {
        "score alarm, 5,000 rows, BDeu, 3 parents": lambda: optbn.score_table(large, "bdeu", 3, jobs=1),
        "score alarm, 400 rows, PCART, 3 parents": lambda: optbn.score_table(small, "pcart", 3, jobs=1),
        "solve alarm (2 parents) by branch and cut": lambda: optbn.solve(table, "ilp"),
        "solve alarm (2 parents) by constraint search": lambda: optbn.solve(table, "cp"),
        "fit alarm, hierarchical Dirichlet": lambda: optbn.fit(network, large, "hdp", seed=1),
        "sample 200,000 rows of alarm": lambda: alarm.sample(200_000, seed=1),
    }


def peers() -> Iterator[tuple[str, float, str, float]]:
    """(work, our seconds, peer, its seconds)."""
    data = optbn.load_network("alarm").sample(5000, seed=1)
    families = [(name, [other]) for name in data.names for other in data.names if other != name]
    listed = Families.build(data.names, families)
    ours = least(lambda: optbn.score_families(data, listed, "bdeu", jobs=1), 3)
    work = f"BDeu of {len(families):,} families, 5,000 rows"
    for peer, local_score in _scorers(data):
        some = families[:100]
        local_score(*some[0])  # compiles
        theirs = least(lambda local_score=local_score, some=some: [local_score(*family) for family in some], 1)
        yield work, ours, peer, theirs * len(families) / len(some)
    yield from _inference()
    from sklearn.naive_bayes import CategoricalNB

    from optbn.classifiers import load_classifier

    large = optbn.load_network("alarm").sample(20_000, seed=1)
    x, y = np.column_stack(large.columns[1:]).astype(np.int64), np.asarray(large.columns[0])
    levels = large.to_arrow().drop_columns([large.names[0]])  # numbers would be cut at thresholds first

    def fitted(make: Callable[[], Any], x: Any = x) -> float:
        return least(lambda: make().fit(x, y).predict_proba(x[:1000]), 2)

    mine = fitted(lambda: load_classifier("nb"), levels)
    yield "naive Bayes, 20,000 x 36", mine, "scikit-learn CategoricalNB", fitted(CategoricalNB)
    try:
        from xgboost import XGBClassifier

        boosted = fitted(lambda: XGBClassifier(n_estimators=50, n_jobs=1))
        kdb = fitted(lambda: load_classifier("kdb", k=2), levels)
        yield "KDB (k = 2), 20,000 x 36", kdb, "XGBoost, 50 trees", boosted
    except ImportError:
        pass


def _scorers(data: optbn.Dataset) -> Iterator[tuple[str, Callable[[str, list[str]], float]]]:
    """(peer, its BDeu of a family) of those that are installed."""
    try:
        import pandas as pd
    except ImportError:
        return
    codes = zip(data.names, data.domains, data.columns, strict=True)
    frame = pd.DataFrame({name: pd.Categorical.from_codes(column, domain.levels) for name, domain, column in codes})
    with suppress(ImportError):
        from pgmpy.estimators import BDeu

        yield "pgmpy", BDeu(frame.astype(str), equivalent_sample_size=1).local_score
    with suppress(ImportError):
        from pygobnilp import scoring

        found = scoring.BDeu(scoring.DiscreteData(frame), alpha=1.0)
        yield "pygobnilp", lambda child, parents: found.bdeu_score(child, tuple(parents))[0]


def _inference() -> Iterator[tuple[str, float, str, float]]:
    """The posterior of every variable of alarm given two others, one at a time or all at once."""
    network = optbn.load_network("alarm")
    given = {"HRBP": "HIGH", "PRESS": "LOW"}
    targets = [name for name in network.names if name not in given]
    network.posteriors(given)
    ours = least(lambda: network.posteriors(given))
    work = "35 posteriors of alarm given two variables"
    with suppress(ImportError):
        from pgmpy.inference import VariableElimination

        engine = VariableElimination(network.to_pgmpy())
        theirs = least(lambda: [engine.query([name], given, show_progress=False) for name in targets[:10]], 1)
        yield work, ours, "pgmpy", theirs * len(targets) / 10
    with suppress(ImportError):
        import pyagrum

        other = network.to_pyagrum()

        def propagate() -> None:
            engine = pyagrum.LazyPropagation(other)
            engine.setEvidence(given)
            engine.makeInference()
            for name in targets:
                engine.posterior(name)

        yield work, ours, "pyAgrum", least(propagate)


def run(write: bool) -> int:
    """Measure, print, compare; the exit code."""
    yardstick(1000)
    unit = least(lambda: yardstick(50_000_000))
    recorded = json.loads((FOLDER / "recorded.json").read_text()) if (FOLDER / "recorded.json").exists() else {}
    ratios: dict[str, float] = {}
    lines = ["| figure | CPU / yardstick | recorded | |", "|---|---|---|---|"]
    worse = 0
    for name, work in figures().items():
        work()
        ratio = least(work) / unit
        if name in recorded and ratio > WORSE * recorded[name]:
            ratio = min(ratio, least(work) / least(lambda: yardstick(50_000_000)))
        ratios[name] = ratio
        verdict, was = "", ""
        if name in recorded:
            was = f"{recorded[name]:.3f}"
            verdict = f"{ratio / recorded[name] - 1:+.0%}"
            if ratio > WORSE * recorded[name]:
                verdict += " WORSE"
                worse += 1
        lines.append(f"| {name} | {ratio:.3f} | {was} | {verdict} |")
        print(lines[-1], flush=True)
    lines += ["", "| work | optbn | peer | |", "|---|---|---|---|"]
    for work_name, ours, peer, theirs in peers():
        lines.append(f"| {work_name} | {ours:.3g} s | {peer}: {theirs:.3g} s | {theirs / ours:.1f} times ours |")
        print(lines[-1], flush=True)
    if write:
        _record(ratios, unit, lines)
        return 0
    return 1 if worse else 0


def _record(ratios: dict[str, float], unit: float, lines: list[str]) -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / "recorded.json").write_text(json.dumps(ratios, indent=1) + "\n")
    history = FOLDER / "history.csv"
    fresh = not history.exists()
    with history.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if fresh:
            writer.writerow(["when", "version", "python", "figure", "ratio", "yardstick"])
        for name, ratio in ratios.items():
            day = time.strftime("%Y-%m-%d", time.gmtime())
            row = [day, optbn.__version__, platform.python_version(), name, f"{ratio:.4f}", f"{unit:.4f}"]
            writer.writerow(row)
    head = (
        "# Performance over time\n\nWritten by `python -m tests.benchmarks --write`; without `--write` it fails when a "
    )
    head += "ratio is 25 % above its record.\n\n"
    (FOLDER / "README.md").write_text(head + "\n".join(lines) + "\n\n![History](history.svg)\n")
    _draw(history)


def _draw(history: Path) -> None:
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "optbn"
    from matplotlib import pyplot as plt

    points: dict[str, list[float]] = {}
    with history.open() as file:
        for row in csv.DictReader(file):
            points.setdefault(row["figure"], []).append(float(row["ratio"]))
    figure, axes = plt.subplots(figsize=(7, 4))
    for name, ratios in points.items():
        axes.plot(range(1, len(ratios) + 1), ratios, marker="o", label=name)
    axes.set(xlabel="record", ylabel="CPU / yardstick", yscale="log")
    axes.legend(fontsize=6)
    figure.savefig(history.with_suffix(".svg"), metadata={"Date": None})
