"""What the study of classifiers found, from its rows alone: claims, tables, ranks, times.

A claim of the literature is a list of comparisons "first has a smaller RMSE than second", judged by sign tests over
data sets (optbn/experiments/verdicts.py). Beside ours stands what the published code's own results say, on its own
folds, where they are there (golden/bnc beside $OPTBN_DATA): a claim that holds for them only rests on what that code
does otherwise.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from optbn.evaluate.significance import WinDrawLoss, sign_test
from optbn.experiments.verdicts import Claim, Finding, Tails, summary
from optbn.experiments.verdicts import findings as judged
from optbn.report.tables import table
from results.classifiers.datasets import rounds_said

Row = Mapping[str, Any]
Losses = Mapping[str, Mapping[str, Mapping[str, Any]]]
"""method -> data set -> result."""

DRAW = 1e-4


def gain(structure: str) -> str:
    """The name of the difference in RMSE, HDP less m-estimate, which is compared like a method's RMSE."""
    return f"{structure}: hdp - m"


SMOOTHED = ("NB", "TAN", "KDB1", "KDB3", "KDB5", "SKDB5", "AODE", "KDF2", "ESKDB10")
CLAIMS: tuple[tuple[str, Sequence[tuple[str, str]]], ...] = (
    ("HDP beats the m-estimate in every structure", [(f"{s}-hdp", f"{s}-m") for s in SMOOTHED]),
    (
        "HDP gains more over the m-estimate the more parents there are",
        [(gain("KDB3"), gain("KDB1")), (gain("KDB5"), gain("KDB3")), (gain("KDB5"), gain("KDB1"))],
    ),
    ("ESKDB with HDP beats random forest", [("ESKDB10-hdp", "RF")]),
    ("ESKDB with HDP beats XGBoost with its defaults", [("ESKDB10-hdp", "XGB")]),
    ("ESKDB beats SKDB", [("ESKDB10-hdp", "SKDB5-hdp"), ("ESKDB10-m", "SKDB5-m")]),
    (
        "Tying concentrations by level is best",
        [("SKDB5-hdp", "SKDB5-hdp-single"), ("SKDB5-hdp", "SKDB5-hdp-none")],
    ),
    (
        "More members are better: 1, 10, 20, 30",
        [("ESKDB10-m", "ESKDB1-m"), ("ESKDB20-m", "ESKDB10-m"), ("ESKDB30-m", "ESKDB20-m")],
    ),
)
OURS: Sequence[tuple[str, str]] = [
    *((f"ESKDB-{s}", other) for s in ("m", "hdp") for other in ("ESKDB10-m", "RF", "HGB", "XGB", "XGB-tuned")),
    ("ESKDB-hdp", "ESKDB-m"),
]
"""optbn's ensemble beside the published one and its competitors."""

PUBLISHED = {
    **{f"{s}-{a}": f"{t}-{b}" for s, t in zip(SMOOTHED, ("NB", "TAN", "KDB1", "KDB3", "KDB5", "SKDB", "AODE", "KDBF",
       "ESKDBR"), strict=True) for a, b in (("m", "M"), ("hdp", "H"))},
    "RF": "RF100", "HGB": "HGB", "XGB": "XGB",
}  # fmt: skip
"""Our methods' names in the published results and those of competitors on the same folds."""


def report(rows: Sequence[Row], folder: Path) -> str:
    """Markdown; diagrams are written into the folder."""
    done = [row for row in rows if row["status"] == "done"]
    losses: dict[str, dict[str, Any]] = {}
    for row in done:
        losses.setdefault(row["cell"]["method"], {})[row["cell"]["dataset"]] = row["result"]
    parts = []
    failed = [row for row in rows if row["status"] != "done"]
    if failed:
        reasons = sorted({f"{row['cell']['method']}: {row['error']}" for row in failed})
        parts.append("Not done: " + "; ".join(reasons[:10]) + "\n")
    parts.append(rounds_said(rows))
    parts.append(_claims(rows, losses))
    parts.append(_smoothers(losses))
    parts.append(_ours(losses))
    parts.append(_ranks(losses, folder))
    parts.append(_averages(losses))
    for score in ("rmse", "zero_one"):
        parts.append(_table(losses, score))
    parts.append(_times(losses))
    return "\n".join(part for part in parts if part)


