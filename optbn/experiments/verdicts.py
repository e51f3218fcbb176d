"""What rows say of claims: verdicts that are computed, with their power.

A claim says that a method has less of something (a loss, a distance, seconds) than another, for one or several pairs of
methods or settings; or that two do not differ. Each comparison is a paired test, and a claim is

agrees          every comparison is significant on the claim's side (for "no difference": none is significant)
agrees in part  some are, others are not
the opposite    some are significant on the other side (for "no difference": on either), and none on the claim's
cannot be told  none is significant, or there are too few pairs for any to be

The least p that n pairs can reach, whatever they say, is 2^(1 - n) two-tailed: .0625 with five, .00195 with ten. Where
a paper's own tests are one-tailed, so are ours of its claims (tails=1): half the p, on whichever side has more wins.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from optbn.evaluate.significance import difference_diagram, friedman, sign_test, wilcoxon
from optbn.report.tables import table

Results = Mapping[str, Mapping[str, Mapping[str, Any]]]
"""method -> data set -> score -> value."""

LEVEL = 0.05

Tails = Literal[1, 2]


class Verdict(StrEnum):
    """What the rows say of a claim."""

    AGREES = "agrees"
    IN_PART = "agrees in part"
    OPPOSITE = "the opposite"
    CANNOT_TELL = "cannot be told"


@dataclass(frozen=True)
class Compared:
    """One paired test: the mean of first - second, p, the number of pairs; `words` are for reports."""

    difference: float
    p: float
    pairs: int
    words: str
    tails: Tails = 2

    @property
    def least_p(self) -> float:
        """What p would be if every pair agreed."""
        return min(1.0, self.tails * 2.0**-self.pairs)


@dataclass(frozen=True)
class Finding:
    """A claim of a paper with what the rows say of it; `figure` are the numbers, in words."""

    paper: str
    claim: str
    verdict: Verdict
    figure: str


class Claim(NamedTuple):
    """The claim that `first` has less of `score` than `second`, in every pair."""

    text: str
    score: str
    pairs: Sequence[tuple[str, str]]


def wilcoxon_of(first: ArrayLike, second: ArrayLike) -> Compared:
    """By the paired Wilcoxon test."""
    difference = float(np.mean(np.subtract(first, second)))
    p, pairs = wilcoxon(first, second), len(np.asarray(first))
    return Compared(difference, p, pairs, f"{difference:+.2f} over {pairs} pairs (p = {p:.2g})")


def signs_of(first: Any, second: Any, tolerance: float = 1e-4, tails: Tails = 2) -> Compared:
    """By the sign test; differences of at most `tolerance` times the larger of 1 and the second are draws."""
    unit = np.maximum(1.0, np.abs(second))
    test = sign_test(first / unit, second / unit, tolerance, tails)
    # the side of a sign test is that of its wins, which need not be that of the mean
    return Compared(float(test.losses - test.wins), test.p, len(first), f"{test} (p = {test.p:.2g})", tails)


def less(tests: Sequence[Compared], level: float = LEVEL) -> Verdict:
    """Of the claim that first is less than second in every test."""
    agree = sum(test.p < level and test.difference < 0 for test in tests)
    against = sum(test.p < level and test.difference > 0 for test in tests)
    if tests and agree == len(tests):
        return Verdict.AGREES
    if agree:
        return Verdict.IN_PART
    return Verdict.OPPOSITE if against else Verdict.CANNOT_TELL


def alike(tests: Sequence[Compared], level: float = LEVEL) -> Verdict:
    """Of the claim that the two do not differ significantly in any test."""
    differ = sum(test.p < level for test in tests)
    able = [test for test in tests if test.least_p < level]
    if not able:
        return Verdict.CANNOT_TELL
    if not differ:
        return Verdict.AGREES
    return Verdict.OPPOSITE if 2 * differ >= len(able) else Verdict.IN_PART


def power(tests: Sequence[Compared], level: float = LEVEL) -> str:
    """A remark where tests have too few pairs to be significant; empty where all have enough."""
    weak = [test for test in tests if test.least_p >= level]
    if not weak:
        return ""
    weakest = min(weak, key=lambda test: test.pairs)
    return (
        f"; {len(weak)} of {len(tests)} tests cannot reach {level:g}: with {weakest.pairs} pairs the least p is "
        f"{weakest.least_p:.3g}"
    )


def findings(
    paper: str, results: Results, claims: Sequence[Claim], tolerance: float = 1e-4, tails: Tails = 2
) -> list[Finding]:
    """Of claims about methods on data sets, by sign tests; claims of which nothing was run are left out."""
    found = []
    for claim in claims:
        both = [paired(results, *pair, claim.score) for pair in claim.pairs]
        tests = [signs_of(first, second, tolerance, tails) for first, second in both if len(first)]
        if tests:
            count = sum(test.p < LEVEL and test.difference < 0 for test in tests)
            figure = tests[0].words if len(tests) == 1 else f"{count} of {len(tests)} comparisons"
            found.append(Finding(paper, claim.text, less(tests), figure + power(tests)))
    return found


def verdicts(results: Results, claims: Sequence[Claim], tolerance: float = 1e-4, tails: Tails = 2) -> str:
    """A table of all comparisons of all claims (see `signs_of`)."""
    body = []
    for claim in claims:
        for first, second in claim.pairs:
            a, b = paired(results, first, second, claim.score)
            if len(a):
                test = signs_of(a, b, tolerance, tails)
                means = f"{np.mean(a):.4g} / {np.mean(b):.4g}"
                body.append([claim.text, claim.score, f"{first} : {second}", test.words, means, less([test])])
    head = ["claim", "score", "methods", "win-draw-loss", "averages", "here"]
    return table(head, body) if body else "Nothing to compare yet.\n"


def summary(found: Sequence[Finding]) -> str:
    """The table of a study's findings."""
    return table(["claim", "verdict", "figure"], [[f.claim, f"**{f.verdict}**", f.figure] for f in found])


def paired(results: Results, first: str, second: str, score: str) -> tuple[Any, Any]:
    """The score of two methods on the data sets for which both have it."""
    both = [
        name
        for name in results.get(first, {})
        if results[first][name].get(score) is not None and results.get(second, {}).get(name, {}).get(score) is not None
    ]
    return tuple(np.array([results[m][name][score] for name in both], dtype=np.float64) for m in (first, second))  # type: ignore[return-value]


def ranks(
    results: Results, methods: Sequence[str], score: str, folder: Path, picture: str, units: str = "data sets"
) -> str:
    """Friedman ranks on the units that all the methods have, with a critical-difference diagram in the folder."""
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
    text = f"By {score} on {len(shared)} {units}; Friedman p = {test.p:.2g}, critical difference "
    text += f"{test.critical_difference:.2f}.\n\n{table(['method', 'rank', f'average {score}'], body)}"
    try:
        difference_diagram(test, str(folder / picture))
    except ImportError:
        return text
    return text + f"\n![critical differences]({picture})\n"
