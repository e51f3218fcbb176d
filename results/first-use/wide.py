"""Tables with wide columns through the default command; wide.txt has each command with what it printed.

    OPTBN_DATA=... python results/first-use/wide.py [--time-limit 60]

mildew and barley are sampled from the published networks. The others stand in for data sets that are not free to keep
here: as many columns of the same kinds, levels and gaps, drawn from a chain of dependencies.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import optbn

HERE = Path(__file__).parent
REAL = 0  # in place of a number of levels

SHAPES: dict[str, tuple[int, list[int], float]] = {
    "bank-marketing-like": (10_000, [REAL, 12, 3, 4, 2, REAL, 2, 2, 3, 31, 12, REAL, REAL, REAL, REAL, 4, 2], 0.0),
    "credit-approval-like": (690, [2, REAL, REAL, 3, 3, 14, 9, REAL, 2, 2, REAL, 2, 3, REAL, REAL, 2], 0.01),
    "census-income-like": (
        20_000,
        [REAL, 9, 52, 47, 17, REAL, 3, 7, 24, 15, 5, 10, 2, 3, 6, 8, REAL, REAL, REAL, 6, 6, 51, 38, 8, 10, 9, 10, 3, 4,
         REAL, 5, 43, 43, 43, 5, 3, 3, 3, REAL, 2, 2],
        0.02,
    ),
    "diabetes-130-like": (
        20_000,
        [6, 3, 10, 9, 8, 26, 17, REAL, 18, 73, REAL, REAL, REAL, REAL, REAL, REAL, 700, 720, 750, REAL, 4, 4, *[4] * 20,
         2, 2, 3],
        0.05,
    ),
}  # fmt: skip


def table(path: Path, rows: int, sizes: list[int], gaps: float) -> None:
    """Each column depends on the one before it; numbers are never negative and skewed, levels as frequent as words."""
    rng = np.random.default_rng(1)
    before, columns = np.zeros(rows), []
    for size in sizes:
        mixed = 0.6 * before + rng.normal(size=rows)
        if size == REAL:
            texts = np.round(np.exp(2 + 0.8 * mixed)).astype(int).astype(str)
        else:
            shares = np.cumsum(1 / np.arange(1, size + 1))
            ranks = np.argsort(np.argsort(mixed)) / rows
            texts = np.char.add("l", np.searchsorted(shares / shares[-1], ranks).clip(0, size - 1).astype(str))
        columns.append(np.where(rng.random(rows) < gaps, "", texts))
        before = mixed
    names = ",".join(f"c{i}" for i in range(1, len(sizes) + 1))
    path.write_text("\n".join([names, *map(",".join, zip(*columns, strict=True))]) + "\n")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, (HERE / "wide.txt").open("w") as log:
        for name in ("mildew", "barley"):
            optbn.write(
                optbn.read_network(Path(os.environ["OPTBN_DATA"]) / f"networks/{name}.bif").sample(2000, 1),
                Path(folder) / f"{name}.csv",
            )
        for name, shape in SHAPES.items():
            table(Path(folder) / f"{name}.csv", *shape)
        for name in ("mildew", "barley", *SHAPES):
            begin = time.perf_counter()
            done = subprocess.run(
                [sys.executable, "-m", "optbn", "learn", f"{name}.csv", *sys.argv[1:]],
                cwd=folder,
                capture_output=True,
                text=True,
            )
            shown = (done.stdout.partition("\narcs,")[0] + done.stderr).strip()
            last = [line for line in done.stdout.splitlines() if line.startswith("time:")]
            more = " ".join(sys.argv[1:])
            print(
                f"$ optbn learn {name}.csv {more}".rstrip(),
                shown,
                *last,
                f"exit {done.returncode}, {time.perf_counter() - begin:.0f} s\n",
                sep="\n",
                file=log,
                flush=True,
            )


main()