def _compared(losses: Losses, first: str, second: str, tails: Tails = 2) -> tuple[WinDrawLoss, float, float] | None:
    """The sign test on the data sets that both have, and the averages."""
    both = [name for name in losses.get(first, {}) if name in losses.get(second, {})]
    if not both:
        return None
    a, b = ([float(losses[m][name]["rmse"]) for name in both] for m in (first, second))
    return sign_test(a, b, DRAW, tails), float(np.mean(a)), float(np.mean(b))


def findings(rows: Sequence[Row]) -> list[Finding]:
    """The claims, judged on these rows alone."""
    losses: dict[str, dict[str, Any]] = {}
    for row in rows:
        if row["status"] == "done":
            losses.setdefault(row["cell"]["method"], {})[row["cell"]["dataset"]] = row["result"]
    claims = [Claim(text, "rmse", pairs) for text, pairs in CLAIMS]
    return judged("HDP, ESKDB", _with_gains(losses), claims, DRAW, tails=1)


def _claims(rows: Sequence[Row], losses: Losses) -> str:
    found = findings(rows)
    if not found:
        return ""
    losses, known = _with_gains(losses), _with_gains(published())
    details = []
    for text, pairs in CLAIMS:
        for first, second in pairs:
            here, there = _compared(losses, first, second, 1), _compared(known, first, second, 1)
            if here is not None:
                test, a, b = here
                beside = [str(there[0]), f"{there[0].p:.2g}"] if there is not None else ["", ""]
                line = [text, f"{first} against {second}", str(test), f"{test.p:.2g}", f"{a:.4f} / {b:.4f}"]
                details.append([*line, *beside])
    head = ["claim", "methods", "win-draw-loss", "p", "averages", "published code", "p"]
    return (
        "## Claims of the literature\n\n"
        "By RMSE; one-tailed sign tests at 5 %, as in the thesis; differences of at most .0001 are draws. Beside ours "
        "stands what the published code's own results say, on its own folds, where they are there.\n\n"
        f"{summary(found)}\n{table(head, details)}"
    )


def _with_gains(losses: Losses) -> Losses:
    """With the differences that `gain` names."""
    found = dict(losses)
    for structure in ("KDB1", "KDB3", "KDB5"):
        hdp, m = losses.get(f"{structure}-hdp", {}), losses.get(f"{structure}-m", {})
        both = {name: {"rmse": hdp[name]["rmse"] - m[name]["rmse"]} for name in hdp if name in m}
        if both:
            found[gain(structure)] = both
    return found


def _smoothers(losses: Losses) -> str:
    """Every smoother against the m-estimate, structure by structure."""
    body = []
    for structure in SMOOTHED:
        line = [structure]
        for smoother in ("hdp", "hierarchical", "gradient"):
            found = _compared(losses, f"{structure}-{smoother}", f"{structure}-m")
            line += [str(found[0]), f"{found[0].p:.2g}", f"{found[1] - found[2]:+.4f}"] if found else ["", "", ""]
        if any(line[1:]):
            body.append(line)
    if not body:
        return ""
    head = ["structure", "hdp : m", "p", "difference", "hierarchical : m", "p", "difference", "gradient : m", "p",
            "difference"]  # fmt: skip
    return (
        "## Smoothers\n\nWin-draw-loss by RMSE against the m-estimate, p of the sign test, and the difference of the "
        f"averages.\n\n{table(head, body)}"
    )


def _averages(losses: Losses) -> str:
    """All scores of the methods that were tried on the most data sets."""
    methods, sets = _everywhere(losses)
    if not sets:
        return ""
    several = [name for name in sets if all(losses[m][name].get("bias") is not None for m in methods)]
    body = []
    for m in methods:
        line = [m]
        for score in ("rmse", "zero_one", "log_loss", "brier", "auc", "ece", "bias", "variance"):
            values = [losses[m][name].get(score) for name in (several if score in ("bias", "variance") else sets)]
            known = [float(v) for v in values if v is not None]
            line.append(f"{np.mean(known):.4f}" if known and len(known) == len(values) else "")
        body.append(line)
    note = (
        f"Means over {len(sets)} data sets, of bias and variance over the {len(several)} with several rounds. No log "
    )
    note += "loss: somewhere a class that came had probability 0."
    head = ["method", "RMSE", "0/1", "log loss", "Brier", "AUC", "ECE", "bias", "variance"]
    return f"## Averages\n\n{note}\n\n" + table(head, body)


def _everywhere(losses: Losses) -> tuple[list[str], list[str]]:
    """The methods that were tried on the most data sets, and the data sets that all of these have."""
    widest = max((len(found) for found in losses.values()), default=0)
    methods = [m for m, found in losses.items() if len(found) == widest]
    return methods, sorted(set.intersection(*(set(losses[m]) for m in methods))) if methods else []


