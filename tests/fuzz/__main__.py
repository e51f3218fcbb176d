"""`python -m tests.fuzz --seconds 3600 [TARGET ..]`: damage files and read them until the time is over.

Where atheris is installed (extra `fuzz`), what a file makes the readers do decides which files are damaged further: a
file that reaches a branch nobody reached before is kept. Else those that are accepted are kept.

Each target runs in a process of its own, which may crash, run out of the memory it is given or hang: the file it was
reading is then the find. Finds are written to tests/fuzz/finds/<target>/ (named by their digest), where the tests read
them from then on.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import hashlib
import importlib.util
import os
import resource
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from tests.fuzz.mutate import damaged
from tests.fuzz.targets import TARGETS

ROOT = Path(__file__).parents[2]
ATHERIS = importlib.util.find_spec("atheris") is not None
FINDS = Path(__file__).parent / "finds"
MEMORY = 2 << 30  # bytes of address space beyond what the seeds take
PATIENCE = 60.0  # seconds of a reader with one small file, on a busy machine
LONGEST = 1 << 20  # bytes
SCRATCH = "/dev/shm" if Path("/dev/shm").is_dir() else None  # in memory: a disk would take most of the time


@dataclass
class Attempts:
    """The files read so far. A find that is an exception is reported, once per place, and the work goes on."""

    name: str
    folder: Path
    tried: int = 0
    accepted: int = 0
    seen: set[str] = field(default_factory=set)

    def read(self, content: bytes) -> bool:
        """Whether the target accepts the file."""
        (self.folder / "current").write_bytes(content)
        faulthandler.dump_traceback_later(PATIENCE, exit=True)
        try:
            fine = TARGETS[self.name].check(content, self.folder)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            place = "".join(traceback.format_tb(error.__traceback__)[-1:]) + type(error).__name__
            if place not in self.seen:
                self.seen.add(place)
                report(self.name, content, "".join(traceback.format_exception(error)))
            fine = False
        finally:
            faulthandler.cancel_dump_traceback_later()
        self.tried += 1
        self.accepted += fine
        return fine

    def summary(self) -> None:
        kinds = f"{len(self.seen)} kinds of failure"
        print(f"{self.name}: {self.tried:,} files, {self.accepted:,} accepted, {kinds}", flush=True)


def work(name: str, seconds: float, seed: int, folder: Path) -> None:
    """Fuzz one target in this process for so long (compiling what the valid files need comes on top)."""
    target = TARGETS[name]
    with _followed():
        seeds = target.seeds(folder)
        for content in seeds:
            assert target.check(content, folder), f"{name}: a valid file is refused"
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY, -1))
    words = target.words.split(b" ") if name != "stream" else [target.words[i : i + 1] for i in range(33)]
    attempts = Attempts(name, folder)
    (_guided if ATHERIS else _blind)(attempts, seeds, words, time.monotonic() + seconds, seed)


def _blind(attempts: Attempts, seeds: list[bytes], words: list[bytes], end: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    corpus = list(seeds)
    while time.monotonic() < end:
        base = corpus[int(rng.integers(len(corpus)))]
        content = damaged(base, corpus, words, rng)[:LONGEST]
        if attempts.read(content) and len(corpus) < 200 and rng.random() < 0.05:
            corpus.append(content)
    attempts.summary()


def _guided(attempts: Attempts, seeds: list[bytes], words: list[bytes], end: float, seed: int) -> None:
    """Atheris chooses the file to damage, or it is a valid one; the damage is ours or, now and then, its own."""
    import atheris

    def one(content: bytes) -> None:
        if time.monotonic() >= end:
            attempts.summary()
            os._exit(0)  # libFuzzer does not return
        attempts.read(content)

    def mutate(content: bytes, longest: int, number: int) -> bytes:
        rng = np.random.default_rng(number)
        kind = rng.random()
        if kind < 0.2:
            return bytes(atheris.Mutate(content, longest))
        if kind < 0.6:
            content = seeds[int(rng.integers(len(seeds)))]
        return damaged(content, seeds, words, rng)[:longest]

    corpus = attempts.folder / "corpus"
    corpus.mkdir()
    for number, content in enumerate(seeds):
        (corpus / str(number)).write_bytes(content)
    options = [
        f"-seed={seed % (1 << 31)}",
        f"-max_len={LONGEST}",
        "-rss_limit_mb=0",
        "-verbosity=0",
        "-mutate_depth=1",
        "-reduce_inputs=0",
    ]
    atheris.Setup(["fuzz", str(corpus), *options], one, custom_mutator=mutate)
    atheris.Fuzz()


@contextlib.contextmanager
def _followed() -> Iterator[None]:
    """What is imported within tells atheris which branches it takes; compiled code (kernels) is left as it is."""
    if not ATHERIS:
        yield
        return
    import atheris

    kernels = [
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for package in ("optbn", "solvers")
        for path in (ROOT / package).rglob("*.py")
        if "kernels" in str(path.relative_to(ROOT))
    ]
    with atheris.instrument_imports(
        include=["optbn", "optbn_solvers", "tomllib"], exclude=[*kernels, "optbn_solvers.base.compiled"]
    ):
        yield


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
    print("guided by atheris" if ATHERIS else "blind: atheris is not installed")
    failed: list[str] = []
    before = {path for path in FINDS.rglob("*") if path.is_file()}
    for name in names:
        end = time.monotonic() + arguments.seconds / len(names)
        seed = arguments.seed
        while (left := end - time.monotonic()) > 0:
            with tempfile.TemporaryDirectory(dir=SCRATCH) as folder:
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
