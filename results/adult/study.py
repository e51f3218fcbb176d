"""Adult from few rows to many: accuracy, AUC and time of TAN with every smoother, as in the paper's Fig. 9.

Rows are drawn to train from and 5,000 others to test on; numbers are cut into five intervals of equal frequency in the
training rows. `hierarchical s=K` has the paper's strength and prior. Seconds are CPU, of the whole fit; the tree, which
all smoothers share, is included.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from optbn.experiments.verdicts import Claim, Finding, summary
from optbn.experiments.verdicts import findings as judged
from optbn.report.tables import Series, curves, table
from results.classifiers.datasets import labelled
from results.smoothing.methods import made

Row = Mapping[str, Any]
PUBLISHED = "hierarchical s=K"
SMOOTHERS = ("bdeu 1", "bdeu 10", "m 1", "gradient", "hdp", "hierarchical", PUBLISHED)
SCORES = {"error": "accuracy", "auc_loss": "AUC", "seconds": "CPU seconds"}


def cell(rows: int, repeat: int, data: str, test: int) -> dict[str, Any]:
    """Error, 1 - AUC and seconds by smoother."""
    from sklearn.metrics import roc_auc_score

    from optbn.classifiers.tan import TAN
    from optbn.data.discretise.equal_frequency import EqualFrequency
    from optbn.smoothing.hierarchical import Hierarchical

    X, y = labelled("adult", data)
    order = np.random.default_rng(zlib.crc32(f"adult {rows} {repeat}".encode())).permutation(len(y))
    inside, outside = order[:rows], order[rows : rows + test]
    found = {}
    for name in SMOOTHERS:
        smoother = Hierarchical("levels", alpha0=1.0) if name == PUBLISHED else made(name)
        model = TAN(smoother, EqualFrequency(5), random_state=repeat)
        start = time.process_time()
        model.fit(X.iloc[inside], y[inside])
        seconds = time.process_time() - start
        p = model.predict_proba(X.iloc[outside])
        auc = float(roc_auc_score(y[outside] == model.classes_[1], p[:, 1]))
        error = float((model.classes_[p.argmax(axis=1)] != y[outside]).mean())
        found[name] = {"error": error, "auc_loss": 1.0 - auc, "seconds": seconds}
    return found


def findings(rows: Sequence[Row]) -> list[Finding]:
    """The paper's claim and ours, by sign tests over samples."""
    results = {m: {str(row["cell"]): row["result"][m] for row in rows if row["status"] == "done"} for m in SMOOTHERS}
    claims = [
        Claim(f"On Adult {first} has more {words} than {' and '.join(others)}", score, [(first, o) for o in others])
        for score, words in (("error", "accuracy"), ("auc_loss", "AUC"))
        for first, others in ((PUBLISHED, ("bdeu 1", "bdeu 10")), ("hierarchical", (PUBLISHED,)))
    ]
    return judged("hierarchical", results, claims)


def report(rows: Sequence[Row], folder: Path) -> str:
    """A table by rows of each measure, and curves."""
    done = [row for row in rows if row["status"] == "done"]
    sizes = sorted({row["cell"]["rows"] for row in done})
    parts, series = ["## Claims\n\n" + summary(findings(rows))], Series()
    for score, words in SCORES.items():
        body = []
        middle = np.median if score == "seconds" else np.mean  # the first fit of all compiles
        for n in sizes:
            some = [row["result"] for row in done if row["cell"]["rows"] == n]
            means = {m: float(middle([result[m][score] for result in some])) for m in SMOOTHERS}
            least = min(means.values())
            shown = {m: v if score == "seconds" else 1.0 - v for m, v in means.items()}
            body.append(
                [str(n), *(f"**{shown[m]:.4f}**" if means[m] == least else f"{shown[m]:.4f}" for m in SMOOTHERS)]
            )
            for m in SMOOTHERS:
                series.setdefault((words, m), []).append((n, shown[m]))
        parts.append(
            f"## {words[0].upper()}{words[1:]}\n\nMeans (of seconds medians); the best in bold.\n\n"
            + table(["rows", *SMOOTHERS], body)
        )
    curves(folder / "curves.svg", {key: of for key, of in series.items() if key[0] != "CPU seconds"}, "rows", "")
    return "\n".join([*parts, "![curves](curves.svg)\n"])
