"""`python -m tests.faults --times 200 [JOB ..]`: kill the jobs so many times in all, and print what was seen."""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from pathlib import Path

import numpy as np

from tests.faults.jobs import JOBS


def loop(name: str, times: int, seed: int, folder: Path) -> tuple[int, int, float]:
    """(kills, runs that got through, seconds undisturbed); raises when anything is not as it must be."""
    job = JOBS[name]
    rng = np.random.default_rng(seed)
    fresh, work = folder / "fresh", folder / "work"
    fresh.mkdir()
    job.prepare(fresh)
    shutil.copytree(fresh, folder / "warm")
    job.run(folder / "warm")  # compiles
    shutil.copytree(fresh, work)
    expected, seconds = job.run(work)
    shutil.rmtree(work)
    shutil.copytree(fresh, work)
    kills = through = 0
    while kills < times or not through:
        if job.disturb(work, seconds, rng):
            assert job.result(work) == expected, f"{name}: another result after {kills} kills, in {work}"
            through += 1
            shutil.rmtree(work)
            shutil.copytree(fresh, work)
        else:
            kills += 1
    job.run(work)
    assert job.result(work) == expected, f"{name}: another result after {kills} kills, in {work}"
    return kills, through + 1, seconds


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("jobs", nargs="*", metavar="JOB", help=", ".join(JOBS))
    parser.add_argument("--times", type=int, default=200, help="kills in all")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    arguments = parser.parse_args()
    names = arguments.jobs or list(JOBS)
    for name in names:
        if name not in JOBS:
            parser.error(f"no job {name!r}; there are {', '.join(JOBS)}")
    print(f"seed {arguments.seed}")
    for name in names:
        begun = time.monotonic()
        folder = Path(tempfile.mkdtemp(prefix=f"faults-{name}-"))
        kills, through, seconds = loop(name, -(-arguments.times // len(names)), arguments.seed, folder)
        shutil.rmtree(folder)
        line = f"{name}: killed {kills} times, {through} runs got through, all equal to the undisturbed one"
        print(f"{line} ({seconds:.1f} s; {time.monotonic() - begun:.0f} s in all)", flush=True)


main()
