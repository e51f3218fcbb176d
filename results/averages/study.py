"""How near the truth learned networks come with best trees, with full tables and with averages over trees.

A cell samples a bundled network, learns the optimal structure and reports the divergence from the truth, as the mean
over fresh rows of the log ratio of the densities.

    best trees            pcartp; the best tree of every family, its leaves by m-estimate
    full tables           ftp; tables by m-estimate
    best trees, averaged  the structure of pcartp; every distribution the average over all trees
    trees="average"       the same with all trees alike: what learn(data, trees="average") answers
    averages              pcart-avg with the prior of pcartp; every distribution the average over all trees
    all trees alike       averages without a prior over trees (gamma none), which favours no small ones
    .. alpha = .25        the same with half the weight in the leaves
    .. alpha = auto       the same with the weight that has the most evidence, for each variable
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from optbn.report.tables import standard_error, table

Row = Mapping[str, Any]
METHODS: dict[str, tuple[str, dict[str, Any], dict[str, Any] | None]] = {
    "best trees": ("pcartp", {}, None),
    "full tables": ("ftp", {}, None),
    "best trees, averaged": ("pcartp", {}, {"gamma": 0.25}),
    'trees="average"': ("pcartp", {}, {}),
    "averages": ("pcart-avg", {"gamma": 0.25}, {"gamma": 0.25}),
    "all trees alike": ("pcart-avg", {}, {}),
    ".. alpha = .25": ("pcart-avg", {"alpha": 0.25}, {"alpha": 0.25}),
    ".. alpha = auto": ("pcart-avg", {"alpha": "auto"}, {"alpha": "auto"}),
}
"""Score, its settings, and those of the averages if trees are averaged; parent sets have the prior by size in all."""


def cell(network: str, rows: int, repeat: int, model: str, max_parents: int, held_out: int) -> dict[str, Any]:
    """One sample, one model."""
    from optbn.evaluate.distances import compare
    from optbn.learning.averaged import average_trees
    from optbn.learning.local import with_local_models
    from optbn.learning.structure import learn_structure
    from optbn.network.catalog import load_network
    from optbn.scores import load_score
    from optbn.smoothing.fitting import fit

    truth = load_network(network)
    seed = zlib.crc32(f"{network} {rows} {repeat}".encode())
    data, fresh = truth.sample(rows, seed), truth.sample(held_out, seed + 1)
    score, settings, averaged = METHODS[model]
    settings = settings | ({"prior": "size"} if score == "pcart-avg" else {})
    begin = time.process_time()
    found = learn_structure(data, score, max_parents, settings=settings, jobs=1)
    seconds = time.process_time() - begin
    if averaged is not None:
        fitted = average_trees(found.structure, data, **averaged)
    else:
        bound = load_score(score, **settings).bind(data)
        fitted = fit(with_local_models(found.structure, data, bound), data, "m_estimate")
    return {
        "divergence": (truth.log_likelihood(fresh) - fitted.log_likelihood(fresh)) / held_out,
        "shd_cpdag": compare(truth, found.structure, sid=False).shd_cpdag,
        "optimal": bool(found.solution.gap == 0.0),
        "seconds": seconds,
    }


def report(rows: Sequence[Row], folder: Path) -> str:
    """Means over repeats by network and rows."""
    results = {_key(row): row["result"] for row in rows if row["status"] == "done"}
    parts = []
    for measure, name in (
        ("divergence", "Divergence, nats per row"),
        ("shd_cpdag", "SHD between CPDAGs"),
        ("seconds", "CPU s"),
    ):
        body = []
        for network, size in sorted({key[:2] for key in results}):
            line = [network, str(size)]
            for model in METHODS:
                values = [r[measure] for (n, s, _, m), r in results.items() if (n, s, m) == (network, size, model)]
                line.append(f"{np.mean(values):.3f} ± {standard_error(values):.3f}" if values else "")
            body.append(line)
        total = [[r[measure] for (*_, m), r in results.items() if m == model] for model in METHODS]
        body.append(["all", "", *(f"{np.mean(values):.3f}" if values else "" for values in total)])
        parts.append(f"## {name}\n\n{table(('network', 'rows', *METHODS), body)}")
    return "\n".join(parts)


def _key(row: Row) -> tuple[str, int, int, str]:
    cell = row["cell"]
    return cell["network"], cell["rows"], cell["repeat"], cell["model"]
