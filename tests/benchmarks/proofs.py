"""The shared instances, each with the evidence for its optimum: of what kind, how large, how long the check takes.

CPU seconds of reading and search, as `optbn solve` does by default; where that leaves a claim, with --certify. The
check is measured again alone; then the proof for VeriPB, where the evidence has one.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections import Counter
from collections.abc import Iterator

from optbn_solvers import Budget, ScoreTable, Solution, solve
from optbn_solvers.base.errors import NoProofError
from optbn_solvers.base.files import read_table
from optbn_solvers.base.solution import Evidence, Exhausted, Parts, RowBound, Tree
from optbn_solvers.base.solution_json import to_json
from optbn_solvers.base.standing import Standing, standing
from optbn_solvers.front.checked import checked
from optbn_solvers.front.exported import export
from tests.benchmarks import Figure
from tests.paths import shared_neighbour

LIMIT = 120.0  # for an instance
SHORT = 20.0  # for a tree where the checker searched itself
KINDS = {RowBound: "rows", Tree: "tree", Exhausted: "the checker's own search"}


def measure() -> Iterator[Figure]:
    """A line per instance and the count."""
    folder = shared_neighbour("golden", "solver")
    optima = json.loads((folder / "optima.json").read_text())
    names = sorted(name for name, entry in optima.items() if entry["optimum"] is not None)
    names.sort(key=lambda name: (folder / f"{name}.jkl").stat().st_size)
    proved, slowest = 0, 0.0
    for name in names:
        begun = time.process_time()
        table = read_table(folder / f"{name}.jkl")
        reading = time.process_time() - begun
        solve(table, "auto", Budget(cpu=LIMIT))  # code is loaded
        begun = time.process_time()
        answer = solve(table, "auto", Budget(cpu=LIMIT))
        certify = standing(answer) is not Standing.PROVED
        if certify:
            begun = time.process_time()
            answer = solve(table, "auto", Budget(cpu=LIMIT), thorough=True)
        seconds = time.process_time() - begun
        what = standing(answer)
        proved += what is Standing.PROVED
        assert answer.score is not None and abs(answer.score - optima[name]["optimum"]) < 1e-4
        begun = time.process_time()
        checked(table, answer, Budget())
        check = time.process_time() - begun
        seconds += reading - check
        slowest = max(slowest, check / seconds)
        size = len(to_json(table, answer)) / 1e6
        evidence = kinds(answer.evidence) if what is Standing.PROVED else "a claim"
        how = f"{what} with --certify" if certify else str(what)
        yield Figure(
            name,
            seconds,
            note=f"{how}: {evidence}; answer {size:.3g} MB, check {check:.2g} s; {exported(table, answer)}",
        )
    yield Figure("checking, at most, as a part of reading and search", slowest, 0.5, unit="")
    yield Figure(f"optima without a checked proof, of {len(names)}", len(names) - proved, 0, 0, unit="")


def exported(table: ScoreTable, answer: Solution) -> str:
    """The size of the proof for VeriPB, and how long it takes to write."""
    begun = time.process_time()
    with tempfile.TemporaryFile("w") as problem, tempfile.TemporaryFile("w") as proof:
        try:
            export(table, answer, problem, proof, SHORT)
        except NoProofError:
            return "no VeriPB proof of such evidence"
        return f"for VeriPB {proof.tell() / 1e6:.3g} MB in {time.process_time() - begun:.2g} s"


def kinds(evidence: Evidence | None) -> str:
    """What the evidence is made of."""
    parts = [part.evidence for part in evidence.parts] if isinstance(evidence, Parts) else [evidence]
    counts = Counter(KINDS.get(type(part), "none needed") for part in parts)
    return ", ".join(f"{kind} ({count})" if count > 1 else kind for kind, count in counts.items())
