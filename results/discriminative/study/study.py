"""The study of discriminative parameters: structures x parameterisations x starts, and the penalty.

A cell is one method on one data set. `nb-w-I` is naive Bayes with exponents from the generative start, without a
penalty and with 5 corrections, as in the published experiments (0: from zero); `nb-w-cv` has the penalty chosen by
cross-validation, towards zero; `nb-w-cvg` towards the generative classifier; `nb-m` is the generative classifier.

The curve is that of training on all rows: losses after every iteration of L-BFGS (about one pass each), and the passes.
Scores are of five rounds of two-fold cross-validation (`rounds` in the grid: fewer on large sets), pooled; seconds are
CPU seconds of training per fold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from optbn.experiments.verdicts import Claim, Finding, Results, Verdict, paired, ranks, summary, verdicts
from optbn.experiments.verdicts import findings as judged
from optbn.report.tables import Series, table
from optbn.report.tables import curves as draw
from results.classifiers.datasets import by_method, labelled, not_done, rounds_said

Row = Mapping[str, Any]

STRUCTURES = ("nb", "tan", "kdb1")
STARTS = {"I": "generative", "0": "zero"}
KEPT = 51
"""Losses of a curve that are kept, besides the last."""


def cell(dataset: str, method: str, data: str, rounds: int = 5, iterations: int = 500, seed: int = 0) -> dict[str, Any]:
    """Curve and scores of one method on one data set; `data` is the folder of the parquet files."""
    from optbn.evaluate.cross_validation import cross_validate, stratified_folds

    X, y = labelled(dataset, data)
    made = classifier(method, iterations)
    warm = np.random.default_rng(0).choice(len(y), min(len(y), 60), replace=False)
    made.fit(X.iloc[warm], y[warm])  # compiled code is loaded before the clock starts
    found = cross_validate(made, X, y, stratified_folds(y, 2, seed, rounds))
    variation = found.bias_variance() if rounds > 1 else None
    scores = {name: value if np.isfinite(value) else None for name, value in found.scores().items()}
    result = {**scores, "rows": len(y)}
    if variation:
        result |= {"bias": variation.bias, "variance": variation.variance}
    result["seconds"] = found.train_seconds / (2 * rounds)
    if method.endswith(("-I", "-0")):
        curve = made.fit(X, y).curve_
        result |= {f"nll{i}": curve.at(i) for i in (0, 5, 10, 50)}
        result |= {"curve": curve.loss[:KEPT], "passes": curve.passes[:KEPT], "final": curve.loss[-1]}
        result |= {"iterations": len(curve.loss) - 1}
    return result


def classifier(method: str, iterations: int) -> Any:
    """What "nb-w-I" and the like stand for."""
    from optbn.classifiers import load_classifier
    from optbn.classifiers.discriminative.estimator import DiscriminativeBN

    structure, kind, *how = method.split("-")
    if kind == "m":
        name, settings = {"nb": ("nb", {}), "tan": ("tan", {}), "kdb1": ("kdb", {"k": 1})}[structure]
        return load_classifier(name, **settings)
    if how[0] in STARTS:
        return DiscriminativeBN(
            structure, kind, init=STARTS[how[0]], l2=0, max_iterations=iterations, tolerance=1e-9, corrections=5
        )
    towards = {"cv": "zero", "cvg": "generative"}[how[0]]
    return DiscriminativeBN(structure, kind, l2_towards=towards, max_iterations=iterations)


def _over(pairs: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(f"{s}-{a}", f"{s}-{b}") for s in STRUCTURES for a, b in pairs]


CLAIMS = (
    *(
        Claim(f"w is ahead of d and e after {i} iterations", f"nll{i}", _over([("w-I", "d-I"), ("w-I", "e-I"),
              ("w-0", "d-0"), ("w-0", "e-0")]))
        for i in (5, 10, 50)
    ),
    Claim("The generative start is ahead of zero after 5 iterations", "nll5", _over([(f"{k}-I", f"{k}-0")
          for k in "wde"])),
    Claim("w takes the fewest passes to its own loss of iteration 5", "to_w5", _over([("w-I", "d-I"), ("w-I", "e-I")])),
    Claim("w trains fastest", "seconds", _over([("w-I", "d-I"), ("w-I", "e-I")])),
    Claim("Discriminative parameters have less bias than generative ones", "bias", _over([("w-I", "m"), ("d-I", "m")])),
    Claim("and more variance", "variance", _over([("m", "w-I"), ("m", "d-I")])),
    Claim("and less 0/1 loss", "zero_one", _over([("w-I", "m"), ("d-I", "m")])),
    Claim("and less RMSE in naive Bayes", "rmse", [("nb-w-I", "nb-m"), ("nb-d-I", "nb-m")]),
    Claim("and more RMSE in TAN and KDB1", "rmse", [(f"{s}-m", f"{s}-{k}-I") for s in ("tan", "kdb1") for k in "wd"]),
    Claim("With the penalty they have less RMSE than generative ones", "rmse", _over([("w-cv", "m"), ("d-cv", "m")])),
    Claim("The penalty helps", "rmse", _over([("w-cv", "w-I"), ("d-cv", "d-I")])),
    Claim("Towards zero is better than towards the generative classifier", "rmse", _over([("w-cv", "w-cvg")])),
    Claim("w is better than d with the penalty", "rmse", _over([("w-cv", "d-cv")])),
)  # fmt: skip

BIG = 10_000
BIG_CLAIMS = tuple(
    Claim(f"With {BIG:,} rows and more w has a smaller {name} than generative parameters, {s}", score,
          [(f"{s}-w-I", f"{s}-m")])
    for s in STRUCTURES
    for score, name in (("rmse", "RMSE"), ("zero_one", "0/1 loss"))
)  # fmt: skip
EFFECTS = (("d", 2.0), ("e", 10.0))
"""How many times the seconds of w they are said to take."""


def findings(rows: Sequence[Row]) -> list[Finding]:
    """The claims of the literature, judged."""
    results = _results(rows)
    big = {m: {d: r for d, r in found.items() if r["rows"] >= BIG} for m, found in results.items()}
    return [*judged("CCBN", results, CLAIMS), *judged("CCBN", big, BIG_CLAIMS), *_effects(results)]


def _effects(results: Results) -> list[Finding]:
    """Times over those of w: a claimed size agrees from three quarters of it on, in part from a half on; less
    contradicts it."""
    found = []
    for kind, times in EFFECTS:
        both = [paired(results, f"{s}-{kind}-I", f"{s}-w-I", "seconds") for s in STRUCTURES]
        if not all(len(a) for a, _ in both):
            continue
        ratios = [float(np.exp(np.mean(np.log(a / b)))) for a, b in both]
        ratio = float(np.exp(np.mean(np.log(ratios))))
        share = ratio / times
        verdict = Verdict.AGREES if share >= 0.75 else Verdict.IN_PART if share >= 0.5 else Verdict.OPPOSITE
        each = ", ".join(f"{s} {r:.2f}" for s, r in zip(STRUCTURES, ratios, strict=True))
        found.append(Finding("CCBN", f"{kind} takes {times:g} times as long as w", verdict, f"{each} times"))
    return found


def _results(rows: Sequence[Row]) -> dict[str, dict[str, dict[str, Any]]]:
    """method -> data set -> result, with the passes to the loss of w's fifth iteration."""
    results = by_method(rows)
    _passes_to_fifth(results)
    return results


