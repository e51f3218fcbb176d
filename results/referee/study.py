"""How far from optimal is everybody: is accuracy lost to the search or to the score?

A cell samples a bundled network and runs one method: an exact one of ours by a score, or another program's. It measures
the distances to the truth between equivalence classes (SHD, SID with its bounds), CPU seconds, and, where the method
claims to maximise a score that is ours too, the score of its graph. The report sets that against the optimum on the
same sample, which an exact cell of the same study has: the gap is what its search lost, in nats. A class is scored by
one of its DAGs.

All methods see the same samples, as a file shows them: a variable has the levels that occur. BIC counts parameters, so
a program that knows of levels which never occur and one that does not would maximise different scores. Like this, the
BIC of ours, pgmpy and pyAgrum agree to rounding, which a test holds.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from optbn.experiments.evidence import counted, tells_evidence
from optbn.experiments.methods import PEERS, objective_of
from optbn.experiments.verdicts import Finding, less, power, ranks, summary, wilcoxon_of
from optbn.report.tables import mean_and_error, table

if TYPE_CHECKING:
    from optbn.data.dataset import Dataset

Row = Mapping[str, Any]

PAPER = "referee"
EXACT = "bic"
"""The score that the greedy searches claim to maximise."""


def cell(
    network: str, rows: int, repeat: int, method: str, max_parents: int = 3, solve_seconds: float = 60.0
) -> dict[str, Any]:
    """One sample, one method."""
    from optbn.base.errors import OptbnError
    from optbn.evaluate.distances import compare
    from optbn.experiments.learning import method as score_of_name
    from optbn.experiments.methods import Limits, load_method
    from optbn.experiments.worth import score_of
    from optbn.network.catalog import load_network

    truth = load_network(network)
    seed = zlib.crc32(f"{network} {rows} {repeat}".encode())
    data = as_seen(truth.sample(rows, seed))
    found = load_method(method)(data, Limits(max_parents, solve_seconds))
    distance = compare(truth, found.graph)
    result = {
        "kind": distance.kinds[1],
        "shd_cpdag": distance.shd_cpdag,
        "shd_skeleton": distance.shd_skeleton,
        "sid": [distance.sid_bounds.low, distance.sid_bounds.high] if distance.sid_bounds else None,
        "balanced_score": distance.balanced_score,
        "arcs": distance.estimated_arcs,
        "seed": seed,
        **found.facts,
    }
    objective = objective_of(method)
    if objective is not None and "score" not in result:
        name, settings = score_of_name(objective)
        try:
            result["score"] = score_of(found.graph, data, name, settings)
        except OptbnError as error:  # no DAG belongs to the graph
            result["unscored"] = str(error)
    return result


def as_seen(data: Dataset) -> Dataset:
    """The same rows, each variable with the levels that occur in them."""
    from optbn.data.arrays import code_dtype
    from optbn.data.dataset import Categorical, Dataset

    domains, columns = [], []
    for domain, column in zip(data.domains, data.columns, strict=True):
        assert isinstance(domain, Categorical)
        seen, codes = np.unique(np.asarray(column), return_inverse=True)
        domains.append(Categorical(tuple(domain.levels[code] for code in seen), domain.ordered))
        columns.append(codes.astype(code_dtype(len(seen))))
    return Dataset(data.names, tuple(domains), tuple(columns))


def findings(rows: Sequence[Row]) -> list[Finding]:
    """What the search costs, and what the score."""
    done = [row for row in rows if row["status"] == "done"]
    found = []
    for method in _methods(done):
        if method in PEERS and objective_of(method) == EXACT:
            first, second = _pairs(done, EXACT, method, "shd_cpdag")
            gaps = [gap for gap in _gaps(done, method).values() if gap is not None]
            if len(first) >= 2:
                test = wilcoxon_of(first, second)
                lost = (
                    f"; {method} loses {np.median(gaps):.2f} nats in the median, up to {max(gaps):.1f}" if gaps else ""
                )
                claim = f"The optimum of {EXACT} is nearer to the truth (SHD of classes) than what {method} finds of it"
                found.append(Finding(PAPER, claim, less([test]), test.words + lost + power([test])))
    best = _best_score(done)
    if best and best != EXACT:
        first, second = _pairs(done, best, EXACT, "shd_cpdag")
        if len(first) >= 2:
            others = sum(method not in PEERS for method in _methods(done)) - 1
            test = wilcoxon_of(first, second)
            test = replace(test, p=min(1.0, others * test.p))  # the best of several was chosen by these rows
            claim = f"The score matters: the optimum of {best} is nearer to the truth than that of {EXACT}"
            words = f"{test.words}, {test.p:.2g} after choosing the best of {others + 1}"
            found.append(Finding(PAPER, claim, less([test]), words + power([test])))
    return found


def report(rows: Sequence[Row], folder: Path) -> str:
    """What is lost to the search and to the score, ranks, distances, seconds."""
    done = [row for row in rows if row["status"] == "done"]
    methods = _methods(done)
    ours = [row["result"] for row in done if tells_evidence(row["result"])]
    parts = [f"{counted(ours)}.\n", "## Search or score?\n\n" + summary(findings(rows)), _decomposed(done)]
    results: dict[str, dict[str, Any]] = {m: {} for m in methods}
    for row in done:
        if row["result"]["shd_cpdag"] is not None:
            results[row["cell"]["method"]][str(_sample(row))] = row["result"]
    parts.append("## Ranks\n\n" + ranks(results, methods, "shd_cpdag", folder, "ranks.svg", "samples"))
    for key, title in (
        ("shd_cpdag", "SHD between classes"),
        ("sid", "SID, middle of the bounds"),
        ("cpu", "CPU seconds"),
    ):
        parts.append(f"## {title}\n\nMeans ± standard error over the samples.\n\n" + _by_network(done, methods, key))
    parts.append(_failures(rows))
    return "\n".join(parts)


def _decomposed(done: Sequence[Row]) -> str:
    """SHD of a greedy search = of the best score's optimum + what the score loses + what the search loses."""
    best = _best_score(done)
    body = []
    for method in _methods(done):
        objective = objective_of(method)
        if method not in PEERS or objective is None or best is None:
            continue
        own, optimum, leader = (_by_sample(done, m, "shd_cpdag") for m in (method, objective, best))
        shared = sorted(own.keys() & optimum.keys() & leader.keys())
        gaps = [gap for at, gap in _gaps(done, method).items() if at in shared and gap is not None]
        if shared and gaps:
            a, b, c = (np.mean([each[at] for at in shared]) for each in (own, optimum, leader))
            equal = sum(abs(gap) < 1e-6 for gap in gaps)
            body.append([method, str(len(shared)), f"{a:.1f}", f"{c:.1f}", f"{b - c:+.1f}", f"{a - b:+.1f}"])
            body[-1] += [
                f"{np.mean(gaps):.2f}",
                f"{np.median(gaps):.2f}",
                f"{np.max(gaps):.1f}",
                f"{equal} of {len(gaps)}",
            ]
    head = ["method", "samples", "its SHD", f"optimum of {best}", f"+ lost to {EXACT}", "+ lost to the search"]
    head += ["gap, mean nats", "median", "largest", "optimal in"]
    note = (
        f"The score whose optimum is nearest to the truth over all samples is {best}. A search's SHD is that, plus what"
        " its score loses, plus what the search loses. A gap is below 0 where a graph has more parents than the optimum"
        " may have.\n\n"
    )
    return note + table(head, body) if body else "No greedy search has finished beside its optimum yet.\n"


