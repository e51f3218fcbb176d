"""`python -m tests.fuzz --seconds 3600 [TARGET ..]`: damage files and read them until the time is over.

Each target runs in a process of its own, which may crash, run out of the memory it is given or hang: the file it was
reading is then the find. Finds are written to tests/fuzz/finds/<target>/ (named by their digest), where the tests read
them from then on.
"""

from __future__ import annotations

import argparse
import faulthandler
import hashlib
import resource
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

import numpy as np

from tests.fuzz.mutate import damaged
from tests.fuzz.targets import TARGETS

FINDS = Path(__file__).parent / "finds"
MEMORY = 2 << 30  # bytes of address space beyond what the seeds take
PATIENCE = 60.0  # seconds of a reader with one small file, on a busy machine
LONGEST = 1 << 20  # bytes


def work(name: str, seconds: float, seed: int, folder: Path) -> int:
    """Fuzz one target in this process; a find that is an exception is reported and the work goes on."""
    target = TARGETS[name]
    seeds = target.seeds(folder)
    for content in seeds:
        assert target.check(content, folder), f"{name}: a valid file is refused"
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY, -1))
    rng = np.random.default_rng(seed)
    words = target.words.split(b" ") if name != "stream" else [target.words[i : i + 1] for i in range(33)]
    corpus = list(seeds)
    tried = accepted = 0
    seen: set[str] = set()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        base = corpus[int(rng.integers(len(corpus)))]
        content = damaged(base, corpus, words, rng)[:LONGEST]
        (folder / "current").write_bytes(content)
        faulthandler.dump_traceback_later(PATIENCE, exit=True)
        try:
            fine = target.check(content, folder)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            place = "".join(traceback.format_tb(error.__traceback__)[-1:]) + type(error).__name__
            if place not in seen:
                seen.add(place)
                report(name, content, "".join(traceback.format_exception(error)))
            fine = False
        finally:
            faulthandler.cancel_dump_traceback_later()
        tried += 1
        accepted += fine
        if fine and len(corpus) < 200 and rng.random() < 0.05:
            corpus.append(content)
    print(f"{name}: {tried:,} files, {accepted:,} accepted, {len(seen)} kinds of failure", flush=True)
    return len(seen)


def report(name: str, content: bytes, what: str) -> None:
    """Keep a find and say what it did."""
    (FINDS / name).mkdir(parents=True, exist_ok=True)
    path = FINDS / name / hashlib.sha256(content).hexdigest()[:12]
    path.write_bytes(content)
    print(f"FIND {path}\n{what}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(TARGETS))
    parser.add_argument("--seconds", type=float, default=60.0, help="wall seconds in all")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    names = arguments.targets or list(TARGETS)
    for name in names:
        if name not in TARGETS:
            parser.error(f"no target {name!r}; there are {', '.join(TARGETS)}")
    if arguments.worker:
        work(names[0], arguments.seconds, arguments.seed, Path(arguments.worker))
        return
    failed: list[str] = []
    before = {path for path in FINDS.rglob("*") if path.is_file()}
    for name in names:
        end = time.monotonic() + arguments.seconds / len(names)
        seed = arguments.seed
        while (left := end - time.monotonic()) > 0:
            with tempfile.TemporaryDirectory() as folder:
                command = [sys.executable, "-m", "tests.fuzz", name, "--seconds", str(left), "--seed", str(seed)]
                done = subprocess.run([*command, "--worker", folder], check=False)
                if done.returncode and (current := Path(folder) / "current").exists():
                    report(name, current.read_bytes(), f"the process ended with {done.returncode}")
                elif done.returncode:
                    failed.append(name)  # what is said on stderr is not about a damaged file
                    break
            seed += 1
    found = {path for path in FINDS.rglob("*") if path.is_file()} - before
    print(f"{len(found)} finds" + "".join(f"; {name} did not start" for name in failed))
    raise SystemExit(1 if found or failed else 0)


main()