def report(rows: Sequence[Row], folder: Path) -> str:
    """Everything from the finished rows."""
    results = _results(rows)
    sets = list(dict.fromkeys(row["cell"]["dataset"] for row in rows))
    parts = not_done(rows)
    parts.append(rounds_said(rows))
    parts.append(
        f"## Claims\n\nTwo-tailed sign tests; relative differences of at most .0001 are draws. Scores: nll5 and "
        f"the like are the training loss after so many iterations, to_w5 passes.\n\n{summary(findings(rows))}\n"
        f"{verdicts(results, CLAIMS)}"
    )
    parts.append("## Win-draw-loss of the training loss\n\n" + _grid(results))
    parts.append("## Iterations, seconds\n\nMeans over the data sets that each method has.\n\n" + _effort(results))
    for structure in STRUCTURES:
        methods = [f"{structure}-{m}" for m in ("m", "w-I", "d-I", "e-I", "w-cv", "d-cv", "e-cv", "w-cvg")]
        parts.append(f"## {structure}\n\n" + ranks(results, methods, "rmse", folder, f"{structure}.svg"))
        best = {s: min((results[m][s]["rmse"] for m in methods if s in results.get(m, {})), default=1) for s in sets}
        body = [
            [m, *(_bold(results[m].get(s, {}).get("rmse"), best[s]) for s in sets)] for m in methods if m in results
        ]
        parts.append(table(["RMSE", *sets], body))
    _draw(results, folder, sets)
    if (folder / "curves.svg").exists():
        parts.append("## Curves\n\nNaive Bayes, training loss by iteration.\n\n![curves](curves.svg)\n")
    return "\n".join(parts)