def _methods(done: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(row["cell"]["method"] for row in done))


def _sample(row: Row) -> tuple[str, int, int]:
    return row["cell"]["network"], row["cell"]["rows"], row["cell"]["repeat"]


def _by_sample(done: Sequence[Row], method: str, key: str) -> dict[tuple[str, int, int], float]:
    found = {_sample(row): row["result"].get(key) for row in done if row["cell"]["method"] == method}
    return {at: float(np.mean(value)) for at, value in found.items() if value is not None}


def _pairs(done: Sequence[Row], first: str, second: str, key: str) -> tuple[list[float], list[float]]:
    a, b = _by_sample(done, first, key), _by_sample(done, second, key)
    both = sorted(a.keys() & b.keys())
    return [a[at] for at in both], [b[at] for at in both]


def _gaps(done: Sequence[Row], method: str) -> dict[tuple[str, int, int], float | None]:
    """Per sample the optimum's score less that of the method's graph."""
    objective = objective_of(method)
    if objective is None:
        return {}
    best, own = _by_sample(done, objective, "score"), _by_sample(done, method, "score")
    return {at: best[at] - own[at] for at in own if at in best}


def _best_score(done: Sequence[Row]) -> str | None:
    """The score of ours whose optimum has the least mean SHD on the samples that all of ours have."""
    ours = [method for method in _methods(done) if method not in PEERS]
    found = {method: _by_sample(done, method, "shd_cpdag") for method in ours}
    shared = set.intersection(*(set(each) for each in found.values())) if found else set()
    if not shared:
        return None
    return min(ours, key=lambda method: float(np.mean([found[method][at] for at in shared])))


def _by_network(done: Sequence[Row], methods: Sequence[str], key: str) -> str:
    body = []
    for network in dict.fromkeys(row["cell"]["network"] for row in done):
        for size in sorted({row["cell"]["rows"] for row in done if row["cell"]["network"] == network}):
            line = [network, str(size)]
            for method in methods:
                values = [v for at, v in _by_sample(done, method, key).items() if at[:2] == (network, size)]
                line.append(mean_and_error(values))
            body.append(line)
    return table(["network", "rows", *methods], body)


def _failures(rows: Sequence[Row]) -> str:
    """Who did not finish, and why."""
    body = []
    for method in dict.fromkeys(row["cell"]["method"] for row in rows):
        mine = [row for row in rows if row["cell"]["method"] == method]
        late = sum(row["status"] == "timeout" for row in mine)
        failed = [row["error"] for row in mine if row["status"] == "failed"]
        kinds = [row["result"]["kind"] for row in mine if row["status"] == "done"]
        if late or failed or "PDAG" in kinds:
            body.append([method, str(len(mine)), str(late), str(len(failed)), str(kinds.count("PDAG")), *failed[:1]])
            body[-1] += [""] * (6 - len(body[-1]))
    if not body:
        return ""
    head = ["method", "cells", "out of time", "failed", "no class of a DAG (PDAG)", "the first failure"]
    return "## Failures\n\n" + table(head, body)
