"""How the hyper-parameters of tree and table scores move what is learned: alpha, the priors over parent sets, and s.

A cell samples a bundled network and learns the optimal structure with one setting. It reports the structural Hamming
distances, and the divergence from the truth of the learned network (the score's own trees or tables, leaves by
m-estimate) as the mean over fresh rows of the log ratio. All settings see the same sample at the same (network, rows,
repeat, real).

Priors over a family's parent set P, up to a constant, n variables in all:
    none    1                     every set alike (PCART, FT)
    sets    1 / binom(n-1, |P|)   every size alike (PCARTP, FTP)
    arcs    (n-1)^-|P|            every parent costs as much

The number of halvings s matters to real predictors only. With `real`, a variable of k >= 3 levels is seen as a real
number: its level plus a uniform fraction, scaled to mean 0 and deviation 1. Given the level the fraction says nothing,
so the true graph stays what it is, and the true density is that of the levels over the widths of their intervals.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from optbn.experiments.evidence import counted, evidence
from optbn.experiments.verdicts import Finding, alike, less, power, summary, wilcoxon_of
from optbn.report.tables import Series, curves, mean_and_error, standard_error, table

if TYPE_CHECKING:
    from optbn.data.dataset import Dataset

Row = Mapping[str, Any]
Setting = tuple[Any, ...]

PRIORS: dict[str, Callable[[int, int], float]] = {
    "none": lambda n, k: 0.0,
    "sets": lambda n, k: math.log(math.comb(n - 1, k)),
    "arcs": lambda n, k: k * math.log(n - 1),
}
"""What a set of k parents costs."""

DEFAULT = ("pcart", 0.5, "sets")
PUBLISHED = 3
"""Of s, with cuts at midpoints, which is what is studied here; see results/cuts for the default."""
NEAR = 0.02
"""A divergence that is larger by such a share is as good, where the other choice costs time."""
MEASURES = {"shd_dag": "SHD between DAGs", "shd_cpdag": "SHD between CPDAGs", "divergence": "divergence, nats per row"}


def cell(
    network: str,
    rows: int,
    repeat: int,
    model: str,
    alpha: float = 0.5,
    prior: str = "sets",
    splits: int = 3,
    real: bool = False,
    max_parents: int = 3,
    solver: str = "auto",
    solve_seconds: float = 300.0,
    held_out: int = 10_000,
) -> dict[str, Any]:
    """One sample, one setting; `model` is "pcart" or "ft"."""
    from optbn.base.registry import unknown
    from optbn.evaluate.distances import compare
    from optbn.experiments.learning import falls, penalised, plain_table
    from optbn.learning.local import with_local_models
    from optbn.learning.structure import Stopwatch, best_structure
    from optbn.network.catalog import load_network
    from optbn.scores import load_score
    from optbn.smoothing.fitting import fit

    if prior not in PRIORS:
        raise unknown("prior over parent sets", prior, PRIORS)
    truth = load_network(network)
    if not falls(truth.n_variables, max_parents):
        raise ValueError(f"{network} has too few variables for {max_parents} parents")
    seed = zlib.crc32(f"{network} {rows} {repeat}".encode())
    data, fresh = truth.sample(rows, seed), truth.sample(held_out, seed + 1)
    best = truth.log_likelihood(fresh) / held_out
    if real:
        (data, fresh), scale = as_real(data, fresh, seed)
        best += scale
    settings = {"alpha": alpha, "real_prior": "paper", **({"max_splits": splits} if model == "pcart" else {})}
    plain, families, seconds = plain_table(data, model, max_parents, tuple(sorted(settings.items())))
    scores = penalised(plain, lambda k: PRIORS[prior](truth.n_variables, k))
    found = best_structure(scores, families, Stopwatch({"score": seconds}), solver=solver, time_limit=solve_seconds)
    shapes = with_local_models(found.structure, data, load_score(model, **settings).bind(data))
    fitted = fit(shapes, data, "m_estimate", leaves="student" if real else "normal")
    distance = compare(truth, found.structure, sid=False)
    return {
        "shd_dag": distance.shd_dag,
        "shd_cpdag": distance.shd_cpdag,
        "arcs": distance.estimated_arcs,
        "divergence": best - fitted.log_likelihood(fresh) / held_out,
        "evidence": evidence(found.solution),
        "kept": len(found.scores),
        "score_cpu": found.seconds["score"][1],
        "solve_cpu": found.seconds["solve"][1],
    }


def as_real(data: Dataset, fresh: Dataset, seed: int) -> tuple[list[Dataset], float]:
    """Both samples with real columns, and what the change of scale adds to a row's log density."""
    from optbn.data.dataset import Categorical, Dataset, Real

    random = np.random.default_rng(seed)
    samples = (data, fresh)
    domains = list(data.domains)
    columns = [list(sample.columns) for sample in samples]
    added = 0.0
    for v, domain in enumerate(data.domains):
        assert isinstance(domain, Categorical)
        k = len(domain.levels)
        if k < 3:
            continue
        values = [sample.columns[v] + random.random(sample.n_rows) for sample in samples]
        centre, spread = values[0].mean(), values[0].std()
        domains[v] = seen = Real(-centre / spread, (k - centre) / spread)
        for each, value in zip(columns, values, strict=True):
            each[v] = np.clip((value - centre) / spread, seen.low, seen.high)
        added += math.log(spread)
    return [Dataset(data.names, tuple(domains), tuple(each)) for each in columns], added


