"""Intersection-validation as an experiment: a cell is one method on one subsample (or on all of a data set).

The graphs are the results; the agreement graph and the distances to it are made from them in the report, so cells are
independent of each other and can run in any order.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from optbn.base.errors import DataError
from optbn.base.numbers import unused
from optbn.data.arrays import code_dtype
from optbn.data.dataset import Categorical, Dataset
from optbn.data.read import read
from optbn.evaluate.distances import partial_hamming
from optbn.evaluate.graphs import from_edges
from optbn.evaluate.intersection import agreement, matrix, subsample
from optbn.evaluate.significance import holm, wilcoxon
from optbn.experiments.evidence import counted, tells_evidence
from optbn.experiments.methods import Limits, load_method, name_of
from optbn.report.tables import Series, curves, mean_and_error, standard_error, table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from optbn.evaluate.graphs import Graph
    from optbn.evaluate.intersection import Agreement

Row = Mapping[str, Any]
WHOLE = 1


def cell(
    data: str,
    part: int,
    repeat: int,
    method: str,
    max_parents: int = 3,
    solver: str = "auto",
    solve_seconds: float = 300.0,
    seed: int = 0,
    settings: Mapping[str, Any] | None = None,
    most_levels: int | None = None,
) -> dict[str, Any]:
    """Learn from 1/part of the rows. `data` is a path, or a name of a data set below $OPTBN_DATA/datasets.

    most_levels  of a categorical column; where it has more, its rarest become one, called "others"
    """
    rows = prepared(read(locate(data), missing="as_level"), most_levels)
    if part != WHOLE:
        rows = subsample(rows, rows.n_rows // part, seed, repeat)
    elif repeat:
        return {"same as": 0}  # there is only one whole
    found = load_method(method, settings, solver)(rows, Limits(max_parents, solve_seconds))
    names = found.graph.names
    arcs, lines = ([(names[u], names[v]) for u, v in np.argwhere(m)] for m in (found.graph.arcs, found.graph.lines))
    parents: dict[str, list[str]] = {name: [] for name in names}
    for u, v in arcs:
        parents[v].append(u)
    between = [[u, v] for u, v in lines if u < v]
    return {"parents": parents, **({"lines": between} if between else {}), "rows": rows.n_rows, **found.facts}


def prepared(data: Dataset, most_levels: int | None) -> Dataset:
    """The data as the study wants them; from all rows, before any are sampled."""
    domains, columns = list(data.domains), list(data.columns)
    for v, (domain, column) in enumerate(zip(data.domains, data.columns, strict=True)):
        if isinstance(domain, Categorical) and most_levels is not None and len(domain.levels) > most_levels:
            domains[v], columns[v] = _merged(domain, column, most_levels)
    return Dataset(data.names, tuple(domains), tuple(columns), data.weights)


def _merged(domain: Categorical, column: NDArray[Any], most: int) -> tuple[Categorical, NDArray[Any]]:
    """The `most - 1` levels with most rows in their order, and the others as one."""
    count = np.bincount(column, minlength=len(domain.levels))
    common = np.sort(np.argsort(-count, kind="stable")[: most - 1])
    codes = np.full(len(domain.levels), most - 1)
    codes[common] = np.arange(most - 1)
    kept = [domain.levels[i] for i in common]
    merged = Categorical((*kept, unused("others", kept)))
    return merged, codes[column].astype(code_dtype(most))


def report(rows: Sequence[Row], folder: Path) -> str:
    """Per data set the agreement graph and the partial Hamming distances by method and sample size."""
    done = [row for row in rows if row["status"] == "done" and "parents" in row["result"]]
    parts = []
    series: Series = {}
    for data in dict.fromkeys(row["cell"]["data"] for row in done):
        section = _data_set(data, [row for row in done if row["cell"]["data"] == data], series)
        parts.append(f"## {Path(data).stem}\n\n{section}")
    curves(folder / "curves.svg", series, "fraction of the rows", "partial Hamming distance")
    head = (
        "Each method learns from all rows; the agreement graph is what all of them say there, about pairs of variables,"
        " with directions as their equivalence classes have them. Then each learns from random parts; its loss is the"
        " number of agreed pairs on which it says something else. Mean ± standard error, in brackets how many parts."
    )
    return f"{head}\n\n![curves](curves.svg)\n\n" + "\n".join(parts)


def _data_set(data: str, done: Sequence[Row], series: Series) -> str:
    """The section of one data set; adds its curves to the series."""
    whole = {row["cell"]["method"]: _graph(row) for row in done if row["cell"]["part"] == WHOLE}
    if len(whole) < 2:
        return "Fewer than two methods have finished on the whole data.\n"
    agreed = agreement(whole)
    distances = _distances(agreed, [row for row in done if row["cell"]["method"] in whole])
    fractions = sorted({part for _, part in distances})
    body = []
    for method in whole:
        line = [name_of(method), str(agreed.edges[method])]
        for part in fractions:
            values = list(distances.get((method, part), {}).values())
            line.append(f"{mean_and_error(values)} ({len(values)})" if values else "")
            if values:
                series.setdefault((Path(data).stem, name_of(method)), []).append(
                    (1 / part, float(np.mean(values)), standard_error(values))
                )
        body.append(line)
    n, rows = len(agreed.names), max(row["result"]["rows"] for row in done)
    pairs = int(np.triu(agreed.specified, 1).sum())
    text = f"{rows:,} rows, {n} variables. The methods agree on {pairs} of {n * (n - 1) // 2} pairs of variables;"
    text += f" {agreed.agreed_edges} of them are edges."
    text += f" **Caution: {agreed.caution}.**" if agreed.caution else ""
    text += f" {counted([row['result'] for row in done if tells_evidence(row['result'])])}.\n\n"
    text += table(["method", "edges from all rows", *(f"1/{part}" for part in fractions)], body)
    return text + _paired_tests(list(whole), distances, fractions)


def losses(done: Sequence[Row]) -> dict[tuple[str, int], dict[int, int]]:
    """Of one data set: (method, part) -> repeat -> distance to the agreement graph; empty before there is one."""
    whole = {row["cell"]["method"]: _graph(row) for row in done if row["cell"]["part"] == WHOLE}
    if len(whole) < 2:
        return {}
    return _distances(agreement(whole), [row for row in done if row["cell"]["method"] in whole])


def _paired_tests(
    methods: Sequence[str], distances: Mapping[tuple[str, int], Mapping[int, int]], fractions: Sequence[int]
) -> str:
    """Every method against every other, at each fraction and at all of them together, corrected for that many."""
    columns = {**{f"1/{part}": (part,) for part in fractions}, "all": tuple(fractions)}
    means: dict[str, float] = {}
    single: dict[str, float] = {}
    pooled: dict[str, float] = {}
    for first, second in itertools.combinations(methods, 2):
        for column, parts in columns.items():
            both = [
                (a[repeat], b[repeat])
                for a, b in ((distances.get((first, part), {}), distances.get((second, part), {})) for part in parts)
                for repeat in sorted(a.keys() & b.keys())
            ]
            if len(both) >= 2:
                mine, theirs = zip(*both, strict=True)
                name = f"{first} - {second}, {column}"
                means[name] = float(np.mean(np.subtract(mine, theirs)))
                (pooled if column == "all" else single)[name] = wilcoxon(mine, theirs)
    if not means:
        return ""
    p_values = {**holm(single), **holm(pooled)}
    body = []
    for first, second in itertools.combinations(methods, 2):
        names = [f"{first} - {second}, {column}" for column in columns]
        shown = (f"{means[name]:+.2f} (p = {p_values[name]:.3f})" if name in means else "" for name in names)
        body.append([f"{name_of(first)} - {name_of(second)}", *shown])
    text = (
        "\nMean difference of the losses on the same rows, and p of the paired Wilcoxon test, corrected (Holm) for the"
    )
    text += f" {len(single)} tests of one fraction and for the {len(pooled)} of all fractions together.\n\n"
    return text + table(["methods", *columns], body)


def _distances(agreed: Agreement, done: Sequence[Row]) -> dict[tuple[str, int], dict[int, int]]:
    """(method, part) -> repeat -> partial Hamming distance."""
    found: dict[tuple[str, int], dict[int, int]] = {}
    for row in done:
        method, part, repeat = (row["cell"][key] for key in ("method", "part", "repeat"))
        if part != WHOLE:
            graph = matrix(_graph(row), agreed.names, "cpdag")
            distance = partial_hamming(agreed.known, agreed.specified, graph)
            found.setdefault((method, part), {})[repeat] = distance
    return found


def _graph(row: Row) -> Graph:
    parents = row["result"]["parents"]
    arcs = [(parent, child) for child, each in parents.items() for parent in each]
    return from_edges(parents, arcs, map(tuple, row["result"].get("lines", ())))


def locate(data: str) -> Path:
    """A path as given, or a data set of the shared collection."""
    if Path(data).is_file():
        return Path(data)
    root = os.environ.get("OPTBN_DATA")
    if not root:
        raise DataError(f"{data}: no such file; set $OPTBN_DATA to a folder with datasets/{data}.parquet")
    return Path(root) / "datasets" / f"{data}.parquet"
