"""How true the estimate before scoring is: the larger of estimated / measured and its inverse, for scores x tables.

CPU seconds of one thread, and the memory that scoring adds to what the process held before, each in a process of its
own. Below a quarter of a second and 50 MB nothing is judged: nobody waits for that.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import optbn
from tests.benchmarks import Figure

LEAST_SECONDS, LEAST_MEGABYTES = 0.25, 50.0

PROGRAM = """
import json, os, sys, time
import optbn
from optbn.learning.estimate import estimate
from optbn.scores import load_score
from optbn.scores.pipeline import table_of_sets
from optbn.scores.scoring import Scoring
from tests.benchmarks import peak_memory
from tests.benchmarks.estimates import table

name, score, size, k = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]) or None
data = table(name)
method = load_score(score)
begin = time.process_time()
costs = estimate(Scoring.of(data, method, size, candidates=k), jobs=1)
spent = time.process_time() - begin
scoring = Scoring.of(data, method, size, candidates=k)
held = int(open("/proc/self/statm").read().split()[1]) * 4096 / 1e6
begin = time.process_time()
table_of_sets(scoring, jobs=1)
took = time.process_time() - begin
more = max(0.0, peak_memory() - held)
print(json.dumps([costs[-1].size, costs[-1].seconds, took, costs[-1].memory / 1e6, more, spent]))
"""


def table(name: str) -> optbn.Dataset:
    """One of the tables: a network's sample (alarm:2000), so many real columns, each the one before and more (real:40),
    or a data set of the folder in OPTBN_DATA."""
    network, _, rows = name.partition(":")
    if network == "real":
        columns = np.random.default_rng(1).normal(size=(int(rows), 2_000)).cumsum(axis=0)
        return optbn.Dataset.from_arrays({f"v{i}": column for i, column in enumerate(columns)})
    if rows:
        shared = Path(os.environ["OPTBN_DATA"]) / f"networks/{network}.bif"
        return (optbn.read_network(shared) if shared.exists() else optbn.load_network(network)).sample(int(rows), 1)
    return optbn.read(Path(os.environ["OPTBN_DATA"]) / f"{name}.parquet", missing="value")


CASES: list[tuple[str, list[str], int]] = [
    ("child:2000", ["bic", "bdeu", "qnml", "pcartp", "ftp"], 3),
    ("alarm:2000", ["bic", "bdeu", "pcartp", "ftp"], 3),
    ("mildew:2000", ["bic", "pcartp"], 2),
    ("hepar2:1000", ["k2", "fnml"], 2),
    ("datasets/splice", ["bic", "bdeu"], 2),
    ("datasets/letter", ["pcartp", "ftp"], 2),
    ("datasets/segment", ["pcartp", "ftp"], 2),
    ("density/jester.valid", ["aic", "bdeu"], 2),
    ("density/plants.test", ["bic", "bds"], 2),
    ("child:500", ["pcart-avg"], 2),
    ("datasets/segment", ["pcart-avg"], 2),
    ("asia:50000", ["pcart-avg"], 3),
    ("real:40", ["bge"], 4),
    ("real:60", ["bge"], 4),
    ("density/jester.valid", ["bic of 12", "bdeu of 15", "pcartp of 8"], 3),
    ("density/plants.test", ["bdeu of 20", "pcartp of 10"], 3),
]


def measure() -> Iterator[Figure]:
    for name, scores, size in CASES:
        for score in scores:
            method, _, k = score.partition(" of ")  # "bic of 12": of the 12 likeliest parents of each variable
            command = [sys.executable, "-c", PROGRAM, name, method, str(size), k or "0"]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                yield Figure(f"{name}, {score}, {size} parents", float("inf"), 2, note=done.stderr[-120:])
                continue
            reached, seconds, took, memory, more, spent = json.loads(done.stdout.splitlines()[-1])
            note = f"{seconds:.2f} of {took:.2f} CPU s, {memory:.0f} of {more:.0f} MB"
            note += f", the estimate took {spent:.2f}" + (f", {reached} parents" if reached < size else "")
            times = _apart(seconds, took, LEAST_SECONDS)
            yield Figure(f"{name}, {score}, {size} parents: time", times, 2, unit="x", note=note)
            yield Figure(f"{name}, {score}, {size} parents: memory", _apart(memory, more, LEAST_MEGABYTES), 2, unit="x")


def _apart(one: float, other: float, least: float) -> float:
    one, other = max(one, least), max(other, least)
    return max(one / other, other / one)
