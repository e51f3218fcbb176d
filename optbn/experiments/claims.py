"""What a comparison of methods on many data sets says of claims: sign tests, verdicts, ranks.

A claim is a sentence, a score (smaller is better) and pairs of methods of which the first is said to be better. It is
reproduced when the first wins significantly more often (two-tailed sign test, p <= .05), contradicted when it loses
significantly more often, and otherwise not decided.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from optbn.report.tables import table

Results = Mapping[str, Mapping[str, Mapping[str, Any]]]
"""method -> data set -> score -> value."""


class Claim(NamedTuple):
    """first is said to have less of `score` than second, in every pair."""

    text: str
    score: str
    pairs: Sequence[tuple[str, str]]


def verdicts(results: Results, claims: Sequence[Claim], tolerance: float = 1e-4) -> str:
    """A table of all claims; differences of at most `tolerance` times the larger of 1 and the second are draws."""
    from optbn.evaluate.significance import sign_test

    body = []
    for claim in claims:
        for first, second in claim.pairs:
            a, b = paired(results, first, second, claim.score)
            if not len(a):
                continue
            unit = np.maximum(1.0, np.abs(b))
            test = sign_test(a / unit, b / unit, tolerance)
            verdict = "not decided"
            if test.p <= 0.05:
                verdict = "reproduced" if test.wins > test.losses else "the opposite"
            means = f"{np.mean(a):.4g} / {np.mean(b):.4g}"
            body.append([claim.text, claim.score, f"{first} : {second}", str(test), f"{test.p:.2g}", means, verdict])
    head = ["claim", "score", "methods", "win-draw-loss", "p", "averages", "here"]
    return table(head, body) if body else "Nothing to compare yet.\n"


def paired(results: Results, first: str, second: str, score: str) -> tuple[Any, Any]:
    """The score of two methods on the data sets for which both have it."""
    both = [
        name
        for name in results.get(first, {})
        if results[first][name].get(score) is not None and results.get(second, {}).get(name, {}).get(score) is not None
    ]
    return tuple(np.array([results[m][name][score] for name in both], dtype=np.float64) for m in (first, second))  # type: ignore[return-value]


def ranks(results: Results, methods: Sequence[str], score: str, folder: Path, picture: str) -> str:
    """Friedman ranks on the data sets that all the methods have, with a critical-difference diagram in the folder."""
    from optbn.evaluate.significance import difference_diagram, friedman

    methods = [m for m in methods if m in results]
    if len(methods) < 2:
        return ""
    shared = [name for name in results[methods[0]] if all(name in results[m] for m in methods)]
    if len(shared) < 3:
        return ""
    losses = {m: [results[m][name][score] for name in shared] for m in methods}
    test = friedman(losses)
    body = [
        [m, f"{rank:.2f}", f"{np.mean(losses[m]):.4f}"]
        for m, rank in sorted(zip(test.methods, test.ranks, strict=True), key=lambda item: item[1])
    ]
    text = f"By {score} on {len(shared)} data sets; Friedman p = {test.p:.2g}, critical difference "
    text += f"{test.critical_difference:.2f}.\n\n{table(['method', 'rank', f'average {score}'], body)}"
    try:
        difference_diagram(test, str(folder / picture))
    except ImportError:
        return text
    return text + f"\n![critical differences]({picture})\n"
