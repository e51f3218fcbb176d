"""Data sets with a natural grouping: which way to borrow strength predicts each group's held-out rows best?

People by occupation, students' answers by course, voices by age: `fit_domains` was made with these in sight. People by
education and by employer, students by teacher, mushrooms by habitat and letters by which they are came after. Numbers
of more than five values are cut into three intervals of equal frequency. The families are those of a network over all
rows (BDeu, at most two parents, optimal). From every group with rows enough `rows` are drawn to train from, others are
held out; measured is the log loss of the held-out rows of a family's child given its parents, nats, a mean over groups
and families.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import optbn
from optbn.base.numbers import counted
from optbn.data.dataset import Dataset
from optbn.experiments.verdicts import Finding, Verdict, summary
from optbn.report.tables import table
from results.related.study import DEFAULT, METHODS, WITHIN, Sample

Row = Mapping[str, Any]
COLUMNS = 10
"""The first of each set, the grouping left out."""
HELD_OUT = 50, 300
"""Rows a group has at least, and at most, to test on."""


def cell(grouping: str, rows: int, repeat: int, data: str, families: int) -> dict[str, Any]:
    """Log loss of every method."""
    everything, codes = _grouped(grouping, data)
    names = [name for name in everything.names if name != "domain"]
    sample = everything.select(names).take(np.random.default_rng(0).permutation(everything.n_rows)[:3000])
    scores = optbn.score_table(sample, "bdeu", 2, jobs=1)
    graph = optbn.structure_of(scores, optbn.solve(scores, time_limit=60))
    generator = np.random.default_rng(zlib.crc32(f"{grouping} {rows} {repeat}".encode()))
    shuffled = [generator.permutation(np.flatnonzero(codes == d)) for d in range(codes.max() + 1)]
    train = everything.take(np.sort(np.concatenate([of[:rows] for of in shuffled])))
    test = [everything.take(of[rows : rows + HELD_OUT[1]]) for of in shuffled]
    chosen = [name for name in graph.names if graph.parents(name)][:families]
    losses: dict[str, list[float]] = {name: [] for name in METHODS}
    for child in chosen:
        parents = tuple(graph.parents(child))
        sizes = [len(train.domain(p).levels) for p in parents]
        shape = len(test), int(np.prod(sizes)), len(train.domain(child).levels)
        family = Sample(train.select([*parents, child, "domain"]), child, parents, np.zeros(shape), np.zeros(shape[:2]))
        places = []
        for of in test:
            at = np.ravel_multi_index([of.column(p).astype(np.int64) for p in parents], sizes)
            places.append((at, of.column(child)))
        for name, method in METHODS.items():
            found = method(family)
            losses[name].append(-float(np.mean([np.log(p[at]).mean() for p, at in zip(found, places, strict=True)])))
    return {
        "groups": len(test),
        "families": len(chosen),
        "loss": {name: float(np.mean(of)) for name, of in losses.items()},
    }


def _grouped(grouping: str, data: str) -> tuple[Dataset, Any]:
    """The rows of groups that are large enough, all columns levels, "domain" among them; and the groups' numbers."""
    import pandas
    import pyarrow.parquet as pq

    name, column = grouping.split(" by ")
    frame = pq.read_table(Path(os.path.expandvars(data)) / f"{name}.parquet").to_pandas()
    group = frame.pop(column).astype(str)
    counts = group.value_counts()
    kept = group.isin(counts.index[counts >= 100 + HELD_OUT[0]])
    frame, group = frame[kept], group[kept]
    columns = {}
    for key in list(frame.columns)[:COLUMNS]:
        values = frame[key]
        if not isinstance(values.dtype, pandas.CategoricalDtype) and values.nunique() > 5:
            values = pandas.qcut(values, 3, labels=False, duplicates="drop")
        columns[key] = [f"level {value}" for value in values]
    found = Dataset.from_arrays(
        {key: of for key, of in columns.items() if len(set(of)) > 1} | {"domain": [f"group {value}" for value in group]}
    )
    return found, found.column("domain").astype(np.int64)


def findings(rows: Sequence[Row]) -> list[Finding]:
    """Is the default first, or within WITHIN of the first, in at least nine cells of ten?"""
    behind = [row["result"]["loss"][DEFAULT] - min(row["result"]["loss"].values()) for row in rows if _done(row)]
    near = sum(excess <= WITHIN for excess in behind)
    verdict = Verdict.AGREES if near >= 0.9 * len(behind) else Verdict.OPPOSITE
    claim = f"fit_domains is first or within {WITHIN} nats of the first in 90 % of cells, measured data"
    return [Finding("related data sets", claim, verdict, f"{near} of {counted(len(behind), 'cell')}")] if behind else []


def report(rows: Sequence[Row], folder: Path) -> str:
    """Log loss by grouping and rows, the least of a line in bold."""
    done = [row for row in rows if _done(row)]
    body = []
    for grouping, n in dict.fromkeys((row["cell"]["grouping"], row["cell"]["rows"]) for row in done):
        some = [row["result"] for row in done if (row["cell"]["grouping"], row["cell"]["rows"]) == (grouping, n)]
        means = {m: float(np.mean([result["loss"][m] for result in some])) for m in METHODS}
        shown = [f"**{v:.4f}**" if v == min(means.values()) else f"{v:.4f}" for v in means.values()]
        body.append([grouping, str(some[0]["groups"]), str(n), *shown])
    head = ["data", "groups", "rows a group", *METHODS]
    return "## Claims\n\n" + summary(findings(rows)) + "\n## Log loss of held-out rows, nats\n\n" + table(head, body)


def _done(row: Row) -> bool:
    return bool(row["status"] == "done")
