"""The wheel and the source distribution, installed as users do: `python -m tests.release [--python P]... [--write]`.

Both are built and installed without extras, each into an empty environment of this Python; the wheel also with the
lowest versions that pyproject.toml admits, and for every other Python named with --python. In each the tutorial
(docs/getting-started.md) is done, and results are compared to the bit with those of the first environment, with one
thread and with two (`digests.py`). Ends with 1 when an environment fails or differs. --write keeps the table in
results/release.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
TUTORIAL = ROOT / "docs" / "getting-started.md"
FOLDER = Path("results/release")
SHOWN = ("numpy", "numba", "scipy")
# whose last bits are those of an optimiser of scipy, which differ from version to version
OF_SCIPY = ("smoother gradient", "classifier discriminative")


@dataclass(frozen=True)
class Environment:
    """What is installed, into which Python, with which pins."""

    artifact: Path
    python: str
    pins: tuple[str, ...] = ()


class Failed(Exception):
    """A command did not end well; with what it said last."""


def run(*command: str, folder: Path, path: Path | None = None) -> str:
    """What a command printed; the environment's own programs come first."""
    found = {name: value for name, value in os.environ.items() if name not in ("VIRTUAL_ENV", "PYTHONPATH")}
    if path is not None:
        found["PATH"] = os.pathsep.join([str(path), found["PATH"]])
    done = subprocess.run(command, cwd=folder, env=found, capture_output=True, text=True)
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise Failed(f"{' '.join(command)}: {said[-1] if said else done.returncode}")
    return done.stdout


def lowest() -> tuple[str, ...]:
    """The lower bounds of the dependencies as pins."""
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    return tuple(re.sub(r">=([^,]+).*", r"==\1", each) for each in wanted)


def tutorial(folder: Path, programs: Path) -> None:
    """Its commands, one by one, then its Python."""
    page = TUTORIAL.read_text()
    for block in re.findall(r"^```console\n(.*?)^```", page, re.S | re.M):
        for line in block.replace("\\\n", " ").splitlines():
            if line.startswith("$ "):
                run("bash", "-c", line[2:], folder=folder, path=programs)
    script = "\n".join(re.findall(r"^```python\n(.*?)^```", page, re.S | re.M))
    run("python", "-c", script, folder=folder, path=programs)


def tried(environment: Environment, folder: Path) -> tuple[dict[str, str], list[dict[str, str]], float]:
    """(versions, digests with one thread and with two, seconds of the tutorial) of an environment in the folder."""
    home = folder / "environment"
    run(environment.python, "-m", "venv", str(home), folder=folder)
    programs = home / "bin"
    run(str(programs / "pip"), "install", "-q", str(environment.artifact), *environment.pins, folder=folder)
    installed = json.loads(run(str(programs / "pip"), "list", "--format", "json", folder=folder))
    versions = {each["name"]: each["version"] for each in installed}
    versions["python"] = run(str(programs / "python"), "-V", folder=folder).split()[1]
    begun = time.monotonic()
    tutorial(folder, programs)
    seconds = time.monotonic() - begun
    script = str(Path(__file__).with_name("digests.py"))
    digests = [json.loads(run("python", script, jobs, folder=folder, path=programs)) for jobs in ("1", "2")]
    return versions, digests, seconds


def build(folder: Path) -> tuple[Path, Path]:
    """(wheel, source distribution) of the checkout."""
    home = folder / "build"
    run(sys.executable, "-m", "venv", str(home), folder=folder)
    run(str(home / "bin" / "pip"), "install", "-q", "build", folder=folder)
    run(str(home / "bin" / "python"), "-m", "build", "-o", str(folder / "dist"), str(ROOT), folder=folder)
    return next((folder / "dist").glob("*.whl")), next((folder / "dist").glob("*.tar.gz"))


def lines(pythons: list[str]) -> Iterator[tuple[str, bool]]:
    """A row of the table per environment, and whether all is well with it."""
    with tempfile.TemporaryDirectory() as scratch:
        wheel, source = build(Path(scratch))
        environments = [
            Environment(wheel, sys.executable),
            Environment(source, sys.executable),
            Environment(wheel, sys.executable, lowest()),
            *(Environment(wheel, python) for python in pythons),
        ]
        first: dict[str, str] = {}
        scipy = ""
        for at, environment in enumerate(environments):
            folder = Path(scratch) / str(at)
            folder.mkdir()
            what = "wheel" if environment.artifact == wheel else "source"
            what += ", lowest versions" if environment.pins else ""
            try:
                versions, digests, seconds = tried(environment, folder)
            except Failed as failure:
                yield f"| {what}, {environment.python} | | | {failure} |", False
                continue
            first, scipy = first or digests[0], scipy or versions["scipy"]
            differ = sorted({name for found in digests for name in first if found.get(name) != first[name]})
            excused = differ and versions["scipy"] != scipy and set(differ) <= set(OF_SCIPY)
            verdict = f"differ: {', '.join(differ)}" if differ else f"all {len(first)} the same"
            libraries = ", ".join(f"{name} {versions[name]}" for name in SHOWN)
            yield f"| {what} | {versions['python']}, {libraries} | {seconds:.0f} s | {verdict} |", not differ or excused


def main() -> int:
    """See the module."""
    parser = argparse.ArgumentParser(prog="python -m tests.release", description=__doc__)
    parser.add_argument("--python", action="append", default=[], metavar="P", help="another Python to install into")
    parser.add_argument("--write", action="store_true", help="keep the table in results/release")
    chosen = parser.parse_args()
    head = ["| installed | with | tutorial | results, to the bit |", "|---|---|---|---|"]
    print("\n".join(head), flush=True)
    rows, well = [], True
    for row, good in lines(chosen.python):
        print(row, flush=True)
        rows.append(row)
        well &= good
    if chosen.write:
        FOLDER.mkdir(parents=True, exist_ok=True)
        title = "# Release\n\nWritten by `python -m tests.release --write`: environments without extras.\n\n"
        (FOLDER / "README.md").write_text(title + "\n".join([*head, *rows]) + "\n")
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
