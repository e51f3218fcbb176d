"""The page of all claims: `python -m results` computes every verdict from the rows and writes results/README.md.

`python -m results --reports` writes the README of every study again as well.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from optbn.experiments import runner
from optbn.experiments.code import digest_of
from optbn.experiments.spec import read
from optbn.experiments.verdicts import Verdict
from optbn.report.tables import table

HERE = Path(__file__).parent


def main(reports: bool) -> None:
    """Read every study's rows once, and write."""
    body: list[list[str]] = []
    verdicts: Counter[Verdict] = Counter()
    studies = []
    for spec in sorted(HERE.glob("**/spec.toml")):
        experiment, folder = read(spec), spec.parent
        rows = runner.rows(experiment, folder)
        if not rows:
            continue
        name = folder.relative_to(HERE).as_posix()
        if reports:
            runner.report(experiment, folder)
        cells = len(experiment.cells())
        own = [row for row in rows if "study" not in row]
        today = sum(row.get("code") == digest_of(experiment.task) for row in own)
        done = sum(row["status"] == "done" for row in own)
        studies.append([f"[{name}]({name}/README.md)", str(cells), str(done), str(len(own) - done), str(today)])
        for found in getattr(experiment.module(), "findings", lambda rows: [])(rows):
            verdicts[found.verdict] += 1
            body.append([found.paper, found.claim, f"**{found.verdict}**", found.figure, f"[{name}]({name}/README.md)"])
    counted = ", ".join(f"{word} {verdicts[word]}" for word in Verdict)
    text = (
        "# The claims, and what our rows say\n\nWritten by `python -m results` from the rows of the studies; no verdict"
        " was typed by hand. `optbn bench results/<study>/spec.toml` runs what a study lacks, `--refresh` what is of"
        " other code, and optbn/experiments/verdicts.py says what the verdicts mean.\n\n"
        f"{sum(verdicts.values())} claims: {counted}.\n\n"
        f"{table(['paper', 'claim', 'verdict', 'figure', 'study'], body)}\n## The studies\n\n"
        "Of code: the rows that were made by the code as it was when this page was written.\n\n"
        f"{table(['study', 'cells', 'done', 'failed', 'of that code'], studies)}"
    )
    (HERE / "README.md").write_text(text)
    sys.stdout.write(f"{HERE / 'README.md'}: {counted}\n")


if __name__ == "__main__":
    main("--reports" in sys.argv[1:])
