"""A new solver is one file and one line: a toy limited to eight variables passes the conformance tests as they are."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
TOY = '''
"""Dictionaries over the subsets of eight variables: the best graph on each, from those with one variable less."""

from dataclasses import dataclass
from typing import ClassVar

from optbn_solvers.base.protocol import Capabilities
from optbn_solvers.base.run import Run
from optbn_solvers.base.solution import Exhausted
from optbn_solvers.front.registry import SOLVERS


@dataclass(frozen=True)
class Toy:
    capabilities: ClassVar = Capabilities("toy", largest=8)

    def solve(self, table, budget=None, start=None, progress=None):
        run = Run(self, table, budget, start, progress)
        sets = [sum(1 << u for u in table.parents(row)) for row in range(len(table))]
        best = {0: (0, ())}  # by subset: units, rows
        for subset in range(1, 1 << table.n):
            if run.budget.exhausted():
                return run.solution()
            for last in range(table.n):
                before = subset & ~(1 << last)
                if before == subset or before not in best:
                    continue
                row = next((row for row in table.rows(last) if not sets[row] & ~before), None)
                if row is not None:
                    units, rows = best[before]
                    found = units + int(table.units[row]), (*rows, row)
                    best[subset] = max(best.get(subset, found), found)
        run.settle(sorted(best[subset][1]))
        run.report()
        return run.solution(Exhausted("all subsets"))


SOLVERS["toy"] = "toy:Toy"
'''


def test_a_toy_solver_passes_the_conformance_tests(tmp_path):
    (tmp_path / "toy.py").write_text(TOY)
    files = [str(ROOT / "tests" / "solvers" / f"test_{name}.py") for name in ("conformance", "constraints", "start")]
    command = [sys.executable, "-m", "pytest", "-x", "-p", "toy", "-p", "no:cacheprovider", "-k", "toy", *files]
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout[-3000:]
    assert " passed" in ended.stdout and "failed" not in ended.stdout