def report(rows: Sequence[Row], folder: Path) -> str:
    """The settings compared on equal samples, a recommendation computed from that, and every mean."""
    done = [row for row in rows if row["status"] == "done"]
    levels = [row for row in done if not row["cell"].get("real")]
    reals = [row for row in done if row["cell"].get("real")]
    parts = [summary(findings(rows)), f"{counted([row['result'] for row in done])}.\n"]
    if levels:
        parts += [_choice(levels, folder), _effects(levels), _means(levels, ("model", "prior"), "alpha")]
    if reals:
        parts.append(_splits(reals, folder))
    return "\n".join(parts)


def findings(rows: Sequence[Row]) -> list[Finding]:
    """Densities and distances of trees against full tables, and the priors, at alpha 0.5 on the same samples."""
    done = [row for row in rows if row["status"] == "done" and not row["cell"].get("real")]
    samples, settings = _complete(done, lambda c: (c["model"], c["alpha"], c["prior"]))
    found = []
    pairs = (
        ("Densities of trees and full tables hardly differ", ("pcart", 0.5, "sets"), ("ft", 0.5, "sets"), alike),
        ("The prior over sets helps trees", ("pcart", 0.5, "sets"), ("pcart", 0.5, "none"), less),
        ("The prior over sets helps full tables", ("ft", 0.5, "sets"), ("ft", 0.5, "none"), less),
    )
    for claim, first, second, judge in pairs:
        measure = "divergence" if judge is alike else "shd_dag"
        if len(samples) > 1 and {first, second} <= set(settings):
            test = wilcoxon_of([s[first][measure] for s in samples], [s[second][measure] for s in samples])
            text = f"{claim} ({MEASURES[measure]}, alpha 0.5)"
            found.append(Finding("PCART", text, judge([test]), test.words + power([test])))
    return found


