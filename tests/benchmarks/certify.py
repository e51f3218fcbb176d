"""Certificates of alarm, 1,000 rows, at most 3 parents: CPU time against that of scoring, and what is left open.

The certificate's time has everything in it: constants, counts, intervals of all 288,859 families, the evidence. The
last lines are the program that checks the file (tests/certificate.py) on two of them.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import optbn
from optbn.certify.certificate import certify, to_json
from optbn.certify.definition import definition_of
from optbn.learning.solving import solve
from optbn.scores import load_score
from tests import certificate as program
from tests.benchmarks import Figure, cpu_seconds

CHECKED = ("bdeu", "bic")  # by plain Python in a minute or less; trees take it hours


def measure() -> Iterator[Figure]:
    data = optbn.load_network("alarm").sample(1000, 1)
    made = {}
    for score in ("bdeu", "bic", "pcart", "pcartp"):
        table = optbn.score_table(data, score, 3, jobs=1)
        answer = solve(table)
        assert answer.choice is not None
        question = definition_of(repr(load_score(score))), 3, table.graph(answer.choice)
        known = answer.score, answer.evidence, table.exponent
        made[score] = certify(data, *question, *known)
        scoring = cpu_seconds(lambda score=score: optbn.score_table(data, score, 3, jobs=1))
        seconds = cpu_seconds(lambda question=question, known=known: certify(data, *question, *known))
        note = f"{seconds:.3g} s, scoring {scoring:.3g} s; epsilon {made[score].epsilon:.2g}"
        yield Figure(f"certify {score}, of scoring", seconds / scoring, 5, unit="x", note=note)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "alarm.csv"
        optbn.write(data, path)
        for score in CHECKED:
            text = to_json(made[score])
            begun = time.process_time()
            program.check(str(path), json.loads(text))
            yield Figure(
                f"another program checks {score}", time.process_time() - begun, note=f"{len(text) / 1e6:.3g} MB"
            )