def _passes_to_fifth(results: dict[str, dict[str, dict[str, Any]]]) -> None:
    """Adds `to_w5`: the passes to the loss that w has after 5 iterations; those of 50 iterations when it never came."""
    for method, found in results.items():
        structure, _, how = method.partition("-")
        for name, result in found.items():
            known = results.get(f"{structure}-w-{how[-1]}", {}).get(name)
            if known and "curve" in result:
                line = known["nll5"] * (1 + 1e-9)
                pairs = zip(result["curve"], result["passes"], strict=True)
                result["to_w5"] = next((p for loss, p in pairs if loss <= line), result["passes"][-1])


def _grid(results: Results) -> str:
    from optbn.evaluate.significance import sign_test

    body = []
    for structure in STRUCTURES:
        for how in STARTS:
            for first, second in (("w", "d"), ("w", "e"), ("e", "d")):
                line = [f"{structure}, ({how})", f"{first} : {second}"]
                for score in ("nll5", "nll10", "nll50"):
                    a, b = paired(results, f"{structure}-{first}-{how}", f"{structure}-{second}-{how}", score)
                    unit = np.maximum(1.0, np.abs(b))
                    line.append(str(sign_test(a / unit, b / unit, 1e-4)) if len(a) else "")
                body.append(line)
    return table(["structure, start", "methods", "5 iterations", "10", "50"], body)


def _effort(results: Results) -> str:
    body = []
    for method, found in results.items():
        values = list(found.values())
        line = [method]
        for key, digits in (("iterations", 0), ("to_w5", 1), ("seconds", 3), ("bias", 4), ("variance", 4)):
            numbers = [v[key] for v in values if key in v]
            line.append(f"{np.mean(numbers):.{digits}f}" if numbers else "")
        body.append(line)
    return table(["method", "iterations", "passes to w's 5th", "seconds per fold", "bias", "variance"], body)


def _draw(results: Results, folder: Path, sets: Sequence[str]) -> None:
    """The curves of naive Bayes on the four data sets with the most rows."""
    found = results.get("nb-w-I", {})
    largest = sorted((s for s in sets if s in found), key=lambda s: -found[s]["rows"])[:4]
    series: Series = {}
    for name in largest:
        for kind in "wde":
            for how in STARTS:
                curve = results.get(f"nb-{kind}-{how}", {}).get(name, {}).get("curve", [])
                series[name, f"{kind} ({how})"] = [(i + 1.0, loss) for i, loss in enumerate(curve)]
    if series:
        draw(folder / "curves.svg", series, "iterations + 1", "NLL", True)


def _bold(value: float | None, least: float) -> str:
    if value is None:
        return ""
    return f"**{value:.4f}**" if value <= least + 5e-5 else f"{value:.4f}"