def _choice(done: Sequence[Row], folder: Path) -> str:
    """Ranks of all settings over the samples that have every setting, and who is best."""
    from optbn.evaluate.significance import difference_diagram, friedman, wilcoxon

    samples, settings = _complete(done, lambda c: (c["model"], c["alpha"], c["prior"]))
    if len(samples) < 2 or len(settings) < 2:
        return "## Recommendation\n\nToo few samples have every setting.\n"
    tests = {
        measure: friedman({_named(s): [sample[s][measure] for sample in samples] for s in settings})
        for measure in MEASURES
    }
    for measure, test in tests.items():
        try:
            difference_diagram(test, str(folder / f"ranks-{measure}.svg"))
        except ImportError:
            break
    rank = {
        s: float(np.mean([dict(zip(t.methods, t.ranks, strict=True))[_named(s)] for t in tests.values()]))
        for s in settings
    }
    ordered = sorted(settings, key=lambda s: rank[s])
    body = []
    for s in ordered:
        line = [_named(s), f"{rank[s]:.2f}"]
        for measure, test in tests.items():
            line.append(f"{dict(zip(test.methods, test.ranks, strict=True))[_named(s)]:.2f}")
            line.append(f"{np.mean([sample[s][measure] for sample in samples]):.3g}")
        body.append(line)
    head = ["setting", "mean rank"]
    for name in MEASURES.values():
        head += [f"rank, {name}", "mean"]
    text = f"## Recommendation\n\nOver the {len(samples)} samples that all {len(settings)} settings have learned from,"
    text += " by the ranks in all three measures:"
    for model, name in (("pcart", "trees"), ("ft", "full tables")):
        best = next((s for s in ordered if s[0] == model), None)
        if best is None:
            continue
        text += f"\n\n- For {name} the lowest mean rank has **alpha {best[1]:g}, prior {best[2]}**."
        default = (model, *DEFAULT[1:])
        if default == best:
            text += " That is the default."
        elif default in settings:
            place = ordered.index(default) + 1
            text += f" The default (alpha {default[1]:g}, prior {default[2]}) is number {place} of all:"
            said = []
            for measure, words in MEASURES.items():
                a, b = ([sample[s][measure] for sample in samples] for s in (default, best))
                said.append(f"{words} {np.mean(a):.3g} against {np.mean(b):.3g} (p = {wilcoxon(a, b):.3f})")
            text += " " + "; ".join(said) + "."
    text += "\n\nRanks over settings (1 is best), and means; p values by Friedman's test: "
    text += ", ".join(f"{MEASURES[m]} {test.p:.2g}" for m, test in tests.items())
    text += f". Nemenyi's critical difference of ranks is {next(iter(tests.values())).critical_difference:.2f}.\n\n"
    pictures = "".join(f"![ranks](ranks-{measure}.svg)\n" for measure in MEASURES)
    return text + table(head, body) + "\n" + pictures


def _effects(done: Sequence[Row]) -> str:
    """One hyper-parameter at a time, the others averaged over."""
    text = (
        "## One at a time\n\nMeans over everything else, in the samples that all settings have; in brackets, in how"
        " many of them it has the lowest mean.\n\n"
    )
    samples, settings = _complete(done, lambda c: (c["model"], c["alpha"], c["prior"]))
    for at, name in ((0, "model"), (1, "alpha"), (2, "prior")):
        values = list(dict.fromkeys(s[at] for s in settings))
        columns = []
        for measure in MEASURES:
            means = np.array(
                [[np.mean([sample[s][measure] for s in settings if s[at] == v]) for v in values] for sample in samples]
            )
            lowest = (means == means.min(axis=1, keepdims=True)).sum(axis=0)
            columns.append([f"{mean:.3g} ({count})" for mean, count in zip(means.mean(axis=0), lowest, strict=True)])
        body = [[str(v), *line] for v, line in zip(values, zip(*columns, strict=True), strict=True)]
        text += table([name, *MEASURES.values()], body) + "\n"
    return text


def _means(done: Sequence[Row], lines: tuple[str, str], along: str) -> str:
    """Every mean, per network and size."""
    parts = ["## Every setting\n\nMean ± standard error over the repeats.\n"]
    for network in _order(done, "network"):
        for size in sorted(set(_order(done, "rows"))):
            some = [row for row in done if (row["cell"]["network"], row["cell"]["rows"]) == (network, size)]
            for measure, name in MEASURES.items():
                if measure == "shd_dag":
                    continue
                body = []
                values = sorted(set(_order(some, along)))
                for first in _order(some, lines[0]):
                    for second in _order(some, lines[1]):
                        which = {lines[0]: first, lines[1]: second}
                        cells = [_values(some, measure, **which, **{along: value}) for value in values]
                        body.append([f"{first}, {second}", *(_shown(measure, c) for c in cells)])
                head = [f"{lines[0]}, {lines[1]}", *(f"{along} {value:g}" for value in values)]
                parts.append(f"### {network}, {size} rows: {name}\n\n" + table(head, body))
    return "\n".join(parts)


