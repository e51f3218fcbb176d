"""Half of the rows from experiments, or all from observation: how much of the true graph does the optimum settle?

A cell makes two samples of as many rows from a bundled network. In one all rows are observed. In the other the second
half are from experiments: in every such row one variable, each in its turn, was set to a level at random, and the row
does not count for that variable. Both are solved to proof by bdeu and given as equivalence classes, the second as the
class under these interventions. Against the true graph are counted

    shd      pairs that differ: an arc missing, too many, turned round or of open direction
    right, open, turned    the adjacencies that are true, by what the class says of their direction
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from optbn.data.dataset import Categorical, Dataset
from optbn.data.interventions import Interventions
from optbn.experiments.verdicts import Finding, less, summary, wilcoxon_of
from optbn.learning.solving import structure_of
from optbn.network.catalog import load_network
from optbn.network.cpds import TableCPD
from optbn.network.network import BayesianNetwork
from optbn.network.structure import Structure
from optbn.report.tables import standard_error, table
from optbn.scores import load_score
from optbn.scores.interventional import Interventional
from optbn.scores.pipeline import score_table
from optbn.scores.protocol import LocalScore
from optbn_solvers.base.standing import Standing, standing
from optbn_solvers.front.checked import solve

Row = Mapping[str, Any]
MEASURES = ("shd", "right", "open", "turned")


def cell(network: str, repeat: int, rows: int, max_parents: int) -> dict[str, Any]:
    """One pair of samples."""
    truth = load_network(network)
    seed = zlib.crc32(f"{network} {repeat}".encode())
    observed = truth.sample(rows, seed)
    mixed, interventions = experiments(truth, rows, seed)
    method = load_score("bdeu")
    return {
        "observed": learned(truth, observed, method, max_parents, None),
        "experiments": learned(
            truth, mixed, Interventional.of(method, interventions), max_parents, interventions.targets
        ),
    }


def experiments(truth: BayesianNetwork, rows: int, seed: int) -> tuple[Dataset, Interventions]:
    """The first half observed; in the second half one variable was set in each row, equally often."""
    half = rows // 2
    parts, masks = [truth.sample(half, seed)], {}
    shares = np.diff(np.linspace(0, rows - half, truth.n_variables + 1).astype(int))
    at = half
    for v, (name, count) in enumerate(zip(truth.names, shares.tolist(), strict=True)):
        masks[name] = np.zeros(rows, dtype=np.bool_)
        masks[name][at : at + count] = True
        at += count
        parts.append(with_set(truth, v).sample(count, seed + 1 + v))
    columns = [np.concatenate([part.columns[v] for part in parts]) for v in range(truth.n_variables)]
    return Dataset(truth.names, truth.domains, columns), Interventions(masks)


def with_set(truth: BayesianNetwork, v: int) -> BayesianNetwork:
    """The network in which a variable is set at random: nothing is its parent."""
    domain = truth.domains[v]
    assert isinstance(domain, Categorical)
    levels = len(domain.levels)
    cpds = list(truth.cpds)
    cpds[v] = TableCPD(domain, (), (), np.full(levels, 1 / levels))
    return BayesianNetwork(truth.names, truth.domains, tuple(cpds))


def learned(
    truth: BayesianNetwork, data: Dataset, method: LocalScore, max_parents: int, targets: Any
) -> dict[str, Any]:
    """The class of the optimum, compared."""
    scores = score_table(data, method, max_parents, jobs=1)
    solution = solve(scores)
    best = structure_of(scores, solution)
    found = compared(truth.structure, best.to_cpdag() if targets is None else best.to_cpdag(targets))
    return {**found, "proved": standing(solution) is Standing.PROVED}


def compared(truth: Structure, found: Any) -> dict[str, int]:
    """See the module's header."""
    index = {name: v for v, name in enumerate(found.names)}
    true = {(index[u], index[v]) for u, v in truth.arcs}
    counts = Counter(dict.fromkeys(MEASURES, 0))
    for u, v in true:
        if (u, v) in found.arcs:
            counts["right"] += 1
        elif (v, u) in found.arcs:
            counts["turned"] += 1
        elif (u, v) in found.edges or (v, u) in found.edges:
            counts["open"] += 1
    there = {frozenset(pair) for pair in [*found.arcs, *found.edges]}
    adjacent = {frozenset(pair) for pair in true}
    counts["shd"] = len(there ^ adjacent) + counts["open"] + counts["turned"]
    return dict(counts)


def report(rows: Sequence[Row], folder: Path) -> str:
    """Means over the repeats, and at how many networks experiments are nearer."""
    groups: dict[str, list[Any]] = {}
    for row in rows:
        if row["status"] == "done":
            groups.setdefault(row["cell"]["network"], []).append(row["result"])
    kinds, body = ("observed", "experiments"), []
    mean: dict[tuple[str, str], list[float]] = {(kind, m): [] for kind in kinds for m in MEASURES}
    for network, results in sorted(groups.items()):
        values = {(kind, m): np.array([r[kind][m] for r in results], float) for kind, m in mean}
        for key, each in values.items():
            mean[key].append(float(each.mean()))
        shd = [f"{values[kind, 'shd'].mean():.1f} ± {standard_error(values[kind, 'shd']):.1f}" for kind in kinds]
        shares = [" / ".join(f"{values[kind, m].mean():.1f}" for m in MEASURES[1:]) for kind in kinds]
        body.append([network, str(len(load_network(network).structure.arcs)), *shd, *shares])
    proved = sum(r[kind]["proved"] for results in groups.values() for r in results for kind in kinds)
    total = len(kinds) * sum(map(len, groups.values()))
    head = ("network", "arcs", "SHD, observed", "SHD, experiments", *(f"right / open / turned, {k}" for k in kinds))
    claims = []
    for m, words in (("shd", "is nearer to the true graph"), ("open", "leaves fewer true directions open")):
        test = wilcoxon_of(mean["experiments", m], mean["observed", m])
        claims.append(Finding("", f"The class {words} with experiments", less([test]), test.words))
    return f"{proved} of {total} optima proved.\n\n{summary(claims)}\n{table(head, body)}"
