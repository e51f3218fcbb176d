"""Related data sets of known truth: whose probabilities come nearest to those of each domain?

Families of a network (a variable and its parents) vary around it from domain to domain: P(parents) and every row of
P(child | parents) are drawn from a Dirichlet around the network's, of concentration `likeness`. Every domain has the
same number of rows. Measured is the divergence of what was fitted from the domain's own truth, nats per row of the
child given its parents, a mean over domains and families.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import optbn
from optbn.base.numbers import counted
from optbn.data.arrays import code_dtype
from optbn.data.dataset import Categorical, Dataset
from optbn.experiments.verdicts import Finding, Verdict, summary
from optbn.network.cpds import TableCPD
from optbn.report.tables import table

Row = Mapping[str, Any]
DEFAULT = "fit_domains"
WITHIN = 0.01
"""Nats: what counts as being with the first."""


@dataclass(frozen=True)
class Sample:
    """One family in all domains: its rows, truth float64[domains, cells, K] and P(parents) float64[domains, cells]."""

    data: Dataset
    child: str
    parents: tuple[str, ...]
    truth: NDArray[np.float64]
    cells: NDArray[np.float64]


Method = Callable[[Sample], NDArray[np.float64]]


def _domains(sample: Sample, smoother: str | None = None, **settings: Any) -> NDArray[np.float64]:
    chosen = () if smoother is None else (smoother,)
    structure = {sample.child: sample.parents, **{p: () for p in sample.parents}}
    networks = optbn.fit_domains(structure, sample.data, "domain", *chosen, **settings)
    return np.array([network.cpd(sample.child).leaves.probabilities for network in networks.values()])


def _pooled(sample: Sample) -> NDArray[np.float64]:
    structure = {sample.child: sample.parents, **{p: () for p in sample.parents}}
    rows = optbn.fit(structure, sample.data, **HDP).cpd(sample.child).leaves.probabilities
    return np.tile(rows, (len(sample.truth), 1, 1))


def _separate(sample: Sample) -> NDArray[np.float64]:
    structure = {sample.child: sample.parents, **{p: () for p in sample.parents}}
    domain = sample.data.column("domain")
    return np.array([
        optbn.fit(structure, sample.data.take(domain == d), **HDP).cpd(sample.child).leaves.probabilities
        for d in range(len(sample.truth))
    ])  # fmt: skip


def _parent(sample: Sample) -> NDArray[np.float64]:
    parents = ("domain", *sample.parents)
    structure = {sample.child: parents, **{p: () for p in parents}}
    rows = optbn.fit(structure, sample.data, **HDP).cpd(sample.child).leaves.probabilities
    return rows.reshape(sample.truth.shape)


def _forest(sample: Sample) -> NDArray[np.float64]:
    from sklearn.ensemble import RandomForestClassifier

    names = ("domain", *sample.parents)
    sizes = [len(sample.data.domain(name).levels) for name in names]
    hot = [np.eye(size, dtype=np.float32) for size in sizes]
    features = np.hstack([h[sample.data.column(name)] for h, name in zip(hot, names, strict=True)])
    forest = RandomForestClassifier(50, min_samples_leaf=5, random_state=0, n_jobs=1)
    forest.fit(features, sample.data.column(sample.child))
    every = np.indices(sizes).reshape(len(sizes), -1)
    found = forest.predict_proba(np.hstack([h[code] for h, code in zip(hot, every, strict=True)]))
    p = np.zeros((found.shape[0], sample.truth.shape[2]))
    p[:, forest.classes_] = found
    p = 0.99 * p + 0.01 / p.shape[1]  # a forest says never, and one row would cost everything
    return p.reshape(sample.truth.shape)


HDP: dict[str, Any] = {"smoother": "hdp", "sweeps": 400, "chains": 1}
METHODS: Mapping[str, Method] = {
    DEFAULT: _domains,
    "joint": lambda sample: _domains(sample, share="joint"),
    "joint hdp": lambda sample: _domains(sample, share="joint", **HDP),
    "pooled": _pooled,
    "separate": _separate,
    "domain as parent": _parent,
    "random forest": _forest,
}


def cell(network: str, domains: int, rows: int, likeness: float, families: int) -> dict[str, Any]:
    """Divergence and CPU seconds of every method, means over families."""
    samples = [_sample(network, i, domains, rows, likeness) for i in range(families)]
    out: dict[str, Any] = {}
    for name, method in METHODS.items():
        start = time.process_time()
        found = [_divergence(sample, method(sample)) for sample in samples]
        out[name] = {"divergence": float(np.mean(found)), "seconds": (time.process_time() - start) / families}
    return out


def _sample(network: str, number: int, domains: int, rows: int, likeness: float) -> Sample:
    """The rows of a family with parents, in a random order of the network's families whose tables are not too large."""
    model = optbn.load_network(network)
    candidates = [
        name for name in model.names if model.parents(name) and model.cpd(name).leaves.probabilities.size <= 200
    ]
    child = candidates[int(np.random.default_rng(zlib.crc32(network.encode())).permutation(len(candidates))[number])]
    cpd = model.cpd(child)
    assert isinstance(cpd, TableCPD)
    generator = np.random.default_rng(zlib.crc32(f"{network} {child} {domains} {rows} {likeness}".encode()))
    joint = model.query(cpd.parents).probabilities.ravel()
    around = lambda p: generator.dirichlet(np.maximum(likeness * p, 1e-2))  # noqa: E731
    cells = np.array([around(joint) for _ in range(domains)])
    truth = np.array([[around(p) for p in cpd.leaves.probabilities] for _ in range(domains)])
    where = np.concatenate([generator.choice(len(joint), rows, p=cells[d]) for d in range(domains)])
    domain = np.repeat(np.arange(domains), rows)
    uniform = generator.random(len(where))
    codes = (uniform[:, None] > np.cumsum(truth[domain, where], axis=1)[:, :-1]).sum(axis=1)
    sizes = [len(d.levels) for d in cpd.parent_domains]
    columns = [*np.unravel_index(where, sizes), codes, domain]
    kinds = (*cpd.parent_domains, cpd.domain, Categorical(tuple(f"d{d}" for d in range(domains))))
    coded = tuple(c.astype(code_dtype(len(k.levels))) for c, k in zip(columns, kinds, strict=True))
    return Sample(Dataset((*cpd.parents, child, "domain"), kinds, coded), child, cpd.parents, truth, cells)


