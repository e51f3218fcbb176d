"""Twenty series, two lags: the optimum against the dynamic network that was sampled, and forecasts of rows not seen.

A cell makes a dynamic network: every variable has three levels and one or two parents among all values one or two steps
back and, for every third variable, one in the same step; rows of the tables are drawn from a Dirichlet distribution of
concentration 1/2. It is run forwards, `learn(lags=2)` gets the first rows, and the 200 rows after them are foreseen one
step ahead, each from the two rows before it. Reported are

    proved, right, extra, missing   arcs with their lags, those within a step by adjacency
    hit, last      share of the values foreseen (the most probable one), and those that equal the value before
    loss, repeat   mean of minus the log of the probability given to what came, and that of the best forecast that only
                   says with what chance the last value stays (the chance is fitted to the rows that were learned from)
    base           the same of the shares of the levels in these rows
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from optbn.data.dataset import Categorical, Dataset
from optbn.data.lags import now, past
from optbn.experiments.verdicts import Finding, less, summary, wilcoxon_of
from optbn.learning.learn import learn
from optbn.network.cpds import TableCPD
from optbn.network.dynamic import DynamicNetwork
from optbn.network.network import BayesianNetwork
from optbn.report.tables import standard_error, table

Row = Mapping[str, Any]
LEVELS = Categorical(("a", "b", "c"))
UNSEEN = 200
MEASURES = ("right", "extra", "missing", "hit", "last", "loss", "repeat", "base")


def cell(rows: int, repeat: int, variables: int, lags: int, max_parents: int) -> dict[str, Any]:
    """One network, one run."""
    rng = np.random.default_rng(zlib.crc32(f"series {variables} {lags} {repeat}".encode()))
    truth = dynamic_network(rng, variables, lags)
    data = truth.sample(rows + UNSEEN, seed=repeat)
    learned = learn(data.take(slice(0, rows)), score="bdeu", max_parents=max_parents, lags=lags, smoother="m_estimate")
    found = DynamicNetwork(learned.network)
    true, there = marked(truth), marked(found)
    counts = {"right": len(true & there), "extra": len(there - true), "missing": len(true - there)}
    return {"proved": learned.report.outcome.proved, **counts, **foreseen(found, data, rows)}


def dynamic_network(rng: np.random.Generator, variables: int, lags: int) -> DynamicNetwork:
    """See the module's header."""
    names = [f"x{v}" for v in range(variables)]
    earlier = [past(name, lag) for lag in range(1, lags + 1) for name in names]
    cpds = [TableCPD(LEVELS, (), (), np.full(3, 1 / 3)) for _ in earlier]
    for v, _ in enumerate(names):
        parents = [str(name) for name in rng.choice(earlier, 1 + v % 2, replace=False)]
        if v % 3 == 2:
            parents = [parents[0], names[v - 1]]
        tables = rng.dirichlet(np.full(3, 0.5), (3,) * len(parents))
        cpds.append(TableCPD(LEVELS, tuple(parents), (LEVELS,) * len(parents), tables))
    every = (*earlier, *names)
    return DynamicNetwork(BayesianNetwork(every, (LEVELS,) * len(every), tuple(cpds)))


def marked(network: DynamicNetwork) -> set[tuple[Any, int]]:
    """Arcs with their lags; within a step without a direction."""
    return {((u, v) if lag else frozenset((u, v)), lag) for u, v, lag in network.arcs()}


def foreseen(network: DynamicNetwork, data: Dataset, rows: int) -> dict[str, float]:
    """Every value of the rows not seen, one step ahead, exactly."""
    hits, last, loss, repeat, base = [], [], [], [], []
    stays = {name: np.mean(np.diff(data.column(name)[:rows].astype(int)) == 0) for name in network.variables}
    shares = {name: (np.bincount(data.column(name)[:rows], minlength=3) + 1) / (rows + 3) for name in network.variables}
    for t in range(rows, data.n_rows):
        seen = {
            name: LEVELS.levels[data.column(now(name)[0])[t - now(name)[1]]]
            for name in network.step.names
            if now(name)[1]
        }
        chances = network.step.posteriors(seen)
        for name in network.variables:
            code, before = int(data.column(name)[t]), int(data.column(name)[t - 1])
            p = chances[name].probabilities
            hits.append(int(np.argmax(p)) == code)
            last.append(code == before)
            loss.append(-np.log(p[code]))
            repeat.append(-np.log(stays[name] if code == before else (1 - stays[name]) / 2))
            base.append(-np.log(shares[name][code]))
    return {
        name: float(np.mean(values))
        for name, values in zip(MEASURES[3:], (hits, last, loss, repeat, base), strict=True)
    }


def report(rows: Sequence[Row], folder: Path) -> str:
    """Means over the repeats."""
    done = [row for row in rows if row["status"] == "done"]
    body, claims = [], []
    for size in sorted({row["cell"]["rows"] for row in done}):
        results = [row["result"] for row in done if row["cell"]["rows"] == size]
        line = [str(size), f"{sum(r['proved'] for r in results)} of {len(results)}"]
        for measure in MEASURES:
            values = np.array([r[measure] for r in results])
            digits = 1 if measure in MEASURES[:3] else 3
            line.append(f"{values.mean():.{digits}f} ± {standard_error(values):.{digits}f}")
        body.append(line)
    for other, words in (("repeat", "that the last value stays"), ("base", "of the shares of the levels")):
        test = wilcoxon_of([r["result"]["loss"] for r in done], [r["result"][other] for r in done])
        claims.append(Finding("", f"Its log loss is below that of the forecast {words}", less([test]), test.words))
    return f"{summary(claims)}\n{table(('rows', 'proved', *MEASURES), body)}"