def _splits(done: Sequence[Row], folder: Path) -> str:
    """What s does, on the networks seen through real numbers."""
    from optbn.evaluate.significance import wilcoxon

    text = (
        "## The number of halvings s\n\nVariables of three and more levels as real numbers (the level plus a uniform "
        f"fraction), at most {done[0]['cell'].get('max_parents', 3)} parents, alpha 0.5, prior sets.\n\n"
    )
    series: Series = {}
    body = []
    for network in _order(done, "network"):
        for size in sorted(set(_order(done, "rows"))):
            for s in sorted(set(_order(done, "splits"))):
                which = {"network": network, "rows": size, "splits": s}
                means = {m: _values(done, m, **which) for m in (*MEASURES, "score_cpu", "kept")}
                if not means["divergence"]:
                    continue
                body.append([network, str(size), str(s), *(_shown(m, means[m]) for m in MEASURES)])
                body[-1] += [f"{np.mean(means['score_cpu']):.2f}", f"{np.mean(means['kept']):.0f}"]
                point = (s, float(np.mean(means["divergence"])), standard_error(means["divergence"]))
                series.setdefault((network, f"{size} rows"), []).append(point)
    text += table(["network", "rows", "s", *MEASURES.values(), "phase I s", "sets kept"], body)
    samples, settings = _complete(done, lambda c: (c["splits"],))
    text += f"\nOver the {len(samples)} samples that have every s:\n\n"
    best = min(settings, key=lambda s: np.mean([sample[s]["divergence"] for sample in samples]))
    lines = []
    for s in settings:
        line = [str(s[0])]
        for measure in MEASURES:
            mine, theirs = ([sample[which][measure] for sample in samples] for which in (s, best))
            p = f" (p = {wilcoxon(mine, theirs):.3f})" if s != best else ""
            line.append(f"{np.mean(mine):.3g}{p}")
        lines.append(line)
    text += table(["s", *MEASURES.values()], lines)
    mean = {s: float(np.mean([sample[s]["divergence"] for sample in samples])) for s in settings}
    near = min(s for s in settings if mean[s] <= (1 + NEAR) * mean[best])
    text += (
        f"\nThe lowest mean divergence has s = {best[0]}. The smallest s within {100 * NEAR:g} % of it is"
        f" **s = {near[0]}** ({100 * (mean[near] / mean[best] - 1):.1f} % more); the published s = {PUBLISHED},"
        f" {_against_default(mean, mean[best])}.\n"
    )
    curves(folder / "splits.svg", series, "s", "divergence, nats per row")
    return text + "\n![divergence](splits.svg)\n"


def _against_default(mean: Mapping[Setting, float], best: float) -> str:
    default = (PUBLISHED,)
    return f"has {100 * (mean[default] / best - 1):.1f} % more" if default in mean else "was not tried"


def _complete(
    done: Sequence[Row], setting: Callable[[Mapping[str, Any]], Setting]
) -> tuple[list[dict[Setting, Mapping[str, Any]]], list[Setting]]:
    """Per sample {setting: result}, for samples that have all settings there are; and those settings."""
    samples: dict[tuple[Any, ...], dict[Setting, Mapping[str, Any]]] = {}
    for row in done:
        at = tuple(row["cell"][key] for key in ("network", "rows", "repeat"))
        samples.setdefault(at, {})[setting(row["cell"])] = row["result"]
    settings = list(dict.fromkeys(setting(row["cell"]) for row in done))
    return [found for found in samples.values() if len(found) == len(settings)], settings


def _named(setting: Setting) -> str:
    model, alpha, prior = setting
    return f"{model} {alpha:g} {prior}"


def _shown(measure: str, values: Sequence[float]) -> str:
    if measure != "divergence" or not values:
        return mean_and_error(values)
    return f"{np.mean(values):.2f}" + (f" ± {standard_error(values):.2f}" if len(values) > 1 else "")


def _values(done: Sequence[Row], key: str, **where: Any) -> list[float]:
    return [row["result"][key] for row in done if all(row["cell"][k] == v for k, v in where.items())]


def _order(done: Sequence[Row], key: str) -> list[Any]:
    return list(dict.fromkeys(row["cell"][key] for row in done))