def _divergence(sample: Sample, found: NDArray[np.float64]) -> float:
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(sample.truth > 0, sample.truth * np.log(sample.truth / found), 0.0)
    return float((sample.cells * terms.sum(axis=2)).sum(axis=1).mean())


def findings(rows: Sequence[Row]) -> list[Finding]:
    """Is the default first, or within WITHIN of the first, in at least nine cells of ten?"""
    found = []
    for words, few in (("10 domains or more", 10), ("3 domains or more", 3)):
        behind = [_excess(row["result"])[DEFAULT] for row in rows if _counts(row, few)]
        if not behind:
            continue
        near = sum(e <= WITHIN for e in behind)
        verdict = Verdict.AGREES if near >= 0.9 * len(behind) else Verdict.OPPOSITE
        claim = f"fit_domains is first or within {WITHIN} nats of the first in 90 % of cells, {words}"
        found.append(Finding("related data sets", claim, verdict, f"{near} of {counted(len(behind), 'cell')}"))
    return found


def report(rows: Sequence[Row], folder: Path) -> str:
    """How far every method is behind the best, by domains, rows and likeness."""
    parts = ["## Claims\n\n" + summary(findings(rows))]
    names = list(METHODS)
    done = [row for row in rows if _counts(row, 0)]
    body = []
    for name in names:
        behind = np.array([_excess(row["result"])[name] for row in done])
        seconds = float(np.mean([row["result"][name]["seconds"] for row in done]))
        share = f"{100 * (behind <= WITHIN).mean():.0f} %"
        body.append([name, share, f"{behind.mean():.4f}", f"{behind.max():.3f}", f"{seconds:.3f}"])
    head = ["method", f"within {WITHIN} of the first", "behind, mean", "behind, worst", "CPU seconds a family"]
    parts.append(f"## All {len(done)} cells\n\nNats per row.\n\n" + table(head, body))
    for key, title in (("domains", "domains"), ("rows", "rows a domain"), ("likeness", "likeness")):
        body = []
        for value in sorted({row["cell"][key] for row in done}):
            cells = [_excess(row["result"]) for row in done if row["cell"][key] == value]
            body.append([f"{value:g}", *(f"{np.mean([c[name] for c in cells]):.4f}" for name in names)])
        parts.append(f"## Behind the best, by {title}\n\n" + table([title, *names], body))
    return "\n".join(parts)


def _counts(row: Row, least_domains: int) -> bool:
    return bool(row["status"] == "done" and row["cell"]["domains"] >= least_domains)


def _excess(result: Mapping[str, Any]) -> dict[str, float]:
    """Nats per row behind the best method of a cell."""
    best = min(found["divergence"] for found in result.values())
    return {name: found["divergence"] - best for name, found in result.items()}
