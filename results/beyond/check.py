"""Whether soft networks predict as well as when the study was run: `python -m results.beyond.check`, six CPU minutes.

Ten sets as the study has them, with the code as it is, and once more with other random numbers:
the difference from the stored rows is to be judged beside what random numbers do. Lower is better.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

from optbn.classifiers import load_classifier
from optbn.report.tables import table
from results.beyond import study

SETS = ("glass", "vehicle", "german", "wine", "segment", "spambase", "yeast", "tic-tac-toe", "splice", "hepatitis")
ROUNDS = 5


def stored(method: str) -> dict[str, dict[str, float]]:
    """The study's results by data set, of at most 4,000 rows."""
    rows = map(json.loads, (Path(__file__).parent / "rows.jsonl").read_text().splitlines())
    done = [row for row in rows if row["status"] == "done"]
    return {
        row["cell"]["dataset"]: row["result"]
        for row in done
        if row["cell"]["method"] == method and row["cell"]["most"] == 4000
    }


def now(method: str, dataset: str, seed: int) -> dict[str, Any]:
    """The cell of the study with the code as it is and other random numbers."""
    made = study.made
    study.made = lambda name, X: load_classifier(study.OURS[name], random_state=seed)
    try:
        return study.cell(dataset, method, 4000, os.path.join(os.environ["OPTBN_DATA"], "datasets"), ROUNDS)
    finally:
        study.made = made


def main(methods: list[str]) -> None:
    """A table for each method."""
    for method in methods or ["SoftESKDB", "Blend"]:
        before, body, differences = stored(method), [], []
        for dataset in SETS:
            first, second = now(method, dataset, 0), now(method, dataset, 1)
            losses = [(each["rmse"], each["log_loss"]) for each in (before[dataset], first, second)]
            differences.append([*np.subtract(losses[1], losses[0]), *np.subtract(losses[2], losses[1])])
            body.append([dataset, *(f"{x:.4f}" for pair in losses for x in pair)])
        head = ["data set", "RMSE stored", "log loss", "RMSE now", "log loss", "RMSE, other numbers", "log loss"]
        sys.stdout.write(f"{method}\n\n{table(head, body)}\n")
        mean, spread = np.mean(differences, axis=0), np.std(differences, axis=0) / np.sqrt(len(SETS))
        for name, k in (("now less stored", 0), ("other random numbers less now", 2)):
            rmse, nats = (f"{mean[j]:+.4f} +- {spread[j]:.4f}" for j in (k, k + 1))
            sys.stdout.write(f"{name}: RMSE {rmse}, log loss {nats}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