def _ours(losses: Losses) -> str:
    body = []
    for first, second in OURS:
        found = _compared(losses, first, second)
        if found is not None:
            test, a, b = found
            wins = test.wins + test.draws
            share = f"{wins} of {wins + test.losses}"
            body.append([f"{first} against {second}", str(test), f"{test.p:.2g}", share, f"{a:.4f} / {b:.4f}"])
    if not body:
        return ""
    head = ["methods", "win-draw-loss", "p", "not worse on", "averages"]
    return (
        "## optbn's ensemble\n\nESKDB as optbn ships it (ten members; random cuts, stacked and calibrated by rows left "
        "out), beside the published one (ESKDB10: uniform average, well seeded) and its competitors, by RMSE.\n\n"
        f"{table(head, body)}"
    )


def published() -> Losses:
    """Results of the published code and of competitors on its folds, under our names; nothing where they are not."""
    root = os.environ.get("OPTBN_DATA")
    folder = Path(root or ".").parent / "golden" / "bnc"
    if not root or not folder.is_dir():
        return {}
    code, peers = (json.loads((folder / name).read_text()) for name in ("bnc_java_results.json", "peers.json"))
    found: dict[str, dict[str, Any]] = {}
    for ours, theirs in PUBLISHED.items():
        for name, results in code.items():
            result = results.get(theirs) or peers.get(name, {}).get("models", {}).get(theirs)
            if result and "fail" not in result:
                found.setdefault(ours, {})[name] = result
    return found


def _table(losses: Losses, score: str) -> str:
    sets = list(dict.fromkeys(name for found in losses.values() for name in found))
    least = {name: min(found[name][score] for found in losses.values() if name in found) for name in sets}
    body = [[m, *(_bold(found, name, score, least) for name in sets)] for m, found in losses.items()]
    return f"## {score}\n\nThe best of a column is bold.\n\n" + table(["method", *sets], body)


def _bold(found: Mapping[str, Any], name: str, score: str, least: Mapping[str, float]) -> str:
    if name not in found:
        return ""
    value = found[name][score]
    return f"**{value:.4f}**" if value <= least[name] + 5e-5 else f"{value:.4f}"


def _ranks(losses: Losses, folder: Path) -> str:
    """Friedman ranks twice: of as many methods as possible, and on as many data sets as possible."""
    tried = {name: sum(name in found for found in losses.values()) for found in losses.values() for name in found}
    if not tried:
        return ""
    most = max(tried.values())
    complete = sorted(name for name, methods in tried.items() if methods >= most - 1)  # one method may fail somewhere
    everywhere, wide = _everywhere(losses)
    parts = [_ranked(losses, [m for m in losses if set(complete) <= set(losses[m])], complete, folder / "ranks.svg")]
    if len(wide) > len(complete):
        parts.append(_ranked(losses, everywhere, wide, folder / "ranks-wide.svg"))
    parts = [part for part in parts if part]
    return "## Ranks\n\n" + "\n".join(parts) if parts else ""


def _ranked(losses: Losses, methods: Sequence[str], sets: Sequence[str], path: Path) -> str:
    from optbn.evaluate.significance import difference_diagram, friedman

    if len(methods) < 2 or len(sets) < 3:
        return ""
    test = friedman({m: [losses[m][name]["rmse"] for name in sets] for m in methods})
    body = [
        [m, f"{rank:.2f}", f"{np.mean([losses[m][name]['rmse'] for name in sets]):.4f}"]
        for m, rank in sorted(zip(test.methods, test.ranks, strict=True), key=lambda item: item[1])
    ]
    text = f"{len(methods)} methods by RMSE on {len(sets)} data sets; Friedman p = {test.p:.2g}, critical difference "
    text += f"{test.critical_difference:.2f}.\n\n{table(['method', 'rank', 'average RMSE'], body)}"
    try:
        difference_diagram(test, str(path))
    except ImportError:
        return text
    return text + f"\n![critical differences]({path.name})\n"


def _times(losses: Losses) -> str:
    body = [
        [m, str(len(found)), f"{_mean(found, 'train_seconds'):.3f}", f"{_mean(found, 'predict_seconds'):.3f}"]
        for m, found in losses.items()
    ]
    return "## CPU seconds per fold\n\nMeans over the data sets of each method.\n\n" + table(
        ["method", "data sets", "training", "prediction"], body
    )


def _mean(found: Mapping[str, Any], key: str) -> float:
    return float(np.mean([result[key] for result in found.values()]))
